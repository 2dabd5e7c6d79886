/// \file
/// The host side of the CUDA runtime (include/cuda_runtime_api.h): errors and the device. Memory,
/// streams and kernels: host_memory.cpp, host_streams.cpp, host_kernels.cpp.

#include "host.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"

namespace simt {
namespace {

constexpr int version = CUDART_VERSION;

// ---- The error state ----

std::atomic<int> kernel_error{0};   // of a kernel that failed
std::atomic<bool> reported{false};  // a call has returned it: it is sticky now
thread_local cudaError_t last_error = cudaSuccess;

// ---- Errors that the program never read ----

std::mutex unexamined_mutex;
struct Unexamined {
  std::string what;
  bool call;             // the call returned the code: the program may have looked at it
  bool dropped = false;  // the program ignored that code
};
std::vector<Unexamined>& unexamined = *new std::vector<Unexamined>;  // lasts: used at exit

void note(const std::string& what, bool call) {
  if (silent()) return;
  const std::lock_guard<std::mutex> lock(unexamined_mutex);
  for (const Unexamined& other : unexamined) {
    if (other.what == what) return;
  }
  unexamined.push_back({what, call, false});
}

/// The program has read the error by cudaGetLastError().
cudaError_t examined(cudaError_t error) {
  if (error == cudaSuccess) return error;
  const std::lock_guard<std::mutex> lock(unexamined_mutex);
  unexamined.clear();
  return error;
}

void report_calls(int exit_code, void*) {
  const std::lock_guard<std::mutex> lock(unexamined_mutex);
  for (const Unexamined& one : unexamined) {
    if (!one.dropped || exit_code != 0 || silent()) continue;
    std::fprintf(stderr, "simt: unchecked: %s, and nobody asked cudaGetLastError()\n",
                 one.what.c_str());
  }
}

}  // namespace

void operator,(cudaError_t error, Dropped) {
  if (error == cudaSuccess || in_kernel()) return;
  const std::lock_guard<std::mutex> lock(unexamined_mutex);
  if (!unexamined.empty() && unexamined.back().call) unexamined.back().dropped = true;
}

void report_unexamined() {
  if (const Unwaited last = unwaited(); last.serial != 0 && sticky_error() == 0 && !silent()) {
    find("order", last.kernel,
         "the program ends, and nobody waited for " + last.kernel + ", launched at " +
             source_line(last.caller).text() +
             ": what it prints may be lost; cudaDeviceSynchronize() waits",
         last.caller, 0);
  }
  const std::lock_guard<std::mutex> lock(unexamined_mutex);
  for (const Unexamined& one : unexamined) {
    if (one.call || silent()) continue;
    find_at_exit("unchecked: " + one.what + ", and nobody asked cudaGetLastError()");
  }
}

cudaError_t end_call(cudaError_t error, const char* call, const void* return_address) {
  if (error != cudaSuccess && sticking() == cudaSuccess) {
    static std::once_flag once;
    std::call_once(once, [] { on_exit(report_calls, nullptr); });
    note(std::string(call) + "() at " + source_line(counter_of(return_address)).text() +
             " returned " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")",
         true);
  }
  return end(error);
}

cudaError_t sticking() {
  return reported ? static_cast<cudaError_t>(kernel_error.load()) : cudaSuccess;
}
cudaError_t waited() {
  all_waited_for();
  if (kernel_error != 0) reported = true;
  return sticking();
}
cudaError_t end(cudaError_t error) {
  if (const cudaError_t stuck = sticking()) return stuck;
  if (error != cudaSuccess) set_last_error(error);
  return error;
}

void not_in_kernels(const char* call) {
  if (!in_kernel()) return;
  const std::string what =
      std::string("calls ") + call +
      " in a kernel: not on the CPU backend, where what a kernel launches starts "
      "after its end; what must come later goes into cudaStreamTailLaunch";
  fail_kernel("launch", cudaErrorNotSupported, what.c_str(), nullptr);
}

// ---- The device ----

namespace {

/// The apparent number of devices. They are one: memory, SMs and the error state are shared.
int device_count() {
  static const int count = static_cast<int>(number_from("SIMT_DEVICES", 1, 64, 1));
  return count;
}
thread_local int current_device = 0;

/// The memory of the machine, or of the container that the process runs in.
std::size_t host_memory() {
  std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t allowed = 0;
  for (const char* name :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (std::ifstream(name) >> allowed) bytes = std::min(bytes, allowed);
  }
  return bytes;
}

/// Device memory that fits: with checks each word needs a byte of state, and after its first use a
/// cell of 64 bytes (check.cpp). A quarter of the machine's memory stays for the rest.
std::size_t memory_that_fits() {
  const bool checked = instrumented() && checks_wanted();
  return checked ? host_memory() / 4 * 3 / (4 + 1 + 64) * 4 : host_memory() / 2;
}

/// Attributes that are not listed are 0: absent or, like the clock of DRAM, unknown. The caches,
/// the memory bus, the copy engines and the limits of textures are those of compute capability 9.0,
/// for programs that divide by them; nothing here depends on them. The clock is that of clock64().
const std::map<cudaDeviceAttr, std::size_t>& attributes() {
  const Limits& l = limits();
  static const std::map<cudaDeviceAttr, std::size_t> values = {
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, 1024},
      {cudaDevAttrMaxBlockDimY, 1024},
      {cudaDevAttrMaxBlockDimZ, 64},
      {cudaDevAttrMaxGridDimX, 2147483647},
      {cudaDevAttrMaxGridDimY, 65535},
      {cudaDevAttrMaxGridDimZ, 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, l.shared_per_block},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, l.shared_opt_in},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_per_sm},
      {cudaDevAttrReservedSharedMemoryPerBlock, shared_reserved},
      {cudaDevAttrTotalConstantMemory, 65536},
      {cudaDevAttrMaxRegistersPerBlock, 65536},
      {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
      {cudaDevAttrWarpSize, warpSize},
      {cudaDevAttrMaxPitch, 2147483647},
      {cudaDevAttrTextureAlignment, 512},
      {cudaDevAttrTexturePitchAlignment, 32},
      {cudaDevAttrMultiProcessorCount, l.sms},
      {cudaDevAttrMaxThreadsPerMultiProcessor, l.threads_per_sm},
      {cudaDevAttrMaxBlocksPerMultiprocessor, l.blocks_per_sm},
      {cudaDevAttrComputeCapabilityMajor, 9},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
      {cudaDevAttrClockRate, 1000000},  // kHz
      {cudaDevAttrL2CacheSize, 50 << 20},
      {cudaDevAttrGlobalMemoryBusWidth, 5120},
      {cudaDevAttrAsyncEngineCount, 3},
      {cudaDevAttrGpuOverlap, 1},
      {cudaDevAttrMaxTexture1DWidth, 131072},
      {cudaDevAttrMaxTexture2DWidth, 131072},
      {cudaDevAttrMaxTexture2DHeight, 65536},
      {cudaDevAttrMaxTexture3DWidth, 16384},
      {cudaDevAttrMaxTexture3DHeight, 16384},
      {cudaDevAttrMaxTexture3DDepth, 16384},
      {cudaDevAttrCanMapHostMemory, 1},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrStreamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, 1},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrConcurrentManagedAccess, 1},
      {cudaDevAttrHostNativeAtomicSupported, 1},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrMemoryPoolsSupported, 1},
      {cudaDevAttrClusterLaunch, 1},
  };
  return values;
}
int attribute_of(cudaDeviceAttr attribute) {
  const auto found = attributes().find(attribute);
  return found == attributes().end() ? 0 : static_cast<int>(found->second);
}

}  // namespace

