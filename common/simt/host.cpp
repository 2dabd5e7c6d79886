/// \file
/// The host side of the CUDA runtime (include/cuda_runtime_api.h) and the small parts of the device
/// side that need no engine.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "cuda_runtime.h"
#include "errors.hpp"
#include "memory.hpp"

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
};
struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point when = {};
};

namespace simt {
namespace {

constexpr std::size_t shared_per_sm = 228 << 10, shared_reserved = 1 << 10;
constexpr int version = CUDART_VERSION;

// ---- The error state ----

std::atomic<int> kernel_error{0};   // of a kernel that went wrong
std::atomic<bool> reported{false};  // a call has returned it: it sticks
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t sticking() {
  return reported ? static_cast<cudaError_t>(kernel_error.load()) : cudaSuccess;
}
/// What a call that waits finds.
cudaError_t waited() {
  if (kernel_error != 0) reported = true;
  return sticking();
}
/// Every call returns through here. The error that sticks comes first.
cudaError_t end(cudaError_t error) {
  if (const cudaError_t stuck = sticking()) return stuck;
  if (error != cudaSuccess) last_error = error;
  return error;
}
cudaError_t not_supported(const char* call) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    std::fprintf(stderr, "simt: %s: stream capture and graphs need a GPU\n", call);
  }
  return end(cudaErrorNotSupported);
}

// ---- The device ----

/// How many devices there seem to be. They are one: memory, SMs and the error state are shared.
int device_count() {
  static const int count = static_cast<int>(number_from("SIMT_DEVICES", 1, 64, 1));
  return count;
}
bool is_device_number(int device) { return device >= 0 && device < device_count(); }
thread_local int current_device = 0;

/// Of the machine, or of the container that the process runs in.
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

/// What is not listed is 0: absent or, as the clocks, the memory bus and the L2 cache, unknown.
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

// ---- Memory ----

struct HostVisible {
  std::size_t bytes;
  cudaMemoryType type;  // managed, or host: pinned or registered
  bool registered;
};
std::mutex mutex;  // of the tables below
std::map<const char*, HostVisible> host_visible;

bool find_host_visible(const void* address, HostVisible* found) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto* p = static_cast<const char*>(address);
  auto next = host_visible.upper_bound(p);
  if (next == host_visible.begin() || p >= (--next)->first + next->second.bytes) return false;
  *found = next->second;
  return true;
}

/// Where `bytes` at an address may be used from; `bad`: they leave their allocation.
enum class Side { host, device, both, bad };
Side side_of(const void* address, std::size_t bytes) {
  HostVisible visible;
  if (find_host_visible(address, &visible)) return Side::both;
  if (is_device(address, bytes)) return Side::device;
  void* base = nullptr;
  std::size_t size = 0;
  return is_device(address, 1) || allocation_of(address, &base, &size) ? Side::bad : Side::host;
}
bool fits(Side side, Side wanted) { return side == wanted || side == Side::both; }

cudaError_t check_kind(Side to, Side from, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (to == Side::bad || from == Side::bad) return cudaErrorInvalidValue;
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool right = fits(to, to_device ? Side::device : Side::host) &&
                     fits(from, from_device ? Side::device : Side::host);
  return right ? cudaSuccess : cudaErrorInvalidValue;
}

/// Copies rows of `width` bytes. After a kernel went wrong nothing is copied any more.
cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  if (height > 1 && (to_pitch < width || from_pitch < width)) return cudaErrorInvalidPitchValue;
  const Side target = side_of(to, (height - 1) * to_pitch + width);
  const Side source = side_of(from, (height - 1) * from_pitch + width);
  if (const cudaError_t error = check_kind(target, source, kind)) return error;
  if (kernel_error != 0) return cudaSuccess;
  for (std::size_t row = 0; row < height; ++row) {
    char* out = static_cast<char*>(to) + row * to_pitch;
    const char* in = static_cast<const char*>(from) + row * from_pitch;
    std::memmove(out, in, width);
    if (target == Side::host) continue;
    if (source == Side::host) {
      mark_written(out, width);
    } else {
      copy_written_state(out, in, width);
    }
  }
  return cudaSuccess;
}
cudaError_t set_rows(void* address, std::size_t pitch, int value, std::size_t width,
                     std::size_t height) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
  const Side side = side_of(address, (height - 1) * pitch + width);
  if (side == Side::host || side == Side::bad) return cudaErrorInvalidValue;
  if (kernel_error != 0) return cudaSuccess;
  for (std::size_t row = 0; row < height; ++row) {
    char* p = static_cast<char*>(address) + row * pitch;
    std::memset(p, value, width);
    mark_written(p, width);
  }
  return cudaSuccess;
}

