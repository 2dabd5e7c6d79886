#include <algorithm>
#include <cmath>
#include <limits>

#include "chapter/input.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "kernels/device_ops.hpp"
#ifdef SIMT
#include "simt/memory.hpp"
#endif

namespace course {

cudaError_t launch_bulk_copy_90(const float*, float*, std::int64_t, cudaStream_t)
    __attribute__((weak));

namespace {

constexpr int block_size = 256;

/// Enough blocks for n threads, but no more than keep a large GPU busy: the kernels below use a
/// grid-stride loop.
unsigned grid_for(std::int64_t n) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((n + block_size - 1) / block_size, 1, 1 << 14));
}

template <class T>
__global__ void fill_kernel(T* data, std::int64_t n, Input input, std::uint64_t seed,
                            std::int64_t magnitude_every, bool normal) {
  const std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += stride) {
    data[i] = normal ? normal_value<T>(input, seed, i) : value<T>(input, seed, i, magnitude_every);
  }
}

/// The type that is compared: a bf16 becomes a float.
template <class T>
__device__ T widened(T x) {
  return x;
}
__device__ float widened(bf16 x) { return x; }

/// The result of a comparison, gathered on the device.
struct Found {
  unsigned long long count;
  unsigned long long first;
  unsigned long long largest_error;  // bits of a non-negative double: sorted as the doubles are
};

/// Compares got[i], or got[sample[i]], with want[i] for i in [0, n).
template <class T>
__global__ void compare_kernel(const T* got, const double* want, std::int64_t n,
                               const std::int64_t* sample, Tolerance tolerance, Found* found) {
  const std::int64_t stride = std::int64_t{gridDim.x} * block_size;
  double largest = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += stride) {
    double error = 0;
    const auto element = widened(got[sample ? sample[i] : i]);
    const bool matches = element_matches(element, want[i], tolerance, &error);
    if (!(error <= largest)) largest = isfinite(error) ? error : HUGE_VAL;
    if (!matches) {
      atomicAdd(&found->count, 1ull);
      atomicMin(&found->first, static_cast<unsigned long long>(i));
    }
  }
  if (largest > 0) {
    atomicMax(&found->largest_error,
              static_cast<unsigned long long>(__double_as_longlong(largest)));
  }
}

template <class T>
Mismatch compare_typed(const T* got, const double* want, std::int64_t n, const std::int64_t* sample,
                       Tolerance tolerance, cudaStream_t stream) {
  Found found{0, std::numeric_limits<unsigned long long>::max(), 0};
  Buffer device(sizeof found);
  auto* target = static_cast<Found*>(device.data());
  COURSE_CHECK(cudaMemcpyAsync(target, &found, sizeof found, cudaMemcpyHostToDevice, stream));
  compare_kernel<<<grid_for(n), block_size, 0, stream>>>(got, want, n, sample, tolerance, target);
  COURSE_CHECK(cudaGetLastError());
  COURSE_CHECK(cudaMemcpyAsync(&found, target, sizeof found, cudaMemcpyDeviceToHost, stream));
  COURSE_CHECK(cudaStreamSynchronize(stream));

  Mismatch mismatch;
  mismatch.count = found.count;
  static_assert(sizeof(double) == sizeof found.largest_error, "bits of a double");
  std::copy_n(reinterpret_cast<const char*>(&found.largest_error), sizeof(double),
              reinterpret_cast<char*>(&mismatch.largest_error));
  if (mismatch.ok()) return mismatch;
  const auto first = static_cast<std::int64_t>(found.first);
  mismatch.first = first;
  if (sample) {
    COURSE_CHECK(
        cudaMemcpy(&mismatch.first, sample + first, sizeof mismatch.first, cudaMemcpyDeviceToHost));
  }
  T element{};
  COURSE_CHECK(cudaMemcpy(&element, got + mismatch.first, sizeof(T), cudaMemcpyDeviceToHost));
  COURSE_CHECK(cudaMemcpy(&mismatch.want, want + first, sizeof(double), cudaMemcpyDeviceToHost));
  mismatch.got = static_cast<double>(element);
  return mismatch;
}

