#pragma once
/// \file
/// The interface between run.cpp, the part of a chapter's program that is the same on every
/// backend, and the two files that run the versions: run_gpu.cpp measures, run_cpu.cpp counts.

#include <csignal>
#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "chapter/sizes.hpp"
#include "program/report.hpp"

namespace course {

/// Set by Ctrl-C.
extern volatile std::sig_atomic_t interrupted;

/// Runs what was asked for, prints it and writes the result file. Returns the exit code. Each
/// backend links its own.
int run_studies(const Chapter& chapter, const Options& options, const std::vector<Study>& studies);

/// A line that overwrites itself on a terminal and is left out elsewhere.
void progress_line(const std::string& text);

/// A row before it ran.
Result blank_result(const Study& study, const Version& version);
/// Enters the problem into a row; again if the row steps down to a smaller size.
void set_problem(Result& result, const Problem& problem);

/// The end of every run: names the studies that did not run, writes the result file, counts failed
/// rows. Returns the exit code.
int finish_run(const Chapter& chapter, Report& report);

}  // namespace course
