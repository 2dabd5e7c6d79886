#pragma once
/// \file
/// Connects the engine and the CUDA error state (host.cpp, host_kernels.cpp).

#include <cstddef>
#include <string>

#include "simt.hpp"

namespace simt {

/// CUDA's errors, by number: the engine includes no header of the runtime's API.
constexpr int error_invalid_value = 1, error_invalid_configuration = 9, error_launch_depth = 65,
              error_pending_launches = 69, error_invalid_handle = 400, error_illegal_address = 700,
              error_timeout = 702, error_illegal_instruction = 715, error_misaligned = 716,
              error_launch_failure = 719, error_cooperative = 720;

/// The device that the backend pretends to be.
struct Limits {
  unsigned sms = 8;                         ///< SIMT_SMS
  std::size_t memory_bytes = 0;             ///< SIMT_MEMORY, or what fits next to the checks
  std::size_t shared_per_block = 48 << 10;  ///< without the kernel's opt-in
  std::size_t shared_opt_in = 227 << 10;
  unsigned threads_per_sm = 2048, blocks_per_sm = 32;
};
const Limits& limits();
/// The heap that malloc and new in kernels share.
std::size_t device_heap_bytes();
/// How many launches by kernels may wait at once.
std::size_t pending_launch_limit();
/// A whole number from the environment; ends the program with a line if it is anything else.
std::size_t number_from(const char* variable, std::size_t least, std::size_t most,
                        std::size_t otherwise);

/// Dynamic shared memory that cudaFuncSetAttribute allowed for the kernel of this name.
std::size_t shared_allowed(const char* kernel);
/// Copies the attributes of the kernel's address (cudaFuncSetAttribute) to the name that the launch
/// uses.
void use_settings(const Launch& launch);

/// Shared memory, dynamic and not, that a block of this kernel may have.
std::size_t shared_in_all(const char* kernel);

/// A refused launch: cudaGetLastError() returns the error next. Not sticky. `what`: printed at exit
/// unless the program reads the error before; empty: nothing is printed.
void launch_refused(int cuda_error, const std::string& what = "");
/// At exit: errors that the program never read.
void report_unexamined();
const char* error_name(int cuda_error);
/// The last error of the running CUDA thread. Reading it counts as a check of its refused launches.
void set_error_in_kernel(int cuda_error);
/// `forget`: resets it to success, as cudaGetLastError() does.
int error_in_kernel(bool forget);
/// The number of the grid that the calling CUDA thread belongs to; 0: the host calls.
std::uint64_t running_grid();
/// A stream that the program made: its number, and the running_grid() that made it. 0, 0: none.
struct StreamOf {
  std::uint64_t number = 0, grid = 0;
};
/// Looks up a handle of the program.
StreamOf find_stream(cudaStream_t stream);
/// A kernel failed: the next call that waits returns the error, and so does every later call.
void kernel_failed(int cuda_error);
/// The error that sticks, or 0: later launches do nothing.
int sticky_error();

}  // namespace simt
