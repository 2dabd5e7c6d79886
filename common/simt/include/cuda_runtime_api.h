#pragma once
/// \file
/// The host side of the CUDA runtime on the CPU. There is one device. A kernel has run when its
/// launch returns, so streams order nothing and copies are done at once; errors of kernels are
/// still reported by the next call that waits, as on a GPU.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../simt.hpp"
#include "driver_types.h"

#define CUDART_VERSION 13000

// ---- Errors ----

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- The driver's functions ----

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result = nullptr);
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result = nullptr);

// ---- Device ----

cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// ---- Memory ----

cudaError_t cudaMalloc(void** address, std::size_t bytes);
cudaError_t cudaFree(void* address);
cudaError_t cudaMallocHost(void** address, std::size_t bytes, unsigned flags = 0);
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* address);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* address);
cudaError_t cudaMallocManaged(void** address, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* address, cudaStream_t stream);
cudaError_t cudaMallocPitch(void** address, std::size_t* pitch, std::size_t width,
                            std::size_t height);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address);
// Pools of stream-ordered memory
cudaError_t cudaMallocFromPoolAsync(void** address, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
inline cudaError_t cudaMallocAsync(void** address, std::size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream) {
  return cudaMallocFromPoolAsync(address, bytes, pool, stream);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* accesses,
                                 std::size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent);
cudaError_t cudaMemset(void* address, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* address, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemset2DAsync(void* address, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr);
// As in CUDA 12, and as in CUDA 13.
cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* address, std::size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* address, std::size_t bytes, cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaMemAdvise(const void* address, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location);

// ---- Streams and events ----

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, std::size_t bytes = 0,
                                     unsigned flags = cudaMemAttachSingle);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned flags = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
/// By the host's clock: how long the emulation took, which says nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

// ---- Stream capture and graphs: cudaErrorNotSupported ----

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
/// Works: no stream is ever capturing.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, std::size_t count,
                                   const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, std::size_t count,
                                       cudaGraph_t child);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*,
                                        char*, std::size_t) {
  return cudaGraphInstantiate(exec, graph);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type);
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// ---- Behind the templates ----

namespace simt {
/// Behind a call that is a statement of its own, `call(), simt::drop()`: nobody looks at its code.
/// A function of such a name that returns something else, or nothing, is the user's.
struct Dropped {};
SIMT_INLINE Dropped drop() { return {}; }
void operator,(cudaError_t error, Dropped);

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, const void* symbol,
                        std::size_t symbol_bytes, std::size_t offset, cudaMemcpyKind kind);
cudaError_t symbol_address(void** address, const void* symbol, std::size_t bytes);
cudaError_t set_kernel_attribute(const void* kernel, const char* name, cudaFuncAttribute attribute,
                                 int value);
cudaError_t get_kernel_attributes(cudaFuncAttributes* attributes, const void* kernel);
/// From threads and dynamic shared memory alone: registers and static shared memory are unknown.
cudaError_t occupancy(int* blocks_per_sm, int threads, std::size_t shared_bytes);
cudaError_t largest_block(int* blocks, int* threads, std::size_t (*shared_bytes)(void*, int),
                          void* data, int limit);
/// Reads the attributes of a launch and checks what they ask for; sets the last error.
cudaError_t prepare_launch(Launch* launch, const cudaLaunchAttribute* attributes, unsigned count);
/// Forgets this thread's last error and returns it.
cudaError_t take_last_error();
void set_last_error(cudaError_t error);

/// Launches with the values that `arguments` point to, as cudaLaunchKernel() gets them.
template <class... A, std::size_t... I>
void launch_pointers(const Launch& how, void (*function)(A...), void** arguments,
                     std::index_sequence<I...>) {
  launch(how, function, AsTheyAre{}, *static_cast<std::remove_reference_t<A>*>(arguments[I])...);
}

/// Runs `start`, which launches, and returns the error of this launch alone.
template <class F>
cudaError_t error_of_launch(F start) {
  const cudaError_t before = take_last_error();
  start();
  const cudaError_t error = cudaPeekAtLastError();
  if (error == cudaSuccess) set_last_error(before);
  return error;
}

template <class... A>
cudaError_t launch_kernel(Kernel<void(A...)> kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream,
                          const cudaLaunchAttribute* attributes, unsigned count) {
  Launch how{grid, block, shared_bytes, stream, kernel.name};
  how.function = kernel.address();
  if (const cudaError_t error = prepare_launch(&how, attributes, count)) return error;
  return error_of_launch(
      [&] { launch_pointers(how, kernel.function, arguments, std::index_sequence_for<A...>()); });
}

}  // namespace simt

// ---- Typed forms ----

template <class T>
cudaError_t cudaMalloc(T** address, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(address), bytes);
}
template <class T>
cudaError_t cudaMallocHost(T** address, std::size_t bytes, unsigned flags = 0) {
  return cudaMallocHost(reinterpret_cast<void**>(address), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** address, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(address), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T** address, std::size_t bytes,
                              unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** address, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream);
}
template <class T>
cudaError_t cudaMallocAsync(T** address, std::size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(address), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** address, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(address), bytes, pool, stream);
}
template <class T>
cudaError_t cudaMallocPitch(T** address, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(address), pitch, width, height);
}

