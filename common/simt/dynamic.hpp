#pragma once
/// \file
/// Kernels that launch kernels. One launch of the host and all that it leads to are a family; its
/// grids run one after the other, and this says when each may start and what it comes after.

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "order.hpp"
#include "simt.hpp"

namespace simt {

struct Member;

/// A launch by a kernel, until it starts.
struct Waiting {
  Launch launch;
  Body body;
  std::unique_ptr<Knowledge> knew;  ///< the launching thread
};

/// A stream of the launches of one grid: each starts when the one before it, with all that it led
/// to, has ended.
struct Queue {
  Member* owner = nullptr;  ///< the grid that launches; null for the host's own launch
  std::list<Waiting> waiting;
  Member* last = nullptr;  ///< the grid that started last
};

/// A grid that runs or has run. The tail launches of a grid go on in its place: in its queue, with
/// its parent, on its level.
struct Member {
  Queue* queue = nullptr;
  Member* parent = nullptr;         ///< the queue's owner
  Member* previous = nullptr;       ///< the grid before it in the queue
  unsigned depth = 0;               ///< how many parents
  std::unique_ptr<Knowledge> knew;  ///< the thread that launched it; null: the host
  const char* kernel = "?";
  dim3 grid, block;
  std::uint32_t first_serial = 0, blocks = 0;
  std::vector<std::unique_ptr<Queue>> queues;         ///< of its launches
  std::unordered_map<std::uint64_t, Queue*> streams;  ///< the same by stream_of()
  unsigned open = 0;                                  ///< queues that have not ended
  std::list<Waiting> tail;
  KnownBlocks learned;  ///< what its blocks, and those of its children, took over by flags
  bool learned_all = false;
};

/// What a family's grids share.
struct Family {
  Flags flags;
  Queue host;
  Member root;
  std::vector<std::unique_ptr<Member>> members;  ///< without the root, in the order they started
  std::vector<Queue*> ready;                     ///< with a launch that may start
  std::mutex mutex;                              ///< of what follows, and of launches
  std::size_t pending = 0;                       ///< launched by kernels, and not started
  std::uint64_t separate = 0;                    ///< launches that wait for nothing
  struct Error {
    int last = 0;
    struct Refused {
      std::string why;
      ProgramCounter at;
    };
    std::vector<Refused> unasked;
  };
  std::map<std::pair<std::uint32_t, unsigned>, Error> errors;  ///< by block and thread

  /// The grid that a block belonged to; null if none of this family.
  const Member* find(std::uint32_t serial) const;
};

/// Runs a kernel that the host launches, and all that it leads to. Takes ownership of the body.
void run_family(const Launch& launch, Body body);
/// Takes a launch by a CUDA thread, or refuses it. Takes ownership of the body.
void launch_in_kernel(Thread& thread, const Launch& launch, Body body);
/// After the last block of a grid: refused launches that nobody asked about are findings.
void report_refused_launches(Grid& grid);
/// After the blocks of a gang: what they learned by flags is known to what comes after their grid.
void keep_learned(Gang& gang);

/// Is what a thread of another grid of the family did ordered before what this grid does?
Ordered order_in_family(const Grid& grid, std::uint32_t serial, std::uint32_t time, unsigned rank,
                        ProgramCounter* loaded_at);
/// What orders such grids, for a report of a race; begins with a colon.
std::string what_orders(const Grid& grid, std::uint32_t serial);

// ---- grid.cpp ----

/// Runs the blocks of one grid. Takes ownership of the body.
void run_grid(Family& family, Member& member, const Launch& launch, Body body);
/// Of `n` that may start now, which does in the order that was asked for.
std::size_t choose(std::size_t n, std::uint64_t salt);

struct Refusal {
  int error = 0;  ///< 0: CUDA would launch it
  std::string why;
};
Refusal refusal(const Launch& launch);

}  // namespace simt
