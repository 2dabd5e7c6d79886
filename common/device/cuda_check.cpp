#include "device/cuda_check.hpp"

#include <cstring>

namespace course {
namespace {

#ifdef SIMT
constexpr bool on_cpu = true;  // its checkers have already reported what they saw
#else
constexpr bool on_cpu = false;
#endif

/// What to try first; empty where the runtime's own text says it all.
const char* hint(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
      return "a block has 1 to 1024 threads, a grid at least one block, and shared memory must fit";
    case cudaErrorIllegalAddress:
      return on_cpu ? "a line that begins with 'simt:' says which thread did it, and in which line"
                    : "a kernel touched memory that is not its own; run it under compute-sanitizer";
    case cudaErrorLaunchFailure:
      return on_cpu ? "a line that begins with 'simt:' says which thread did it, and in which line"
                    : "a kernel went wrong; run it under compute-sanitizer";
    case cudaErrorMemoryAllocation:
      return "try a smaller --size, or close other programs on this GPU";
    case cudaErrorNoKernelImageForDevice:
      return "the program was built for another architecture; build it for this GPU";
    case cudaErrorInsufficientDriver:
      return "the NVIDIA driver is missing or older than this toolkit; see common/doctor";
    case cudaErrorNoDevice:
      return "no NVIDIA GPU is visible; see common/doctor";
    case cudaErrorInvalidDevice:
      return "--device counts from 0; nvidia-smi -L lists the devices";
    case cudaErrorLaunchTimeout:
      return on_cpu ? "a line that begins with 'simt:' says which threads wait, and what for"
                    : "a GPU that also drives a display stops kernels after some seconds; try a "
                      "smaller --size";
    case cudaErrorLaunchOutOfResources:
      return "too many registers or too much shared memory for this block size";
    case cudaErrorAssert:
      return "an assert in a kernel failed; its text is above";
    default:
      return "";
  }
}

}  // namespace

std::string describe(cudaError_t error) {
  std::string text = std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
  if (*hint(error) != '\0') text += std::string(". Hint: ") + hint(error);
  return text;
}

void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a later call must not report this error again
  const char* slash = std::strrchr(file, '/');
  throw Error(std::string(slash ? slash + 1 : file) + ":" + std::to_string(line) + ": " + call +
              ": " + describe(error));
}

}  // namespace course
