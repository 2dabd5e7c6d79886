// What orders two accesses: barriers, warp calls, fences and flags. Time is a counter per block
// that every synchronisation of the block advances.
//
// A release stores under the flag's address up to which time the block's accesses are known. A
// strong load of that address learns it: strictly if an acquire comes with the load (its memory
// order) or after it (a fence of the same thread), else loosely. A loose order is a finding.
#include "order.hpp"

#include <cstring>
#include <utility>

#include "dynamic.hpp"
#include "engine.hpp"

namespace simt {

namespace {

/// Strong loads of one thread without an acquire; the oldest are forgotten.
constexpr std::size_t most_loaded = 64;

bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
}
bool acquires(Order order) {
  return order == Order::acquire || order == Order::acq_rel || order == Order::seq_cst;
}

/// `inside`: block time up to which threads of the block may know; `time`: the same for all.
void publish(Thread& thread, const volatile void* address, std::uint32_t inside,
             std::uint32_t time) {
  const Unobserved unobserved;
  Block& block = *thread.block;
  Flags& flags = *block.grid->flags;
  const std::lock_guard<std::mutex> lock(flags.mutex);
  Published& p = flags.published[reinterpret_cast<std::uintptr_t>(address)];
  p.inside[block.serial].join({inside, inside, 0});
  ++p.updates;
  flags.any = true;
  if (time == 0) return;
  p.blocks[block.serial].join({time, time, 0});
  for (const auto& [serial, known] : block.knows) p.blocks[serial].join(known);
  if (block.knows_all || p.blocks.size() > 1024) p.all = true;
}

enum class Scope : std::uint8_t { nobody, block, all };

/// Learns what was published at an address: strictly within `scope`, loosely beyond it.
void learn(Thread& thread, std::uintptr_t address, Scope scope, ProgramCounter pc) {
  const Unobserved unobserved;
  Block& block = *thread.block;
  Flags& flags = *block.grid->flags;
  const std::lock_guard<std::mutex> lock(flags.mutex);
  const auto found = flags.published.find(address);
  if (found == flags.published.end()) return;
  if (found->second.all) block.knows_all = true;
  found->second.seen[block.serial] = found->second.updates;
  Known& acquired = block.warps[thread.warp].acquired;
  const auto take = [pc](Known& mine, Known theirs, bool strictly) {
    if (!strictly) theirs = {theirs.loosely, 0, pc};
    mine.join(theirs);
  };
  const auto inside = found->second.inside.find(block.serial);
  if (inside != found->second.inside.end()) take(acquired, inside->second, scope != Scope::nobody);
  for (const auto& [serial, theirs] : found->second.blocks) {
    if (serial == block.serial) {
      take(acquired, theirs, scope != Scope::nobody);
    } else {
      take(block.knows[serial], theirs, scope == Scope::all);
    }
  }
}

bool nothing_published(const Thread* thread) {
  return thread == nullptr || !checking || !thread->block->grid->flags->any;
}

/// A strong load whose acquire, if there is one, is still to come.
void note_loaded(Thread& thread, std::uintptr_t address, ProgramCounter pc) {
  const Unobserved unobserved;
  learn(thread, address, Scope::nobody, pc);
  std::vector<Loaded>& loaded = thread.loaded;
  for (const Loaded& before : loaded) {
    if (before.address == address) return;
  }
  if (loaded.size() == most_loaded) {
    learn(thread, loaded.front().address, Scope::all, 0);
    loaded.erase(loaded.begin());
  }
  loaded.push_back({address, pc});
}

/// A fence makes strict what the thread's earlier strong loads have seen.
void acquire_loaded(Thread& thread, bool block_only) {
  if (thread.unsettled) settle(thread);
  if (thread.loaded.empty()) return;
  const Unobserved unobserved;
  for (const Loaded& before : thread.loaded) {
    learn(thread, before.address, block_only ? Scope::block : Scope::all, before.pc);
  }
  if (!block_only) thread.loaded.clear();
}

/// Compares an access at `time` with what is known.
inline Ordered compare(std::uint32_t time, const Known& what, ProgramCounter* loaded_at) {
  if (time < what.strictly) return Ordered::yes;
  if (time >= what.loosely) return Ordered::no;
  *loaded_at = what.loaded_at;
  return Ordered::loosely;
}

/// What a thread of warp `mine` knows of a thread of its block. `lanes`: what it knows of single
/// lanes of its warp; null: nothing.
inline Ordered known_in_block(const Known& acquired, std::uint32_t warp_known,
                              const std::uint32_t* lanes, unsigned mine, std::uint32_t time,
                              unsigned rank, ProgramCounter* loaded_at) {
  const Ordered result = compare(time, acquired, loaded_at);
  if (result == Ordered::yes || rank / 32 != mine) return result;
  if (lanes != nullptr && time < lanes[rank % 32]) return Ordered::yes;
  return time < warp_known ? Ordered::yes : result;
}

/// What it knows of other blocks, which is nothing in most cases.
inline Ordered known_of_others(const MetBlocks& met, const KnownBlocks& blocks, bool all,
                               std::uint32_t serial, std::uint32_t time,
                               ProgramCounter* loaded_at) {
  if (all) return Ordered::yes;
  if (met.empty() && blocks.empty()) return Ordered::no;
  const auto at_barrier = met.find(serial);
  if (at_barrier != met.end() && time < at_barrier->second) return Ordered::yes;
  return known_of_block(blocks, serial, time, loaded_at);
}

}  // namespace

