// Finds races, bad addresses, and reads of unwritten memory.
//
// Each word of device and shared memory has a cell with its last plain writer, two atomic writers
// and two readers. An access races with an earlier one by another thread if one of them writes, not
// both are atomic, and no barrier, warp function, launch, or pair of fence and flag lies between
// them. Order is kept as block time: a counter that every synchronisation of the block advances.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "dynamic.hpp"
#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace simt {

bool checking = false, counting = false, several_workers = false;

namespace {

struct Record {
  std::uint32_t serial;  ///< of the block; 0: none
  std::uint32_t time : 22, rank : 10;
  std::uint32_t pc : 25, bytes : 4, strength : 2, atomic : 1;
};
struct Cell {
  Record write, strong_write[2], read[2];
  std::uint16_t turn;  ///< iteration of the loop around the plain write
  std::atomic<std::uint8_t> locked;
};
static_assert(sizeof(Record) == 12 && sizeof(Cell) == 64);
constexpr std::uint32_t last_time = (1u << 22) - 1;

Cell* cells = nullptr;
/// For each word the launch (mod 255, from 1) that has only read it so far, with more readers than
/// a cell can keep: the next reader skips the cell, which is 64 bytes away from its neighbour.
std::uint8_t* only_read = nullptr;
bool instrumented_code = false;
std::string triple(const char* what, const uint3& at) {
  char text[60];
  std::snprintf(text, sizeof text, "%s (%u,%u,%u)", what, at.x, at.y, at.z);
  return text;
}

}  // namespace

std::string name_of(const Grid& grid, std::uint32_t serial, unsigned rank) {
  const Member* member = grid.family->find(serial);
  const std::string in = member == grid.member ? "" : std::string(member->kernel) + ", ";
  return in + triple("block", position(serial - member->first_serial, member->grid)) + ", " +
         triple("thread", position(rank, member->block));
}

namespace {

/// The common cases of ordered(): no record, an earlier launch of the host, the same thread, a
/// barrier.
inline bool surely_ordered(const Record& record, const Thread& thread, const Block& block) {
  if (record.serial != block.serial) return record.serial < block.grid->family_serial;
  return record.time < barrier_time_of(thread) || record.rank == thread.rank;
}

/// Is the access of `record` ordered before what `thread` does now? `loaded_at`: if the order is
/// loose, the strong load that lacks an acquire.
Ordered ordered(const Record& record, const Thread& thread, ProgramCounter* loaded_at) {
  if (surely_ordered(record, thread, *thread.block)) return Ordered::yes;
  return order_known(thread, record.serial, record.time, record.rank, loaded_at);
}

/// A window of shared memory keeps the records of the blocks that used it before.
bool is_alive(const Gang& gang, std::uint32_t serial) {
  for (const auto& block : gang.blocks) {
    if (block->serial == serial) return true;
  }
  return false;
}

const char* did(const Record& record, bool wrote) {
  return record.atomic ? "updated" : wrote ? "wrote" : "read";
}

}  // namespace

/// "shared memory, byte 12", "shared memory of block (1,0,0), byte 12", "global memory, byte 12 of
/// 400".
std::string place_of(const Block& block, std::uintptr_t address) {
  if (is_window(address)) {
    const auto in = [=](const Block& one) {
      return address - reinterpret_cast<std::uintptr_t>(one.memory) < window_bytes;
    };
    std::string owner;
    const Block* owns = &block;
    for (const auto& other : block.gang->blocks) {
      if (in(block) || !in(*other)) continue;
      owns = other.get();
      owner = " of " + block_name(*other);
    }
    return "shared memory" + owner + ", byte " + std::to_string(shared_byte(*owns, address));
  }
  void* base = nullptr;
  std::size_t bytes = 0;
  if (!allocation_of(reinterpret_cast<void*>(address), &base, &bytes))
    return "a __device__ variable";
  return "global memory, byte " + std::to_string(address - reinterpret_cast<std::uintptr_t>(base)) +
         " of " + std::to_string(bytes);
}

