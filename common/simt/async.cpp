// Asynchronous copies, barriers that count bytes, and active lanes. A block, cluster or cooperative
// grid runs on one OS thread, so the tables are thread-local.
#include "async.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace simt {
namespace {

constexpr unsigned largest_count = (1u << 20) - 1;  // the hardware's limit, of arrivals and bytes

// ---- Copies ----

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  ProgramCounter site;      ///< where it was issued
  bool counted;             ///< ends a phase by its bytes
  bool ready;               ///< not counted: its phase has ended
  bool bulk;                ///< by the copy engine
  std::uint16_t fill = 0;   ///< what a copy without a source writes
  std::size_t element = 0;  ///< bytes of an element, for a reduction by combine()
  void (*combine)(void* to, const void* from) = nullptr;
  std::shared_ptr<char[]> read = nullptr;  ///< the source as it was read; null: not yet
  bool again = false;                      ///< of a multicast, for a block that is not its first
};

bool late_orders = false;
std::atomic<bool> any_orders{false};
std::atomic<std::uint64_t> engine_read{0}, engine_written{0}, engine_read_most{0};

void count_read(Block& block, std::uint64_t bytes) {
  engine_read += bytes;
  block.engine_read += bytes;
  std::uint64_t most = engine_read_most;
  while (block.engine_read > most &&
         !engine_read_most.compare_exchange_weak(most, block.engine_read)) {
  }
}

/// Checked, but not counted by line: the copy engine moves the data, not the threads.
void land(const Copy& copy) {
  Thread& thread = *current_thread;
  if (copy.bulk) {
    const bool from_global =
        copy.from != nullptr && !is_window(reinterpret_cast<std::uintptr_t>(copy.from));
    if (from_global && !copy.again) count_read(*thread.block, copy.bytes);
    if (!is_window(reinterpret_cast<std::uintptr_t>(copy.to))) engine_written += copy.bytes;
  } else if (copy.from != nullptr) {
    count_copied(copy.bytes);
  }
  if (checking) {
    const Strength strength = copy.bulk ? Strength::copied : Strength::plain;
    if (copy.from != nullptr && copy.read == nullptr) {
      check_access(thread, reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, Access::load,
                   strength, copy.site);
    }
    if (copy.combine != nullptr) {
      for (std::size_t at = 0; at < copy.bytes; at += copy.element) {
        check_access(thread, reinterpret_cast<std::uintptr_t>(copy.to) + at, copy.element,
                     Access::atomic, strength, copy.site);
      }
    } else {
      check_access(thread, reinterpret_cast<std::uintptr_t>(copy.to), copy.bytes, Access::store,
                   strength, copy.site);
    }
  }
  const void* const from = copy.read != nullptr ? copy.read.get() : copy.from;
  if (copy.combine != nullptr) {
    for (std::size_t at = 0; at < copy.bytes; at += copy.element) {
      copy.combine(static_cast<char*>(copy.to) + at, static_cast<const char*>(from) + at);
    }
  } else if (from != nullptr) {
    std::memcpy(copy.to, from, copy.bytes);
  } else {
    for (std::size_t at = 0; at < copy.bytes; at += sizeof copy.fill) {
      std::memcpy(static_cast<char*>(copy.to) + at, &copy.fill,
                  copy.bytes - at < sizeof copy.fill ? 1 : sizeof copy.fill);
    }
  }
  move_on(*thread.block->gang);
}

// ---- The word of an mbarrier ----

struct State {
  std::uint64_t pending : 20;   ///< arrivals missing in the current phase
  std::uint64_t expected : 20;  ///< arrivals that the next phase expects
  std::int64_t bytes : 22;      ///< bytes missing in the current phase
  std::uint64_t parity : 1;     ///< of the current phase
  std::uint64_t unused : 1;
};
static_assert(sizeof(State) == sizeof(std::uint64_t));

State state_of(std::uint64_t word) {
  State state;
  std::memcpy(&state, &word, sizeof word);
  return state;
}

State load(const std::uint64_t* barrier) {
  return state_of(__atomic_load_n(barrier, __ATOMIC_ACQUIRE));
}

