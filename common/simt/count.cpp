// Counts the memory requests of each warp, as a profiler does.
//
// Lanes run one after the other, so accesses of one instruction happen at different times. Each
// lane keeps a list of events: basic blocks, calls, accesses. When the lanes of a warp synchronize,
// the lists are matched in the order of the hardware: the lanes that are deepest in calls and,
// among those, at the lowest address run first, alone, until they reach the others. The compiler
// places the joins of branches at higher addresses, so diverged lanes reconverge there. What the
// lanes of one step do together is one warp instruction: one request.
#include <algorithm>
#include <cstring>
#include <map>

#include "dynamic.hpp"
#include "engine.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace simt {

struct Site {
  std::uint64_t requests = 0, lanes = 0, units = 0, ideal = 0, bytes_asked = 0;
  unsigned bytes = 0;
  bool halves = false;  ///< 16 bytes at a multiple of 8: a GPU needs two accesses
};

/// What one worker counted of one grid.
struct Counters {
  std::unordered_map<std::uint64_t, Site> sites;  ///< by pc, kind and space
  std::uint64_t barriers = 0, warp_steps = 0, lane_steps = 0;
  std::uint64_t busiest = 0;       ///< the most words of a warp
  std::uint64_t shared_bytes = 0;  ///< the most of a block
  std::uint64_t polled_words = 0, polled_sectors = 0;
  bool exact = true, diverged = false;
  std::uint64_t last_key = ~std::uint64_t{0};
  Site* last = nullptr;

  Site& site(const Event& event) {
    const std::uint64_t key =
        event.pc | std::uint64_t{event.kind} << 32 | std::uint64_t{event.shared} << 40;
    if (key != last_key) {
      last = &sites[key];
      last_key = key;
    }
    return *last;
  }
};