namespace {

enum class Verdict : std::uint8_t {
  fine,
  race,
  other_turn,
  same_value,
  no_acquire,
  plain_flag,
  guess,
  in_warp,
  no_proxy_fence
};

std::string why(Verdict verdict, ProgramCounter loaded_at, bool beside_atomics) {
  switch (verdict) {
    case Verdict::other_turn:
      return "in different turns of a loop, and nothing orders the two";
    case Verdict::same_value:
      return "and nothing orders the two; they write the same, which every GPU known to us keeps: "
             "let one thread write";
    case Verdict::no_acquire:
      return "and the strong load between them, at " + source_line(loaded_at).text() +
             ", acquires nothing: __threadfence() after it, or an acquire load";
    case Verdict::plain_flag:
      return "and only this block's own atomic orders the two: make this access atomic, too";
    case Verdict::in_warp:
      return "and nothing orders the two: volatile orders nothing between the lanes of a warp; "
             "__syncwarp() between them, or a warp function";
    case Verdict::guess:
      return "and nothing orders the two: the plain read is a guess, which atomicCAS() checks; "
             "every "
             "GPU known to us keeps it, an atomic or volatile read is right by CUDA's rules, too";
    case Verdict::no_proxy_fence:
      return "by a bulk copy, and no proxy fence lies between: fence_proxy_async() after the "
             "access, before the barrier";
    default:
      return std::string("and nothing orders the two") +
             (beside_atomics ? ": CUDA calls a plain read beside atomics a race; read by an "
                               "atomic, or volatile"
                             : "");
  }
}

__attribute__((noinline, cold)) void report(const Thread& thread, std::uintptr_t address,
                                            const Record& before, bool wrote, Access kind,
                                            ProgramCounter pc, Verdict verdict,
                                            ProgramCounter loaded_at = 0) {
  const Unobserved unobserved;
  const Grid& grid = *thread.block->grid;
  const bool race =
      verdict == Verdict::race || verdict == Verdict::other_turn || verdict == Verdict::in_warp;
  const char* const kind_of_finding = race ? "race" : "order";
  const bool same_grid = before.serial >= grid.first_serial;
  note_culprit(kind_of_finding, address, 1, kind,
               same_grid ? static_cast<int>(before.serial - grid.first_serial) : -1, before.rank);
  find(kind_of_finding, *thread.block->grid,
       place_of(*thread.block, address) + ": " + name_of(grid, before.serial, before.rank) + " " +
           did(before, wrote) + " it at " + source_line(before.pc).text() + ", " +
           simt::name_of(thread) + " " + does(kind) + " it at " + source_line(pc).text() + ", " +
           why(verdict, loaded_at,
               (before.atomic && kind == Access::load) || (!wrote && kind == Access::atomic)) +
           (race ? what_orders(grid, before.serial) : ""),
       before.pc, pc);
}

/// Of several equal accesses two are kept: of different blocks or else of different warps if there
/// are any. So at least one of them is not the thread that comes next.
void keep(Record (&two)[2], const Record& now, const Thread& thread, bool shared) {
  for (Record& reader : two) {
    if (reader.serial == now.serial && reader.rank == now.rank) {
      const std::uint32_t bytes = reader.time == now.time ? reader.bytes | now.bytes : now.bytes;
      reader = now;
      reader.bytes = bytes & 15u;
      return;
    }
  }
  for (Record& reader : two) {
    ProgramCounter nowhere = 0;
    if (ordered(reader, thread, &nowhere) != Ordered::no ||
        (shared && !is_alive(*thread.block->gang, reader.serial))) {
      reader = now;
      return;
    }
  }
  const auto warp_of = [](const Record& r) { return std::make_pair(r.serial, r.rank / 32); };
  const bool one_block = two[0].serial == two[1].serial;
  if (warp_of(two[0]) == warp_of(two[1]) || (one_block && now.serial != two[0].serial))
    two[1] = now;
}

/// Does the cell hold two readers with which any racing writer would conflict? Two of different
/// warps since the last barrier, or two lanes of this warp since its last synchronisation.
inline bool two_read_already(const Cell& cell, const Thread& thread, unsigned bytes) {
  const Block& block = *thread.block;
  const Record &a = cell.read[0], &b = cell.read[1];
  if (a.serial != block.serial || b.serial != block.serial || (a.bytes & b.bytes & bytes) != bytes)
    return false;
  const std::uint32_t earlier = std::min<std::uint32_t>(a.time, b.time);
  if (earlier < barrier_time_of(thread)) return false;
  const unsigned warp_a = a.rank / 32, warp_b = b.rank / 32;
  if (warp_a != warp_b) return true;
  const Warp& mine = block.warps[thread.warp];
  return warp_a == thread.warp && earlier >= mine.known && !mine.lane_knows;
}

/// Plain loads whose value the same thread used next in an atomicCAS() of the same word.
std::mutex guesses_mutex;
std::set<std::uint32_t> guesses;

bool is_guess(std::uint32_t pc) {
  const std::lock_guard<std::mutex> lock(guesses_mutex);
  return guesses.count(pc & ((1u << 25) - 1)) != 0;
}

/// Does this store belong to the instruction of `record`, as another lane's part of it?
bool is_same_instruction(const Record& record, const Thread& thread, ProgramCounter pc) {
  return record.pc == (pc & ((1u << 25) - 1)) && record.serial == thread.block->serial &&
         record.rank / 32 == thread.warp;
}

/// An unordered store over another one: whether the values differ is known only after it.
void suspect(Thread& thread, std::uintptr_t address, unsigned bytes, const Record& before,
             ProgramCounter pc) {
  const Unobserved unobserved;
  const std::uintptr_t word = address & ~std::uintptr_t{3};
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
  thread.suspects.push_back({word, value, bytes, before.serial, before.rank, before.pc, pc});
  thread.unsettled = true;
}

void judge_suspects(Thread& thread) {
  const Unobserved unobserved;
  const std::vector<Suspect> suspects = std::exchange(thread.suspects, {});
  const auto same = [](const Suspect& s) {
    std::uint32_t value = 0, mask = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(s.word), sizeof value);
    for (unsigned k = 0; k < 4; ++k) mask |= (s.bytes >> k & 1) * 0xFFu << 8 * k;
    return ((value ^ s.value) & mask) == 0;
  };
  const auto other_word_differs = [&](const Suspect& s) {  // of one store, as of a double
    return std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& t) {
      return t.pc == s.pc && t.before == s.before && t.serial == s.serial && t.rank == s.rank &&
             !same(t);
    });
  };
  for (const Suspect& s : suspects) {
    const Record before = {s.serial, 0, s.rank & 1023u, s.before & ((1u << 25) - 1), 0, 0, 0};
    const bool turns = is_same_instruction(before, thread, s.pc), equal = same(s);
    if (equal && (turns || other_word_differs(s))) continue;
    report(thread, s.word + static_cast<unsigned>(__builtin_ctz(s.bytes)), before, true,
           Access::store, s.pc,
           equal   ? Verdict::same_value
           : turns ? Verdict::other_turn
                   : Verdict::race);
  }
}