/// Changes the word; \returns its old value. The phase ends when nothing is missing.
template <class F>
std::uint64_t update(std::uint64_t* barrier, F change) {
  std::uint64_t old = __atomic_load_n(barrier, __ATOMIC_ACQUIRE), word;
  do {
    State state = state_of(old);
    change(state);
    if (state.pending == 0 && state.bytes == 0) {
      state.pending = state.expected;
      state.parity ^= 1;
    }
    std::memcpy(&word, &state, sizeof word);
  } while (
      !__atomic_compare_exchange_n(barrier, &old, word, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return old;
}

// ---- What does not fit into the word ----

struct Record {
  std::uint32_t serial = 0;  ///< of the block that owned the memory when it was initialised
  std::uint32_t time = 0;    ///< of that block, when its thread `rank` initialised it
  unsigned rank = 0;
  ProgramCounter site = 0;
  bool raced = false;  ///< a thread used it before it knew of that
  /// The thread of another block that used it last.
  std::uint32_t other_serial = 0, other_time = 0;
  unsigned other_rank = 0;
  ProgramCounter other_site = 0;
  std::vector<Copy> copies;
};
thread_local std::unordered_map<const std::uint64_t*, Record> records;

/// The living block whose shared memory holds the address.
const Block* owner_of(const void* address) {
  const auto holds = [=](const Block& block) {
    return static_cast<std::size_t>(static_cast<const char*>(address) - block.memory) <
           window_bytes;
  };
  const Block& mine = *current_thread->block;
  if (holds(mine)) return &mine;
  for (const auto& block : mine.gang->blocks) {
    if (holds(*block)) return block.get();
  }
  return nullptr;
}

std::uint32_t serial_of(const std::uint64_t* barrier) {
  const Block* owner = owner_of(barrier);
  return owner == nullptr ? 0 : owner->serial;
}

/// `text` is no std::string: before Unobserved its construction is an access of the running thread.
[[noreturn]] void fail(const char* kind, const char* text, ProgramCounter site,
                       int cuda_error = error_launch_failure) {
  const Unobserved unobserved;
  Thread& thread = *current_thread;
  Grid& grid = *thread.block->grid;
  find(kind, grid, name_of(thread) + " at " + source_line(site).text() + ": " + text, site, 0);
  abandon(grid, cuda_error);
}

/// The record of a barrier that was initialised in this block's life.
Record& record_of(const std::uint64_t* barrier, ProgramCounter site) {
  const Block* const owner = owner_of(barrier);
  const std::uint32_t serial = owner == nullptr ? 0 : owner->serial;
  if (owner != nullptr && owner->meeting.members == 0) {
    fail("lifetime",
         "uses a barrier of a block that has left: let all blocks meet (cluster.sync()) before one "
         "leaves",
         site, error_illegal_address);
  }
  Record& record = records[barrier];
  if (record.serial != serial) {
    fail("uninitialised", "uses a barrier that nobody has initialised", site);
  }
  const Thread& thread = *current_thread;
  ProgramCounter loaded_at = 0;
  const bool by_other = thread.block->serial == serial
                            ? thread.rank != record.rank && record.time >= barrier_time_of(thread)
                            : owner != nullptr;
  if (checking && by_other && !record.raced &&
      order_known(thread, serial, record.time, record.rank, &loaded_at) != Ordered::yes) {
    record.raced = true;
    find("race", *thread.block->grid,
         name_of(thread) + " uses at " + source_line(site).text() +
             " the barrier that another thread initialises at " + source_line(record.site).text() +
             ", and nothing orders the two",
         record.site, site);
  }
  if (owner != nullptr && thread.block->serial != serial) {
    record.other_serial = thread.block->serial;
    record.other_time = thread.block->time;
    record.other_rank = thread.rank;
    record.other_site = site;
  }
  return record;
}

void check_count(unsigned count, ProgramCounter site) {
  if (count == 0 || count > largest_count) {
    static_assert(largest_count == 1048575);
    fail("barrier", "a barrier counts from 1 to 1048575 arrivals", site);
  }
}

/// Is everything that was written on both sides visible to the copy engine?
void check_seen(const void* to, const void* from, std::size_t bytes, ProgramCounter site) {
  if (!checking) return;
  if (from != nullptr) {
    check_copy(*current_thread, reinterpret_cast<std::uintptr_t>(from), bytes, Access::load, site);
  }
  check_copy(*current_thread, reinterpret_cast<std::uintptr_t>(to), bytes, Access::store, site);
}

/// The copy engine moves multiples of 16 bytes.
void check_bulk(const void* to, const void* from, std::size_t bytes, ProgramCounter site) {
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes) %
          16 !=
      0) {
    fail("misaligned", "a bulk copy needs addresses and a size that are multiples of 16 bytes",
         site, error_misaligned);
  }
  check_seen(to, from, bytes, site);
}