// Symbols: __device__ and __constant__ variables, given by name.
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt::copy_symbol(nullptr, from, bytes, &symbol, sizeof(T), offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, std::size_t bytes,
                                    std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t = nullptr) {
  return simt::copy_symbol(nullptr, from, bytes, &symbol, sizeof(T), offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt::copy_symbol(to, nullptr, bytes, &symbol, sizeof(T), offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t = nullptr) {
  return simt::copy_symbol(to, nullptr, bytes, &symbol, sizeof(T), offset, kind);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return simt::symbol_address(address, &symbol, sizeof(T));
}
template <class T, class S>
cudaError_t cudaGetSymbolAddress(T** address, const S& symbol) {
  return simt::symbol_address(reinterpret_cast<void**>(address), &symbol, sizeof(S));
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
  void* address = nullptr;
  *bytes = sizeof(T);
  return simt::symbol_address(&address, &symbol, sizeof(T));
}

// ---- Kernels: the rewriter adds the name to a kernel given as an argument ----

// A pointer to void tells which kernel, and not what arguments it takes: it cannot be launched.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int threads, std::size_t shared_bytes);
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes, cudaStream_t stream);

template <class F>
cudaError_t cudaFuncSetAttribute(simt::Kernel<F> kernel, cudaFuncAttribute attribute, int value) {
  return simt::set_kernel_attribute(kernel.address(), kernel.name, attribute, value);
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(simt::Kernel<F>, cudaFuncCache) {
  return cudaSuccess;
}
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, simt::Kernel<F> kernel) {
  return simt::get_kernel_attributes(attributes, kernel.address());
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, simt::Kernel<F>, int threads,
                                                          std::size_t shared_bytes) {
  return simt::occupancy(blocks, threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, simt::Kernel<F>,
                                                                   int threads,
                                                                   std::size_t shared_bytes,
                                                                   unsigned) {
  return simt::occupancy(blocks, threads, shared_bytes);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* blocks, int* threads, simt::Kernel<F>,
                                               std::size_t shared_bytes = 0, int limit = 0) {
  return simt::largest_block(
      blocks, threads, [](void* data, int) { return *static_cast<std::size_t*>(data); },
      &shared_bytes, limit);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* blocks, int* threads,
                                                        simt::Kernel<F> kernel,
                                                        std::size_t shared_bytes = 0, int limit = 0,
                                                        unsigned = 0) {
  return cudaOccupancyMaxPotentialBlockSize(blocks, threads, kernel, shared_bytes, limit);
}
/// `shared_bytes(threads)` is the dynamic shared memory of a block of that size.
template <class S, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* blocks, int* threads,
                                                           simt::Kernel<F>, S shared_bytes,
                                                           int limit = 0) {
  return simt::largest_block(
      blocks, threads,
      [](void* data, int count) { return std::size_t((*static_cast<S*>(data))(count)); },
      &shared_bytes, limit);
}
template <class F>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, simt::Kernel<F> kernel,
                                           const cudaLaunchConfig_t* config) {
  simt::Launch how{config->gridDim, config->blockDim, config->dynamicSmemBytes, nullptr,
                   kernel.name};
  how.function = kernel.address();
  if (const cudaError_t error = simt::prepare_launch(&how, config->attrs, config->numAttrs)) {
    return error;
  }
  int sms = 0, per_sm = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  const dim3 b = how.block, c = how.cluster;
  const cudaError_t error =
      simt::occupancy(&per_sm, static_cast<int>(b.x * b.y * b.z), how.shared_bytes);
  *clusters = sms * per_sm / static_cast<int>(c.x * c.y * c.z);
  return error;
}
template <class F>
cudaError_t cudaLaunchKernel(simt::Kernel<F> kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  if constexpr (std::is_function_v<F>) {
    return simt::launch_kernel(kernel, grid, block, arguments, shared_bytes, stream, nullptr, 0);
  } else {  // a pointer to void
    return cudaLaunchKernel(kernel.address(), grid, block, arguments, shared_bytes, stream);
  }
}
template <class F>
cudaError_t cudaLaunchCooperativeKernel(simt::Kernel<F> kernel, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  if constexpr (std::is_function_v<F>) {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    return simt::launch_kernel(kernel, grid, block, arguments, shared_bytes, stream, &cooperative,
                               1);
  } else {
    return cudaLaunchCooperativeKernel(kernel.address(), grid, block, arguments, shared_bytes,
                                       stream);
  }
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, simt::Kernel<void(P...)> kernel,
                               A&&... arguments) {
  simt::Values<std::decay_t<P>...> values(static_cast<P>(std::forward<A>(arguments))...);
  return values.pass_to([&](auto&... value) {
    const void* pointers[] = {&value..., nullptr};
    return simt::launch_kernel(kernel, config->gridDim, config->blockDim,
                               const_cast<void**>(pointers), config->dynamicSmemBytes,
                               config->stream, config->attrs, config->numAttrs);
  });
}
