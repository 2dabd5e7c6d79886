#include "measure/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "correct/verify.hpp"
#include "device/cuda_check.hpp"
#include "measure/statistics.hpp"

namespace course {
namespace {

/// Data that exceed the cache this many times leave nothing of themselves in it.
constexpr int l2_times = 3;
/// Where this many sets are too few, a read pass before each sample empties the cache.
constexpr int max_sets = 2048;
/// Launches in one sample without a graph; the launch queue holds about 1000.
constexpr int max_plain = 400;

constexpr std::int64_t page = 2 << 20;  // of the GPU's memory

std::int64_t align_up(std::int64_t value, std::int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Large arrays start on a page of the GPU, as they would from cudaMalloc.
std::int64_t alignment_for(std::int64_t bytes) { return bytes >= page ? page : 512; }

std::int64_t set_bytes(const Problem& problem, std::vector<std::int64_t>* offsets) {
  std::int64_t end = 0;
  for (const auto& arrays : {problem.inputs(), problem.outputs()}) {
    for (const Array& array : arrays) {
      end = align_up(end, alignment_for(array.bytes()));
      if (offsets) offsets->push_back(end + array.offset_bytes);
      end += array.bytes() + array.offset_bytes;
    }
  }
  return align_up(std::max<std::int64_t>(end, 1), 512);
}

/// The bytes that a launch touches, without the padding between arrays.
std::int64_t data_bytes(const Problem& problem) {
  std::int64_t bytes = 0;
  for (const auto& arrays : {problem.inputs(), problem.outputs()}) {
    for (const Array& array : arrays) bytes += array.bytes();
  }
  return std::max<std::int64_t>(bytes, 1);
}

int set_count(std::int64_t data, std::int64_t l2_bytes) {
  return static_cast<int>(
      std::clamp<std::int64_t>((l2_times * l2_bytes + data - 1) / data, 1, max_sets));
}

LaunchShape shape_of(cudaGraph_t graph) {
  std::size_t count = 0;
  COURSE_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) COURSE_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
  LaunchShape shape;
  double most = -1;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    COURSE_CHECK(cudaGraphNodeGetType(node, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    ++shape.kernels;
    cudaKernelNodeParams kernel{};
    cudaFuncAttributes attributes{};
    int blocks = 0;
    const auto threads = [&] {
      return static_cast<int>(kernel.blockDim.x * kernel.blockDim.y * kernel.blockDim.z);
    };
    if (cudaGraphKernelNodeGetParams(node, &kernel) != cudaSuccess ||
        cudaFuncGetAttributes(&attributes, kernel.func) != cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.func, threads(),
                                                      kernel.sharedMemBytes) != cudaSuccess) {
      cudaGetLastError();  // a library's kernel may refuse; its shape stays unknown
      continue;
    }
    const double size = double(threads()) * kernel.gridDim.x * kernel.gridDim.y * kernel.gridDim.z;
    if (size <= most) continue;
    most = size;
    shape.grid = kernel.gridDim;
    shape.block = kernel.blockDim;
    shape.registers = attributes.numRegs;
    shape.shared_bytes =
        static_cast<std::int64_t>(attributes.sharedSizeBytes + kernel.sharedMemBytes);
    shape.blocks_per_sm = blocks;
  }
  return shape;
}

}  // namespace

// ---- Sets ----

Sets::Sets(const Problem& problem, std::int64_t l2_bytes, cudaStream_t stream) {
  inputs_ = problem.inputs().size();
  stride_ = set_bytes(problem, &offsets_);
  if (stride_ >= page) stride_ = align_up(stride_, page);
  const std::int64_t data = data_bytes(problem);
  count_ = set_count(data, l2_bytes);
  cold_ = count_ * data >= l2_times * l2_bytes;
  const auto bytes = static_cast<std::size_t>(stride_ * count_);
  bool compressible = false;
  for (const Array& array : problem.inputs()) compressible = compressible || array.compressible;
  memory_ = std::make_unique<Buffer>(compressible ? Buffer::compressible(bytes) : Buffer(bytes));
  for (const Array& array : problem.outputs()) output_bytes_.push_back(array.bytes());
  for (int set = 0; set < count_; ++set) {
    const Arguments target = arguments(set, stream);
    int k = 0;
    // The same inputs in every set: the size of an output may depend on them.
    for (const Array& array : problem.inputs()) {
      fill_input(array, problem.input(), target.inputs[static_cast<std::size_t>(k++)], stream);
    }
    poison_outputs(set, stream);
  }
  COURSE_CHECK(cudaStreamSynchronize(stream));
}

std::int64_t Sets::bytes_needed(const Problem& problem, std::int64_t l2_bytes) {
  std::int64_t references = 0;
  for (const Array& array : problem.outputs()) {
    references += array.count * std::int64_t{sizeof(double)};
  }
  return align_up(set_bytes(problem, nullptr), page) * set_count(data_bytes(problem), l2_bytes) +
         references;
}

Arguments Sets::arguments(int set, cudaStream_t stream) const {
  Arguments arguments;
  arguments.stream = stream;
  char* base = static_cast<char*>(memory_->data()) + stride_ * set;
  for (std::size_t k = 0; k < offsets_.size(); ++k) {
    (k < inputs_ ? arguments.inputs : arguments.outputs).push_back(base + offsets_[k]);
  }
  return arguments;
}

void Sets::poison_outputs(int set, cudaStream_t stream) {
  const Arguments target = arguments(set, stream);
  for (std::size_t k = 0; k < target.outputs.size(); ++k) {
    const auto bytes = static_cast<std::size_t>(output_bytes_[k]);
    if (bytes > 0) COURSE_CHECK(cudaMemsetAsync(target.outputs[k], 0xFF, bytes, stream));
  }
}

// ---- Bench ----

Bench::Bench(const Device& device)
    : device_(device),
      scratch_(
          static_cast<std::size_t>(l2_times * std::max<std::int64_t>(device.l2_bytes, 1 << 20))) {
  COURSE_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  COURSE_CHECK(cudaEventCreateWithFlags(&released_, cudaEventDisableTiming));
  COURSE_CHECK(
      cudaMallocHost(reinterpret_cast<void**>(&stamps_), 2 * most_stamps * sizeof *stamps_));
  std::fill_n(stamps_, 2 * most_stamps, ClockStamp{});
  fill({"scratch", static_cast<std::int64_t>(scratch_.bytes() / 4), Type::f32, 7}, Input::random,
       scratch_.data(), stream_);
  COURSE_CHECK(cudaStreamSynchronize(stream_));
}

Bench::~Bench() {
  cudaStreamSynchronize(stream_);
  cudaFreeHost(stamps_);
  cudaEventDestroy(released_);
  cudaStreamDestroy(stream_);
}

void Bench::flush_l2() {
  auto* floats = static_cast<float*>(scratch_.data());
  COURSE_CHECK(
      launch_read(floats, floats, static_cast<std::int64_t>(scratch_.bytes() / 4), stream_));
}

double Bench::timed(const std::function<void()>& enqueue) {
  timer_.start(stream_);
  enqueue();
  const double seconds = timer_.stop(stream_);
  COURSE_CHECK(launch_stamps(stamps_ + most_stamps, device_.sm_count, stream_));
  COURSE_CHECK(cudaStreamSynchronize(stream_));
  return seconds;
}

double Bench::time_queued(double* hold_s, const std::function<void()>& enqueue) {
  // close enough on every GPU since 2018; only the length of the hold depends on it
  constexpr double cycles_per_second = 2e9;
  constexpr double longest_s = 0.05;  // a host that fills the queue waits for the GPU anyway
  for (;;) {
    std::fill_n(stamps_, 2 * most_stamps, ClockStamp{});
    COURSE_CHECK(
        launch_spin(static_cast<std::int64_t>(*hold_s * cycles_per_second), nullptr, stream_));
    COURSE_CHECK(launch_stamps(stamps_, device_.sm_count, stream_));
    COURSE_CHECK(cudaEventRecord(released_, stream_));
    bool held = true;
    const double seconds = timed([&] {
      enqueue();
      held = cudaEventQuery(released_) == cudaErrorNotReady;
    });
    cudaGetLastError();  // "not ready" is no error
    if (held || *hold_s > longest_s) return seconds;
    *hold_s *= 2;
  }
}

double Bench::time_from_host(const std::function<void()>& enqueue) {
  std::fill_n(stamps_, 2 * most_stamps, ClockStamp{});
  COURSE_CHECK(launch_stamps(stamps_, device_.sm_count, stream_));
  COURSE_CHECK(cudaStreamSynchronize(stream_));
  return timed(enqueue);
}

std::optional<double> Bench::clock_mhz() const {
  constexpr std::uint64_t shortest_ns = 200000;  // the GPU's nanoseconds tick in microseconds
  std::vector<double> clocks;
  for (int k = 0; k < most_stamps; ++k) {
    const ClockStamp &before = stamps_[k], &after = stamps_[most_stamps + k];
    if (before.nanoseconds == 0 || after.nanoseconds < before.nanoseconds + shortest_ns) continue;
    clocks.push_back(1e3 * static_cast<double>(after.cycles - before.cycles) /
                     static_cast<double>(after.nanoseconds - before.nanoseconds));
  }
  if (clocks.empty()) return std::nullopt;
  return statistics(clocks).median;
}

double Bench::empty_seconds() { return empty_s_ > 0 ? empty_s_ : measure_empty(); }

double Bench::measure_empty() {
  constexpr int launches = 1000, samples = 12;
  const auto some = [&](int count) {
    for (int k = 0; k < count; ++k) COURSE_CHECK(launch_empty(stream_));
  };
  some(1);  // the first launch loads the module: that must not happen while capturing
  const Replay replay(stream_, [&] { some(launches); });
  double hold_s = 50e-6;
  std::vector<double> seconds;
  for (int k = 0; k < samples; ++k) {
    seconds.push_back(time_queued(&hold_s, [&] { replay.launch(); }) / launches);
  }
  empty_s_ = statistics(seconds).median;
  return empty_s_;
}

// ---- Row ----

Row::Row(const Version& version, const Problem& problem, std::shared_ptr<Sets> sets, Bench& bench)
    : version_(version),
      problem_(problem),
      sets_(std::move(sets)),
      bench_(bench),
      workspace_(version.workspace_bytes ? version.workspace_bytes(problem) : 0) {
  for (int set = 0; set < sets_->count(); ++set) {
    Arguments arguments = sets_->arguments(set, bench.stream());
    arguments.workspace = workspace_.data();
    arguments.workspace_bytes = workspace_.bytes();
    arguments_.push_back(std::move(arguments));
  }
}

cudaError_t Row::launch_once() {
  const cudaError_t error = version_.launch(problem_, arguments_.front());
  return error != cudaSuccess ? error : cudaStreamSynchronize(bench_.stream());
}

void Row::poison() { sets_->poison_outputs(0, bench_.stream()); }

Behind Row::behind() const {
  return version_.behind == Behind::empty && !graph_ ? Behind::itself : version_.behind;
}

void Row::enqueue() {
  for (int k = 0; k < launches_; ++k) {
    if (behind_s_ > 0) COURSE_CHECK(launch_empty(bench_.stream()));
    COURSE_CHECK(
        version_.launch(problem_, arguments_[static_cast<std::size_t>(k) % arguments_.size()]));
  }
}

void Row::make_graph(const Plan& plan) {
  cudaGraph_t one = capture(bench_.stream(),
                            [&] { COURSE_CHECK(version_.launch(problem_, arguments_.front())); });
  shape_ = shape_of(one);
  COURSE_CHECK(cudaGraphDestroy(one));
  if (version_.behind == Behind::empty) behind_s_ = bench_.empty_seconds();
  double best = HUGE_VAL;
  std::unique_ptr<Replay> fastest;
  for (int k = 0; k < plan.instantiations; ++k) {
    graph_ = std::make_unique<Replay>(bench_.stream(), [&] { enqueue(); });
    instantiations_.push_back(std::min(batch(), batch()));
    if (instantiations_.back() < best) {
      best = instantiations_.back();
      fastest = std::move(graph_);
    }
  }
  graph_ = std::move(fastest);
}

double Row::batch() {
  if (version_.timer) {
    return version_.timer([&] { COURSE_CHECK(version_.launch(problem_, arguments_.front())); },
                          bench_.stream());
  }
  if (flush_) bench_.flush_l2();
  if (version_.behind == Behind::host) {
    return bench_.time_from_host([&] { enqueue(); }) / launches_;
  }
  const auto enqueue_all = [&] {
    for (int k = 0; k < batches_; ++k) {
      if (graph_) {
        graph_->launch();
      } else {
        enqueue();
      }
    }
  };
  // A long sample is not held back: a delay at its beginning is negligible compared with it, and a
  // waiting GPU saves up power.
  const double seconds =
      batches_ > 1 ? bench_.time_from_host(enqueue_all) : bench_.time_queued(&hold_s_, enqueue_all);
  return of_one_launch(seconds, launches_ * batches_, behind_s_);
}

void Row::prepare(const Plan& plan) {
  if (version_.timer) return;  // it measures its own way, with or without a warm-up
  const bool graph = version_.needs.capturable && version_.behind != Behind::host;
  const int most = graph ? max_sets : max_plain;
  batch();  // the first launch loads the module
  const double each = std::max(std::min(batch(), batch()), 1e-7);
  const double all_sets = std::min<double>(sets_->count(), plan.longest_batch_s / each);
  launches_ = static_cast<int>(
      std::clamp(std::max(all_sets, std::ceil(plan.batch_s / each)), 1.0, double(most)));
  // whole passes through the sets, so that all sets are equally cold
  if (launches_ > sets_->count()) launches_ = launches_ / sets_->count() * sets_->count();
  flush_ = !sets_->exceed_l2() || launches_ < sets_->count();
  if (graph) make_graph(plan);
  if (graph && !flush_) {
    const double launch = *std::min_element(instantiations_.begin(), instantiations_.end());
    batches_ = std::max(1, static_cast<int>(std::ceil(plan.sample_s / (launch * launches_))));
  }
  for (double warm = 0; warm < plan.warm_up_s;) warm += batch() * launches_per_sample();
}

bool Row::sample(const Plan& plan) {
  const double seconds = batch();
  seconds_.push_back(seconds);
  spent_ += seconds * launches_per_sample();
  if (const auto clock = bench_.clock_mhz(); clock && !version_.timer) clocks_.push_back(*clock);
  const int count = static_cast<int>(seconds_.size());
  if (count < std::min(plan.min_samples, 10)) return spent_ < 20 * plan.budget_s;
  if (count < plan.min_samples) return spent_ < plan.budget_s;
  return count < plan.max_samples && spent_ < plan.budget_s &&
         summary().relative_error > plan.target_error;
}

void Row::replay() {
  poison();
  if (graph_) {
    graph_->launch();
  } else {
    enqueue();
  }
  COURSE_CHECK(cudaStreamSynchronize(bench_.stream()));
}

std::optional<double> Row::clock_mhz() const {
  if (clocks_.empty()) return std::nullopt;
  return statistics(clocks_).median;
}

// ---- free functions ----

double estimate_seconds(const Version& version, const Problem& problem, Bench& bench) {
  auto sets = std::make_shared<Sets>(problem, 0, bench.stream());
  Row row(version, problem, sets, bench);
  double best = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    bench.timer().start(bench.stream());
    const cudaError_t error = version.launch(problem, row.first_set());
    const double seconds = bench.timer().stop(bench.stream());
    COURSE_CHECK(error);
    best = std::min(best, seconds);
  }
  return best;
}

void measure_in_turn(std::vector<std::unique_ptr<Row>>& rows, const Plan& plan,
                     const std::function<bool(int, int)>& progress) {
  std::vector<Row*> open;
  for (const auto& row : rows) open.push_back(row.get());
  const int total = static_cast<int>(open.size());
  std::mt19937 order;
  while (!open.empty()) {
    // A row inherits clock and heat from the row before: that must not always be the same row.
    std::shuffle(open.begin(), open.end(), order);
    open.erase(
        std::remove_if(open.begin(), open.end(), [&](Row* row) { return !row->sample(plan); }),
        open.end());
    if (!progress(total - static_cast<int>(open.size()), total)) return;
  }
}

}  // namespace course