class Lock {
 public:
  explicit Lock(Cell* cell) : cell_(cell) {
    if (cell_ == nullptr) return;
    while (cell_->locked.exchange(1, std::memory_order_acquire) != 0) {
    }
  }
  ~Lock() {
    if (cell_ != nullptr) cell_->locked.store(0, std::memory_order_release);
  }

 private:
  Cell* cell_;
};

bool is_copied(const Record& record) {
  return record.strength == static_cast<unsigned>(Strength::copied);
}
/// True for copies; false for reductions by the copy engine.
bool is_plain(const Record& record) {
  return record.strength == static_cast<unsigned>(Strength::plain) ||
         (is_copied(record) && record.atomic == 0);
}
bool is_strong(const Record& record) { return !is_plain(record); }

/// Has this launch only read all bytes of the word, in at least two blocks? A third is not kept.
bool read_by_two_blocks(const Cell& cell, const Grid& grid) {
  const auto before = [&](const Record& record) { return record.serial < grid.first_serial; };
  const Record &a = cell.read[0], &b = cell.read[1];
  return !before(a) && !before(b) && a.serial != b.serial && (a.bytes & b.bytes) == 15 &&
         before(cell.write) && before(cell.strong_write[0]) && before(cell.strong_write[1]);
}

/// Keeps volatile loads of the word by other warps of the block that nothing orders before this
/// volatile store.
void note_early_loads(Thread& thread, std::uintptr_t address, const Cell& cell, ProgramCounter pc) {
  for (const Record& read : cell.read) {
    ProgramCounter ignored = 0;
    if (read.serial == thread.block->serial && read.rank / 32 != thread.warp && read.atomic == 0 &&
        read.strength == static_cast<unsigned>(Strength::is_volatile) &&
        ordered(read, thread, &ignored) == Ordered::no) {
      note_early_load(thread, address & ~std::uintptr_t{3}, read.rank, read.pc, pc);
    }
  }
}

