// What a kernel may not do: races, bad addresses, reads of what nobody wrote.
//
// Each word of device and shared memory has a cell with its last plain writer, two atomic writers
// and two readers. An access
// races with an earlier one by another thread if one of them writes, not both are atomic, and no
// barrier, warp function, launch, or pair of fence and flag lies between them. Order is kept as
// block time: a counter that every synchronisation of the block moves on.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

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
  std::atomic<std::uint8_t> locked;
};
static_assert(sizeof(Record) == 12 && sizeof(Cell) == 64);
constexpr std::uint32_t last_time = (1u << 22) - 1;

Cell* cells = nullptr;
bool instrumented_code = false;
std::string triple(const char* what, const uint3& at) {
  char text[60];
  std::snprintf(text, sizeof text, "%s (%u,%u,%u)", what, at.x, at.y, at.z);
  return text;
}

std::string name_of(const Grid& grid, std::uint32_t serial, unsigned rank) {
  const dim3 &g = grid.launch.grid, &b = grid.launch.block;
  const unsigned number = serial - grid.first_serial;
  return triple("block", position(number, g)) + ", " + triple("thread", position(rank, b));
}

/// The common cases of ordered(): nothing recorded, an earlier launch, the same thread, a barrier.
inline bool surely_ordered(const Record& record, const Thread& thread, const Block& block) {
  if (record.serial != block.serial) return record.serial < block.grid->first_serial;
  return record.time < block.barrier_time || record.rank == thread.rank;
}

/// Is what `record` did ordered before what `thread` does now?
bool ordered(const Record& record, const Thread& thread) {
  const Block& block = *thread.block;
  if (surely_ordered(record, thread, block)) return true;
  if (record.serial == block.serial) {
    const Warp& warp = block.warps[thread.warp];
    if (record.time < warp.acquired) return true;
    if (record.rank / 32 != thread.warp) return false;
    if (record.time < warp.known) return true;
    return warp.lane_knows && record.time < warp.lane_knows[thread.lane * 32u + record.rank % 32];
  }
  if (block.knows_all) return true;
  const auto in = [&](const std::unordered_map<std::uint32_t, std::uint32_t>& knows) {
    const auto other = knows.find(record.serial);
    return other != knows.end() && record.time < other->second;
  };
  return in(block.knows) || in(block.gang->knows);
}

/// A window of shared memory keeps the records of the blocks that had it before.
bool is_alive(const Gang& gang, std::uint32_t serial) {
  for (const auto& block : gang.blocks) {
    if (block->serial == serial) return true;
  }
  return false;
}

const char* did(const Record& record, bool wrote) {
  return record.atomic ? "updated" : wrote ? "wrote" : "read";
}

const char* does(Access kind) {
  return kind == Access::load ? "reads" : kind == Access::store ? "writes" : "updates";
}

__attribute__((noinline, cold)) void report_race(const Thread& thread, std::uintptr_t address,
                                                 const Record& before, bool wrote, Access kind,
                                                 ProgramCounter pc) {
  const Unobserved unobserved;
  const Grid& grid = *thread.block->grid;
  char where[80];
  if (is_window(address)) {
    std::snprintf(where, sizeof where, "shared memory, byte %zu",
                  shared_byte(*thread.block, address));
  } else {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (allocation_of(reinterpret_cast<void*>(address), &base, &bytes)) {
      std::snprintf(where, sizeof where, "global memory, byte %zu of %zu",
                    static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(base)),
                    bytes);
    } else {
      std::snprintf(where, sizeof where, "a __device__ variable");
    }
  }
  note_culprit("race", address, 1, kind, static_cast<int>(before.serial - grid.first_serial),
               before.rank);
  find("race", *thread.block->grid,
       std::string(where) + ": " + name_of(grid, before.serial, before.rank) + " " +
           did(before, wrote) + " it at " + source_line(before.pc).text() + ", " +
           simt::name_of(thread) + " " + does(kind) + " it at " + source_line(pc).text() +
           ", and nothing orders the two",
       before.pc, pc);
}

/// Of several that did the same, two are kept, of different warps if there are: so at least one is
/// not the thread that comes next.
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
    if (ordered(reader, thread) || (shared && !is_alive(*thread.block->gang, reader.serial))) {
      reader = now;
      return;
    }
  }
  const auto warp_of = [](const Record& r) { return std::make_pair(r.serial, r.rank / 32); };
  if (warp_of(two[0]) == warp_of(two[1])) two[1] = now;
}