cudaError_t allocate_visible(void** address, std::size_t bytes, cudaMemoryType type) {
  if (address == nullptr) return cudaErrorInvalidValue;
  *address = nullptr;
  if (bytes == 0) return type == cudaMemoryTypeManaged ? cudaErrorInvalidValue : cudaSuccess;
  *address = device_allocate(bytes, true);
  if (*address == nullptr) return cudaErrorMemoryAllocation;
  const std::lock_guard<std::mutex> lock(mutex);
  host_visible[static_cast<const char*>(*address)] = {bytes, type, false};
  return cudaSuccess;
}
/// Frees device memory, or memory of the host if `host`; each has its own function in CUDA.
cudaError_t release(void* address, bool host) {
  if (address == nullptr) return cudaSuccess;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = host_visible.find(static_cast<const char*>(address));
  const bool is_host = found != host_visible.end() && found->second.type == cudaMemoryTypeHost;
  if (is_host != host || (is_host && found->second.registered)) return cudaErrorInvalidValue;
  if (found != host_visible.end()) host_visible.erase(found);
  return device_free(address) ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- Streams and events ----

std::set<const void*> handles;  // streams and events that exist

template <class T>
cudaError_t make_handle(T** handle, const T& value) {
  if (handle == nullptr) return cudaErrorInvalidValue;
  *handle = new T(value);
  const std::lock_guard<std::mutex> lock(mutex);
  handles.insert(*handle);
  return cudaSuccess;
}
template <class T>
cudaError_t destroy_handle(T* handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (handles.erase(handle) == 0) return cudaErrorInvalidResourceHandle;
  delete handle;
  return cudaSuccess;
}
cudaError_t check_event(cudaEvent_t event) {
  const std::lock_guard<std::mutex> lock(mutex);
  return handles.count(event) != 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
}
bool is_built_in(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}
cudaError_t check_stream(cudaStream_t stream) {
  return is_built_in(stream) ? cudaSuccess : check_event(reinterpret_cast<cudaEvent_t>(stream));
}
cudaError_t check_both(cudaStream_t stream, cudaEvent_t event) {
  const cudaError_t error = check_event(event);
  return error != cudaSuccess ? error : check_stream(stream);
}

// ---- Kernels ----

struct KernelSettings {
  std::size_t shared_bytes = 0;
  bool large_clusters = false;
};
std::map<std::string, KernelSettings> kernels;

/// "course::sum< float, 256 >" and "&sum<float,256>" name the same kernel.
std::string plain_name(const char* kernel) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string name;
  for (const char* c = kernel; *c != '\0'; ++c) {
    if (c[0] == ':' && c[1] == ':') {
      while (!name.empty() && in_word(name.back())) name.pop_back();
      ++c;
    } else if (!std::isspace(static_cast<unsigned char>(*c)) && *c != '&') {
      name += *c;
    }
  }
  return name;
}
std::string without_arguments(const std::string& name) { return name.substr(0, name.find('<')); }

/// Of this kernel or, where its template arguments are spelled in another way, of the template.
KernelSettings settings_of(const char* kernel) {
  const std::string name = plain_name(kernel);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = kernels.find(name);
  if (found != kernels.end()) return found->second;
  KernelSettings settings;
  for (const auto& [other, its] : kernels) {
    if (without_arguments(other) != without_arguments(name)) continue;
    settings.shared_bytes = std::max(settings.shared_bytes, its.shared_bytes);
    settings.large_clusters = settings.large_clusters || its.large_clusters;
  }
  return settings;
}

std::uint64_t volume(dim3 d) { return std::uint64_t{d.x} * d.y * d.z; }

