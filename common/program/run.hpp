#pragma once
/// \file
/// What run.cpp, the part of a chapter's program that is the same everywhere, shares with the two
/// that do the work: run_gpu.cpp measures, run_cpu.cpp runs on the CPU and counts.

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
/// What a row says about its problem; a row that steps down to a smaller size gets it anew.
void set_problem(Result& result, const Problem& problem);

/// The end of every run: names the studies that did not run, writes the result file, counts failed
/// rows. Returns the exit code.
int finish_run(const Chapter& chapter, Report& report);

}  // namespace course