/// `turn`: how many times the thread has executed this store.
void check_race(Thread& thread, std::uintptr_t address, std::size_t word, unsigned bytes,
                Access kind, Strength strength, ProgramCounter pc, std::uint16_t turn) {
  const Block& block = *thread.block;
  if (kind == Access::load && only_read[word] == block.grid->tag) return;
  Cell& cell = cells[word];
  const bool shared = is_window(address);
  const Lock lock(shared || !several_workers ? nullptr : &cell);
  const auto sure = [&](const Record& record) { return surely_ordered(record, thread, block); };
  if (kind == Access::load && strength == Strength::plain && sure(cell.write) &&
      sure(cell.strong_write[0]) && sure(cell.strong_write[1]) &&
      two_read_already(cell, thread, bytes)) {
    return;
  }
  if (block.time >= last_time) return;  // the counter is full: no more race checks in this block
  const Record now = {block.serial,          block.time,  thread.rank,
                      pc & ((1u << 25) - 1), bytes & 15u, static_cast<std::uint32_t>(strength),
                      kind == Access::atomic};
  ProgramCounter loaded_at = 0;
  const auto judge = [&](const Record& before) {
    if (sure(before) || (before.bytes & bytes) == 0) return Verdict::fine;
    const Ordered order = ordered(before, thread, &loaded_at);
    if (order == Ordered::yes) return Verdict::fine;
    if (shared && !is_alive(*block.gang, before.serial)) return Verdict::fine;
    if (is_plain(before) || is_plain(now)) {
      if (order == Ordered::loosely) return Verdict::no_acquire;
      const bool flag = is_strong(before) && saw_all_updates(thread, address);
      return flag ? Verdict::plain_flag : Verdict::race;
    }
    // Volatile accesses pass flags, but inside a warp they only hide a missing __syncwarp().
    const bool hides = (shared || before.strength == now.strength) &&
                       before.strength + now.strength < 4 && before.serial == now.serial &&
                       before.rank / 32 == now.rank / 32;
    return order == Ordered::no && hides ? Verdict::in_warp : Verdict::fine;
  };
  const auto found = [&](const Record& before, bool wrote) {
    Verdict verdict = judge(before);
    if (verdict == Verdict::fine) return false;
    if (verdict == Verdict::race && before.atomic != (kind == Access::atomic) &&
        (before.atomic ? kind == Access::load && is_guess(pc) : !wrote && is_guess(before.pc))) {
      verdict = Verdict::guess;
    }
    report(thread, address, before, wrote, kind, pc, verdict, loaded_at);
    return true;
  };
  if (kind != Access::store || !is_plain(now)) {
    found(cell.write, true);
  } else if (is_same_instruction(cell.write, thread, pc) && cell.turn == turn) {
    // The hardware lets one lane win.
  } else if (judge(cell.write) == Verdict::race) {
    suspect(thread, address, bytes & cell.write.bytes, cell.write, pc);
  } else {
    found(cell.write, true);
  }
  if (!found(cell.strong_write[0], true)) found(cell.strong_write[1], true);
  if (kind == Access::load) {
    keep(cell.read, now, thread, shared);
    if (!shared && read_by_two_blocks(cell, *block.grid)) only_read[word] = block.grid->tag;
    return;
  }
  only_read[word] = 0;
  if (!found(cell.read[0], false)) found(cell.read[1], false);
  if (!is_plain(now)) {
    if (strength == Strength::is_volatile) note_early_loads(thread, address, cell, pc);
    keep(cell.strong_write, now, thread, shared);
    return;
  }
  const bool again =
      cell.write.serial == now.serial && cell.write.rank == now.rank && cell.write.time == now.time;
  const std::uint32_t before = cell.write.bytes;
  cell.write = now;
  cell.turn = turn;
  if (again) cell.write.bytes = (before | now.bytes) & 15u;
}

}  // namespace

