#include "measure/anchors.hpp"

#include <cstdio>

#include "chapter/input.hpp"
#include "kernels/device_ops.hpp"

namespace course {

void CopyProblem::expected(int, double* values) const {
  parallel_for(n(), [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) values[i] = value<float>(input(), seed(), i);
  });
}

namespace {
/// The most floats that a grid takes, 1024 per block.
constexpr std::int64_t most_of_a_grid = INT32_MAX * std::int64_t{1024};
}  // namespace

Version memcpy_version(const std::string& id, Role role) {
  Version version;
  version.id = id;
  version.title = "cudaMemcpy, device to device";
  version.launch = [](const Problem& p, const Arguments& a) {
    if (p.n() < 0) return cudaErrorInvalidValue;
    return cudaMemcpyAsync(a.outputs[0], a.inputs[0], static_cast<std::size_t>(4 * p.n()),
                           cudaMemcpyDeviceToDevice, a.stream);
  };
  version.role = role;
  version.needs.capturable = false;
  version.needs.max_n = any_n;
  version.file = "anchors";
  return version;
}

Version copy_version(const std::string& id, Role role) {
  Version version{id, "copy, 16 bytes per thread",
                  [](const Problem& p, const Arguments& a) {
                    return launch_copy(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
                  },
                  role};
  return version.in_file("device_ops").aligned(16).up_to(most_of_a_grid);
}

Version bulk_copy_version(const std::string& id, Role role) {
  Version version{id, "copy, bulk asynchronous",
                  [](const Problem& p, const Arguments& a) {
                    return launch_bulk_copy(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
                  },
                  role};
  version.file = "bulk_copy";
#ifdef SIMT
  version.launch = nullptr;  // inline PTX
#endif
  return version.needing(90).aligned(16).up_to(most_of_a_grid);
}

Version read_version(const std::string& id, Role role) {
  Version version{id, "read only, 16 bytes per thread",
                  [](const Problem& p, const Arguments& a) {
                    return launch_read(a.in<float>(0), static_cast<float*>(a.inputs[0]), p.n(),
                                       a.stream);
                  },
                  role};
  return version.in_file("device_ops").aligned(16).up_to(most_of_a_grid);
}

Study then_read(Study study) {
  for (Version& version : study.versions) {
    version.title += ", then read";
    if (!version.launch) continue;
    version.launch = [launch = version.launch](const Problem& p, const Arguments& a) {
      if (const cudaError_t error = launch(p, a)) return error;
      const std::vector<Array> outputs = p.outputs();
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        float* const out = static_cast<float*>(a.outputs[k]);
        if (const cudaError_t error = launch_read(out, out, outputs[k].bytes() / 4, a.stream))
          return error;
      }
      return cudaSuccess;
    };
  }
  return study;
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
  const bool only_reads = problem.bytes_written() < 0.01 * problem.bytes_read();
  return {only_reads ? "reads" : "read and write mix", problem.bytes() / seconds * 1e-9, "GB/s",
          how};
}

}  // namespace course
