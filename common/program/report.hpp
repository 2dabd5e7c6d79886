#pragma once
/// \file
/// Rows of results, as the table on the terminal and as the result file.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "count/model.hpp"
#include "device/device.hpp"
#include "device/launch_shape.hpp"
#include "measure/statistics.hpp"
#include "program/options.hpp"

namespace course {

/// One measured, failed or skipped row.
struct Result {
  std::string study, version, title;
  std::string file;  ///< the version's source file, without suffix
  Role role = Role::version;
  Type type = Type::f32;
  Input input = Input::random;
  Size size;
  std::vector<double> seconds;  ///< per launch, one per sample; empty unless measured
  std::string mode = "graph";   ///< or "launch", "host" (nothing hidden), or "own" timer
  std::optional<Behind> behind;
  double behind_s = 0;                 ///< time of the kernel in front: taken off each of seconds
  std::vector<double> instantiations;  ///< seconds of a launch by each instantiation of the graph
  int launches_per_sample = 0;
  double bytes = 0, flops = 0;
  Problem::Work work;
  std::optional<Limit> limit;
  bool cold = true;  ///< the L2 cache held nothing of this launch's data
  std::optional<double> clock_mhz;
  std::optional<LaunchShape> shape;
  bool verified = false;
  std::string failure;  ///< first mismatch or error; empty unless it failed
  std::string skipped;  ///< why; empty unless skipped
  std::vector<std::string> flags, notes;
  std::optional<Model> model;     ///< CPU backend: what it counted
  std::vector<Finding> findings;  ///< CPU backend: what its checkers found

  bool measured() const { return !seconds.empty(); }
  double rate() const { return work.amount / work.scale / statistics(seconds).median; }
  /// The reached fraction of its limit. The limit of DRAM is in bytes, whatever the rate counts.
  double of_limit() const {
    const bool in_bytes = limit->unit == "GB/s" && limit->unit != work.unit;
    return (in_bytes ? bytes * 1e-9 / statistics(seconds).median : rate()) / limit->value;
  }
};

/// The verdict on an exercise.
struct Judged {
  int number = 0;
  std::string verdict = "not yet";  ///< or "passed", or "right": only a GPU can pass it
  std::string reason;               ///< why it did not pass
  std::string compared;             ///< the version that it is compared with
  double asked_ratio = 0;           ///< of the rates; 0: none is asked
};

/// Everything that one run produced.
struct Report {
  std::string chapter;
  Options options;
  Device device;
  std::optional<Anchors> anchors;
  std::vector<Study> studies;  ///< those that ran
  std::vector<Result> results;
  bool interrupted = false;
  std::optional<Judged> judged;  ///< of an exercise
};

/// "12.3 us", four significant digits at most.
std::string time_text(double seconds);

/// Four significant digits at most.
std::string rate_text(double rate);

/// The version, and the value of the study's axis.
std::string row_name(const Study& study, const Result& result);

/// Lines of at most 80 columns.
std::string table_header(const Study& study, const std::string& unit);
/// `previous` is the rate of the version before, 0 if there is none.
std::string table_row(const Study& study, const Result& result, double previous);

/// The result file, schema 1.
std::string json_document(const Report& report);

/// Writes the result file, after the table. \throws Error as write_file() does.
void write_report(const std::string& path, const Report& report);

}  // namespace course
