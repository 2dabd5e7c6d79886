#pragma once
/// \file
/// A graph of launches that is captured once and replayed.

#include <cuda_runtime.h>

#include <functional>

namespace course {

/// The launches of `enqueue` as a graph that has run once and can run again.
///
/// Nothing is uploaded ahead (cudaGraphUpload). On an H200 with CUDA 13.0 each kernel of every
/// graph takes 0.2 us more as long as some graph of the process is uploaded and has not been
/// launched: tests/harness, study `pending_upload`. A graph that has run does not slow the others
/// down.
class Replay {
 public:
  Replay(cudaStream_t stream, const std::function<void()>& enqueue);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Puts one replay into the stream. \throws Error if it cannot be launched.
  void launch() const;

 private:
  cudaStream_t stream_;
  cudaGraphExec_t exec_ = nullptr;
};

/// Captures the launches of `enqueue`; the caller destroys the graph.
cudaGraph_t capture(cudaStream_t stream, const std::function<void()>& enqueue);

}  // namespace course