/// A barrier is visible to the copy engine only after a fence: the thread that initialised it
/// issues a fence for barriers or a proxy fence.
void check_initialised(const Record& record, ProgramCounter site) {
  const Thread& thread = *current_thread;
  const Block& block = *thread.block;
  if (!checking || record.serial != block.serial) return;
  const Thread* by = block.warps[record.rank / 32].lanes[record.rank % 32];
  if (record.time < by->proxy_fence.init || passed_to_copies(thread, record.time, record.rank))
    return;
  find("order", *block.grid,
       name_of(thread) + " starts a bulk copy at " + source_line(site).text() +
           " on the barrier initialised at " + source_line(record.site).text() +
           ", and no fence lies between: fence_mbarrier_init() or fence_proxy_async() after it",
       record.site, site);
}

ProgramCounter caller(const void* address) {
  return current_thread == nullptr ? 0 : counter_of(address);
}

/// A test that failed. If the threads of the gang have done nothing else for very many rounds, no
/// thread is left that could end the phase: the launch need not wait for SIMT_TIMEOUT.
void note_idle(const std::uint64_t* barrier) {
  Thread& thread = *current_thread;
  Gang& gang = *thread.block->gang;
  constexpr std::uint64_t many = 1000;
  const std::uint64_t now = gang.worker->progress.load(std::memory_order_relaxed) + 1;
  if (gang.idle_since != now) gang.idle_since = now, gang.idle_tests = 0;
  thread.tested_at = owner_of(barrier) != nullptr ? now : 0;  // elsewhere, others may arrive
  if (++gang.idle_tests < many * gang.live) return;
  gang.idle_tests = 0;
  for (const Thread& other : gang.threads) {
    if (other.state != Thread::done && other.runnable() && other.tested_at != now) return;
  }
  const State state = load(barrier);
  report_deadlock(gang,
                  "; the barrier initialised at " + source_line(records[barrier].site).text() +
                      " waits for " + std::to_string(state.expected) +
                      " arrivals in each phase; this one lacks " + std::to_string(state.pending) +
                      ", and " + std::to_string(state.bytes) + " bytes of copies");
  abandon(*gang.grid, error_timeout);
}

// ---- Bulk copies to shared memory that are in flight ----

thread_local std::uint64_t copies_changed = 1;  ///< counts what changes any record's list of copies

struct Target {
  std::uintptr_t from, to;
  ProgramCounter site;
  std::uint32_t serial;  ///< of the block whose barrier counts the copy
};

/// Where these copies will land; neighbouring ranges are joined.
const std::vector<Target>& targets_under_way() {
  thread_local std::vector<Target> targets;
  thread_local std::uint64_t as_of = 0;
  if (as_of == copies_changed) return targets;
  as_of = copies_changed;
  std::vector<Target> all;
  for (const auto& [barrier, record] : records) {
    for (const Copy& copy : record.copies) {
      const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
      if (copy.bulk && is_window(to))
        all.push_back({to, to + copy.bytes, copy.site, record.serial});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Target& a, const Target& b) { return a.from < b.from; });
  targets.clear();
  for (const Target& target : all) {
    if (targets.empty() || targets.back().to < target.from ||
        targets.back().serial != target.serial) {
      targets.push_back(target);
    } else {
      targets.back().to = std::max(targets.back().to, target.to);
    }
  }
  return targets;
}

