#include "device/compressible.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

#ifdef SIMT

void* course::map_compressible(std::size_t* bytes) {
  void* memory = nullptr;
  COURSE_CHECK(cudaMalloc(&memory, *bytes));
  return memory;
}

void course::unmap_compressible(void* memory, std::size_t) { cudaFree(memory); }

#else

#include <cuda.h>

#include <string>

#include "chapter/error.hpp"

namespace {

/// A function of the driver, looked up at run time so that nothing is linked with the driver.
template <class Function>
Function* find(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess)
    throw course::Error(std::string("the driver has no ") + name);
  return reinterpret_cast<Function*>(found);
}
#define DRIVER(function) find<decltype(function)>(#function)

void require(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    throw course::Error("the GPU has not enough compressible memory: try a smaller --size");
  throw course::Error(std::string("compressible memory: cannot ") + what + " (error " +
                      std::to_string(static_cast<int>(result)) + " of the driver)");
}

}  // namespace

void* course::map_compressible(std::size_t* bytes) {
  int device = 0, able = 0;
  COURSE_CHECK(cudaGetDevice(&device));
  require(DRIVER(cuDeviceGetAttribute)(&able, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
                                       device),
          "ask the device");
  if (able == 0) throw Error("this GPU has no compressible memory");
  CUmemAllocationProp wanted = {};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  wanted.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  std::size_t page = 0;
  require(
      DRIVER(cuMemGetAllocationGranularity)(&page, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
      "ask for the size of a page");
  *bytes = (*bytes + page - 1) / page * page;
  CUmemGenericAllocationHandle handle = 0;
  require(DRIVER(cuMemCreate)(&handle, *bytes, &wanted, 0), "allocate");
  CUmemAllocationProp got = {};
  require(DRIVER(cuMemGetAllocationPropertiesFromHandle)(&got, handle), "ask what was allocated");
  if (got.allocFlags.compressionType != CU_MEM_ALLOCATION_COMP_GENERIC)
    throw Error("the driver gave memory that is not compressible");
  CUdeviceptr address = 0;
  require(DRIVER(cuMemAddressReserve)(&address, *bytes, 0, 0, 0), "reserve addresses");
  require(DRIVER(cuMemMap)(address, *bytes, 0, handle, 0), "map");
  require(DRIVER(cuMemRelease)(handle), "release");  // the mapping keeps it allocated
  const CUmemAccessDesc access = {wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  require(DRIVER(cuMemSetAccess)(address, *bytes, &access, 1), "allow access");
  return reinterpret_cast<void*>(address);
}

void course::unmap_compressible(void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  DRIVER(cuMemUnmap)(address, bytes);
  DRIVER(cuMemAddressFree)(address, bytes);
}

#endif