Ordered known_of_block(const KnownBlocks& blocks, std::uint32_t serial, std::uint32_t time,
                       ProgramCounter* loaded_at) {
  const auto found = blocks.find(serial);
  return found == blocks.end() ? Ordered::no : compare(time, found->second, loaded_at);
}

bool is_over_unawaited(const Thread& thread) {
  return thread.at_cluster && thread.block->cluster->phase != thread.cluster_ticket;
}

namespace {

/// The blocks with which the thread has synchronized at a barrier, and up to which time.
const MetBlocks& met_by(const Thread& thread) {
  const Gang& gang = *thread.block->gang;
  return is_over_unawaited(thread) ? gang.knew : gang.knows;
}

}  // namespace

Ordered order_known(const Thread& thread, std::uint32_t serial, std::uint32_t time, unsigned rank,
                    ProgramCounter* loaded_at) {
  const Block& block = *thread.block;
  if (serial == block.serial) {
    const Warp& warp = block.warps[thread.warp];
    const std::uint32_t* lanes = warp.lane_knows ? &warp.lane_knows[thread.lane * 32u] : nullptr;
    return known_in_block(warp.acquired, warp.known, lanes, thread.warp, time, rank, loaded_at);
  }
  const Ordered result =
      known_of_others(met_by(thread), block.knows, block.knows_all, serial, time, loaded_at);
  if (result == Ordered::yes || serial >= block.grid->first_serial) return result;
  return std::max(result, order_in_family(*block.grid, serial, time, rank, loaded_at));
}

std::unique_ptr<Knowledge> knowledge_of(Thread& thread) {
  Block& block = *thread.block;
  const Warp& warp = block.warps[thread.warp];
  auto knowledge = std::make_unique<Knowledge>();
  knowledge->serial = block.serial;
  knowledge->rank = thread.rank;
  knowledge->time = ++block.time;
  knowledge->barrier_time = barrier_time_of(thread);
  knowledge->warp_known = warp.known;
  if (warp.lane_knows) {
    const std::uint32_t* lanes = &warp.lane_knows[thread.lane * 32u];
    knowledge->lanes.assign(lanes, lanes + 32);
  }
  knowledge->acquired = warp.acquired;
  knowledge->met = met_by(thread);
  knowledge->blocks = block.knows;
  knowledge->all = block.knows_all;
  return knowledge;
}

Ordered known_to(const Knowledge& thread, std::uint32_t serial, std::uint32_t time, unsigned rank,
                 ProgramCounter* loaded_at) {
  if (serial != thread.serial) {
    return known_of_others(thread.met, thread.blocks, thread.all, serial, time, loaded_at);
  }
  if (time < (rank == thread.rank ? thread.time : thread.barrier_time)) return Ordered::yes;
  const std::uint32_t* lanes = thread.lanes.empty() ? nullptr : thread.lanes.data();
  return known_in_block(thread.acquired, thread.warp_known, lanes, thread.rank / 32, time, rank,
                        loaded_at);
}

