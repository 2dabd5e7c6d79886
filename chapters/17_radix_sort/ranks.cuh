#pragma once
/// \file
/// Stable ranks of digits within a warp.

#include <cuda_runtime.h>

namespace ranks {

/// How many keys with this digit the warp had before: in the rows before, which `counts` has per
/// digit, and in this row at lower lanes. Counts this row. All 32 lanes must call.
// snippet: next
inline __device__ unsigned next(unsigned* counts, unsigned digit) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned same = __match_any_sync(0xffffffffu, digit);  // the lanes with this digit
  const unsigned lower = __popc(same & ((1u << lane) - 1));
  const unsigned before = counts[digit];
  __syncwarp();
  if (lower == 0) counts[digit] = before + __popc(same);
  __syncwarp();
  return before + lower;
}
// /snippet

}  // namespace ranks
