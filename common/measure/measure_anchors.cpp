#include "device/cuda_check.hpp"
#include "measure/anchors.hpp"
#include "measure/measure.hpp"

namespace course {
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
  anchors.capability = bench.device().capability;
  anchors.sm_count = bench.device().sm_count;
  anchors.clock_mhz = bench.device().clock_mhz;
  for (const auto& row : rows) {
    const double gbs = row->problem().bytes() / row->summary().median * 1e-9;
    if (row->version().id == "read") {
      anchors.read_gbs = gbs;
    } else if (gbs > anchors.copy_gbs) {
      anchors.copy_gbs = gbs;
      anchors.copy_by = row->version().title;
    }
  }
  anchors.empty_kernel_s = bench.measure_empty();
  return anchors;
}

}  // namespace course