bool saw_all_updates(const Thread& thread, std::uintptr_t address) {
  Flags& flags = *thread.block->grid->flags;
  const std::lock_guard<std::mutex> lock(flags.mutex);
  const auto found = flags.published.find(address);
  if (found == flags.published.end()) return false;
  const auto mine = found->second.seen.find(thread.block->serial);
  return mine != found->second.seen.end() && mine->second == found->second.updates;
}

bool passed_to_copies(const Thread& thread, std::uint32_t time, unsigned rank) {
  const ProxyFence& mine = thread.proxy_fence;
  if (time < mine.barrier) return true;
  if (rank / 32 == thread.warp && time < mine.warp) return true;
  if (rank == thread.rank) return time < mine.time;
  const Thread* writer = thread.block->warps[rank / 32].lanes[rank % 32];
  return time < writer->proxy_fence.time;
}

void settle_acquire(Thread& thread) {
  const volatile void* address = std::exchange(thread.acquires, nullptr);
  if (nothing_published(&thread)) return;
  note_loaded(thread, reinterpret_cast<std::uintptr_t>(address), thread.acquires_at);
}

void release_fenced(Thread& thread, const volatile void* address) {
  if (thread.block_fenced != 0) publish(thread, address, thread.block_fenced, thread.fenced);
}

void forget_order(Block& block) {
  block.time = 1;
  block.barrier_time = block.before_cluster = 0;
  block.knows.clear();
  block.knows_all = false;
  for (Warp& warp : block.warps) {
    warp.known = 0;
    warp.acquired = {};
    warp.lane_knows.reset();
  }
}

void forget_order(Thread& thread) {
  thread.acquires = nullptr;
  thread.unsettled = false;
  if (!checking) return;
  thread.fenced = thread.block_fenced = thread.polls = 0;
  thread.proxy_fence = {};
  thread.loaded.clear();
  thread.suspects.clear();
  thread.turns = {};
  for (Thread::Load& load : thread.volatile_loads) load = {};
}

void note_barrier(Block& block) { block.barrier_time = block.before_cluster = ++block.time; }

void note_cluster(Gang& gang) {
  gang.knew = gang.knows;
  for (const auto& block : gang.blocks) {
    block->before_cluster = block->barrier_time;
    block->barrier_time = ++block->time;
    gang.knows[block->serial] = block->time;
  }
}

void note_grid(Gang& gang) {
  for (const auto& block : gang.blocks) {
    note_barrier(*block);
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

void fence(bool block_only, Order order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  if (checking && acquires(order)) acquire_loaded(*thread, block_only);
  if (!releases(order)) return;
  thread->block_fenced = ++thread->block->time;
  if (!block_only) thread->fenced = thread->block->time;
}

void proxy_fence() {
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  Block& block = *thread->block;
  const std::uint32_t time = ++block.time;
  thread->proxy_fence = {time, barrier_time_of(*thread), block.warps[thread->warp].known, time};
  block.grid->any_proxy_fence = true;
}

void mbarrier_init_fence() {
  Thread* thread = current_thread;
  if (thread != nullptr) thread->proxy_fence.init = ++thread->block->time;
}

void release(const volatile void* address) {
  Thread* thread = current_thread;
  if (thread == nullptr || !checking) return;
  const std::uint32_t time = ++thread->block->time;
  publish(*thread, address, time, time);
}

void acquire(const volatile void* address) {
  Thread* thread = current_thread;
  if (nothing_published(thread)) return;
  learn(*thread, reinterpret_cast<std::uintptr_t>(address), Scope::all, 0);
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

void after_atomic(const volatile void* address, Access kind, Order order) {
  if (kind == Access::store) return;
  Thread* thread = current_thread;
  if (!nothing_published(thread)) {
    if (acquires(order)) {
      acquire(address);
    } else {
      note_loaded(*thread, reinterpret_cast<std::uintptr_t>(address), thread->site);
    }
  }
  poll();
}

}  // namespace simt
