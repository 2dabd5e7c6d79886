#pragma once
/// \file
/// The command line of a chapter's program.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chapter/problem.hpp"

namespace course {

struct Options {
  bool help = false, list = false, check_only = false, record = false, model = false,
       strict = false;
  bool hide_recorded = false;        ///< CPU backend: a table for guesses, without recorded rates
  std::vector<std::string> only;     ///< version ids, or their numbers without leading zeros
  std::vector<std::string> studies;  ///< empty: "sequence"
  std::vector<std::vector<std::int64_t>>
      sizes;  ///< one value per dimension each; empty: the study's own
  std::string json, label, commit, source_hash;
  std::map<std::string, std::string> code;  ///< hash of each file with a version
  std::int64_t profile = 0;                 ///< launches for a profiler; 0: off
  std::uint64_t seed = 1;
  int device = 0;
};

/// Parses argv[1..]. \throws Error with exit code 2 and one line that names the argument.
Options parse_options(int argc, const char* const* argv);

/// "2^28", "16M" (K, M, G are powers of two), "1000003", "8192x8192". \throws Error as above.
std::vector<std::int64_t> parse_size(const std::string& text);

/// The text of --help.
std::string usage(const std::string& program);

}  // namespace course