/// Removes those copies from the list for which `wanted` holds, and lands them.
template <class F>
std::int64_t land_if(std::vector<Copy>& copies, F wanted) {
  std::int64_t bytes = 0;
  std::vector<Copy> rest, chosen;
  for (const Copy& copy : copies) (wanted(copy) ? chosen : rest).push_back(copy);
  copies.swap(rest);
  if (!chosen.empty()) ++copies_changed;
  for (const Copy& copy : chosen) {
    land(copy);
    bytes += static_cast<std::int64_t>(copy.bytes);
  }
  return bytes;
}

}  // namespace

void check_under_way(const Thread& thread, std::uintptr_t at, std::size_t bytes, Access kind,
                     ProgramCounter pc) {
  for (const Target& target : targets_under_way()) {
    if (target.to <= at || at + bytes <= target.from) continue;
    const Block* const owner = owner_of(reinterpret_cast<const void*>(at));
    if (owner == nullptr || owner->serial != target.serial) continue;  // of a block that has left
    const Unobserved unobserved;
    find("race", *thread.block->grid,
         "shared memory, byte " + std::to_string(shared_byte(*owner, at)) + ": " + name_of(thread) +
             (kind == Access::load ? " reads it at " : " writes it at ") + source_line(pc).text() +
             " while a bulk copy into it is under way, begun at " +
             source_line(target.site).text() +
             ": wait for the copy's barrier before, or begin the copy when all threads are done",
         pc, target.site);
    return;
  }
}

void check_copies_into(const Block& block) {
  for (const auto& [barrier, record] : records) {
    if (record.serial != block.serial) continue;
    for (const Copy& copy : record.copies) {
      if (!copy.bulk) continue;
      const Unobserved unobserved;
      find("lifetime", *block.grid,
           block_name(block) + " leaves, and a bulk copy into its shared memory, begun at " +
               source_line(copy.site).text() +
               ", may still be under way: wait for its barrier before the block leaves",
           copy.site, 0);
      return;
    }
  }
}

void check_leaving_barriers(const Thread& thread) {
  const Block& block = *thread.block;
  for (const auto& [barrier, record] : records) {
    if (record.serial != block.serial || record.other_serial == 0) continue;
    if (load(barrier).bytes < 0) {
      fail("barrier", "its block leaves, and more bytes were stored than the barrier expects",
           record.other_site);
    }
    ProgramCounter nowhere = 0;
    if (order_known(thread, record.other_serial, record.other_time, record.other_rank, &nowhere) ==
        Ordered::yes) {
      continue;
    }
    report_leaving(block,
                   name_of(*block.grid, record.other_serial, record.other_rank) +
                       " used a barrier in it at " + source_line(record.other_site).text(),
                   record.other_site);
    return;
  }
}

void set_late_orders(bool late) { late_orders = late; }
bool late_orders_matter() { return any_orders; }
EngineBytes take_engine_bytes() {
  return {engine_read.exchange(0), engine_written.exchange(0), engine_read_most.exchange(0)};
}

void mbarrier_init(std::uint64_t* barrier, unsigned count) {
  if (current_thread != nullptr) {
    check_count(count, caller(__builtin_return_address(0)));
    Record& record = records[barrier];
    record.serial = serial_of(barrier);
    record.time = current_thread->block->time;
    record.rank = current_thread->rank;
    record.site = caller(__builtin_return_address(0));
    record.raced = false;
    record.other_serial = 0;
    record.copies.clear();
    ++copies_changed;
  }
  State state{};
  state.pending = state.expected = count;
  std::uint64_t word;
  std::memcpy(&word, &state, sizeof word);
  __atomic_store_n(barrier, word, __ATOMIC_RELEASE);
  release(barrier);
}

void mbarrier_invalidate(std::uint64_t* barrier) {
  records.erase(barrier);
  __atomic_store_n(barrier, 0, __ATOMIC_RELEASE);
}