namespace {

constexpr std::size_t many_events = 1 << 15;  // of one lane: then the others run first
constexpr std::size_t too_many_events = 1 << 22;

/// One warp instruction.
struct Request {
  std::uint32_t mask;
  unsigned bytes;
  std::uintptr_t address[32];  ///< of the active lanes, in order
  unsigned lane[32];
  unsigned active;
};

unsigned distinct(std::uintptr_t* values, unsigned n) {
  if (n == 0) return 0;
  if (!std::is_sorted(values, values + n)) std::sort(values, values + n);
  return static_cast<unsigned>(std::unique(values, values + n) - values);
}

/// Distinct 32-byte sectors.
unsigned sectors(const Request& r) {
  std::uintptr_t touched[64];
  unsigned n = 0;
  for (unsigned k = 0; k < r.active; ++k) {
    const std::uintptr_t first = r.address[k] >> 5, last = (r.address[k] + r.bytes - 1) >> 5;
    if (n == 0 || touched[n - 1] != first) touched[n++] = first;
    if (last != first) touched[n++] = last;
  }
  return distinct(touched, n);
}

/// Atomics use a sector once for each lane that hits the same address in it.
unsigned atomic_sectors(const Request& r) {
  std::map<std::uintptr_t, std::map<std::uintptr_t, unsigned>> lanes_at;
  for (unsigned k = 0; k < r.active; ++k) ++lanes_at[r.address[k] >> 5][r.address[k]];
  unsigned total = 0;
  for (const auto& sector : lanes_at) {
    unsigned most = 0;
    for (const auto& [address, lanes] : sector.second) most = std::max(most, lanes);
    total += most;
  }
  return total;
}

/// The most distinct words in one bank that the lanes [first, last) of a request need: shared
/// memory has 32 banks of 4 bytes.
unsigned conflicts(const Request& r, unsigned first, unsigned last) {
  std::uintptr_t words[128];
  unsigned n = 0;
  for (unsigned k = first; k < last; ++k) {
    for (unsigned b = 0; b < std::max(4u, r.bytes); b += 4) words[n++] = (r.address[k] + b) >> 2;
  }
  n = distinct(words, n);
  unsigned in_bank[32] = {}, most = 0;
  for (unsigned w = 0; w < n; ++w) most = std::max(most, ++in_bank[words[w] & 31]);
  return most;
}

/// Is the neighbour of every active lane (lane xor `other`) inactive or at the same address?
bool pairs_agree(const Request& r, unsigned other) {
  std::uintptr_t at[32];
  for (unsigned k = 0; k < r.active; ++k) at[r.lane[k]] = r.address[k];
  for (unsigned k = 0; k < r.active; ++k) {
    const unsigned beside = r.lane[k] ^ other;
    if (r.mask >> beside & 1 && at[beside] != r.address[k]) return false;
  }
  return true;
}

/// The lanes of an access form groups: 32 lanes of up to 4 bytes, 16 of 8, 8 of 16. A load whose
/// lanes agree in pairs needs half as many groups. Checked against an H200 (tests/evidence).
unsigned wavefronts(const Request& r, bool load, unsigned* groups) {
  unsigned lanes = r.bytes <= 4 ? 32 : r.bytes == 8 ? 16 : 8;
  if (load && r.bytes >= 8 && (pairs_agree(r, 1) || pairs_agree(r, 2))) lanes *= 2;
  unsigned total = 0;
  *groups = 0;
  for (unsigned first = 0; first < r.active;) {
    unsigned last = first;
    while (last < r.active && r.lane[last] / lanes == r.lane[first] / lanes) ++last;
    total += conflicts(r, first, last);
    ++*groups;
    first = last;
  }
  return total;
}

/// Lanes that update one bank are serialised, even at the same address.
unsigned atomic_wavefronts(const Request& r) {
  unsigned in_bank[32] = {}, most = 0;
  for (unsigned k = 0; k < r.active; ++k) {
    most = std::max(most, ++in_bank[r.address[k] >> 2 & 31]);
  }
  return most;
}

void count_request(Site& site, const Event& event, const Request& r, WarpTrace* trace) {
  ++site.requests;
  site.lanes += r.active;
  site.bytes_asked += std::uint64_t{r.active} * r.bytes;
  site.bytes = std::max(site.bytes, r.bytes);
  unsigned units = 0, ideal = 0;
  if (event.kind >= Event::atomic) {
    const unsigned rounds = event.kind == Event::atomic_loop ? 2 : 1;
    units = event.shared ? rounds * atomic_wavefronts(r) : atomic_sectors(r);
    ideal = event.shared ? 1 : (r.active * r.bytes + 31) / 32;
  } else if (event.shared) {
    units = wavefronts(r, event.kind == Event::load, &ideal);
  } else {
    units = sectors(r);
    ideal = (r.active * r.bytes + 31) / 32;
  }
  site.units += units;
  site.ideal += ideal;
  if (trace != nullptr) {
    trace_request(*trace, {event.pc,
                           event.kind,
                           event.shared,
                           r.mask,
                           r.bytes,
                           units,
                           ideal,
                           {r.address, r.address + r.active}});
  }
}

void count_request(Counters& counters, const Event& event, Request& r, WarpTrace* trace) {
  Site& site = counters.site(event);
  if (r.bytes == 16) {
    for (unsigned k = 0; k < r.active; ++k) site.halves = site.halves || r.address[k] % 16 != 0;
    if (site.halves) {
      r.bytes = 8;
      count_request(site, event, r, trace);
      for (unsigned k = 0; k < r.active; ++k) r.address[k] += 8;
    }
  }
  count_request(site, event, r, trace);
}

bool settled(const Thread& thread) {
  return thread.state == Thread::done || thread.state == Thread::at_warp_call ||
         (thread.state == Thread::at_meeting && !thread.runnable());
}

Counters& counters_of(Worker& worker) {
  if (!worker.counters) worker.counters = std::make_shared<Counters>();
  return *worker.counters;
}

/// The lanes of a warp with events to match, and the next event of each.
class Matcher {
 public:
  Matcher(Warp& warp, Counters& counters, bool force)
      : warp_(warp), counters_(counters), trace_(trace_of(warp)), force_(force) {
    for (unsigned l = 0; l < 32; ++l) {
      if (warp.lanes[l] == nullptr) break;
      lists_[l] = warp.lanes[l]->events.data();
      sizes_[l] = warp.lanes[l]->events.size();
      if (!settled(*warp.lanes[l])) unsettled_ |= 1u << l;
      if (warp.cursors[l].next < sizes_[l]) active_ |= 1u << l;
    }
  }