void set_up_checks() {
  static std::once_flag once;
  std::call_once(once, [] {
    set_up_memory();
    checking = instrumented_code && checks_wanted();
    counting = counting || (instrumented_code && counts_wanted());
    if (instrumented_code) {
      cells = static_cast<Cell*>(reserve(word_count() * sizeof(Cell)));
      only_read = static_cast<std::uint8_t*>(reserve(word_count()));
    }
    report_at_exit();
  });
}

void mark_instrumented() { instrumented_code = true; }
bool instrumented() { return instrumented_code; }
void set_checking(bool on) {
  want_checks(on);
  checking = on && instrumented_code && cells != nullptr;
}
void set_counting(bool on) { counting = on && instrumented_code; }

std::string block_name(const Block& block) {
  const uint3& b = block.index;
  return "block (" + std::to_string(b.x) + "," + std::to_string(b.y) + "," + std::to_string(b.z) +
         ")";
}

std::string name_of(const Thread& thread) {
  return name_of(*thread.block->grid, thread.block->serial, thread.rank);
}

namespace {

/// The most common case: whole words of device memory that this launch only reads.
inline bool is_only_read(const Thread& thread, std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t offset = address - ranges.heap;
  if (((address | bytes) & 3) != 0 || offset >= ranges.heap_bytes) return false;
  const std::uint8_t tag = thread.block->grid->tag;
  for (std::size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    if (only_read[word] != tag || ranges.state[word] != 0xFF) return false;
  }
  return true;
}

bool is_partly_written(std::uintptr_t address, std::size_t bytes) {
  std::size_t word = 0;
  for (std::uintptr_t a = address; a < address + bytes; ++a) {
    if (word_of(a, &word) && (ranges.state[word] >> (4 + (a & 3)) & 1) != 0) return true;
  }
  return false;
}

/// Are these bytes of the word padding of a structure that is read whole, or another member of a
/// union?
bool is_padding(std::uintptr_t word, std::uintptr_t start, std::size_t bytes, unsigned which) {
  if (may_be_union(bytes) && is_partly_written(start, bytes)) return true;
  for (unsigned k = 0; k < 4; ++k) {
    if ((which >> k & 1) != 0 && !may_be_padding(bytes, word + k - start)) return false;
  }
  return true;
}

__attribute__((noinline)) void check_fully(Thread& thread, std::uintptr_t address,
                                           std::size_t bytes, Access kind, Strength strength,
                                           ProgramCounter pc) {
  if (thread.unsettled) settle(thread);
  std::size_t word = 0;
  if (!word_of(address, &word)) {
    check_elsewhere(thread, address, bytes, kind, pc);
    return;
  }
  const bool shared = is_window(address);
  if (shared && address - reinterpret_cast<std::uintptr_t>(thread.block->memory) >= window_bytes &&
      !in_my_cluster(thread, address)) {
    bad_address(thread, "lifetime", address, bytes, kind, pc);
  }
  if (shared && strength != Strength::copied) check_under_way(thread, address, bytes, kind, pc);
  const std::uint16_t turn = kind == Access::store ? thread.turns.next(pc) : 0;
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t a = address; a < end; ++word) {
    const unsigned from = a & 3,
                   until = static_cast<unsigned>(std::min<std::uintptr_t>(end - (a - from), 4));
    const unsigned mask = (1u << until) - (1u << from);
    std::uint8_t& state = ranges.state[word];
    std::uint8_t seen = state;
    if ((seen & mask) != mask) bad_address(thread, "bounds", a, bytes, kind, pc);
    if ((seen >> 4 & mask) != mask) {
      if (kind != Access::store && !is_padding(a - from, address, bytes, mask & ~(seen >> 4u))) {
        const Unobserved unobserved;
        note_culprit("uninitialised", a, bytes, kind);
        find("uninitialised", *thread.block->grid,
             name_of(thread) + " reads " + (shared ? "shared" : "global") + " memory at " +
                 source_line(pc).text() + " that nobody has written",
             pc, 0);
      }
      __atomic_fetch_or(&state, static_cast<std::uint8_t>(mask << 4), __ATOMIC_RELAXED);
    }
    check_race(thread, a, word, mask, kind, strength, pc, turn);
    a += until - from;
  }
}

}  // namespace

