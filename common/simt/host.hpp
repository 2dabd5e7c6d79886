#pragma once
/// \file
/// What the files of the host API (host.cpp and host_*.cpp) share.

#include <cstddef>

#include "cuda_runtime.h"

namespace simt {

constexpr std::size_t shared_per_sm = 228 << 10, shared_reserved = 1 << 10;

/// The error of a failed kernel, once a call has returned it.
cudaError_t sticking();
/// The error that a waiting call returns.
cudaError_t waited();
/// Every call returns through here. A sticky error comes first.
cudaError_t end(cudaError_t error);
/// The same for calls whose errors are mistakes of the program: named at exit if the program
/// neither read the last error nor used the returned code, and ends with 0.
cudaError_t end_call(cudaError_t error, const char* call, const void* return_address);

/// Ends a kernel that makes this call, with a line: the backend has the call only for the host.
void not_in_kernels(const char* call);

bool is_device_number(int device);
/// cudaSuccess for a built-in stream or one that exists.
cudaError_t check_stream(cudaStream_t stream);

/// Gives freed memory back to its pool, if it is from one (host_pools.cpp).
void return_to_pool(const void* address);

}  // namespace simt