  void run() {
    // A lane that still runs and whose list is at its end: its next event is not known yet.
    while (active_ != 0 && (force_ || (unsettled_ & ~active_) == 0)) step();
    if (force_ && unsettled_ != 0) counters_.exact = false;
    const Block& block = *warp_.lanes[0]->block;
    counters_.busiest = std::max(counters_.busiest, warp_.words);
    counters_.shared_bytes =
        std::max<std::uint64_t>(counters_.shared_bytes, block.used - block.padding);
    for (unsigned l = 0; l < 32 && warp_.lanes[l] != nullptr; ++l) forget_matched(l);
  }

 private:
  const Event& head(unsigned l) const { return lists_[l][warp_.cursors[l].next]; }

  /// The lanes of the next step: deepest in calls, then lowest address; all at the same place.
  std::uint32_t choose() const {
    const unsigned first = static_cast<unsigned>(__builtin_ctz(active_));
    const ProgramCounter pc = head(first).pc;
    const std::uint32_t path = warp_.cursors[first].path;
    std::uint32_t same = 0;
    for (std::uint32_t rest = active_; rest != 0; rest &= rest - 1) {
      const unsigned l = static_cast<unsigned>(__builtin_ctz(rest));
      if (head(l).pc == pc && warp_.cursors[l].path == path) same |= 1u << l;
    }
    if (same == active_) return same;
    unsigned leader = first;
    for (std::uint32_t rest = active_; rest != 0; rest &= rest - 1) {
      const unsigned l = static_cast<unsigned>(__builtin_ctz(rest));
      const std::size_t depth = warp_.cursors[l].calls.size();
      const std::size_t best = warp_.cursors[leader].calls.size();
      if (depth > best || (depth == best && head(l).pc < head(leader).pc)) leader = l;
    }
    std::uint32_t chosen = 0;
    for (std::uint32_t rest = active_; rest != 0; rest &= rest - 1) {
      const unsigned l = static_cast<unsigned>(__builtin_ctz(rest));
      if (head(l).pc == head(leader).pc && warp_.cursors[l].path == warp_.cursors[leader].path) {
        chosen |= 1u << l;
      }
    }
    return chosen;
  }

  void step() {
    const std::uint32_t chosen = choose();
    if (chosen != active_) counters_.diverged = true;
    const Event event = head(static_cast<unsigned>(__builtin_ctz(chosen)));
    if (event.kind == Event::basic_block) {
      ++counters_.warp_steps;
      counters_.lane_steps += static_cast<unsigned>(__builtin_popcount(chosen));
      if (trace_ != nullptr) trace_step(*trace_, chosen);
    }
    Request request;
    request.mask = chosen;
    request.bytes = event.bytes;
    request.active = 0;
    for (std::uint32_t rest = chosen; rest != 0; rest &= rest - 1) {
      const unsigned l = static_cast<unsigned>(__builtin_ctz(rest));
      LaneCursor& cursor = warp_.cursors[l];
      if (event.kind >= Event::load) {
        request.lane[request.active] = l;
        request.address[request.active++] = head(l).address;
      } else if (event.kind == Event::enter) {
        cursor.calls.push_back(cursor.path);
        cursor.path = (cursor.path ^ event.pc) * 0x9E3779B1u + 1;
      } else if (event.kind == Event::leave && !cursor.calls.empty()) {
        cursor.path = cursor.calls.back();
        cursor.calls.pop_back();
      }
      if (++cursor.next == sizes_[l]) active_ &= ~(1u << l);
    }
    if (event.kind < Event::load) return;
    const std::uint64_t words = std::max(1u, request.bytes / 4);
    const std::uint64_t before = counters_.site(event).units;
    const std::uintptr_t asked = request.address[0];
    count_request(counters_, event, request, trace_);
    if (event.kind != Event::store && warp_.asked == asked && warp_.asked_at == event.pc) {
      counters_.polled_words += words;  // it polls: how often depends on the order of threads
      if (!event.shared) counters_.polled_sectors += counters_.site(event).units - before;
    } else {
      warp_.words += words;
    }
    warp_.asked = asked;
    warp_.asked_at = event.pc;
  }

