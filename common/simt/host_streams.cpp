/// \file
/// The host side of the CUDA runtime: streams, events, and graphs: only that they need a GPU.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>

#include "errors.hpp"
#include "host.hpp"

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  simt::StreamOf identity = {};  ///< of one that a kernel made
};
struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point when = {};
};

namespace simt {
namespace {

std::mutex mutex;               // of the table below
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

}  // namespace

cudaError_t check_stream(cudaStream_t stream) {
  return is_built_in(stream) ? cudaSuccess : check_event(reinterpret_cast<cudaEvent_t>(stream));
}

bool stream_exists(cudaStream_t stream) { return check_stream(stream) == cudaSuccess; }

StreamOf find_stream(cudaStream_t stream) {
  const std::lock_guard<std::mutex> lock(mutex);
  return handles.count(stream) == 0 ? StreamOf{} : stream->identity;
}

namespace {

cudaError_t check_both(cudaStream_t stream, cudaEvent_t event) {
  const cudaError_t error = check_event(event);
  return error != cudaSuccess ? error : check_stream(stream);
}

cudaError_t not_supported(const char* call) {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    std::fprintf(stderr, "simt: %s: stream capture and graphs need a GPU\n", call);
  }
  return end(cudaErrorNotSupported);
}

}  // namespace
}  // namespace simt

using namespace simt;

// ---- Streams and events ----

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return end(make_handle(stream, CUstream_st{}));
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  static std::atomic<std::uint64_t> next{0};
  const bool right = in_kernel() ? flags == cudaStreamNonBlocking : flags <= cudaStreamNonBlocking;
  if (!right) return end(cudaErrorInvalidValue);
  return end(make_handle(stream, CUstream_st{flags, 0, {++next, running_grid()}}));
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (flags > cudaStreamNonBlocking) return end(cudaErrorInvalidValue);
  return end(make_handle(stream, CUstream_st{flags, std::clamp(priority, -5, 0), {}}));
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
  not_in_kernels("cudaStreamWaitEvent()");
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
  not_in_kernels("cudaEventRecord()");
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