void check_access(Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                  Strength strength, ProgramCounter pc) {
  if (kind == Access::load) {
    if (strength == Strength::plain) thread.last_load = {address, pc};
    if (strength == Strength::is_volatile) look_again(thread, address & ~std::uintptr_t{3}, pc);
    if (!thread.unsettled && is_only_read(thread, address, bytes)) return;
  }
  check_fully(thread, address, bytes, kind, strength, pc);
}

void check_refill(Thread& thread, const void* to, std::size_t bytes, ProgramCounter pc) {
  if (!checking) return;
  if (thread.unsettled) settle(thread);
  const auto start = reinterpret_cast<std::uintptr_t>(to);
  for (std::uintptr_t a = start; a < start + bytes; a += 4) {
    std::size_t word = 0;
    if (!word_of(a, &word)) return;
    for (const Record& read : cells[word].read) {
      ProgramCounter loaded_at = 0;
      if (surely_ordered(read, thread, *thread.block) ||
          !is_alive(*thread.block->gang, read.serial)) {
        continue;
      }
      const Ordered order = ordered(read, thread, &loaded_at);
      if (order == Ordered::yes) continue;
      report(thread, a, read, false, Access::store, pc,
             order == Ordered::loosely ? Verdict::no_acquire : Verdict::race, loaded_at);
      return;
    }
  }
}

void settle(Thread& thread) {
  thread.unsettled = false;
  if (thread.acquires != nullptr) settle_acquire(thread);
  if (!thread.suspects.empty()) judge_suspects(thread);
}

bool written_since(std::uintptr_t address, std::uint32_t serial) {
  std::size_t word = 0;
  if (cells == nullptr || !word_of(address, &word)) return false;
  const Cell& cell = cells[word];
  return std::max({cell.write.serial, cell.strong_write[0].serial, cell.strong_write[1].serial}) >=
         serial;
}

bool read_since(std::uintptr_t address, std::uint32_t serial) {
  std::size_t word = 0;
  if (cells == nullptr || !word_of(address, &word)) return false;
  return std::max(cells[word].read[0].serial, cells[word].read[1].serial) >= serial;
}

void will_compare(const volatile void* address) {
  Thread* thread = observed_thread;
  if (thread == nullptr || !checking) return;
  const Thread::Load& load = thread->last_load;
  if (load.address != reinterpret_cast<std::uintptr_t>(address)) return;
  const Unobserved unobserved;
  const std::lock_guard<std::mutex> lock(guesses_mutex);
  guesses.insert(load.pc & ((1u << 25) - 1));
}

std::uint8_t launch_tag(std::uint64_t number) {
  const auto tag = static_cast<std::uint8_t>(number % 255 + 1);
  if (tag == 1 && only_read != nullptr)  // the numbers of 255 launches ago are reused
    madvise(only_read, word_count(), MADV_DONTNEED);
  return tag;
}

