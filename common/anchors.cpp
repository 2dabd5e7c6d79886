#include "anchors.hpp"

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "device_ops.hpp"
#include "input.hpp"
#include "measure.hpp"

namespace course {

void CopyProblem::expected(int, double* values) const {
  parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) values[i] = value<float>(input(), seed(), i);
  });
}

Version memcpy_version(const std::string& id, Role role) {
  Version version;
  version.id = id;
  version.title = "cudaMemcpy, device to device";
  version.launch = [](const Problem& p, const Arguments& a) {
    return cudaMemcpyAsync(a.outputs[0], a.inputs[0], static_cast<std::size_t>(4 * p.n()),
                           cudaMemcpyDeviceToDevice, a.stream);
  };
  version.role = role;
  version.needs.capturable = false;
  return version;
}

Version copy_version(const std::string& id, Role role) {
  return {id, "copy, 16 bytes a thread",
          [](const Problem& p, const Arguments& a) {
            return launch_copy(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
          },
          role};
}

Version bulk_copy_version(const std::string& id, Role role) {
  Version version{id, "copy, bulk asynchronous",
                  [](const Problem& p, const Arguments& a) {
                    return launch_bulk_copy(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
                  },
                  role};
  version.needs.capability = 90;
  return version;
}

Version read_version(const std::string& id, Role role) {
  return {id, "read only, 16 bytes a thread",
          [](const Problem& p, const Arguments& a) {
            return launch_read(a.in<float>(0), static_cast<float*>(a.inputs[0]), p.n(), a.stream);
          },
          role};
}

namespace {

double empty_kernel_seconds(Bench& bench) {
  constexpr int launches = 1000;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  // the first launch loads the module: that must not happen while capturing
  COURSE_CHECK(launch_empty(bench.stream()));
  COURSE_CHECK(cudaStreamBeginCapture(bench.stream(), cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < launches; ++k) COURSE_CHECK(launch_empty(bench.stream()));
  COURSE_CHECK(cudaStreamEndCapture(bench.stream(), &graph));
  COURSE_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  std::vector<double> samples;
  for (int k = 0; k < 12; ++k) {
    bench.hold(50e-6);
    bench.timer().start(bench.stream());
    COURSE_CHECK(cudaGraphLaunch(exec, bench.stream()));
    samples.push_back(bench.timer().stop(bench.stream()) / launches);
  }
  COURSE_CHECK(cudaGraphExecDestroy(exec));
  COURSE_CHECK(cudaGraphDestroy(graph));
  return statistics(samples).median;
}

}  // namespace

Anchors measure_anchors(Bench& bench, const Plan& plan, std::int64_t bytes) {
  const Size size{{{"n", bytes / 8 / 4 * 4}}};
  const CopyProblem copy(size, 1, Input::random);
  const ReadProblem read(size, 1, Input::random);
  const Version versions[] = {read_version("read", Role::limit), copy_version("copy", Role::limit),
                              bulk_copy_version("bulk", Role::limit),
                              memcpy_version("cudaMemcpy", Role::limit)};
  auto copy_sets = std::make_shared<Sets>(copy, bench.device().l2_bytes, bench.stream());
  std::vector<std::unique_ptr<Row>> rows;
  for (const Version& version : versions) {
    const Problem& problem = &version == versions ? static_cast<const Problem&>(read) : copy;
    auto row = std::make_unique<Row>(version, problem, copy_sets, bench);
    if (row->launch_once() == cudaErrorNotSupported) continue;  // bulk copies on an older GPU
    row->prepare(plan);
    rows.push_back(std::move(row));
  }
  measure_in_turn(rows, plan, [](int, int) { return true; });

  Anchors anchors;
  for (const auto& row : rows) {
    const double gbs = row->problem().bytes() / row->summary().median * 1e-9;
    if (row->version().id == "read") {
      anchors.read_gbs = gbs;
    } else if (gbs > anchors.copy_gbs) {
      anchors.copy_gbs = gbs;
      anchors.copy_by = row->version().title;
    }
  }
  anchors.empty_kernel_s = empty_kernel_seconds(bench);
  return anchors;
}

Limit memory_limit(const Anchors& anchors, const Problem& problem) {
  // seconds per byte read, and per byte written beside as many reads
  const double read_s = 1e-9 / anchors.read_gbs;
  const double write_s = 2e-9 / anchors.copy_gbs - read_s;
  const double seconds = problem.bytes_read() * read_s + problem.bytes_written() * write_s;
  char how[160];
  std::snprintf(
      how, sizeof how,
      "measured: reads at %.0f GB/s, copies at %.0f GB/s, weighted by bytes read and written",
      anchors.read_gbs, anchors.copy_gbs);
  return {"read and write mix", problem.bytes() / seconds * 1e-9, "GB/s", how};
}

}  // namespace course
