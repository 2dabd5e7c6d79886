#pragma once
/// \file
/// The measuring engine. docs/how_we_measure.md says why each part is there and shows what happens
/// without it.

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/launch_shape.hpp"
#include "kernels/device_ops.hpp"
#include "measure/replay.hpp"
#include "measure/statistics.hpp"
#include "timer.hpp"

namespace course {

/// How long to measure.
struct Plan {
  double budget_s = 0.4;         ///< per row, samples only
  double warm_up_s = 0.1;        ///< of a table's rows together, before the first sample
  double batch_s = 4e-3;         ///< least length of what one pair of events encloses
  double sample_s = 0;           ///< least length of a sample of many batches; 0: of one batch
  double longest_batch_s = 0.1;  ///< a batch through all sets may not take longer
  double target_error = 1e-3;    ///< stop when the standard error of the mean is this small
  int min_samples = 10, max_samples = 200;  ///< once the budget is spent, 10 are enough
  double slow_launch_s = 0.1;  ///< a launch longer than this is measured at a smaller size
  int instantiations = 2;      ///< of a row's graph; the fastest is measured
};

/// The input and output arrays of a problem, in as many copies as exceed three times the L2
/// cache: launches that take the copies in turn find nothing of their own in the cache.
class Sets {
 public:
  /// Allocates one piece of memory, fills the inputs. \throws Error when it does not fit.
  Sets(const Problem& problem, std::int64_t l2_bytes, cudaStream_t stream);

  /// Device bytes that Sets and References (verify.hpp) of this problem will allocate.
  static std::int64_t bytes_needed(const Problem& problem, std::int64_t l2_bytes);

  int count() const { return count_; }
  bool exceed_l2() const { return cold_; }  ///< all sets together are at least three times the L2
  Arguments arguments(int set, cudaStream_t stream) const;
  void poison_outputs(int set, cudaStream_t stream);

 private:
  int count_ = 1;
  bool cold_ = true;
  std::vector<std::int64_t> offsets_;  // of each array in a set, inputs first
  std::size_t inputs_ = 0;
  std::vector<std::int64_t> output_bytes_;
  std::int64_t stride_ = 0;
  std::unique_ptr<Buffer> memory_;
};

/// Stream, timer and scratch memory shared by all rows of a run.
class Bench {
 public:
  explicit Bench(const Device& device);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  const Device& device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  GpuTimer& timer() { return timer_; }

  /// Seconds of one empty kernel among many in a replayed graph: taken off where a launch follows
  /// such a kernel. Measured at the first call, and again by measure_empty().
  double empty_seconds();
  double measure_empty();

  /// Reads three times the L2 cache: evicts everything and leaves no dirty lines behind to be
  /// written back later.
  void flush_l2();

  /// Seconds that the GPU takes for what enqueue() puts into the stream, with no gap for the host:
  /// a spinning kernel keeps the GPU busy meanwhile; if it ended too early, it spins longer the
  /// next time. `hold_s`: how long it spins; the caller keeps it.
  double time_queued(double* hold_s, const std::function<void()>& enqueue);
  /// Seconds from the first launch of enqueue() to the end of the last, gaps included.
  double time_from_host(const std::function<void()>& enqueue);
  /// The mean SM clock during the latest of these two, in MHz; empty if that was too short to tell.
  std::optional<double> clock_mhz() const;

 private:
  double timed(const std::function<void()>& enqueue);

  Device device_;
  cudaStream_t stream_{};
  GpuTimer timer_;
  cudaEvent_t released_{};  // the spinning kernel has ended
  Buffer scratch_;
  ClockStamp* stamps_ = nullptr;  // pinned: those before, then those after
  double empty_s_ = 0;
};

/// Measures one version on one problem.
class Row {
 public:
  Row(const Version& version, const Problem& problem, std::shared_ptr<Sets> sets, Bench& bench);

  /// One launch on set 0 into poisoned outputs, not timed. \returns the launcher's error.
  cudaError_t launch_once();
  const Arguments& first_set() const { return arguments_.front(); }
  void poison();

  /// Chooses the launches per sample, instantiates the graph several times, keeps the fastest, and
  /// warms up.
  void prepare(const Plan& plan);
  /// Measures one batch. \returns true while more samples are wanted.
  bool sample(const Plan& plan);
  /// Runs the measured batch once more, untimed, into poisoned outputs, for the check afterwards.
  void replay();

  const std::vector<double>& seconds() const { return seconds_; }
  Statistics summary() const { return statistics(seconds_); }
  int launches_per_sample() const { return launches_ * batches_; }
  bool by_graph() const { return graph_ != nullptr; }
  Behind behind() const;
  /// The time that was taken off each launch, in seconds.
  double behind_seconds() const { return behind_s_; }
  /// Seconds per launch by each instantiation of its graph.
  const std::vector<double>& instantiations() const { return instantiations_; }
  std::optional<double> clock_mhz() const;
  const std::optional<LaunchShape>& shape() const { return shape_; }
  const Version& version() const { return version_; }
  const Problem& problem() const { return problem_; }

 private:
  double batch();
  void enqueue();
  void make_graph(const Plan& plan);

  const Version& version_;
  const Problem& problem_;
  std::shared_ptr<Sets> sets_;
  Bench& bench_;
  Buffer workspace_;
  std::vector<Arguments> arguments_;  // one per set
  int launches_ = 1, batches_ = 1;    // of a batch, of a sample
  bool flush_ = false;  // a read pass before each batch: its sets do not exceed the cache
  double hold_s_ = 30e-6, behind_s_ = 0;
  std::unique_ptr<Replay> graph_;
  std::vector<double> instantiations_;
  std::optional<LaunchShape> shape_;
  std::vector<double> seconds_, clocks_;
  double spent_ = 0;
};

/// Seconds of one launch, roughly: the faster of two after a warm one.
double estimate_seconds(const Version& version, const Problem& problem, Bench& bench);

/// Measures rows in turn, one sample per round in a new order each time, until every row has
/// enough. `progress(done, total)` is called after each round; it returns false to stop early.
void measure_in_turn(std::vector<std::unique_ptr<Row>>& rows, const Plan& plan,
                     const std::function<bool(int done, int total)>& progress);

/// Measures the anchors: read-only, copies, an empty kernel.
Anchors measure_anchors(Bench& bench, const Plan& plan, std::int64_t bytes);

}  // namespace course