/// Are two readers known already that any racing writer would meet? Two of different warps since
/// the last barrier, or two lanes of this warp since its lanes last met.
inline bool two_read_already(const Cell& cell, const Thread& thread, unsigned bytes) {
  const Block& block = *thread.block;
  const Record &a = cell.read[0], &b = cell.read[1];
  if (a.serial != block.serial || b.serial != block.serial || (a.bytes & b.bytes & bytes) != bytes)
    return false;
  const std::uint32_t earlier = std::min<std::uint32_t>(a.time, b.time);
  if (earlier < block.barrier_time) return false;
  const unsigned warp_a = a.rank / 32, warp_b = b.rank / 32;
  if (warp_a != warp_b) return true;
  const Warp& mine = block.warps[thread.warp];
  return warp_a == thread.warp && earlier >= mine.known && !mine.lane_knows;
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

void check_race(Thread& thread, std::uintptr_t address, std::size_t word, unsigned bytes,
                Access kind, Strength strength, ProgramCounter pc, bool shared) {
  Cell& cell = cells[word];
  const Lock lock(shared || !several_workers ? nullptr : &cell);
  const Block& block = *thread.block;
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
  const auto races = [&](const Record& before) {
    if (sure(before) || (before.bytes & bytes) == 0 || ordered(before, thread)) return false;
    if (shared && !is_alive(*block.gang, before.serial)) return false;
    if (before.strength == 0 || now.strength == 0) return true;
    // Volatile accesses pass flags, but inside a warp they only hide a missing __syncwarp().
    return shared && before.strength + now.strength < 4 && before.serial == now.serial &&
           before.rank / 32 == now.rank / 32;
  };
  const auto same_instruction = [&](const Record& before) {  // the hardware lets one lane win
    return before.pc == now.pc && before.serial == now.serial && before.rank / 32 == now.rank / 32;
  };
  if (races(cell.write) && !(kind == Access::store && same_instruction(cell.write))) {
    report_race(thread, address, cell.write, true, kind, pc);
  }
  for (const Record& writer : cell.strong_write) {
    if (races(writer)) {
      report_race(thread, address, writer, true, kind, pc);
      break;
    }
  }
  if (kind == Access::load) {
    keep(cell.read, now, thread, shared);
    return;
  }
  for (const Record& reader : cell.read) {
    if (races(reader)) {
      report_race(thread, address, reader, false, kind, pc);
      break;
    }
  }
  if (strength != Strength::plain) {
    keep(cell.strong_write, now, thread, shared);
    return;
  }
  const bool again =
      cell.write.serial == now.serial && cell.write.rank == now.rank && cell.write.time == now.time;
  const std::uint32_t before = cell.write.bytes;
  cell.write = now;
  if (again) cell.write.bytes = (before | now.bytes) & 15u;
}

/// Has the system given memory to this address?
bool is_mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), 1, MS_ASYNC) == 0;
}

bool is_my_window(const Thread& thread, std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(thread.block->memory) < window_bytes;
}

[[noreturn]] void bad_address(const Thread& thread, const char* finding, std::uintptr_t address,
                              std::size_t bytes, Access kind, ProgramCounter pc) {
  const Unobserved unobserved;
  char around[300];
  if (describe_address(address, around, sizeof around) && std::string(finding) == "bounds") {
    finding = "lifetime";
  }
  const std::string place =
      is_my_window(thread, address) ? describe_shared(*thread.block, address) : std::string(around);
  note_culprit(finding, address, bytes, kind);
  find(finding, *thread.block->grid,
       name_of(thread) + " " + does(kind) + " " + std::to_string(bytes) + " byte(s) at " +
           source_line(pc).text() + ": " + place,
       pc, 0);
  abandon(*thread.block->grid, error_illegal_address);
}

/// Constants and the kernel's arguments are fine; anything else is the host's.
void check_elsewhere(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                     ProgramCounter pc) {
  if (kind == Access::load && (address - ranges.constants < ranges.constants_bytes ||
                               address - ranges.tables < ranges.tables_bytes)) {
    return;
  }
  const Body& body = thread.block->grid->body;
  if (address - reinterpret_cast<std::uintptr_t>(body.arguments) < body.bytes) return;
  const auto self = reinterpret_cast<std::uintptr_t>(&current_thread);  // other thread-locals
  if (address - (self - 65536) < 131072) return;
  const bool constant = address - ranges.constants < ranges.constants_bytes;
  const bool host = address >= 4096 && !constant && is_mapped(address);
  bad_address(thread, host ? "host memory" : "bounds", address, bytes, kind, pc);
}

bool in_my_cluster(const Thread& thread, std::uintptr_t address) {
  for (const auto& block : thread.block->gang->blocks) {
    if (block->cluster == thread.block->cluster &&
        address - reinterpret_cast<std::uintptr_t>(block->memory) < window_bytes) {
      return true;
    }
  }
  return false;
}

/// `inside`: block time up to which threads of the block may know; `time`: the same for all.
void publish(Thread& thread, const volatile void* address, std::uint32_t inside,
             std::uint32_t time) {
  const Unobserved unobserved;
  Block& block = *thread.block;
  Grid& grid = *block.grid;
  const std::lock_guard<std::mutex> lock(grid.mutex);
  Published& p = grid.published[reinterpret_cast<std::uintptr_t>(address)];
  std::uint32_t& mine = p.inside[block.serial];
  mine = std::max(mine, inside);
  grid.any_published = true;
  if (time == 0) return;
  const auto join = [&](std::uint32_t serial, std::uint32_t until) {
    std::uint32_t& known_until = p.blocks[serial];
    known_until = std::max(known_until, until);
  };
  join(block.serial, time);
  for (const auto& [serial, until] : block.knows) join(serial, until);
  if (block.knows_all || p.blocks.size() > 1024) p.all = true;
}

bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
}

}  // namespace

void set_up_checks() {
  static std::once_flag once;
  std::call_once(once, [] {
    checking = instrumented_code && checks_wanted();
    counting = counting || (instrumented_code && counts_wanted());
    if (instrumented_code) cells = static_cast<Cell*>(reserve(word_count() * sizeof(Cell)));
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

std::string name_of(const Thread& thread) {
  return name_of(*thread.block->grid, thread.block->serial, thread.rank);
}

void check_access(Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                  Strength strength, ProgramCounter pc) {
  if (thread.acquires != nullptr) settle_acquire(thread);
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
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t a = address; a < end; ++word) {
    const unsigned from = a & 3,
                   until = static_cast<unsigned>(std::min<std::uintptr_t>(end - (a - from), 4));
    const unsigned mask = (1u << until) - (1u << from);
    std::uint8_t& state = ranges.state[word];
    std::uint8_t seen = state;
    if ((seen & mask) != mask) bad_address(thread, "bounds", a, bytes, kind, pc);
    if ((seen >> 4 & mask) != mask) {
      if (kind != Access::store) {
        const Unobserved unobserved;
        note_culprit("uninitialised", a, bytes, kind);
        find("uninitialised", *thread.block->grid,
             name_of(thread) + " reads " + (shared ? "shared" : "global") + " memory at " +
                 source_line(pc).text() + " that nobody has written",
             pc, 0);
      }
      __atomic_fetch_or(&state, static_cast<std::uint8_t>(mask << 4), __ATOMIC_RELAXED);
    }
    check_race(thread, a, word, mask, kind, strength, pc, shared);
    a += until - from;
  }
}

/// What a volatile load found is known only when it is over: at the thread's next step.
void settle_acquire(Thread& thread) { acquire(std::exchange(thread.acquires, nullptr)); }

void note_barrier(Block& block) { block.barrier_time = ++block.time; }

void note_cluster_or_grid(Gang& gang) {
  for (const auto& block : gang.blocks) {
    block->barrier_time = ++block->time;
    gang.knows[block->serial] = block->time;
  }
}

void note_warp_call(Block& block, Warp& warp, std::uint32_t mask) {
  const std::uint32_t time = ++block.time;
  if (mask == warp.all) {
    warp.known = time;
    return;
  }
  if (!checking) return;
  if (!warp.lane_knows) {
    warp.lane_knows = std::make_unique<std::uint32_t[]>(32 * 32);
  }
  std::uint32_t joined[32] = {};
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    for (unsigned k = 0; k < 32; ++k) joined[k] = std::max(joined[k], warp.lane_knows[l * 32 + k]);
    joined[l] = time;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if (mask >> l & 1) std::memcpy(&warp.lane_knows[l * 32], joined, sizeof joined);
  }
}

// ---- What kernels call ----

void fence(bool block_only) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  thread->block_fenced = ++thread->block->time;
  if (!block_only) thread->fenced = thread->block->time;
}

void release(const volatile void* address) {
  Thread* thread = current_thread;
  if (thread == nullptr || !checking) return;
  const std::uint32_t time = ++thread->block->time;
  publish(*thread, address, time, time);
}

void release_fenced(Thread& thread, const volatile void* address) {
  if (thread.block_fenced != 0) publish(thread, address, thread.block_fenced, thread.fenced);
}

void acquire(const volatile void* address) {
  Thread* thread = current_thread;
  if (thread == nullptr || !checking || !thread->block->grid->any_published) return;
  const Unobserved unobserved;
  Block& block = *thread->block;
  Grid& grid = *block.grid;
  const std::lock_guard<std::mutex> lock(grid.mutex);
  const auto found = grid.published.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == grid.published.end()) return;
  if (found->second.all) block.knows_all = true;
  std::uint32_t& acquired = block.warps[thread->warp].acquired;
  const auto inside = found->second.inside.find(block.serial);
  if (inside != found->second.inside.end()) acquired = std::max(acquired, inside->second);
  for (const auto& [serial, until] : found->second.blocks) {
    std::uint32_t& mine = serial == block.serial ? acquired : block.knows[serial];
    mine = std::max(mine, until);
  }
}

void before_atomic(const volatile void* address, std::size_t size, Access kind, Order order,
                   const void* pc, bool loop) {
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  thread->site = counter_of(pc);
  thread->in_loop = loop;
  if (checking || counting) access(address, size, kind, pc, true);
  if (kind == Access::load || !checking) return;
  if (releases(order)) {
    release(address);
  } else {
    release_fenced(*thread, address);
  }
}

void after_atomic(const volatile void* address, Access kind, Order) {
  if (kind == Access::store) return;
  acquire(address);
  poll();
}

}  // namespace simt