__global__ void empty_kernel() {}

/// One 16-byte load per thread, which waits for nothing but the data. The last thread takes the
/// tail.
__global__ void read_kernel(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  float sum = 0;
  if (4 * i + 4 <= n) {
    const float4 x = reinterpret_cast<const float4*>(in)[i];
    sum = x.x + x.y + x.z + x.w;
  } else {
    for (std::int64_t k = 4 * i; k < n; ++k) sum += in[k];
  }
  if (sum == 1e30f) *out = 0;  // never true for the inputs; keeps the loads alive
}

__global__ void copy_kernel(const float* in, float* out, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x;
  if (4 * i + 4 <= n) {
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  } else {
    for (std::int64_t k = 4 * i; k < n; ++k) out[k] = in[k];
  }
}

/// Blocks for n floats, four per thread.
unsigned grid_of_vectors(std::int64_t n) {
  return static_cast<unsigned>((n + 4 * block_size - 1) / (4 * block_size));
}

/// True for n that no grid holds and for pointers that are not aligned for float4.
bool refused(const float* in, const float* out, std::int64_t n) {
  const auto misaligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 != 0;
  };
  return n < 0 || n > std::int64_t{INT32_MAX} * 4 * block_size || misaligned(in) || misaligned(out);
}

/// Calls f with a null pointer of the array's element type, to pick a template by a run-time type.
template <class F>
auto with_type(Type type, F f) {
  switch (type) {
    case Type::f64:
      return f(static_cast<double*>(nullptr));
    case Type::i32:
      return f(static_cast<std::int32_t*>(nullptr));
    case Type::u32:
      return f(static_cast<std::uint32_t*>(nullptr));
    case Type::i64:
      return f(static_cast<std::int64_t*>(nullptr));
    case Type::u8:
      return f(static_cast<std::uint8_t*>(nullptr));
    case Type::u16:
      return f(static_cast<std::uint16_t*>(nullptr));
    case Type::bf16:
      return f(static_cast<bf16*>(nullptr));
    case Type::f32:
      break;
  }
  return f(static_cast<float*>(nullptr));
}

}  // namespace

void fill(const Array& array, Input input, void* data, cudaStream_t stream) {
  if (array.count == 0) return;
  with_type(array.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    fill_kernel<<<grid_for(array.count), block_size, 0, stream>>>(
        static_cast<T*>(data), array.count, input, array.seed, array.magnitude_every, array.normal);
  });
  COURSE_CHECK(cudaGetLastError());
#ifdef SIMT  // built without the checks, so the checkers did not see it write
  simt::mark_written(data, static_cast<std::size_t>(array.bytes()));
#endif
}

Mismatch compare(const Array& array, const void* got, const double* want, Tolerance tolerance,
                 cudaStream_t stream) {
  return compare_sample(array, got, want, nullptr, array.count, tolerance, stream);
}

Mismatch compare_sample(const Array& array, const void* got, const double* want,
                        const std::int64_t* sample, std::int64_t count, Tolerance tolerance,
                        cudaStream_t stream) {
  if (count == 0) return {};
  return with_type(array.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    return compare_typed(static_cast<const T*>(got), want, count, sample, tolerance, stream);
  });
}

cudaError_t launch_empty(cudaStream_t stream) {
  empty_kernel<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_read(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (refused(in, nullptr, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  read_kernel<<<grid_of_vectors(n), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t launch_copy(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  if (refused(in, out, n)) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  copy_kernel<<<grid_of_vectors(n), block_size, 0, stream>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t launch_bulk_copy(const float* in, float* out, std::int64_t n, cudaStream_t stream) {
  int device = 0, major = 0;
  COURSE_CHECK(cudaGetDevice(&device));
  COURSE_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (launch_bulk_copy_90 == nullptr || major < 9) return cudaErrorNotSupported;
  if (refused(in, out, n)) return cudaErrorInvalidValue;
  return launch_bulk_copy_90(in, out, n, stream);
}

}  // namespace course
