#pragma once
/// \file
/// Grid, block and resources of a launch, for result files.

#include <cuda_runtime.h>

#include <cstdint>

namespace course {

/// What the launches of one call of a launcher look like, read from a captured graph.
struct LaunchShape {
  int kernels = 0;
  dim3 grid{}, block{};  ///< of the kernel with the most threads
  int registers = 0;
  std::int64_t shared_bytes = 0;  ///< static and dynamic
  int blocks_per_sm = 0;
};

}  // namespace course
