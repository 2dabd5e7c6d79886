// Answers to exercise 5 of chapter 17, and the verdicts that the CPU backend must give.
#include <cuda_runtime.h>

#include <cstdint>

namespace one_thread_counts {
// 5: NOT YET: right, but one after the other
__global__ void count_all(const unsigned* keys, unsigned* counts, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (unsigned d = 0; d < 4; ++d) ++counts[256 * d + (keys[i] >> 8 * d & 255)];
  }
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_all<<<1, 1, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace one_thread_counts

namespace one_lane_per_warp_counts {
// 5: NOT YET: right, but
__global__ void count_by_leaders(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[1024];
  for (unsigned c = threadIdx.x; c < 1024; c += 512) mine[c] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    if (threadIdx.x % 32 != 0) continue;
    for (std::int64_t k = i; k < i + 32 && k < n; ++k) {
      for (unsigned d = 0; d < 4; ++d) atomicAdd(&mine[256 * d + (keys[k] >> 8 * d & 255)], 1u);
    }
  }
  __syncthreads();
  for (unsigned c = threadIdx.x; c < 1024; c += 512) atomicAdd(&counts[c], mine[c]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_by_leaders<<<32, 512, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace one_lane_per_warp_counts

namespace one_block_counts {
// 5: NOT YET: right, but one after the other
__global__ void count_in_one(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[1024];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += 1024) {
    const unsigned key = keys[i];
    for (unsigned d = 0; d < 4; ++d) atomicAdd(&mine[256 * d + (key >> 8 * d & 255)], 1u);
  }
  __syncthreads();
  counts[threadIdx.x] = mine[threadIdx.x];
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  count_in_one<<<1, 1024, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace one_block_counts

namespace one_read_without_shared_memory {
// 5: NOT YET: right, but 4 atomics per 32 elements
__global__ void count_in_global_memory(const unsigned* keys, unsigned* counts, std::int64_t n) {
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    const unsigned key = keys[i];
    for (unsigned d = 0; d < 4; ++d) atomicAdd(&counts[256 * d + (key >> 8 * d & 255)], 1u);
  }
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_in_global_memory<<<32, 512, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace one_read_without_shared_memory

namespace a_launch_per_digit {
// 5: NOT YET: right, but it moves
__global__ void count_digit(const unsigned* keys, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned mine[256];
  if (threadIdx.x < 256) mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    atomicAdd(&mine[keys[i] >> bit & 255], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  for (int d = 0; d < 4; ++d) {
    count_digit<<<32, 512, 0, stream>>>(keys, counts + 256 * d, n, 8 * d);
  }
  return cudaGetLastError();
}
}  // namespace a_launch_per_digit

namespace a_block_per_digit {
// 5: NOT YET: right, but it moves
__global__ void count_digit_of_block(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[256];
  if (threadIdx.x < 256) mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    atomicAdd(&mine[keys[i] >> 8 * blockIdx.y & 255], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 256) atomicAdd(&counts[256 * blockIdx.y + threadIdx.x], mine[threadIdx.x]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_digit_of_block<<<dim3(16, 4), 512, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace a_block_per_digit

namespace two_digits_per_launch {
// 5: NOT YET: right, but it moves
__global__ void count_two(const unsigned* keys, unsigned* counts, std::int64_t n, int bit) {
  __shared__ unsigned mine[512];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    const unsigned key = keys[i] >> bit;
    atomicAdd(&mine[key & 255], 1u);
    atomicAdd(&mine[256 + (key >> 8 & 255)], 1u);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  for (int d = 0; d < 4; d += 2) {
    count_two<<<32, 512, 0, stream>>>(keys, counts + 256 * d, n, 8 * d);
  }
  return cudaGetLastError();
}
}  // namespace two_digits_per_launch

namespace strided_grid_of_1024 {
// 5: PASSED
__global__ void count_with_strides(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[4][256];
  mine[threadIdx.x / 256][threadIdx.x % 256] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * gridDim.x) {
    const unsigned key = keys[i];
    for (unsigned d = 0; d < 4; ++d) atomicAdd(&mine[d][key >> 8 * d & 255], 1u);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x / 256][threadIdx.x % 256]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_with_strides<<<16, 1024, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace strided_grid_of_1024

namespace four_keys_per_load {
// 5: PASSED
__global__ void count_vectors(const uchar4* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned mine[1024];
  for (unsigned c = threadIdx.x; c < 1024; c += 256) mine[c] = 0;
  __syncthreads();
  const auto count = [&](uchar4 key) {
    atomicAdd(&mine[key.x], 1u);
    atomicAdd(&mine[256 + key.y], 1u);
    atomicAdd(&mine[512 + key.z], 1u);
    atomicAdd(&mine[768 + key.w], 1u);
  };
  const std::int64_t first = blockIdx.x * 256 + threadIdx.x, step = 256 * gridDim.x;
  for (std::int64_t i = first; i < n / 4; i += step) {
    const uint4 four = reinterpret_cast<const uint4*>(keys)[i];
    for (const unsigned key : {four.x, four.y, four.z, four.w}) {
      count(make_uchar4(key & 255, key >> 8 & 255, key >> 16 & 255, key >> 24));
    }
  }
  if (first < n % 4) count(keys[n / 4 * 4 + first]);
  __syncthreads();
  for (unsigned c = threadIdx.x; c < 1024; c += 256) atomicAdd(&counts[c], mine[c]);
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_vectors<<<64, 256, 0, stream>>>(reinterpret_cast<const uchar4*>(keys), counts, n);
  return cudaGetLastError();
}
}  // namespace four_keys_per_load

namespace two_copies_of_the_counters {
// 5: PASSED
__global__ void count_in_copies(const unsigned* keys, unsigned* counts, std::int64_t n) {
  __shared__ unsigned copies[2][1024];
  for (unsigned c = threadIdx.x; c < 2048; c += 512) copies[c / 1024][c % 1024] = 0;
  __syncthreads();
  unsigned* const mine = copies[threadIdx.x / 32 % 2];
  for (std::int64_t i = blockIdx.x * 512 + threadIdx.x; i < n; i += 512 * gridDim.x) {
    const unsigned key = keys[i];
    for (unsigned d = 0; d < 4; ++d) atomicAdd(&mine[256 * d + (key >> 8 * d & 255)], 1u);
  }
  __syncthreads();
  for (unsigned c = threadIdx.x; c < 1024; c += 512) {
    const unsigned sum = copies[0][c] + copies[1][c];
    if (sum != 0) atomicAdd(&counts[c], sum);
  }
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 4096, stream);
  count_in_copies<<<32, 512, 0, stream>>>(keys, counts, n);
  return cudaGetLastError();
}
}  // namespace two_copies_of_the_counters

namespace blocks_of_all_counts {
// 5: PASSED
// A block writes its counters as a row; a second kernel adds up the rows.
__device__ unsigned rows_of_counts[32][1024];

__global__ void count_rows(const unsigned* keys, std::int64_t n) {
  __shared__ unsigned mine[1024];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = blockIdx.x * 1024 + threadIdx.x; i < n; i += 1024 * gridDim.x) {
    const unsigned key = keys[i];
    for (unsigned d = 0; d < 4; ++d) atomicAdd(&mine[256 * d + (key >> 8 * d & 255)], 1u);
  }
  __syncthreads();
  rows_of_counts[blockIdx.x][threadIdx.x] = mine[threadIdx.x];
}

__global__ void add_rows(unsigned* counts) {
  const unsigned c = blockIdx.x * 128 + threadIdx.x;
  unsigned sum = 0;
  for (const auto& row : rows_of_counts) sum += row[c];
  counts[c] = sum;
}

cudaError_t count_all_digits(const unsigned* keys, unsigned* counts, std::int64_t n,
                             cudaStream_t stream) {
  count_rows<<<32, 1024, 0, stream>>>(keys, n);
  add_rows<<<8, 128, 0, stream>>>(counts);
  return cudaGetLastError();
}
}  // namespace blocks_of_all_counts
