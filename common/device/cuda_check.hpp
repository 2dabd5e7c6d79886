#pragma once
/// \file
/// Errors of the CUDA runtime as exceptions with one line of text.

#include <cuda_runtime.h>

#include <string>

#include "chapter/error.hpp"

namespace course {

/// "cudaErrorInvalidConfiguration (invalid configuration argument). Hint: ..."
std::string describe(cudaError_t error);

/// \throws Error "file:line: call: " + describe(error), unless error is cudaSuccess.
void check(cudaError_t error, const char* call, const char* file, int line);

}  // namespace course

/// Evaluates a call of the CUDA runtime once and throws course::Error if it failed.
#define COURSE_CHECK(call) ::course::check((call), #call, __FILE__, __LINE__)
