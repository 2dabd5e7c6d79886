#pragma once
/// \file
/// What the CPU backend counted in one launch of a version.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace course {

/// Accesses of one kind: warp instructions, and what they took together.
struct Requests {
  std::uint64_t requests = 0;
  std::uint64_t units = 0;  ///< global memory: sectors of 32 bytes; shared memory: wavefronts
  std::uint64_t words = 0;  ///< the requests, each times the 4-byte words of a lane: 4 for a float4
};

/// Counts of one call of a launcher, all its kernels together, and of each kernel.
struct Model {
  std::string kernel;  ///< of the parts: its name
  std::vector<Model> parts;
  Requests global_loads, global_stores, global_atomics;
  Requests shared_loads, shared_stores, shared_atomics;
  std::uint64_t engine_read = 0, engine_written = 0;  ///< bytes of global memory: bulk copies
  std::uint64_t engine_read_most = 0;                 ///< by the block that read most
  std::uint64_t products = 0;  ///< matrix products of tensor cores, one per warp and call
  std::uint64_t to_host = 0;   ///< bytes copied to the host
  std::uint64_t copied = 0;    ///< bytes that asynchronous copies of 4 to 16 bytes read
  std::uint64_t warps = 0;
  std::uint64_t barriers = 0;    ///< arrivals of warps
  std::uint64_t warp_steps = 0;  ///< basic blocks that warps executed
  std::uint64_t lane_steps = 0;  ///< the same, times the lanes active in each
  /// Requests of the warp that makes most, each times the 4-byte words per lane; summed over
  /// launches.
  std::uint64_t busiest = 0;
  /// Words and sectors of warps that poll: they ask again where they asked last. Not in `busiest`.
  std::uint64_t polled_words = 0, polled_sectors = 0;
  std::uint64_t lanes = 0;         ///< active ones, summed over all requests
  std::uint64_t shared_bytes = 0;  ///< of the block that has most
  std::uint64_t launches = 0, blocks = 0;
  std::uint64_t by_kernels = 0;  ///< launches made by kernels
  bool exact = true;             ///< false: some lanes could not be grouped with certainty
  std::string report;            ///< the counts of every source line, as text
};

/// What the columns of reports mean, a line each: those columns that any of these reports has.
std::string report_legend(const std::vector<Model>& models);

/// A mistake that the CPU backend saw, though the result may be right.
struct Finding {
  std::string kind;  ///< "race", "bounds", ...
  std::string text;  ///< one line
};

/// Calls `launch` and takes what the backend counted meanwhile; the kernels have run when it
/// returns.
Model counts_during(const std::function<void()>& launch);

}  // namespace course
