// Sums of what was counted, and the table of it.
#include <cstdio>

#include "engine.hpp"
#include "findings.hpp"

namespace simt {

namespace {

std::uint64_t sum_of(const KernelCount& kernel, Space space, const std::string& access,
                     std::uint64_t LineCount::*figure) {
  std::uint64_t sum = 0;
  for (const LineCount& line : kernel.lines) {
    if (line.space == space && access == line.access) sum += line.*figure;
  }
  return sum;
}

}  // namespace

std::uint64_t KernelCount::requests(Space space, const std::string& access) const {
  return sum_of(*this, space, access, &LineCount::requests);
}

std::uint64_t KernelCount::units(Space space, const std::string& access) const {
  return sum_of(*this, space, access, &LineCount::units);
}

std::string table(const std::vector<KernelCount>& counts) {
  std::string text;
  char line[400];
  for (const KernelCount& kernel : counts) {
    const std::string by_kernels =
        kernel.by_kernels == 0 ? ""
                               : ", " + std::to_string(kernel.by_kernels) + " of them by kernels";
    std::snprintf(line, sizeof line,
                  "%s: %llu launch(es)%s, %llu blocks, %llu threads; %.1f lanes "
                  "active per step, %llu warp-steps, %llu barriers (per warp)\n",
                  kernel.kernel.c_str(), static_cast<unsigned long long>(kernel.launches),
                  by_kernels.c_str(), static_cast<unsigned long long>(kernel.blocks),
                  static_cast<unsigned long long>(kernel.threads),
                  kernel.warp_steps == 0 ? 0.0
                                         : static_cast<double>(kernel.lane_steps) /
                                               static_cast<double>(kernel.warp_steps),
                  static_cast<unsigned long long>(kernel.warp_steps),
                  static_cast<unsigned long long>(kernel.barriers));
    text += line;
    std::snprintf(line, sizeof line, "  %-26s %-14s %5s %10s %7s %12s %7s %12s %12s\n", "line",
                  "access", "bytes", "requests", "lanes", "per request", "ideal", "bytes asked",
                  "bytes moved");
    text += line;
    for (const LineCount& l : kernel.lines) {
      const auto per = [&](std::uint64_t v) {
        return static_cast<double>(v) / static_cast<double>(l.requests);
      };
      const SourceLine where{l.file, l.line};
      std::snprintf(line, sizeof line,
                    "  %-26s %-6s %-7s %5u %10llu %7.2f %7.2f %4s %7.2f %12llu %12llu%s%s%s\n",
                    where.text().c_str(), l.space == Space::shared ? "shared" : "global", l.access,
                    l.bytes, static_cast<unsigned long long>(l.requests), per(l.lanes),
                    per(l.units), l.space == Space::shared ? "wavf" : "sect", per(l.ideal),
                    static_cast<unsigned long long>(l.bytes_asked),
                    static_cast<unsigned long long>(l.bytes_moved), l.hint.empty() ? "" : "  <- ",
                    l.hint.c_str(), l.exact ? "" : "  (not exact)");
      text += line;
    }
  }
  return text;
}

}  // namespace simt
