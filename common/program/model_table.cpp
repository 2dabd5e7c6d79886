#include "program/model_table.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace course {
namespace {

/// "4.00" sectors or wavefronts per request; "-" where there was none.
std::string per_request(const Requests& r) {
  if (r.requests == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                static_cast<double>(r.units) / static_cast<double>(r.requests));
  return text;
}

std::string per_warp(const Model& m) {
  if (m.warps == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g",
                static_cast<double>(m.barriers) / static_cast<double>(m.warps));
  return text;
}

std::string active_lanes(const Model& m) {
  if (m.warp_steps == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.0f%%",
                100 * static_cast<double>(m.lane_steps) / 32 / static_cast<double>(m.warp_steps));
  return text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string recorded_rate(const Study& study, const Result& result) {
  if (!recorded) return "-";
  const std::int64_t axis = study.axis.empty() ? 0 : result.size[study.axis];
  for (const RecordedRate& r : recorded().rates) {
    if (study.name == r.study && result.version == r.version && axis == r.axis) {
      return rate_text(r.rate);
    }
  }
  return "-";
}

}  // namespace

std::string model_header(const Study& study, const std::string& unit) {
  char line[200];
  std::snprintf(line, sizeof line,
                "%-25s %11s %11s %5s %5s %9s\n%-25s %5s %5s %5s %5s %5s %5s %9s  check\n", "",
                "sectors", "wavefronts", "syncs", "lanes", "recorded",
                study.axis.empty() ? "version" : ("version, " + study.axis).c_str(), "load",
                "store", "load", "store", "/warp", "busy", unit.c_str());
  return line + std::string(79, '-') + "\n";
}

std::string model_row(const Study& study, const Result& result, bool hide) {
  Result shortened = result;  // leaves room for the value of the axis
  if (!study.axis.empty())
    shortened.version.resize(std::min<std::size_t>(result.version.size(), 18));
  const std::string name = row_name(study, shortened).substr(0, 25);
  std::string rate = recorded_rate(study, result);
  if (hide && rate != "-") rate = "?";
  char line[400];
  if (!result.skipped.empty() && rate == "-") {
    std::snprintf(line, sizeof line, "%-25s %.54s\n", name.c_str(), result.skipped.c_str());
    return line;
  }
  if (!result.skipped.empty()) {
    std::snprintf(line, sizeof line, "%-25s %-35.35s %9s\n", name.c_str(), result.skipped.c_str(),
                  rate.c_str());
    return line;
  }
  const Model m = result.model.value_or(Model{});
  std::snprintf(line, sizeof line, "%-25s %5s %5s %5s %5s %5s %5s %9s  %s\n", name.c_str(),
                per_request(m.global_loads).c_str(), per_request(m.global_stores).c_str(),
                per_request(m.shared_loads).c_str(), per_request(m.shared_stores).c_str(),
                per_warp(m).c_str(), active_lanes(m).c_str(), rate.c_str(),
                result.verified ? "ok" : "FAILED");
  std::string text = line;
  if (!result.verified) text += "    " + result.failure + "\n";
  for (const std::string& note : result.notes) text += "    " + note + "\n";
  constexpr std::size_t most = 5;  // the first usually explains the others
  for (std::size_t k = 0; k < std::min(result.findings.size(), most); ++k) {
    const Finding& finding = result.findings[k];
    if (has(result.failure, finding.text)) continue;
    text += "    " +
            std::string(result.verified ? finding.kind + " (no error without --strict): " : "") +
            finding.text + "\n";
  }
  return text;
}

std::string model_footer(bool counted, bool hide) {
  std::string text;
  if (counted) {
    text =
        "counted, not timed, and asynchronous copies apart:\n"
        "  sectors       32-byte pieces of global memory per request, a warp's access\n"
        "  wavefronts    rounds that shared memory takes per request\n"
        "  syncs /warp   barriers of the block that a warp went through\n"
        "  lanes busy    of a warp's 32, over all its steps\n";
  }
  if (recorded) {
    text += std::string("recorded: on ") + recorded().gpu + ", " + recorded().date + ", commit " +
            recorded().commit + ", at full size\n";
    if (hide) text += "?: guess it; without --hide-recorded it is shown\n";
  }
  return text;
}

}  // namespace course