int blocks_per_sm(int threads, std::size_t shared_bytes) {
  const Limits& l = limits();
  if (threads > 1024 || shared_bytes > l.shared_opt_in) return 0;
  const unsigned whole_warps = (static_cast<unsigned>(threads) + 31) / 32 * 32;
  const std::size_t by_memory = shared_per_sm / (shared_bytes + shared_reserved);
  return static_cast<int>(
      std::min<std::size_t>({l.blocks_per_sm, l.threads_per_sm / whole_warps, by_memory}));
}

}  // namespace

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
    l.memory_bytes = number_from("SIMT_MEMORY", 1 << 20, std::size_t{1} << 45, host_memory() / 2);
    return l;
  }();
  return the_limits;
}
std::size_t shared_allowed(const char* kernel) {
  return std::max(limits().shared_per_block, settings_of(kernel).shared_bytes);
}
void launch_refused(int cuda_error) { end(static_cast<cudaError_t>(cuda_error)); }
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

int exchange_last_error(int cuda_error) {
  return std::exchange(last_error, static_cast<cudaError_t>(cuda_error));
}
cudaError_t take_last_error() { return std::exchange(last_error, cudaSuccess); }
void set_last_error(cudaError_t error) { last_error = error; }

// ---- Behind the templates of cuda_runtime_api.h ----

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, const void* symbol,
                        std::size_t symbol_bytes, std::size_t offset, cudaMemcpyKind kind) {
  void* address = nullptr;
  cudaError_t error = symbol_address(&address, symbol, symbol_bytes);
  if (error != cudaSuccess) return error;
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return end(cudaErrorInvalidValue);
  waited();
  char* place = static_cast<char*>(address) + offset;
  error = from != nullptr ? copy_rows(place, bytes, from, bytes, bytes, 1, kind)
                          : copy_rows(to, bytes, place, bytes, bytes, 1, kind);
  return end(error);
}
cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes) {
  *address = const_cast<void*>(symbol);
  return end(is_device(symbol, bytes) ? cudaSuccess : cudaErrorInvalidSymbol);
}

cudaError_t set_kernel_attribute(const char* kernel, cudaFuncAttribute attribute, int value) {
  const std::string name = plain_name(kernel);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<std::size_t>(value) > limits().shared_opt_in) {
      return end(cudaErrorInvalidValue);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    kernels[name].shared_bytes = static_cast<std::size_t>(value);
  } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
    const std::lock_guard<std::mutex> lock(mutex);
    kernels[name].large_clusters = value != 0;
  } else if (attribute != cudaFuncAttributePreferredSharedMemoryCarveout &&
             attribute != cudaFuncAttributeClusterSchedulingPolicyPreference) {
    return end(cudaErrorInvalidValue);
  }
  return end(cudaSuccess);
}
cudaError_t get_kernel_attributes(cudaFuncAttributes* attributes, const char* kernel) {
  if (attributes == nullptr) return end(cudaErrorInvalidValue);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(shared_allowed(kernel));
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  return end(cudaSuccess);
}
cudaError_t occupancy(int* blocks, int threads, std::size_t shared_bytes) {
  if (blocks == nullptr || threads <= 0) return end(cudaErrorInvalidValue);
  *blocks = blocks_per_sm(threads, shared_bytes);
  return end(cudaSuccess);
}
cudaError_t largest_block(int* blocks, int* threads, std::size_t (*shared_bytes)(void*, int),
                          void* data, int limit) {
  if (blocks == nullptr || threads == nullptr) return end(cudaErrorInvalidValue);
  const int most = limit <= 0 || limit > 1024 ? 1024 : limit;
  int best = 0;
  *blocks = *threads = 0;
  for (int count = most; count > 0; count = (count - 1) / 32 * 32) {
    const int per_sm = blocks_per_sm(count, shared_bytes(data, count));
    if (per_sm * count <= best) continue;
    best = per_sm * count;
    *threads = count;
    *blocks = per_sm * static_cast<int>(limits().sms);
  }
  return end(cudaSuccess);
}
cudaError_t prepare_launch(Launch* launch, const cudaLaunchAttribute* attributes, unsigned count) {
  for (unsigned k = 0; k < count; ++k) {
    const cudaLaunchAttributeValue& value = attributes[k].val;
    if (attributes[k].id == cudaLaunchAttributeCooperative) {
      launch->cooperative = value.cooperative != 0;
    } else if (attributes[k].id == cudaLaunchAttributeClusterDimension) {
      launch->cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
    }
  }
  const std::uint64_t blocks = volume(launch->grid), threads = volume(launch->block);
  const unsigned most = settings_of(launch->kernel).large_clusters ? 16 : 8;
  if (volume(launch->cluster) > most) return end(cudaErrorInvalidClusterSize);
  if (launch->cooperative && threads > 0 && threads <= 1024) {
    const int per_sm = blocks_per_sm(static_cast<int>(threads), launch->shared_bytes);
    if (blocks > std::uint64_t{limits().sms} * static_cast<unsigned>(per_sm)) {
      return end(cudaErrorCooperativeLaunchTooLarge);
    }
  }
  return end(cudaSuccess);
}

