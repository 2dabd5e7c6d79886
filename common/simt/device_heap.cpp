// The functions of the C library that kernels call: memory from the device's heap, and checked
// copies. simt_libc.h puts them into instrumented code; the host's calls pass through.
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"

namespace simt {
namespace {

std::mutex mutex;  // guards `given`
std::map<std::uintptr_t, std::size_t>& given = *new std::map<std::uintptr_t, std::size_t>;
std::size_t given_bytes = 0;

/// nullptr if the heap (cudaLimitMallocHeapSize) is used up.
void* allocate(std::size_t bytes) {
  const Unobserved unobserved;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::size_t limit = device_heap_bytes();
  if (bytes > limit || given_bytes > limit - bytes) return nullptr;
  void* p = device_allocate(bytes, false);
  if (p == nullptr) return nullptr;
  given[reinterpret_cast<std::uintptr_t>(p)] = bytes;
  given_bytes += bytes;
  return p;
}

bool is_devices(void* p) {
  return ranges.heap_bytes != 0 &&
         reinterpret_cast<std::uintptr_t>(p) - ranges.heap < ranges.heap_bytes;
}

void release(void* p, const void* return_address) {
  Thread* thread = observed_thread;
  const Unobserved unobserved;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = given.find(reinterpret_cast<std::uintptr_t>(p));
    if (found != given.end()) {
      given_bytes -= found->second;
      given.erase(found);
      device_free(p);
      return;
    }
  }
  const ProgramCounter pc = counter_of(return_address);
  const std::string text = " frees at " + source_line(pc).text() +
                           " memory that malloc or new did not give, or that was freed before";
  if (thread == nullptr) {
    find("host access", "the host",
         text.substr(1) + ": device memory is freed with cudaFree(); here a GPU's host ends", pc,
         0);
    return;
  }
  find("lifetime", *thread->block->grid, name_of(*thread) + text, pc, 0);
  abandon(*thread->block->grid, error_illegal_address);
}

void observe_copy(void* to, const void* from, std::size_t bytes, const void* return_address) {
  observe_range(from, bytes, Access::load, return_address);
  observe_range(to, bytes, Access::store, return_address);
}

}  // namespace
}  // namespace simt

using namespace simt;

#define RETURN_ADDRESS __builtin_return_address(0)

extern "C" {

void* simt_malloc(std::size_t bytes) {
  return observed_thread != nullptr ? allocate(bytes) : std::malloc(bytes);
}
void simt_free(void* p) {
  if (!is_devices(p)) return std::free(p);
  release(p, RETURN_ADDRESS);
}
void* simt_new(std::size_t bytes) {
  return observed_thread != nullptr ? allocate(bytes) : ::operator new(bytes);
}
void* simt_new_nothrow(std::size_t bytes, const std::nothrow_t& nothrow) {
  return observed_thread != nullptr ? allocate(bytes) : ::operator new(bytes, nothrow);
}
void simt_delete(void* p) {
  if (!is_devices(p)) return ::operator delete(p);
  release(p, RETURN_ADDRESS);
}

void* simt_memcpy(void* to, const void* from, std::size_t bytes) {
  observe_copy(to, from, bytes, RETURN_ADDRESS);
  return std::memcpy(to, from, bytes);
}
void* simt_memmove(void* to, const void* from, std::size_t bytes) {
  observe_copy(to, from, bytes, RETURN_ADDRESS);
  return std::memmove(to, from, bytes);
}
void* simt_memset(void* to, int value, std::size_t bytes) {
  observe_range(to, bytes, Access::store, RETURN_ADDRESS);
  return std::memset(to, value, bytes);
}

}  // extern "C"
