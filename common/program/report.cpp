#include "program/report.hpp"

#include <cstdio>
#include <ctime>

#include "chapter/write_file.hpp"
#include "program/json.hpp"

#ifndef COURSE_COMPILER
#define COURSE_COMPILER ""
#endif
#ifndef COURSE_FLAGS
#define COURSE_FLAGS ""
#endif
#ifndef COURSE_BUILD_TYPE
#define COURSE_BUILD_TYPE ""
#endif

namespace course {
namespace {

std::string utc_now() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void write_size(Json& json, const Size& size) {
  json.begin_object();
  for (const auto& [name, value] : size.dimensions) json.key(name).value(value);
  json.end_object();
}

void write_dimensions(Json& json, const dim3& d) {
  json.begin_array();
  for (const unsigned k : {d.x, d.y, d.z}) json.value(static_cast<std::int64_t>(k));
  json.end_array();
}

void write_limit(Json& json, const std::optional<Limit>& limit) {
  if (!limit) {
    json.null();
    return;
  }
  json.begin_object().key("name").value(limit->name).key("value").value(limit->value);
  json.key("unit").value(limit->unit).key("how").value(limit->how).end_object();
}

void write_shape(Json& json, const std::optional<LaunchShape>& shape) {
  if (!shape || shape->kernels == 0) {
    json.null();
    return;
  }
  json.begin_object().key("kernels").value(shape->kernels);
  json.key("grid");
  write_dimensions(json, shape->grid);
  json.key("block");
  write_dimensions(json, shape->block);
  json.key("registers").value(shape->registers).key("shared_bytes").value(shape->shared_bytes);
  json.key("blocks_per_sm").value(shape->blocks_per_sm).end_object();
}

void write_requests(Json& json, const char* name, const Requests& r, const char* unit) {
  json.key(name).begin_object().key("requests").value(static_cast<std::int64_t>(r.requests));
  json.key(unit).value(static_cast<std::int64_t>(r.units)).end_object();
}

void write_counts(Json& json, const Model& m) {
  write_requests(json, "global_loads", m.global_loads, "sectors");
  write_requests(json, "global_stores", m.global_stores, "sectors");
  write_requests(json, "global_atomics", m.global_atomics, "sectors");
  write_requests(json, "shared_loads", m.shared_loads, "wavefronts");
  write_requests(json, "shared_stores", m.shared_stores, "wavefronts");
  write_requests(json, "shared_atomics", m.shared_atomics, "wavefronts");
  json.key("warps").value(static_cast<std::int64_t>(m.warps));
  json.key("barriers").value(static_cast<std::int64_t>(m.barriers));
  json.key("warp_steps").value(static_cast<std::int64_t>(m.warp_steps));
  json.key("lane_steps").value(static_cast<std::int64_t>(m.lane_steps));
  json.key("exact").value(m.exact);
}

/// The fields that only the CPU backend can fill.
void write_model(Json& json, const Result& r) {
  if (r.model) {
    json.key("model").begin_object();
    write_counts(json, *r.model);
    json.key("kernels").begin_array();
    for (const Model& kernel : r.model->parts) {
      json.begin_object().key("kernel").value(kernel.kernel);
      write_counts(json, kernel);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.key("findings").begin_array();
  for (const Finding& finding : r.findings) {
    json.begin_object().key("kind").value(finding.kind).key("text").value(finding.text);
    json.end_object();
  }
  json.end_array();
}

void write_result(Json& json, const Result& r, const Report& report) {
  const bool timed = r.measured();
  const Statistics s = statistics(r.seconds);
  const auto number = [&](double value) -> std::optional<double> {
    return timed ? std::optional<double>(value) : std::nullopt;
  };
  json.begin_object();
  json.key("study").value(r.study).key("version").value(r.version).key("title").value(r.title);
  const auto code = report.options.code.find(r.file);
  const bool known = code != report.options.code.end();
  json.key("file").value(r.file).key("code").value_or_null(known ? code->second : "");
  json.key("role")
      .value(name_of(r.role))
      .key("type")
      .value(name_of(r.type))
      .key("input")
      .value(name_of(r.input));
  json.key("size");
  write_size(json, r.size);
  json.key("seconds").value(r.seconds);
  json.key("median_s")
      .value(number(s.median))
      .key("q1_s")
      .value(number(s.q1))
      .key("q3_s")
      .value(number(s.q3));
  json.key("min_s").value(number(s.minimum)).key("mode").value(r.mode);
  json.key("behind").value_or_null(timed && r.behind ? name_of(*r.behind) : "");
  json.key("behind_s").value(number(r.behind_s));
  json.key("instantiations_s").value(r.instantiations);
  json.key("launches_per_sample").value(r.launches_per_sample);
  json.key("rate");
  if (timed) {
    json.begin_object().key("value").value(r.rate()).key("unit").value(r.work.unit).end_object();
  } else {
    json.null();
  }
  json.key("bytes").value(static_cast<std::int64_t>(r.bytes));
  json.key("flops").value(static_cast<std::int64_t>(r.flops));
  json.key("limit");
  write_limit(json, r.limit);
  json.key("of_limit").value(r.limit && timed ? number(r.of_limit()) : std::nullopt);
  json.key("l2").value(r.cold ? "cold" : "resident");
  json.key("clock_mhz").value(timed ? r.clock_mhz : std::nullopt);
  json.key("verified").value(r.skipped.empty() ? std::optional<bool>(r.verified) : std::nullopt);
  json.key("flags").value(r.flags).key("skipped").value_or_null(r.skipped.empty() ? r.failure
                                                                                  : r.skipped);
  json.key("notes").value(r.notes).key("launch");
  write_shape(json, r.shape);
  if (report.device.simulated) write_model(json, r);
  json.end_object();
}

void write_judged(Json& json, const Judged& judged) {
  json.key("exercise").begin_object().key("number").value(judged.number);
  json.key("verdict").value(judged.verdict).key("reason").value_or_null(judged.reason);
  json.key("compared").value_or_null(judged.compared).key("asked_ratio");
  json.value(judged.asked_ratio > 0 ? std::optional<double>(judged.asked_ratio) : std::nullopt);
  json.end_object();
}

void write_gpu(Json& json, const Report& report) {
  const Device& d = report.device;
  const auto anchor = [&](double Anchors::*field, double scale) -> std::optional<double> {
    return report.anchors ? std::optional<double>((*report.anchors).*field * scale) : std::nullopt;
  };
  json.begin_object()
      .key("name")
      .value(d.name)
      .key("compute_capability")
      .value(d.capability_text());
  json.key("sm_count")
      .value(d.sm_count)
      .key("l2_bytes")
      .value(d.l2_bytes)
      .key("memory_bytes")
      .value(d.memory_bytes);
  json.key("peak_dram_gbs")
      .value(d.peak_dram_gbs)
      .key("copy_gbs")
      .value(anchor(&Anchors::copy_gbs, 1));
  json.key("read_gbs").value(anchor(&Anchors::read_gbs, 1));
  json.key("empty_kernel_us").value(anchor(&Anchors::empty_kernel_s, 1e6)).end_object();
}

}  // namespace

const char* name_of(Role role) {
  switch (role) {
    case Role::version:
      return "version";
    case Role::peer:
      return "peer";
    case Role::limit:
      return "limit";
    case Role::exercise:
      return "exercise";
  }
  return "?";
}

const char* name_of(Behind behind) {
  switch (behind) {
    case Behind::empty:
      return "empty";
    case Behind::itself:
      return "itself";
    case Behind::host:
      return "host";
  }
  return "?";
}

std::string time_text(double seconds) {
  const char* unit = seconds < 1e-3 ? "us" : seconds < 1 ? "ms" : "s";
  const double value = seconds * (seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1);
  char text[32];
  std::snprintf(text, sizeof text,
                value < 10    ? "%.3f %s"
                : value < 100 ? "%.2f %s"
                              : "%.1f %s",
                value, unit);
  return text;
}

std::string rate_text(double rate) {
  char text[32];
  std::snprintf(text, sizeof text,
                rate < 10     ? "%.3f"
                : rate < 100  ? "%.2f"
                : rate < 1000 ? "%.1f"
                              : "%.0f",
                rate);
  return text;
}

std::string row_name(const Study& study, const Result& result) {
  if (study.axis.empty()) return result.version;
  return result.version + " " + size_text(result.size[study.axis]);
}

std::string table_header(const Study& study, const std::string& unit) {
  char line[160];
  std::snprintf(line, sizeof line, "%-27s %10s %6s %9s %7s %7s  %s\n",
                study.axis.empty() ? "version" : ("version, " + study.axis).c_str(), "time", "+-",
                unit.c_str(), "limit", "x prev", "check");
  return line + std::string(79, '-') + "\n";
}

std::string table_row(const Study& study, const Result& result, double previous) {
  const std::string name = row_name(study, result).substr(0, 27);
  std::string text = name + std::string(28 - name.size(), ' ');
  if (!result.measured()) {
    const bool failed = result.skipped.empty() && !result.verified;
    if (failed) return text + "FAILED\n    " + result.failure + "\n";
    return text + (result.skipped.empty() ? "ok (checked, not measured)" : result.skipped) + "\n";
  }
  const Statistics s = statistics(result.seconds);
  char of_limit[16] = "-", ratio[16] = "-";
  if (result.limit) std::snprintf(of_limit, sizeof of_limit, "%.1f%%", 100 * result.of_limit());
  if (previous > 0) {
    const double x = result.rate() / previous;
    std::snprintf(ratio, sizeof ratio, x < 100 ? "%.2fx" : "%.0fx", x);
  }
  char line[100];
  std::snprintf(line, sizeof line, "%10s %5.1f%% %9s %7s %7s  %s\n", time_text(s.median).c_str(),
                50 * (s.q3 - s.q1) / s.median, rate_text(result.rate()).c_str(), of_limit, ratio,
                result.verified ? "ok" : "FAILED");
  text += line;
  if (!result.verified && !result.failure.empty()) text += "    " + result.failure + "\n";
  for (const std::string& note : result.notes) text += "    " + note + "\n";
  return text;
}

std::string json_document(const Report& report) {
  Json json;
  json.begin_object().key("schema").value(1).key("chapter").value(report.chapter);
  json.key("label")
      .value_or_null(report.options.label)
      .key("commit")
      .value_or_null(report.options.commit);
  json.key("date").value(utc_now()).key("source_hash").value_or_null(report.options.source_hash);
  json.key("interrupted").value(report.interrupted);
  if (report.judged) write_judged(json, *report.judged);
  json.key("gpu");
  write_gpu(json, report);
  json.key("environment")
      .begin_object()
      .key("backend")
      .value(report.device.simulated ? "cpu" : "cuda")
      .key("cuda")
      .value(report.device.runtime);
  json.key("driver").value(report.device.driver).key("compiler").value_or_null(COURSE_COMPILER);
  json.key("flags")
      .value_or_null(COURSE_FLAGS)
      .key("build_type")
      .value_or_null(COURSE_BUILD_TYPE)
      .end_object();
  json.key("studies").begin_array();
  for (const Study& study : report.studies) {
    json.begin_object().key("name").value(study.name).key("title").value(study.title);
    json.key("axis").value_or_null(study.axis).key("axis_label").value_or_null(study.axis_label);
    json.key("log_axis").value(study.log_axis).end_object();
  }
  json.end_array().key("results").begin_array();
  for (const Result& result : report.results) {
    write_result(json, result, report);
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

void write_report(const std::string& path, const Report& report) {
  write_file(path, json_document(report), "the results are in the table above only");
}

}  // namespace course
