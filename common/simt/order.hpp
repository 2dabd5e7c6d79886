#pragma once
/// \file
/// What orders the threads of a grid: which thread knows up to which block time what the threads of
/// another block did. For the race checks.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "memory.hpp"

namespace simt {

struct Thread;
struct Block;

/// Up to which time of a block others know what its threads did.
struct Known {
  std::uint32_t loosely = 0;     ///< a strong load saw the flag ...
  std::uint32_t strictly = 0;    ///< ... and an acquire came with the load or after it
  ProgramCounter loaded_at = 0;  ///< the load that lacks an acquire

  void join(const Known& other) {
    if (other.loosely > loosely) loaded_at = other.loaded_at;
    loosely = std::max(loosely, other.loosely);
    strictly = std::max(strictly, other.strictly);
  }
};
using KnownBlocks = std::unordered_map<std::uint32_t, Known>;  ///< by the block's serial number
/// The same after a barrier of a cluster or grid: serial number and time.
using MetBlocks = std::unordered_map<std::uint32_t, std::uint32_t>;

/// What a strong store published, for strong loads of the same address.
struct Published {
  KnownBlocks blocks;
  KnownBlocks inside;         ///< the same, for threads of the block itself
  bool all = false;           ///< too many to distinguish
  std::uint64_t updates = 0;  ///< updates of the address itself
  std::unordered_map<std::uint32_t, std::uint64_t> seen;  ///< by block: how many it has seen
};

/// All that was published in a launch of the host and its descendants.
struct Flags {
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, Published> published;  ///< by address
  std::atomic<bool> any{false};
};

/// A strong load that still lacks an acquire.
struct Loaded {
  std::uintptr_t address;
  ProgramCounter pc;
};

/// When a thread last made its writes visible to the copy engines (fence.proxy.async), and what it
/// knew at that time.
struct ProxyFence {
  std::uint32_t time = 0;     ///< of its block; 0: never
  std::uint32_t barrier = 0;  ///< the block's last barrier before
  std::uint32_t warp = 0;     ///< the warp's last __syncwarp() before
  std::uint32_t init = 0;     ///< time of its last fence for mbarriers that it initialised
};

enum class Ordered : std::uint8_t { no, loosely, yes };

/// What a thread knew when it launched a kernel. Compare Block and Warp.
struct Knowledge {
  std::uint32_t serial = 0;  ///< of its block
  unsigned rank = 0;
  std::uint32_t time = 0, barrier_time = 0;  ///< of its block
  std::uint32_t warp_known = 0;
  std::vector<std::uint32_t> lanes;  ///< what it knew of each lane of its warp; or empty
  Known acquired;
  MetBlocks met;
  KnownBlocks blocks;
  bool all = false;
};
/// Copies what `thread` knows, and advances its block's time: what it does now comes later.
std::unique_ptr<Knowledge> knowledge_of(Thread& thread);
/// Did the thread know of an access of another thread, at that time of its block?
Ordered known_to(const Knowledge& thread, std::uint32_t serial, std::uint32_t time, unsigned rank,
                 ProgramCounter* loaded_at);
/// The same for knowledge of other blocks.
Ordered known_of_block(const KnownBlocks& blocks, std::uint32_t serial, std::uint32_t time,
                       ProgramCounter* loaded_at);

/// Is the access of a thread, at that time of its block, ordered before what `thread` does now? For
/// threads that are neither the same nor of an earlier launch of the host. `loaded_at`: as in
/// Known, if the order is loose.
Ordered order_known(const Thread& thread, std::uint32_t serial, std::uint32_t time, unsigned rank,
                    ProgramCounter* loaded_at);

/// Has the thread's block seen the last of the strong stores to this address?
bool saw_all_updates(const Thread& thread, std::uintptr_t address);

/// Did a proxy fence come between a write of this block and a copy that `thread` issues now?
bool passed_to_copies(const Thread& thread, std::uint32_t time, unsigned rank);

/// An unordered store over that of another thread; whether the values differ is known after it.
struct Suspect {
  std::uintptr_t word;
  std::uint32_t value;         ///< before the store
  unsigned bytes;              ///< of the word, as bits
  std::uint32_t serial, rank;  ///< of the other thread
  ProgramCounter before, pc;
};

/// A volatile load of one warp, and a volatile store of another warp of its block that came after
/// it by chance.
struct EarlyLoad {
  std::uintptr_t word;
  std::uint32_t value;  ///< that the load found
  unsigned writer, rank;
  ProgramCounter loaded_at, pc;
};

/// How many times a thread has executed each of its last few stores.
class Turns {
 public:
  std::uint16_t next(ProgramCounter pc) {
    const unsigned k = pc >> 2 & 7;
    if (at_[k] != pc) {
      at_[k] = pc;
      count_[k] = 0;
    }
    return ++count_[k];
  }

 private:
  ProgramCounter at_[8] = {};
  std::uint16_t count_[8] = {};
};

/// The value of a volatile load is known only when the load is over: at the thread's next step.
void settle_acquire(Thread& thread);
void release_fenced(Thread& thread, const volatile void* address);
void note_early_load(Thread& writer, std::uintptr_t word, unsigned rank, ProgramCounter loaded_at,
                     ProgramCounter pc);
/// A volatile load: it follows the stores so far, and the second one of the same address makes its
/// place a poll.
void look_again(Thread& thread, std::uintptr_t word, ProgramCounter pc);
void report_early_loads(Block& block);  ///< at its end
/// At the start of a block.
void forget_order(Block& block);
void forget_order(Thread& thread);

}  // namespace simt