bool is_device_number(int device) { return device >= 0 && device < device_count(); }

// ---- For the engine (errors.hpp) ----

std::size_t number_from(const char* variable, std::size_t least, std::size_t most,
                        std::size_t otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  char* rest = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &rest, 10);
  if (std::isdigit(static_cast<unsigned char>(*text)) && *rest == '\0' && errno == 0 &&
      value >= least && value <= most) {
    return value;
  }
  std::fprintf(stderr, "simt: bad %s '%s': a whole number from %zu to %zu\n", variable, text, least,
               most);
  std::exit(2);
}

const Limits& limits() {
  static const Limits the_limits = [] {
    Limits l;
    l.sms = static_cast<unsigned>(number_from("SIMT_SMS", 1, 1024, l.sms));
    l.memory_bytes = number_from("SIMT_MEMORY", 1 << 20, std::size_t{1} << 45, memory_that_fits());
    return l;
  }();
  return the_limits;
}
void launch_refused(int cuda_error, const std::string& what) {
  const auto error = static_cast<cudaError_t>(cuda_error);
  if (!what.empty()) note(what + " (" + cudaGetErrorName(error) + ")", false);
  end(error);
}
void kernel_failed(int cuda_error) {
  static const bool blocking = [] {
    const char* text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text != nullptr && std::strcmp(text, "1") == 0;
  }();
  int none = 0;
  kernel_error.compare_exchange_strong(none, cuda_error);
  if (blocking) reported = true;
}
int sticky_error() { return kernel_error; }