std::uint64_t mbarrier_arrive(std::uint64_t* barrier, unsigned count, std::int64_t bytes,
                              bool drop) {
  const ProgramCounter site = caller(__builtin_return_address(0));
  Record* record = nullptr;
  if (current_thread != nullptr) {
    check_count(count, site);
    record = &record_of(barrier, site);
    if (load(barrier).pending < count) {
      fail("barrier", "arrives at a barrier more often than its phase expects", site);
    }
    release(barrier);
    move_on(*current_thread->block->gang);
    for (auto& group : current_thread->tasks) {
      for (Thread::Task& task : group) task.exposed = true;
    }
  }
  const std::uint64_t old = update(barrier, [=](State& state) {
    state.bytes += bytes;
    state.pending -= count;
    if (drop) state.expected -= count;
  });
  if (load(barrier).parity != state_of(old).parity && record != nullptr) {
    for (Copy& copy : record->copies) copy.ready = copy.ready || !copy.counted;
  }
  if (bytes > 0 && record != nullptr) {
    any_orders = true;
    for (int turns = 0; late_orders && turns < 3; ++turns) step_aside(*current_thread);
  }
  return old;
}

void mbarrier_expect(std::uint64_t* barrier, std::int64_t bytes) {
  if (current_thread != nullptr) record_of(barrier, caller(__builtin_return_address(0)));
  update(barrier, [=](State& state) { state.bytes += bytes; });
}

bool mbarrier_test(std::uint64_t* barrier, bool parity) {
  if (current_thread == nullptr) return load(barrier).parity != parity;
  Record& record = record_of(barrier, caller(__builtin_return_address(0)));
  if (record.serial != 0 && record.serial != current_thread->block->serial) {
    fail("barrier",
         "waits at a barrier of another block: a thread can wait at its own block's only",
         caller(__builtin_return_address(0)));
  }
  State state = load(barrier);
  if (state.parity == parity && state.pending == 0 && !record.copies.empty()) {
    // All have arrived and only bytes are missing: now they land.
    acquire(barrier);
    const std::int64_t bytes =
        land_if(record.copies, [](const Copy& copy) { return copy.counted; });
    release(barrier);
    update(barrier, [=](State& s) { s.bytes -= bytes; });
    state = load(barrier);
    if (state.parity == parity && state.bytes < 0) {
      fail("barrier", "more bytes were copied than the barrier expects",
           caller(__builtin_return_address(0)));
    }
    if (state.parity != parity) {
      for (Copy& copy : record.copies) copy.ready = true;
    }
  }
  if (state.parity == parity) {
    note_idle(barrier);
    return false;
  }
  acquire(barrier);
  if (!record.copies.empty() &&
      land_if(record.copies, [](const Copy& copy) { return copy.ready; }) > 0) {
    release(barrier);
  }
  return true;
}

bool mbarrier_parity(std::uint64_t token) { return state_of(token).parity; }
unsigned mbarrier_pending(std::uint64_t token) {
  return static_cast<unsigned>(state_of(token).pending);
}