// ---- Address spaces (device_functions.h) ----

bool in_shared_memory(const void* address) {
  return is_window(reinterpret_cast<std::uintptr_t>(address));
}
bool in_constant_memory(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - ranges.constants < ranges.constants_bytes;
}
bool in_global_memory(const void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  return a - ranges.heap < ranges.heap_bytes || a - ranges.variables < ranges.variables_bytes;
}
std::size_t shared_offset(const void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) - ranges.windows) % window_bytes;
}

// ---- What the functions of a warp compute ----

namespace {

/// `source(lane, operand, first, last)`: which lane to read; first and last are the ends of the
/// lane's group. Outside of the group a lane keeps its own value.
template <class F>
void shuffle(WarpCall& call, F source) {
  for_lanes(call.mask, [&](int lane) {
    const int group = ~(call.width[lane] - 1) & 31;
    const int first = lane & group, last = first | (~group & 31);
    const int from = source(lane, call.argument[lane] & 31, first, last);
    call.result[lane] = from < 0 ? call.value[lane] : call.take(lane, from);
  });
}
template <class F>
void reduce(WarpCall& call, F f) {
  auto result = static_cast<std::uint32_t>(call.value[__builtin_ctz(call.mask)]);
  for_lanes(call.mask & (call.mask - 1),
            [&](int lane) { result = f(result, static_cast<std::uint32_t>(call.value[lane])); });
  for_lanes(call.mask, [&](int lane) { call.result[lane] = result; });
}
std::int32_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }

}  // namespace

void shuffle_index(WarpCall& call) {
  shuffle(call,
          [](int, int operand, int first, int last) { return first | (operand & (last - first)); });
}
void shuffle_up(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int first, int) {
    return lane - operand >= first ? lane - operand : -1;
  });
}
void shuffle_down(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int, int last) {
    return lane + operand <= last ? lane + operand : -1;
  });
}
void shuffle_xor(WarpCall& call) {
  shuffle(call, [](int lane, int operand, int, int last) {
    return (lane ^ operand) <= last ? lane ^ operand : -1;
  });
}
void vote_ballot(WarpCall& call) {
  std::uint64_t votes = 0;
  for_lanes(call.mask, [&](int lane) { votes |= std::uint64_t{call.value[lane] != 0} << lane; });
  for_lanes(call.mask, [&](int lane) { call.result[lane] = votes; });
}
void match_any(WarpCall& call) {
  for_lanes(call.mask, [&](int lane) {
    std::uint64_t same = 0;
    for_lanes(call.mask, [&](int other) {
      same |= std::uint64_t{call.value[other] == call.value[lane]} << other;
    });
    call.result[lane] = same;
  });
}
void match_all(WarpCall& call) {
  match_any(call);
  for_lanes(call.mask, [&](int lane) {
    if (call.result[lane] != call.mask) call.result[lane] = 0;
  });
}
void reduce_add(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a + b; });
}
void reduce_and(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a & b; });
}
void reduce_or(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a | b; });
}
void reduce_xor(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}
void reduce_min_unsigned(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
}
void reduce_max_unsigned(WarpCall& call) {
  reduce(call, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}
void reduce_min_signed(WarpCall& call) {
  reduce(call,
         [](std::uint32_t a, std::uint32_t b) { return as_signed(a) < as_signed(b) ? a : b; });
}
void reduce_max_signed(WarpCall& call) {
  reduce(call,
         [](std::uint32_t a, std::uint32_t b) { return as_signed(a) < as_signed(b) ? b : a; });
}

}  // namespace simt

