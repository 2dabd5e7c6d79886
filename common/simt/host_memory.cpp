/// \file
/// The host side of the CUDA runtime: memory.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"
#include "host.hpp"
#include "memory.hpp"

namespace simt {
namespace {

struct HostVisible {
  std::size_t bytes;
  cudaMemoryType type;  // managed, or host: pinned or registered
  bool registered;
};
std::mutex mutex;  // of the table below
std::map<const char*, HostVisible> host_visible;

bool find_host_visible(const void* address, HostVisible* found) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto* p = static_cast<const char*>(address);
  auto next = host_visible.upper_bound(p);
  if (next == host_visible.begin() || p >= (--next)->first + next->second.bytes) return false;
  *found = next->second;
  return true;
}

/// Where `bytes` at an address may be used; `bad`: they extend past their allocation.
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

/// The unwritten bytes that the last copy of this thread took to the host.
thread_local Unwritten copied_unwritten;

/// Copies rows of `width` bytes. After a failed kernel nothing is copied.
cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  if (height > 1 && (to_pitch < width || from_pitch < width)) return cudaErrorInvalidPitchValue;
  const Side target = side_of(to, (height - 1) * to_pitch + width);
  const Side source = side_of(from, (height - 1) * from_pitch + width);
  if (const cudaError_t error = check_kind(target, source, kind)) return error;
  if (sticky_error() != 0) return cudaSuccess;
  if (source == Side::device && target == Side::host) count_to_host(width * height);
  for (std::size_t row = 0; row < height; ++row) {
    char* out = static_cast<char*>(to) + row * to_pitch;
    const char* in = static_cast<const char*>(from) + row * from_pitch;
    std::memmove(out, in, width);
    if (source == Side::device && target == Side::host && copied_unwritten.bytes == 0 &&
        checks_wanted()) {
      copied_unwritten = unwritten_in(in, width);
      copied_unwritten.start += row * from_pitch;
    }
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
  if (sticky_error() != 0) return cudaSuccess;
  for (std::size_t row = 0; row < height; ++row) {
    char* p = static_cast<char*>(address) + row * pitch;
    std::memset(p, value, width);
    mark_written(p, width);
  }
  return cudaSuccess;
}

/// The end of a copy: reports unwritten bytes.
cudaError_t end_copy(cudaError_t error, const char* call, const void* return_address) {
  if (const Unwritten one = std::exchange(copied_unwritten, {}); one.bytes != 0) {
    const ProgramCounter pc = counter_of(return_address);
    find("unwritten", "the host",
         std::string(call) + "() at " + source_line(pc).text() + " copies " +
             std::to_string(one.bytes) + " bytes to the host that nobody has written, from byte " +
             std::to_string(one.start) + " on: does the grid cover the array?",
         pc, 0);
  }
  return end_call(error, call, return_address);
}

/// One line per process: how much memory there is, and how to change it.
cudaError_t too_much(std::size_t bytes) {
  static std::once_flag once;
  if (!silent()) {
    std::call_once(once, [bytes] {
      std::fprintf(stderr,
                   "simt: %zu MiB more do not fit: the device has %zu MiB, of which %zu are in use "
                   "(SIMT_MEMORY=BYTES changes it%s)\n",
                   bytes >> 20, limits().memory_bytes >> 20, device_bytes_in_use() >> 20,
                   instrumented() ? "; with checks the host needs 17 times as much" : "");
    });
  }
  return cudaErrorMemoryAllocation;
}

cudaError_t allocate_visible(void** address, std::size_t bytes, cudaMemoryType type) {
  if (address == nullptr) return cudaErrorInvalidValue;
  *address = nullptr;
  if (bytes == 0) return type == cudaMemoryTypeManaged ? cudaErrorInvalidValue : cudaSuccess;
  *address = device_allocate(bytes, true);
  if (*address == nullptr) return too_much(bytes);
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
  if (!device_free(address)) return cudaErrorInvalidValue;
  return_to_pool(address);
  return cudaSuccess;
}

/// On a GPU a kernel does not see what the host stores there, or the host's access crashes.
void find_address_on_device(void** address, const char* call, const void* return_address) {
  if (!is_device(address, sizeof *address) || host_may_use(address) || !checks_wanted()) return;
  const ProgramCounter pc = counter_of(return_address);
  find("host access", "the host",
       std::string(call) + "() at " + source_line(pc).text() +
           " stores the address into memory of the device; give it a pointer of the host, and "
           "copy that: cudaMemcpyToSymbol() for a __device__ variable, or cudaMemcpy()",
       pc, 0);
}

}  // namespace

bool host_may_use(const void* address) {
  HostVisible visible;
  return find_host_visible(address, &visible) ||
         is_managed_variable(reinterpret_cast<std::uintptr_t>(address));
}

