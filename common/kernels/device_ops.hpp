#pragma once
/// \file
/// The few kernels that the course itself needs: inputs, comparison, and the anchors of the
/// measurements.

#include <cuda_runtime.h>

#include <cstdint>

#include "chapter/problem.hpp"
#include "kernels/comparators.hpp"

namespace course {

/// Fills a device array with value(input, array.seed, i, array.magnitude_every).
void fill(const Array& array, Input input, void* data, cudaStream_t stream);

/// Compares a device array with a device array of doubles; waits for the result.
Mismatch compare(const Array& array, const void* got, const double* want, Tolerance tolerance,
                 cudaStream_t stream);

/// The same for the elements sample[0 .. count) of the array: want[k] is what element sample[k]
/// should be. `sample` is a device array in ascending order, or nullptr for all `count` elements.
/// Mismatch::first is an index into the array.
Mismatch compare_sample(const Array& array, const void* got, const double* want,
                        const std::int64_t* sample, std::int64_t count, Tolerance tolerance,
                        cudaStream_t stream);

/// A launch that does nothing: empty<<<1, 32>>>.
cudaError_t launch_empty(cudaStream_t stream);

// The next three take arrays aligned to 16 bytes. They return cudaErrorInvalidValue for other
// arrays, for n < 0 and for more blocks than a grid has.

/// Reads n floats, 16 bytes per load, and stores (almost) nothing: the rate of pure reads.
cudaError_t launch_read(const float* in, float* out, std::int64_t n, cudaStream_t stream);

/// Copies n floats, one 16-byte load and store per thread.
cudaError_t launch_copy(const float* in, float* out, std::int64_t n, cudaStream_t stream);

/// Copies n floats by bulk asynchronous copies (compute capability 9.0), 48 KiB in flight per SM.
/// cudaErrorNotSupported on older GPUs and in builds without that architecture.
cudaError_t launch_bulk_copy(const float* in, float* out, std::int64_t n, cudaStream_t stream);

/// One thread that spins for `cycles` SM clock cycles. Unless passed is nullptr, writes what
/// passed: {SM cycles, nanoseconds}.
cudaError_t launch_spin(std::int64_t cycles, std::int64_t* passed, cudaStream_t stream);

/// The counters of an SM: cycles of its clock, and nanoseconds of the GPU's.
struct ClockStamp {
  std::uint64_t cycles, nanoseconds;
};
constexpr int most_stamps = 1024;

/// stamps[k] = the counters of SM number k now, for the SMs that the `sm_count` blocks happen to
/// run on. stamps: most_stamps of them, pinned or device memory.
cudaError_t launch_stamps(ClockStamp* stamps, int sm_count, cudaStream_t stream);

}  // namespace course
