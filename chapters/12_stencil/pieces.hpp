#pragma once
/// \file
/// How many planes a block computes that marches along z.

#include <cuda_runtime.h>

#include <cstdint>

namespace pieces {

/// Planes per block, at most `longest`, so that the card is done soonest: `tiles` blocks cover a
/// plane, `per_sm` of them run on an SM at a time, and each takes `extra` planes more than it
/// computes. \returns an error of CUDA.
inline cudaError_t choose(int planes, std::int64_t tiles, int per_sm, int extra, int longest,
                          int* each) {
  int device = 0, sms = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device))
    return error;
  std::int64_t least = INT64_MAX;
  const int fewest = (planes + longest - 1) / longest;
  for (int count = fewest; count <= planes && count < fewest + 64 && count <= 65535; ++count) {
    const int length = (planes + count - 1) / count;
    const std::int64_t blocks = tiles * ((planes + length - 1) / length);
    const std::int64_t rounds = (blocks + sms * per_sm - 1) / (sms * per_sm);
    if (rounds * (length + extra) >= least) continue;
    least = rounds * (length + extra);
    *each = length;
  }
  return cudaSuccess;
}

}  // namespace pieces
