#include "measure/replay.hpp"

#include "device/cuda_check.hpp"

namespace course {

cudaGraph_t capture(cudaStream_t stream, const std::function<void()>& enqueue) {
  cudaGraph_t graph = nullptr;
  COURSE_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue();
  COURSE_CHECK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

Replay::Replay(cudaStream_t stream, const std::function<void()>& enqueue) : stream_(stream) {
  cudaGraph_t graph = capture(stream, enqueue);
  COURSE_CHECK(cudaGraphInstantiate(&exec_, graph, 0));
  COURSE_CHECK(cudaGraphDestroy(graph));
  launch();
  COURSE_CHECK(cudaStreamSynchronize(stream));
}

Replay::~Replay() {
  cudaStreamSynchronize(stream_);
  cudaGraphExecDestroy(exec_);
}

void Replay::launch() const { COURSE_CHECK(cudaGraphLaunch(exec_, stream_)); }

}  // namespace course