  void forget_matched(unsigned l) {
    auto& events = warp_.lanes[l]->events;
    std::size_t& next = warp_.cursors[l].next;
    if (next == events.size()) {
      events.clear();
      next = 0;
    } else if (next > many_events) {
      events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(next));
      next = 0;
    }
  }

  Warp& warp_;
  Counters& counters_;
  WarpTrace* const trace_;
  const bool force_;
  const Event* lists_[32] = {};
  std::size_t sizes_[32] = {};
  std::uint32_t active_ = 0, unsettled_ = 0;
};

struct KernelTotal {
  std::uint64_t launches = 0, by_kernels = 0, blocks = 0, threads = 0;
  std::uint64_t busiest = 0;  ///< the sum over launches
  Counters counters;
};
std::mutex totals_mutex;
std::map<std::string, KernelTotal> totals;

void add(Site& to, const Site& from) {
  to.requests += from.requests;
  to.lanes += from.lanes;
  to.units += from.units;
  to.ideal += from.ideal;
  to.bytes_asked += from.bytes_asked;
  to.bytes = std::max(to.bytes, from.bytes);
}

std::string hint_for(const LineCount& line) {
  if (line.ideal == 0 || 2 * line.units <= 3 * line.ideal) return "";
  if (line.space == Space::global) return "uncoalesced";
  const auto ways = static_cast<double>(line.units) / static_cast<double>(line.ideal);
  return std::to_string(static_cast<int>(ways + 0.5)) + "-way bank conflict";
}

const char* name_of(std::uint64_t kind) {
  return kind == Event::load ? "load" : kind == Event::store ? "store" : "atomic";
}

KernelCount count_of(const std::string& name, const KernelTotal& total) {
  KernelCount count;
  count.kernel = name;
  count.launches = total.launches;
  count.by_kernels = total.by_kernels;
  count.blocks = total.blocks;
  count.threads = total.threads;
  count.barriers = total.counters.barriers;
  count.warp_steps = total.counters.warp_steps;
  count.lane_steps = total.counters.lane_steps;
  count.busiest = total.busiest;
  count.polled_words = total.counters.polled_words;
  count.polled_sectors = total.counters.polled_sectors;
  count.shared_bytes = total.counters.shared_bytes;
  std::map<std::tuple<std::string, int, int, std::uint64_t>, Site> lines;
  for (const auto& [key, site] : total.counters.sites) {
    const SourceLine where = source_line(static_cast<ProgramCounter>(key));
    add(lines[{where.file, where.line, static_cast<int>(key >> 40 & 1), key >> 32 & 0xFF}], site);
  }
  for (const auto& [key, site] : lines) {
    const auto& [file, number, shared, kind] = key;
    LineCount line;
    line.file = file;
    line.line = number;
    line.space = shared != 0 ? Space::shared : Space::global;
    line.access = name_of(kind);
    line.bytes = site.bytes;
    line.requests = site.requests;
    line.lanes = site.lanes;
    line.units = site.units;
    line.ideal = site.ideal;
    line.bytes_asked = site.bytes_asked;
    line.bytes_moved = site.units * (shared != 0 ? 128 : 32);
    line.exact = total.counters.exact && !(shared != 0 && kind >= Event::atomic && site.bytes == 8);
    line.hint = hint_for(line);
    count.lines.push_back(line);
  }
  return count;
}

/// For each place in the code its share in the rows of its kernel's table.
std::vector<TracedPlace> places_of(const KernelCount& count, const Counters& counters) {
  std::vector<TracedPlace> places;
  for (const auto& [key, site] : counters.sites) {
    const auto pc = static_cast<ProgramCounter>(key);
    const auto kind = static_cast<std::uint8_t>(key >> 32 & 0xFF);
    const bool shared = (key >> 40 & 1) != 0;
    const SourceLine where = source_line(pc);
    std::size_t row = count.lines.size();
    for (std::size_t k = 0; k < count.lines.size(); ++k) {
      const LineCount& line = count.lines[k];
      if (line.file == where.file && line.line == where.line &&
          line.access == std::string(name_of(kind)) && (line.space == Space::shared) == shared &&
          (row > k || kind == Event::atomic_loop)) {
        row = k;  // of two rows of atomics the second has the loops
      }
    }
    places.push_back({row, pc, kind, shared, site.requests, site.lanes, site.units, site.ideal});
  }
  return places;
}

}  // namespace