void mbarrier_copy(std::uint64_t* barrier, void* to, const void* from, std::size_t bytes,
                   bool counted, bool again) {
  if (current_thread == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  const ProgramCounter site = caller(__builtin_return_address(0));
  Record& record = record_of(barrier, site);
  if (counted) {
    check_bulk(to, from, bytes, site);
    check_initialised(record, site);
    check_refill(*current_thread, to, bytes, site);
  }
  if (tracing) trace_copy(to, from, bytes, site);
  record.copies.push_back({to, from, bytes, site, counted, false, counted});
  ++copies_changed;
  record.copies.back().again = again;
  release(barrier);  // the thread that lands the copy sees what this one has written
}

void tensor_load(std::uint64_t* barrier, void* shared, const void* map,
                 const std::int32_t* coordinates, int rank, bool again) {
  const void* const pc = __builtin_return_address(0);
  const ProgramCounter site = caller(pc);
  Record& record = record_of(barrier, site);
  check_initialised(record, site);
  for (const TensorPiece& piece : tensor_pieces(map, coordinates, rank, shared, false, pc)) {
    check_seen(piece.shared, piece.global, piece.bytes, site);
    check_refill(*current_thread, piece.shared, piece.bytes, site);
    if (tracing && piece.global != nullptr) {
      trace_copy(piece.shared, piece.global, piece.bytes, site);
    }
    record.copies.push_back(
        {piece.shared, piece.global, piece.bytes, site, true, false, true, piece.fill});
    record.copies.back().again = again;
  }
  ++copies_changed;
  release(barrier);  // the thread that lands the copy sees what this one has written
}

void mbarrier_copy_piece(std::uint64_t* barrier, void* to, const void* from, std::size_t bytes,
                         const void* pc) {
  if (current_thread == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  const ProgramCounter site = caller(pc);
  Record& record = record_of(barrier, site);
  count_copy(to, from, bytes, site);
  record.copies.push_back({to, from, bytes, site, false, false, false});
  release(barrier);
}

void mbarrier_take_copies(std::uint64_t* barrier) {
  const ProgramCounter site = caller(__builtin_return_address(0));
  Record& record = record_of(barrier, site);
  for (const auto& group : current_thread->copies) {
    for (const Thread::Copy& copy : group) {
      count_copy(copy.to, copy.from, copy.bytes, site);
      record.copies.push_back({copy.to, copy.from, copy.bytes, site, false, false, false});
    }
  }
  current_thread->copies.clear();
  release(barrier);
}

void mbarrier_store(std::uint64_t* barrier, void* to, const void* value, std::size_t bytes,
                    void (*combine)(void* to, const void* from)) {
  Thread& thread = *current_thread;
  const ProgramCounter site = caller(__builtin_return_address(0));
  Record& record = record_of(barrier, site);
  if (checking) {  // not counted: it is no store of the SM's load/store unit
    const bool stores = combine == nullptr;
    check_access(thread, reinterpret_cast<std::uintptr_t>(to), bytes,
                 stores ? Access::store : Access::atomic,
                 stores ? Strength::plain : Strength::atomic, site);
  }
  if (combine != nullptr) {
    combine(to, value);
  } else {
    std::memcpy(to, value, bytes);
  }
  release(barrier);
  const std::uint64_t old =
      update(barrier, [=](State& state) { state.bytes -= static_cast<std::int64_t>(bytes); });
  if (load(barrier).parity != state_of(old).parity) {
    for (Copy& copy : record.copies) copy.ready = true;
  }
  move_on(*thread.block->gang);
}

// ---- Copies of one thread ----

void async_copy(void* to, const void* from, std::size_t bytes) {
  Thread& thread = *current_thread;
  if (thread.copies.empty()) thread.copies.emplace_back();
  thread.has_copies = true;
  count_copied(bytes);
  thread.copies.back().push_back({to, from, bytes});
}

void async_commit() { current_thread->copies.emplace_back(); }

void async_wait(unsigned pending) {
  Thread& thread = *current_thread;
  auto& groups = thread.copies;
  const std::size_t closed = groups.empty() ? 0 : groups.size() - 1;
  if (closed <= pending) return;
  const std::size_t land = closed - pending;
  for (std::size_t g = 0; g < land; ++g) {
    for (const Thread::Copy& copy : groups[g]) {
      access(copy.from, copy.bytes, Access::load, __builtin_return_address(0));
      access(copy.to, copy.bytes, Access::store, __builtin_return_address(0));
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
  }
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(land));
}

// ---- Work that is deferred until a thread waits for it ----

void later(Later* call, void* to, std::uint64_t a, std::uint64_t b) {
  Thread& thread = *current_thread;
  if (thread.tasks.empty()) thread.tasks.emplace_back();
  thread.has_copies = true;
  if (counting && thread.lane == 0) count_product();
  thread.tasks.back().push_back({call, to, a, b});
}

namespace {
/// After an arrival a copy that overwrites the operands may be in flight while they are read.
void check_not_refilled(Thread& thread, std::uintptr_t at, std::size_t bytes, ProgramCounter site) {
  for (const Target& target : targets_under_way()) {
    if (target.to <= at || at + bytes <= target.from) continue;
    const Block& block = *thread.block;
    find("race", *block.grid,
         "shared memory, byte " + std::to_string(shared_byte(block, at)) + ": " + name_of(thread) +
             " reads it at " + source_line(site).text() +
             ", for what it has begun and not awaited before it arrived at a barrier; a bulk copy "
             "that overwrites it is under way, begun at " +
             source_line(target.site).text(),
         site, target.site);
    thread.exposed = false;  // once per wait
    return;
  }
}
}  // namespace

void read_by_proxy(void* to, const void* from, std::size_t bytes) {
  const ProgramCounter site = caller(__builtin_return_address(0));
  const auto at = reinterpret_cast<std::uintptr_t>(from);
  if (checking) {
    check_copy(*current_thread, at, bytes, Access::load, site);
    check_access(*current_thread, at, bytes, Access::load, Strength::copied, site);
    if (current_thread->exposed) check_not_refilled(*current_thread, at, bytes, site);
  }
  std::memcpy(to, from, bytes);
}

void later_commit() { current_thread->tasks.emplace_back(); }

void later_wait(unsigned pending) {
  Thread& thread = *current_thread;
  auto& groups = thread.tasks;
  if (groups.empty()) return;
  const std::size_t closed = groups.size() - 1;
  if (closed <= pending) return;
  const auto is_exposed = [](const Thread::Task& task) { return task.exposed; };
  for (std::size_t g = 0; g < closed - pending; ++g) {
    thread.exposed = checking && std::any_of(groups[g].begin(), groups[g].end(), is_exposed);
    if (thread.exposed) {  // a thread that waited for the arrival may run first, as on a GPU
      step_aside(thread);
      step_aside(thread);
    }
    for (const Thread::Task& task : groups[g]) task.call(task.to, task.a, task.b);
  }
  thread.exposed = false;
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(closed - pending));
}

// ---- Groups of bulk copies ----

namespace {

struct Groups {
  std::uint32_t serial = 0;  ///< of the block; groups of an earlier block are gone
  std::vector<Copy> open;
  std::list<std::vector<Copy>> closed;
};
thread_local std::unordered_map<const Thread*, Groups> groups_of_threads;

Groups& my_groups() {
  Groups& groups = groups_of_threads[current_thread];
  if (groups.serial != current_thread->block->serial) {
    groups = {};
    groups.serial = current_thread->block->serial;
  }
  return groups;
}

void begin_in_group(const Copy& copy) {
  my_groups().open.push_back(copy);
  current_thread->has_groups = true;
}

}  // namespace

void bulk_copy(void* to, const void* from, std::size_t bytes) {
  const ProgramCounter site = caller(__builtin_return_address(0));
  check_bulk(to, from, bytes, site);
  if (tracing) trace_copy(to, from, bytes, site);
  begin_in_group({to, from, bytes, site, false, false, true});
}

void bulk_reduce(void* to, const void* from, std::size_t bytes, std::size_t element,
                 void (*combine)(void* to, const void* from)) {
  const ProgramCounter site = caller(__builtin_return_address(0));
  check_bulk(to, from, bytes, site);
  begin_in_group({to, from, bytes, site, false, false, true, 0, element, combine});
}

namespace {
/// `reduction`: nullptr, or how to combine each element.
void tensor_to_global(const void* map, const std::int32_t* coordinates, int rank,
                      const void* shared, TensorReduction reduction, const void* pc) {
  const ProgramCounter site = caller(pc);
  for (const TensorPiece& piece :
       tensor_pieces(map, coordinates, rank, const_cast<void*>(shared), true, pc)) {
    if (piece.global == nullptr) continue;
    check_seen(piece.global, piece.shared, piece.bytes, site);
    if (tracing) trace_copy(piece.global, piece.shared, piece.bytes, site);
    begin_in_group({piece.global, piece.shared, piece.bytes, site, false, false, true, 0,
                    reduction.element, reduction.combine});
  }
}
}  // namespace

void tensor_store(const void* map, const std::int32_t* coordinates, int rank, const void* shared) {
  tensor_to_global(map, coordinates, rank, shared, {0, nullptr}, __builtin_return_address(0));
}

void tensor_reduce(const void* map, const std::int32_t* coordinates, int rank, const void* shared,
                   Reduction op) {
  const void* const pc = __builtin_return_address(0);
  tensor_to_global(map, coordinates, rank, shared, tensor_reduction(map, op, pc), pc);
}

void bulk_commit() {
  Groups& groups = my_groups();
  groups.closed.push_back(std::exchange(groups.open, {}));
}

void bulk_wait(unsigned pending) {
  Groups& groups = my_groups();
  while (groups.closed.size() > pending) {
    const std::vector<Copy> copies = std::move(groups.closed.front());
    groups.closed.pop_front();
    for (const Copy& copy : copies) land(copy);
  }
}

void bulk_wait_read(unsigned pending) {
  Thread& thread = *current_thread;
  Groups& groups = my_groups();
  std::size_t left = groups.closed.size();
  for (auto group = groups.closed.begin(); left > pending; ++group, --left) {
    for (Copy& copy : *group) {
      if (copy.read != nullptr) continue;
      if (checking) {
        check_access(thread, reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, Access::load,
                     Strength::copied, copy.site);
      }
      copy.read = std::shared_ptr<char[]>(new char[copy.bytes]);
      std::memcpy(copy.read.get(), copy.from, copy.bytes);
    }
  }
  move_on(*thread.block->gang);
}

void end_groups(Thread& thread) {
  thread.has_groups = false;
  Groups groups = std::exchange(my_groups(), {});
  groups.closed.push_back(std::move(groups.open));
  const Copy* unread = nullptr;
  for (const std::vector<Copy>& group : groups.closed) {
    for (const Copy& copy : group) {
      if (copy.read != nullptr) {
        land(copy);
      } else if (unread == nullptr) {
        unread = &copy;
      }
    }
  }
  if (unread == nullptr || !checking) return;
  const Unobserved unobserved;
  find("lifetime", *thread.block->grid,
       name_of(thread) + " ends, and the bulk copy that it began at " +
           source_line(unread->site).text() +
           " may not have read shared memory yet: wait for its group "
           "(cp_async_bulk_wait_group_read()) before the thread ends",
       unread->site, 0);
}

// ---- Cooperative groups ----

namespace {

/// Lanes of one warp that are at the same line.
struct Gathering {
  const Warp* warp;
  std::uint32_t serial;  ///< of the block
  const char* file;
  int line;
  std::uint32_t lanes;
  bool closed;
  unsigned inside;  ///< lanes that have not left
};
thread_local std::list<Gathering> gatherings;

bool others_can_run(const Warp& warp, std::uint32_t lanes) {
  for (std::uint32_t rest = warp.live & ~lanes; rest != 0; rest &= rest - 1) {
    if (warp.lanes[__builtin_ctz(rest)]->runnable()) return true;
  }
  return false;
}

}  // namespace

std::uint32_t active_lanes(const char* file, int line) {
  const Thread& thread = *current_thread;
  const Warp& warp = thread.block->warps[thread.warp];
  auto at = gatherings.begin();
  for (; at != gatherings.end(); ++at) {
    if (at->warp == &warp && at->serial == thread.block->serial && at->line == line &&
        std::strcmp(at->file, file) == 0 && !at->closed) {
      break;
    }
  }
  const bool first = at == gatherings.end();
  if (first) at = gatherings.insert(at, {&warp, thread.block->serial, file, line, 0, false, 0});
  at->lanes |= 1u << thread.lane;
  ++at->inside;
  if (first) {
    // A lane that polls stays runnable: stop after two rounds without a newcomer.
    for (int quiet = 0; quiet < 2 && others_can_run(warp, at->lanes);) {
      const std::uint32_t before = at->lanes;
      give_way(*current_thread);
      quiet = at->lanes == before ? quiet + 1 : 0;
    }
    at->closed = true;
  } else {
    while (!at->closed) give_way(*current_thread);
  }
  const std::uint32_t lanes = at->lanes;
  if (--at->inside == 0) gatherings.erase(at);
  return lanes;
}

bool cooperative() { return current_thread->block->grid->launch.cooperative; }

int shared_rank(const void* address) {
  const Block* owner = owner_of(address);
  if (owner == nullptr || owner->cluster != current_thread->block->cluster) return -1;
  return static_cast<int>(owner->rank);
}

}  // namespace simt
