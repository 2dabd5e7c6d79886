#pragma once
/// \file
/// The timer to read first: how long the GPU takes for the work in a stream.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

/// Measures on the GPU, by two events in one stream. The host takes no part in the measurement, so
/// launch calls that return early and host threads that are late do not distort the result.
///
///     GpuTimer timer;
///     timer.start(stream);
///     kernel<<<grid, block, 0, stream>>>(...);
///     double seconds = timer.stop(stream);
///
/// It does not warm up, repeat, or empty the cache for you: the measuring engine (measure.hpp)
/// does.
class GpuTimer {
 public:
  GpuTimer() {
    COURSE_CHECK(cudaEventCreate(&start_));
    COURSE_CHECK(cudaEventCreate(&stop_));
  }
  ~GpuTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  GpuTimer(const GpuTimer&) = delete;
  GpuTimer& operator=(const GpuTimer&) = delete;

  /// Marks the start, after everything that is already in the stream.
  void start(cudaStream_t stream = nullptr) { COURSE_CHECK(cudaEventRecord(start_, stream)); }

  /// Marks the end, waits until the GPU has reached it, and returns the seconds between the marks
  /// (resolution: 0.5 us).
  double stop(cudaStream_t stream = nullptr) {
    COURSE_CHECK(cudaEventRecord(stop_, stream));
    COURSE_CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    COURSE_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t start_{}, stop_{};
};

}  // namespace course