void match_events(Warp& warp) {
  Counters& counters = counters_of(*warp.lanes[0]->block->gang->worker);
  Matcher(warp, counters, false).run();
}

void record(Thread& thread, const Event& event) {
  thread.events.push_back(event);
  if (thread.events.size() % many_events != 0) return;
  Warp& warp = thread.block->warps[thread.warp];
  const bool force = thread.events.size() >= too_many_events;
  Matcher(warp, counters_of(*thread.block->gang->worker), force).run();
  if (!thread.events.empty() && !force) step_aside(thread);
}

void count_barrier(Worker& worker, const Block& block) {
  for (const Warp& warp : block.warps) counters_of(worker).barriers += warp.live != 0;
  if (tracing) trace_barrier(block);
}

void count_launch(const Grid& grid) {
  const std::lock_guard<std::mutex> lock(totals_mutex);
  KernelTotal& total = totals[grid.launch.kernel];
  ++total.launches;
  if (grid.member->knew) ++total.by_kernels;
  total.blocks += grid.blocks;
  total.threads += std::uint64_t{grid.blocks} * grid.threads;
}

void merge_counters(Worker& worker, Grid& grid) {
  const std::lock_guard<std::mutex> lock(totals_mutex);
  KernelTotal& total = totals[grid.launch.kernel];
  Counters& to = total.counters;
  const Counters& from = counters_of(worker);
  if (from.busiest > grid.busiest) {
    total.busiest += from.busiest - grid.busiest;
    grid.busiest = from.busiest;
  }
  to.shared_bytes = std::max(to.shared_bytes, from.shared_bytes);
  to.polled_words += from.polled_words;
  to.polled_sectors += from.polled_sectors;
  for (const auto& [key, site] : from.sites) add(to.sites[key], site);
  to.barriers += from.barriers;
  to.warp_steps += from.warp_steps;
  to.lane_steps += from.lane_steps;
  to.exact = to.exact && from.exact;
#if defined(__clang__)  // it reorders and merges blocks: lanes may seem to join elsewhere
  to.exact = to.exact && !from.diverged;
#endif
  worker.counters.reset();
}

namespace {
std::atomic<std::uint64_t> products{0}, bytes_to_host{0}, bytes_copied{0};
}  // namespace
void count_product() { ++products; }
void count_to_host(std::uint64_t bytes) {
  if (counting) bytes_to_host += bytes;
}
void count_copied(std::uint64_t bytes) {
  if (counting) bytes_copied += bytes;
}
Besides take_besides() {
  return {products.exchange(0), bytes_to_host.exchange(0), bytes_copied.exchange(0)};
}

std::vector<KernelCount> take_counts() {
  const std::lock_guard<std::mutex> lock(totals_mutex);
  std::vector<ProgramCounter> places;
  for (const auto& [name, total] : totals) {
    for (const auto& [key, site] : total.counters.sites)
      places.push_back(static_cast<ProgramCounter>(key));
  }
  find_source_lines(places);
  std::vector<KernelCount> counts;
  for (const auto& [name, total] : totals) {
    counts.push_back(count_of(name, total));
    if (tracing) write_trace(counts.back(), places_of(counts.back(), total.counters));
  }
  totals.clear();
  return counts;
}

namespace {

std::uint64_t sum_of(const KernelCount& kernel, Space space, const std::string& access,
                     std::uint64_t LineCount::*figure) {
  std::uint64_t sum = 0;
  for (const LineCount& line : kernel.lines) {
    if (line.space == space && access == line.access) sum += line.*figure;
  }
  return sum;
}

}  // namespace

std::uint64_t KernelCount::requests(Space space, const std::string& access) const {
  return sum_of(*this, space, access, &LineCount::requests);
}

std::uint64_t KernelCount::units(Space space, const std::string& access) const {
  return sum_of(*this, space, access, &LineCount::units);
}

}  // namespace simt