using namespace simt;

long long clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What assert() calls; in place of the C library's, so that a kernel's assertion ends the kernel.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  const std::string text = std::string(file) + ":" + std::to_string(line) + ": " + function +
                           ": Assertion `" + assertion + "` failed.";
  if (in_kernel()) fail_kernel(cudaErrorAssert, text.c_str());
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

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
  return sticking() != cudaSuccess ? sticking() : error;
}
cudaError_t cudaPeekAtLastError() { return sticking() != cudaSuccess ? sticking() : last_error; }

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
  *value = attribute_of(attribute);
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
cudaError_t cudaDeviceSynchronize() { return end(waited()); }
cudaError_t cudaDeviceReset() { return end(waited()); }

namespace {
std::size_t limit_values[] = {1 << 10, 1 << 20, 8 << 20, 2, 2048, 128, 0};
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

// ---- Memory ----

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  if (address == nullptr) return end(cudaErrorInvalidValue);
  *address = nullptr;
  if (bytes == 0 || sticking() != cudaSuccess) return end(cudaSuccess);
  *address = device_allocate(bytes, false);
  return end(*address != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* address) {
  waited();
  return end(release(address, false));
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes, unsigned) {
  return end(allocate_visible(address, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return end(allocate_visible(address, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaFreeHost(void* address) {
  waited();
  return end(release(address, true));
}
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  HostVisible visible;
  if (device == nullptr || !find_host_visible(host, &visible)) return end(cudaErrorInvalidValue);
  *device = host;
  return end(cudaSuccess);
}
cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned) {
  if (address == nullptr || bytes == 0) return end(cudaErrorInvalidValue);
  HostVisible visible;
  if (find_host_visible(address, &visible)) return end(cudaErrorHostMemoryAlreadyRegistered);
  const std::lock_guard<std::mutex> lock(mutex);
  host_visible[static_cast<const char*>(address)] = {bytes, cudaMemoryTypeHost, true};
  return end(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = host_visible.find(static_cast<const char*>(address));
  if (found == host_visible.end() || !found->second.registered) {
    return end(cudaErrorHostMemoryNotRegistered);
  }
  host_visible.erase(found);
  return end(cudaSuccess);
}
cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned) {
  return end(allocate_visible(address, bytes, cudaMemoryTypeManaged));
}
cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return cudaMalloc(address, bytes);
}
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end(release(address, false));
}
cudaError_t cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  if (pitch == nullptr) return end(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(address, *pitch * height);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = limits().memory_bytes;
  *free = *total - std::min(*total, device_bytes_in_use());
  return end(cudaSuccess);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  if (attributes == nullptr) return end(cudaErrorInvalidValue);
  *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, nullptr};
  void* const pointer = const_cast<void*>(address);
  HostVisible visible;
  if (find_host_visible(address, &visible)) {
    *attributes = {visible.type, 0, pointer, pointer};
  } else if (is_device(address, 1)) {
    *attributes = {cudaMemoryTypeDevice, 0, pointer, nullptr};
  } else {
    attributes->hostPointer = pointer;
  }
  return end(cudaSuccess);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  *pool = nullptr;
  return end(is_device_number(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return end(cudaSuccess); }

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  waited();
  return end(copy_rows(to, bytes, from, bytes, bytes, 1, kind));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end(copy_rows(to, bytes, from, bytes, bytes, 1, kind));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  waited();
  return end(copy_rows(to, to_pitch, from, from_pitch, width, height, kind));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end(copy_rows(to, to_pitch, from, from_pitch, width, height, kind));
}
cudaError_t cudaMemset(void* address, int value, std::size_t bytes) {
  return end(set_rows(address, bytes, value, bytes, 1));
}
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end(set_rows(address, bytes, value, bytes, 1));
}
cudaError_t cudaMemset2D(void* address, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return end(set_rows(address, pitch, value, width, height));
}
cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end(set_rows(address, pitch, value, width, height));
}

