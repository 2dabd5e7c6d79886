/// \file
/// The host side of the CUDA runtime: pools of stream-ordered memory. A pool only keeps account:
/// its allocations come from where all device memory comes from. Freed memory stays reserved up to
/// the pool's release threshold, as in CUDA after the next wait.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "host.hpp"

struct CUmemPoolHandle_st {
  std::size_t most = 0;  ///< bytes that it may have; 0: no limit of its own
  std::uint64_t threshold = 0, reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  int reuse[3] = {1, 1, 1};  ///< cudaMemPoolReuse...
};

namespace simt {
namespace {

using Pool = std::shared_ptr<CUmemPoolHandle_st>;

/// Pools take memory in pieces of this size.
constexpr std::uint64_t piece = 32 << 20;

struct FromPool {
  Pool pool;  // lasts until all of its memory is free, even if the program has destroyed it
  std::size_t bytes;
};
std::mutex mutex;                             // of all below
std::map<cudaMemPool_t, Pool> pools;          // those that the program made
std::map<const void*, FromPool> allocations;  // memory of all pools that is in use

Pool& default_pool() {
  static Pool& pool = *new Pool(std::make_shared<CUmemPoolHandle_st>());
  return pool;
}
/// The pool that cudaMallocAsync() uses.
Pool& current_pool() {
  static Pool& pool = *new Pool(default_pool());
  return pool;
}
/// Null if there is no such pool.
Pool find_pool(cudaMemPool_t handle) {
  if (handle == default_pool().get()) return default_pool();
  const auto found = pools.find(handle);
  return found == pools.end() ? nullptr : found->second;
}

void reserve(CUmemPoolHandle_st& pool, std::uint64_t kept) {
  pool.reserved = (std::max(pool.used, std::min(pool.reserved, kept)) + piece - 1) / piece * piece;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

cudaError_t allocate(void** address, std::size_t bytes, Pool pool, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream)) return end(error);
  if (pool == nullptr) return end(cudaErrorInvalidValue);
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (pool->most != 0 && pool->used + bytes > pool->most) return end(cudaErrorMemoryAllocation);
  }
  const cudaError_t error = cudaMalloc(address, bytes);
  if (error != cudaSuccess || *address == nullptr) return error;
  const std::lock_guard<std::mutex> lock(mutex);
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  reserve(*pool, pool->reserved);
  allocations[*address] = {std::move(pool), bytes};
  return error;
}

}  // namespace

void return_to_pool(const void* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return;
  CUmemPoolHandle_st& pool = *found->second.pool;
  pool.used -= found->second.bytes;
  reserve(pool, pool.threshold);
  allocations.erase(found);
}

}  // namespace simt

using namespace simt;

cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream) {
  std::unique_lock<std::mutex> lock(mutex);
  const Pool pool = current_pool();
  lock.unlock();
  return allocate(address, bytes, pool, stream);
}
cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  std::unique_lock<std::mutex> lock(mutex);
  const Pool pool = find_pool(handle);
  lock.unlock();
  return allocate(address, bytes, pool, stream);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int device) {
  if (handle == nullptr) return end(cudaErrorInvalidValue);
  *handle = default_pool().get();
  return end(is_device_number(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* handle, int device) {
  if (handle == nullptr) return end(cudaErrorInvalidValue);
  const std::lock_guard<std::mutex> lock(mutex);
  *handle = current_pool().get();
  return end(is_device_number(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  const Pool pool = find_pool(handle);
  if (pool == nullptr) return end(cudaErrorInvalidValue);
  if (!is_device_number(device)) return end(cudaErrorInvalidDevice);
  current_pool() = pool;
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  if (handle == nullptr || properties == nullptr) return end(cudaErrorInvalidValue);
  const cudaMemLocation& place = properties->location;
  if (properties->allocType != cudaMemAllocationTypePinned ||
      place.type != cudaMemLocationTypeDevice || !is_device_number(place.id)) {
    return end(cudaErrorInvalidValue);
  }
  if (properties->handleTypes != cudaMemHandleTypeNone) return end(cudaErrorNotSupported);
  const auto pool = std::make_shared<CUmemPoolHandle_st>();
  pool->most = properties->maxSize;
  const std::lock_guard<std::mutex> lock(mutex);
  pools[pool.get()] = pool;
  *handle = pool.get();
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = pools.find(handle);
  if (found == pools.end()) return end(cudaErrorInvalidValue);
  if (current_pool() == found->second) current_pool() = default_pool();
  pools.erase(found);
  return end(cudaSuccess);
}

namespace {
/// The 64-bit numbers among the attributes; null: not one of them.
std::uint64_t* number_of(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &pool.reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}
bool is_reuse(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies &&
         attribute <= cudaMemPoolReuseAllowInternalDependencies;
}
}  // namespace
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard<std::mutex> lock(mutex);
  const Pool pool = find_pool(handle);
  if (pool == nullptr || value == nullptr) return end(cudaErrorInvalidValue);
  if (is_reuse(attribute)) {
    *static_cast<int*>(value) = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
  } else if (const std::uint64_t* number = number_of(*pool, attribute)) {
    *static_cast<std::uint64_t*>(value) = *number;
  } else {
    return end(cudaErrorInvalidValue);
  }
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  const std::lock_guard<std::mutex> lock(mutex);
  const Pool pool = find_pool(handle);
  if (pool == nullptr || value == nullptr) return end(cudaErrorInvalidValue);
  if (is_reuse(attribute)) {
    pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *static_cast<int*>(value);
    return end(cudaSuccess);
  }
  const std::uint64_t number = *static_cast<std::uint64_t*>(value);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->threshold = number;
  } else if (attribute == cudaMemPoolAttrReservedMemHigh && number == 0) {
    pool->reserved_high = pool->reserved;  // from now on
  } else if (attribute == cudaMemPoolAttrUsedMemHigh && number == 0) {
    pool->used_high = pool->used;
  } else {
    return end(cudaErrorInvalidValue);
  }
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const Pool pool = find_pool(handle);
  if (pool == nullptr) return end(cudaErrorInvalidValue);
  reserve(*pool, bytes);
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* accesses,
                                 std::size_t count) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (find_pool(handle) == nullptr || (count != 0 && accesses == nullptr)) {
    return end(cudaErrorInvalidValue);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const cudaMemLocation& place = accesses[k].location;
    if (place.type != cudaMemLocationTypeDevice || !is_device_number(place.id)) {
      return end(cudaErrorInvalidValue);
    }
    // A pool's own device always reads and writes it.
    if (accesses[k].flags != cudaMemAccessFlagsProtReadWrite) return end(cudaErrorInvalidDevice);
  }
  return end(cudaSuccess);
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* place) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (flags == nullptr || place == nullptr || find_pool(handle) == nullptr) {
    return end(cudaErrorInvalidValue);
  }
  const bool on_device = place->type == cudaMemLocationTypeDevice && is_device_number(place->id);
  *flags = on_device ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return end(cudaSuccess);
}