const char* error_name(int cuda_error) {
  return cudaGetErrorName(static_cast<cudaError_t>(cuda_error));
}
cudaError_t take_last_error() {
  if (in_kernel()) return static_cast<cudaError_t>(error_in_kernel(true));
  return std::exchange(last_error, cudaSuccess);
}
void set_last_error(cudaError_t error) {
  if (!in_kernel()) {
    last_error = error;
  } else if (error != cudaSuccess) {
    set_error_in_kernel(error);
  }
}

}  // namespace simt

using namespace simt;

// ---- Errors ----

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(name, number, text) \
  case name:                           \
    return #name;
#include "simt_errors.h"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(name, number, text) \
  case name:                           \
    return text;
#include "simt_errors.h"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = take_last_error();
  if (in_kernel()) return error;
  return examined(sticking() != cudaSuccess ? sticking() : error);
}
cudaError_t cudaPeekAtLastError() {
  if (in_kernel()) return static_cast<cudaError_t>(error_in_kernel(false));
  return examined(sticking() != cudaSuccess ? sticking() : last_error);
}

// ---- Device ----

cudaError_t cudaDriverGetVersion(int* number) {
  *number = version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* number) {
  *number = version;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return end(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return end(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device_number(device)) return end(cudaErrorInvalidDevice);
  current_device = device;
  return end(cudaSuccess);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
cudaError_t cudaSetDeviceFlags(unsigned) { return end(cudaSuccess); }
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = cudaDeviceScheduleAuto;
  return end(cudaSuccess);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!is_device_number(device)) return end(cudaErrorInvalidDevice);
  if (value == nullptr) return end(cudaErrorInvalidValue);
  if (attribute < 1 || attribute >= cudaDevAttrMax) return end(cudaErrorInvalidValue);
  *value = attribute == cudaDevAttrPciBusId ? device + 1 : attribute_of(attribute);
  return end(cudaSuccess);
}
// Domain, bus, device and function: as in cudaDeviceProp, but as text.
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!is_device_number(device)) return end(cudaErrorInvalidDevice);
  if (text == nullptr || length < 13) return end(cudaErrorInvalidValue);
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
  return end(cudaSuccess);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (device == nullptr || text == nullptr) return end(cudaErrorInvalidValue);
  unsigned domain = 0, bus = 0, slot = 0;
  const bool whole = std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) == 3;
  if (!whole && std::sscanf(text, "%x:%x", &bus, &slot) != 2) return end(cudaErrorInvalidValue);
  const int number = static_cast<int>(bus) - 1;
  if (domain != 0 || slot != 0 || !is_device_number(number)) return end(cudaErrorInvalidDevice);
  *device = number;
  return end(cudaSuccess);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (!is_device_number(device)) return end(cudaErrorInvalidDevice);
  if (p == nullptr) return end(cudaErrorInvalidValue);
  const auto bytes = [](cudaDeviceAttr attribute) {
    return static_cast<std::size_t>(attribute_of(attribute));
  };
  *p = {};
  std::snprintf(p->name, sizeof p->name, "CPU (simt)");
  p->totalGlobalMem = limits().memory_bytes;
  p->sharedMemPerBlock = bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  p->regsPerBlock = attribute_of(cudaDevAttrMaxRegistersPerBlock);
  p->warpSize = warpSize;
  p->memPitch = bytes(cudaDevAttrMaxPitch);
  p->maxThreadsPerBlock = attribute_of(cudaDevAttrMaxThreadsPerBlock);
  for (int k = 0; k < 3; ++k) {
    p->maxThreadsDim[k] = attribute_of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxBlockDimX + k));
    p->maxGridSize[k] = attribute_of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxGridDimX + k));
  }
  p->totalConstMem = bytes(cudaDevAttrTotalConstantMemory);
  p->major = attribute_of(cudaDevAttrComputeCapabilityMajor);
  p->minor = attribute_of(cudaDevAttrComputeCapabilityMinor);
  p->textureAlignment = bytes(cudaDevAttrTextureAlignment);
  p->texturePitchAlignment = bytes(cudaDevAttrTexturePitchAlignment);
  p->asyncEngineCount = attribute_of(cudaDevAttrAsyncEngineCount);
  p->memoryBusWidth = attribute_of(cudaDevAttrGlobalMemoryBusWidth);
  p->l2CacheSize = attribute_of(cudaDevAttrL2CacheSize);
  p->pciBusID = device + 1;
  p->maxTexture1D = attribute_of(cudaDevAttrMaxTexture1DWidth);
  for (int k = 0; k < 2; ++k) {
    p->maxTexture2D[k] =
        attribute_of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxTexture2DWidth + k));
  }
  for (int k = 0; k < 3; ++k) {
    p->maxTexture3D[k] =
        attribute_of(static_cast<cudaDeviceAttr>(cudaDevAttrMaxTexture3DWidth + k));
  }
  p->multiProcessorCount = attribute_of(cudaDevAttrMultiProcessorCount);
  p->canMapHostMemory = attribute_of(cudaDevAttrCanMapHostMemory);
  p->concurrentKernels = attribute_of(cudaDevAttrConcurrentKernels);
  p->unifiedAddressing = attribute_of(cudaDevAttrUnifiedAddressing);
  p->maxThreadsPerMultiProcessor = attribute_of(cudaDevAttrMaxThreadsPerMultiProcessor);
  p->streamPrioritiesSupported = attribute_of(cudaDevAttrStreamPrioritiesSupported);
  p->globalL1CacheSupported = attribute_of(cudaDevAttrGlobalL1CacheSupported);
  p->localL1CacheSupported = attribute_of(cudaDevAttrLocalL1CacheSupported);
  p->sharedMemPerMultiprocessor = bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  p->regsPerMultiprocessor = attribute_of(cudaDevAttrMaxRegistersPerMultiprocessor);
  p->managedMemory = attribute_of(cudaDevAttrManagedMemory);
  p->hostNativeAtomicSupported = attribute_of(cudaDevAttrHostNativeAtomicSupported);
  p->concurrentManagedAccess = attribute_of(cudaDevAttrConcurrentManagedAccess);
  p->cooperativeLaunch = attribute_of(cudaDevAttrCooperativeLaunch);
  p->sharedMemPerBlockOptin = bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  p->maxBlocksPerMultiProcessor = attribute_of(cudaDevAttrMaxBlocksPerMultiprocessor);
  p->reservedSharedMemPerBlock = bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  p->memoryPoolsSupported = attribute_of(cudaDevAttrMemoryPoolsSupported);
  p->clusterLaunch = attribute_of(cudaDevAttrClusterLaunch);
  return end(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  not_in_kernels("cudaDeviceSynchronize()");
  return end(waited());
}
cudaError_t cudaDeviceReset() { return end(waited()); }

namespace {
std::size_t limit_values[] = {1 << 10, 1 << 20, 8 << 20, 2, 2048, 128, 0};
}
std::size_t simt::device_heap_bytes() { return limit_values[cudaLimitMallocHeapSize]; }
std::size_t simt::pending_launch_limit() {
  return limit_values[cudaLimitDevRuntimePendingLaunchCount];
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (limit > cudaLimitPersistingL2CacheSize) return end(cudaErrorUnsupportedLimit);
  limit_values[limit] = value;
  return end(cudaSuccess);
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (limit > cudaLimitPersistingL2CacheSize) return end(cudaErrorUnsupportedLimit);
  *value = limit_values[limit];
  return end(cudaSuccess);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return end(cudaSuccess); }
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return end(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return end(cudaSuccess);
}
cudaError_t cudaProfilerStart() { return end(cudaSuccess); }
cudaError_t cudaProfilerStop() { return end(cudaSuccess); }
