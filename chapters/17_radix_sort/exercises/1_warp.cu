// Exercise 1: each warp has 32 keys, one per lane. Sort them bit by bit: each lane needs to know
// how many keys come before its own.
// ./chapters/run 17 --exercise 1          builds and checks it; --hint helps
#include <cuda_runtime.h>

#include <cstdint>

namespace exercise {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
[[maybe_unused]] constexpr unsigned all_lanes = 0xffffffffu;

/// One warp per group of 32 keys, one lane per key.
__global__ void __launch_bounds__(block_size)
    sort_by_warps(const unsigned* in, unsigned* out, std::int64_t n) {
  __shared__ unsigned s_keys[warps][32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  unsigned key = i < n ? in[i] : ~0u;  // a lane without a key has the largest one, and stays last
  for (int bit = 0; bit < 32; ++bit) {
    // FILL IN: with __ballot_sync(all_lanes, ...), the rank of this key. Zeros come before ones,
    // and equal bits keep their order.
    const unsigned rank = lane;
    s_keys[warp][rank] = key;  // FILL IN: these two lines need more, because lanes exchange keys
    key = s_keys[warp][lane];
  }
  if (i < n) out[i] = key;
}

/// out = in, where each group of 32 keys is in ascending order; the last group may be smaller.
/// Device pointers; in is not out. \returns cudaErrorInvalidValue for n below 0 or above 2^32 - 1,
/// or the error of the launch.
cudaError_t sort_groups(const unsigned* in, unsigned* out, std::int64_t n, cudaStream_t stream) {
  if (n < 0 || n > UINT32_MAX) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + block_size - 1) / block_size);
  sort_by_warps<<<blocks, block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace exercise