// ---- What the templates of cuda_runtime_api.h call ----

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, const void* symbol,
                        std::size_t symbol_bytes, std::size_t offset, cudaMemcpyKind kind) {
  void* address = nullptr;
  cudaError_t error = symbol_address(&address, symbol, symbol_bytes);
  if (error != cudaSuccess) return error;
  waited();
  char* place = static_cast<char*>(address) + offset;
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    error = cudaErrorInvalidValue;
  } else {
    error = from != nullptr ? copy_rows(place, bytes, from, bytes, bytes, 1, kind)
                            : copy_rows(to, bytes, place, bytes, bytes, 1, kind);
  }
  return end_copy(error, from != nullptr ? "cudaMemcpyToSymbol" : "cudaMemcpyFromSymbol",
                  __builtin_return_address(0));
}
cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes) {
  *address = const_cast<void*>(symbol);
  return end(is_device(symbol, bytes) ? cudaSuccess : cudaErrorInvalidSymbol);
}

}  // namespace simt

using namespace simt;

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  set_up_checks();
  if (address == nullptr) return end(cudaErrorInvalidValue);
  find_address_on_device(address, "cudaMalloc", __builtin_return_address(0));
  *address = nullptr;
  if (bytes == 0 || sticking() != cudaSuccess) return end(cudaSuccess);
  *address = device_allocate(bytes, false);
  return end(*address != nullptr ? cudaSuccess : too_much(bytes));
}
cudaError_t cudaFree(void* address) {
  waited();
  return end_call(release(address, false), "cudaFree", __builtin_return_address(0));
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes, unsigned) {
  return end(allocate_visible(address, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return end(allocate_visible(address, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaFreeHost(void* address) {
  waited();
  return end_call(release(address, true), "cudaFreeHost", __builtin_return_address(0));
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
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_call(release(address, false), "cudaFreeAsync", __builtin_return_address(0));
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

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  waited();
  return end_copy(copy_rows(to, bytes, from, bytes, bytes, 1, kind), "cudaMemcpy",
                  __builtin_return_address(0));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  not_in_kernels("cudaMemcpyAsync()");
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_copy(copy_rows(to, bytes, from, bytes, bytes, 1, kind), "cudaMemcpyAsync",
                  __builtin_return_address(0));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  waited();
  return end_copy(copy_rows(to, to_pitch, from, from_pitch, width, height, kind), "cudaMemcpy2D",
                  __builtin_return_address(0));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  not_in_kernels("cudaMemcpy2DAsync()");
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_copy(copy_rows(to, to_pitch, from, from_pitch, width, height, kind),
                  "cudaMemcpy2DAsync", __builtin_return_address(0));
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (pointer == nullptr) return end(cudaErrorInvalidValue);
  *pointer = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}
namespace {
char* slice_of(const cudaPitchedPtr& p, cudaPos at, std::size_t z) {
  return static_cast<char*>(p.ptr) + ((at.z + z) * p.ysize + at.y) * p.pitch + at.x;
}
cudaError_t copy_box(const cudaMemcpy3DParms* copy) {
  if (copy == nullptr || copy->srcArray != nullptr || copy->dstArray != nullptr)
    return cudaErrorInvalidValue;
  const cudaPitchedPtr &to = copy->dstPtr, &from = copy->srcPtr;
  const cudaExtent& box = copy->extent;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return cudaSuccess;
  if (to.ptr == nullptr || from.ptr == nullptr) return cudaErrorInvalidValue;
  const auto leaves = [&](const cudaPitchedPtr& p, cudaPos at) {
    return at.x + box.width > p.pitch || (box.depth > 1 && at.y + box.height > p.ysize);
  };
  if (leaves(to, copy->dstPos) || leaves(from, copy->srcPos)) return cudaErrorInvalidValue;
  for (std::size_t z = 0; z < box.depth; ++z) {
    const cudaError_t error =
        copy_rows(slice_of(to, copy->dstPos, z), to.pitch, slice_of(from, copy->srcPos, z),
                  from.pitch, box.width, box.height, copy->kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
}  // namespace
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  waited();
  return end_copy(copy_box(copy), "cudaMemcpy3D", __builtin_return_address(0));
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  not_in_kernels("cudaMemcpy3DAsync()");
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_copy(copy_box(copy), "cudaMemcpy3DAsync", __builtin_return_address(0));
}
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  cudaError_t error = cudaSuccess;
  for (std::size_t z = 0; z < extent.depth && error == cudaSuccess; ++z) {
    error = set_rows(slice_of(pointer, {}, z), pointer.pitch, value, extent.width, extent.height);
  }
  return end_call(error, "cudaMemset3D", __builtin_return_address(0));
}
cudaError_t cudaMemset(void* address, int value, std::size_t bytes) {
  return end_call(set_rows(address, bytes, value, bytes, 1), "cudaMemset",
                  __builtin_return_address(0));
}
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  not_in_kernels("cudaMemsetAsync()");
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_call(set_rows(address, bytes, value, bytes, 1), "cudaMemsetAsync",
                  __builtin_return_address(0));
}
cudaError_t cudaMemset2D(void* address, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return end_call(set_rows(address, pitch, value, width, height), "cudaMemset2D",
                  __builtin_return_address(0));
}
cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  not_in_kernels("cudaMemset2DAsync()");
  if (const cudaError_t error = check_stream(stream)) return end(error);
  return end_call(set_rows(address, pitch, value, width, height), "cudaMemset2DAsync",
                  __builtin_return_address(0));
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