void check_leaving(const Thread& thread) {
  const Block& block = *thread.block;
  const auto start = reinterpret_cast<std::uintptr_t>(block.memory);
  const auto outside = [&](const Record& record) {  // of another block, perhaps still to come
    ProgramCounter nowhere = 0;
    return record.serial >= block.grid->first_serial && record.serial != block.serial &&
           is_alive(*block.gang, record.serial) &&
           order_known(thread, record.serial, record.time, record.rank, &nowhere) != Ordered::yes;
  };
  for (std::uintptr_t a = start; a < start + block.used; a += 4) {
    std::size_t word = 0;
    if (!word_of(a, &word)) return;
    const Cell& cell = cells[word];
    for (const Record* record : {&cell.write, &cell.strong_write[0], &cell.strong_write[1],
                                 &cell.read[0], &cell.read[1]}) {
      if (!outside(*record)) continue;
      const bool wrote = record != &cell.read[0] && record != &cell.read[1];
      report_leaving(block,
                     name_of(*block.grid, record->serial, record->rank) + " " +
                         did(*record, wrote) + " it at " + source_line(record->pc).text(),
                     record->pc);
      return;
    }
  }
}

void report_leaving(const Block& block, const std::string& what, ProgramCounter pc) {
  const Unobserved unobserved;
  find("lifetime", *block.grid,
       "shared memory of " + block_name(block) + ": " + what +
           ", the block leaves, and nothing orders the two: let all blocks meet (cluster.sync()) "
           "before one leaves",
       pc, 0);
}

/// A copy that `thread` issues in a cluster, after an access by another block: the thread must know
/// of that access, and a proxy fence must lie between.
Verdict between_blocks(const Thread& thread, const Record& record) {
  for (const auto& other : thread.block->gang->blocks) {
    if (other->serial != record.serial || other->meeting.members == 0) continue;
    ProgramCounter nowhere = 0;
    if (order_known(thread, record.serial, record.time, record.rank, &nowhere) != Ordered::yes) {
      return Verdict::race;
    }
    const Thread* by = other->warps[record.rank / 32].lanes[record.rank % 32];
    const bool fenced = record.time < by->proxy_fence.time || thread.proxy_fence.time > 0;
    return fenced ? Verdict::fine : Verdict::no_proxy_fence;
  }
  return Verdict::fine;  // that block has ended
}

void check_copy(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                ProgramCounter pc) {
  const Block& block = *thread.block;
  const Grid& grid = *block.grid;
  const auto verdict_on = [&](const Record& record) {
    if (record.serial < grid.first_serial || is_copied(record)) return Verdict::fine;
    if (record.serial != block.serial && is_window(address)) return between_blocks(thread, record);
    const bool passed = record.serial == block.serial
                            ? passed_to_copies(thread, record.time, record.rank)
                            : grid.any_proxy_fence.load();  // the writing block may have ended
    return passed ? Verdict::fine : Verdict::no_proxy_fence;
  };
  for (std::uintptr_t a = address; a < address + bytes; a += 4) {
    std::size_t word = 0;
    if (!word_of(a, &word)) return;
    for (const Record* record : {&cells[word].write, &cells[word].strong_write[0]}) {
      const Verdict verdict = verdict_on(*record);
      if (verdict == Verdict::fine) continue;
      report(thread, a, *record, true, kind, pc, verdict);
      return;
    }
    if (kind == Access::load) continue;
    // A barrier does not promise that a read has ended before the engine overwrites its source:
    // seen on an H200 (chapter 09, demos/refill.cu).
    for (const Record* record : {&cells[word].read[0], &cells[word].read[1]}) {
      if (record->serial != block.serial && !is_window(address)) continue;
      const Verdict verdict = verdict_on(*record);
      if (verdict == Verdict::fine) continue;
      report(thread, a, *record, false, kind, pc, verdict);
      return;
    }
  }
}

}  // namespace simt
