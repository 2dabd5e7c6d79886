#pragma once
/// \file
/// Kernels that launch kernels. One launch of the host and all its descendants are a family; the
/// grids run one after the other. This file says when each may start and what is ordered before it.

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

/// A launch by a kernel that has not started.
struct Waiting {
  Launch launch;
  Body body;
  std::unique_ptr<Knowledge> knew;  ///< what the launching thread knew
};

/// A stream of one grid's launches: each starts when the one before it has ended, with all its
/// descendants.
struct Queue {
  Member* owner = nullptr;  ///< the grid that launches; null for the host's own launch
  std::list<Waiting> waiting;
  Member* last = nullptr;  ///< the grid that started last
};

/// A grid that runs or has run. The tail launches of a grid take its place: in its queue, with its
/// parent, on its level.
struct Member {
  Queue* queue = nullptr;
  Member* parent = nullptr;         ///< the queue's owner
  Member* previous = nullptr;       ///< the grid before it in the queue
  unsigned depth = 0;               ///< how many parents
  std::unique_ptr<Knowledge> knew;  ///< what the launching thread knew; null: the host
  const char* kernel = "?";
  dim3 grid, block;
  std::uint32_t first_serial = 0, blocks = 0;
  std::vector<std::unique_ptr<Queue>> queues;         ///< of its launches
  std::unordered_map<std::uint64_t, Queue*> streams;  ///< the same by stream_of()
  unsigned open = 0;                                  ///< queues that have not ended
  std::list<Waiting> tail;
  KnownBlocks learned;  ///< what its blocks, and those of its children, learned by flags
  bool learned_all = false;
};

/// What a family's grids share.
struct Family {
  Flags flags;
  Queue host;
  Member root;
  std::vector<std::unique_ptr<Member>> members;  ///< without the root, in the order they started
  std::vector<Queue*> ready;                     ///< with a launch that may start
  std::mutex mutex;                              ///< guards what follows, and launches
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

/// Runs a kernel that the host launches, with all its descendants. Takes ownership of the body.
void run_family(const Launch& launch, Body body);
/// Queues a launch by a CUDA thread, or refuses it. Takes ownership of the body.
void launch_in_kernel(Thread& thread, const Launch& launch, Body body);
/// After the last block of a grid: refused launches whose error was never read are findings.
void report_refused_launches(Grid& grid);
/// After the blocks of a gang: later grids may rely on what these blocks learned by flags.
void keep_learned(Gang& gang);

/// Is the access of a thread in another grid of the family ordered before what this grid does?
Ordered order_in_family(const Grid& grid, std::uint32_t serial, std::uint32_t time, unsigned rank,
                        ProgramCounter* loaded_at);
/// What orders such grids, for the report of a race; begins with a colon.
std::string what_orders(const Grid& grid, std::uint32_t serial);

// ---- grid.cpp ----

/// Runs the blocks of one grid. Takes ownership of the body.
void run_grid(Family& family, Member& member, const Launch& launch, Body body);
/// Of `n` grids that may start now, the index of the next one in the order of SIMT_ORDER.
std::size_t choose(std::size_t n, std::uint64_t salt);

struct Refusal {
  int error = 0;  ///< 0: CUDA would launch it
  std::string why;
};
/// Checks the configuration of a launch as CUDA does.
Refusal refusal(const Launch& launch);

}  // namespace simt
