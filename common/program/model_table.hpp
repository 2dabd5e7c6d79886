#pragma once
/// \file
/// The table of a run on the CPU backend: what was counted, and the rates that a GPU had.

#include <cstdint>
#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "program/report.hpp"

namespace course {

/// A rate that was measured on a GPU, and is kept in the chapter's results/.
struct RecordedRate {
  const char* study;
  const char* version;
  std::int64_t axis;  ///< value of the study's axis, 0 in studies without one
  double rate;
};
struct Record {
  const char* gpu;
  const char* date;
  const char* commit;
  std::vector<RecordedRate> rates;
};
/// Generated from results/ while a chapter is built for the CPU backend; null if there are none.
__attribute__((weak)) const Record& recorded();

/// Lines of at most 80 columns.
std::string model_header(const Study& study, const std::string& unit);
/// hide: "?" in place of a recorded rate.
std::string model_row(const Study& study, const Result& result, bool hide = false);
/// What the columns mean, if there were counts, and where the recorded rates come from.
std::string model_footer(bool counted, bool hide = false);

}  // namespace course
