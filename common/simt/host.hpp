#pragma once
/// \file
/// What the files of the host API (host.cpp and host_*.cpp) share.

#include <cstddef>

#include "cuda_runtime.h"

namespace simt {

constexpr std::size_t shared_per_sm = 228 << 10, shared_reserved = 1 << 10;

/// The error of a kernel, once a call has returned it.
cudaError_t sticking();
/// What a call that waits finds.
cudaError_t waited();
/// Every call returns through here. The error that sticks comes first.
cudaError_t end(cudaError_t error);
/// The same for calls whose errors are mistakes of the program: named at exit, if nobody asked for
/// the last error, the code was dropped, and the program ends with 0.
cudaError_t end_call(cudaError_t error, const char* call, const void* return_address);

/// Ends the kernel with a line, if one makes this call: the backend has it for the host alone.
void not_in_kernels(const char* call);

bool is_device_number(int device);
cudaError_t check_stream(cudaStream_t stream);

/// Memory that is free again, for the pool that it may be from (host_pools.cpp).
void return_to_pool(const void* address);

}  // namespace simt