namespace {
cudaError_t advise(const void* address, bool known_place) {
  HostVisible visible;
  const bool managed =
      find_host_visible(address, &visible) && visible.type == cudaMemoryTypeManaged;
  if (!managed) return end(cudaErrorInvalidValue);
  return end(known_place ? cudaSuccess : cudaErrorInvalidDevice);
}
bool is_place(int device) { return is_device_number(device) || device == cudaCpuDeviceId; }
}  // namespace
cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t, int device, cudaStream_t) {
  return advise(address, is_place(device));
}
cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t, cudaMemLocation, unsigned,
                                 cudaStream_t) {
  return advise(address, true);
}
cudaError_t cudaMemAdvise(const void* address, std::size_t, cudaMemoryAdvise, int device) {
  return advise(address, is_place(device));
}
cudaError_t cudaMemAdvise(const void* address, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
  return advise(address, true);
}

// ---- Streams and events ----

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return end(make_handle(stream, CUstream_st{}));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags > cudaStreamNonBlocking) return end(cudaErrorInvalidValue);
  return end(make_handle(stream, CUstream_st{flags, 0}));
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (flags > cudaStreamNonBlocking) return end(cudaErrorInvalidValue);
  return end(make_handle(stream, CUstream_st{flags, std::clamp(priority, -5, 0)}));
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return end(destroy_handle(stream)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  waited();
  return end(check_stream(stream));
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  waited();
  return end(check_stream(stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return end(check_both(stream, event));
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  *flags = is_built_in(stream) ? cudaStreamDefault : stream->flags;
  return end(cudaSuccess);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  *priority = is_built_in(stream) ? 0 : stream->priority;
  return end(cudaSuccess);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  callback(stream, static_cast<cudaError_t>(sticky_error()), data);
  return end(cudaSuccess);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, std::size_t, unsigned) {
  return end(check_stream(stream));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  if (function == nullptr) return end(cudaErrorInvalidValue);
  if (sticky_error() == 0) function(data);
  return end(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (flags > 7) return end(cudaErrorInvalidValue);
  return end(make_handle(event, CUevent_st{flags}));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return end(destroy_handle(event)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t error = check_both(stream, event)) return end(error);
  event->recorded = true;
  event->when = std::chrono::steady_clock::now();
  return end(cudaSuccess);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  waited();
  return end(check_event(event));
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  waited();
  return end(check_event(event));
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (milliseconds == nullptr) return end(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {start, stop}) {
    if (const cudaError_t error = check_event(event)) return end(error);
    if (!event->recorded || (event->flags & cudaEventDisableTiming) != 0) {
      return end(cudaErrorInvalidResourceHandle);
    }
  }
  *milliseconds = std::chrono::duration<float, std::milli>(stop->when - start->when).count();
  return end(cudaSuccess);
}

// ---- Stream capture and graphs ----

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return not_supported("cudaStreamBeginCapture");
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  if (graph != nullptr) *graph = nullptr;
  return not_supported("cudaStreamEndCapture");
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return end(check_stream(stream));
}
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned) { return not_supported("cudaGraphCreate"); }
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                   std::size_t, const cudaKernelNodeParams*) {
  return not_supported("cudaGraphAddKernelNode");
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return not_supported("cudaGraphInstantiate");
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                       std::size_t, cudaGraph_t) {
  return not_supported("cudaGraphAddChildGraphNode");
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return not_supported("cudaGraphUpload");
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return not_supported("cudaGraphLaunch");
}
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, std::size_t*) {
  return not_supported("cudaGraphGetNodes");
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType*) {
  return not_supported("cudaGraphNodeGetType");
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t, cudaKernelNodeParams*) {
  return not_supported("cudaGraphKernelNodeGetParams");
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return not_supported("cudaGraphExecDestroy"); }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return not_supported("cudaGraphDestroy"); }

// ---- Kernels without a name ----

namespace {
cudaError_t nameless(const char* call) {
  std::fprintf(stderr, "simt: %s: pass the kernel itself, not a pointer to void\n", call);
  return end(cudaErrorInvalidDeviceFunction);
}
}  // namespace
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return nameless("cudaFuncSetAttribute");
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return end(cudaSuccess); }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  return get_kernel_attributes(attributes, "");
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t shared_bytes) {
  return occupancy(blocks, threads, shared_bytes);
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return nameless("cudaLaunchKernel");
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t,
                                        cudaStream_t) {
  return nameless("cudaLaunchCooperativeKernel");
}
