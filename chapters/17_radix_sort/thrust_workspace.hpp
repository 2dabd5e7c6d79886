#pragma once
/// \file
/// Scratch memory of the caller for Thrust, which otherwise calls cudaMalloc and cudaFree.

#include <cuda_runtime.h>
#include <thrust/execution_policy.h>
#include <thrust/system_error.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace thrust_workspace {

constexpr std::size_t alignment = 256;
/// What a query must add to Thrust's own bytes: the workspace may begin anywhere, and each
/// allocation is rounded up.
constexpr std::size_t slack = 2 * alignment;

// snippet: allocator
/// Hands out a workspace from its front to its end. \throws std::bad_alloc if it is too small.
class Allocator {
 public:
  using value_type = char;
  Allocator(void* workspace, std::size_t bytes)
      : next_(static_cast<char*>(workspace)), left_(bytes) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(workspace) % alignment;
    skip(past == 0 ? 0 : alignment - past);
  }
  char* allocate(std::ptrdiff_t bytes) {
    char* const part = next_;
    skip((static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment);
    return part;
  }
  void deallocate(char*, std::size_t) {}  // the workspace is the caller's

 private:
  void skip(std::size_t bytes) {
    if (bytes > left_) throw std::bad_alloc();
    next_ += bytes;
    left_ -= bytes;
  }
  char* next_;
  std::size_t left_;
};

/// Calls run(policy): Thrust then launches into the stream, and does not wait for it. \returns
/// cudaErrorMemoryAllocation if Thrust wants more than the workspace, or the error of a launch.
template <class Run>
cudaError_t call(void* workspace, std::size_t bytes, cudaStream_t stream, Run run) {
  try {
    Allocator allocator(workspace, bytes);
    run(thrust::cuda::par_nosync(allocator).on(stream));
    return cudaGetLastError();
  } catch (const thrust::system_error& error) {
    return static_cast<cudaError_t>(error.code().value());
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  }
}
// /snippet

}  // namespace thrust_workspace
