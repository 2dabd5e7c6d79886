#pragma once
/// \file
/// Which versions are meant: "3,5-7" or names, on the command line and in lists of rows.

#include <string>
#include <vector>

namespace course {

/// "3,5-7" -> {"3", "5", "6", "7"}; names stay as they are. \throws Error with exit code 2 and one
/// line.
std::vector<std::string> parse_selection(const std::string& text);

/// True if a version id such as "03_grid_stride" is asked for by "3", "03", "03_grid_stride" or
/// "grid_stride".
bool selects(const std::vector<std::string>& selection, const std::string& id);

/// The parts of a text between separators, empty ones included.
std::vector<std::string> split(const std::string& text, char separator);

/// True if the text is not empty and has only digits.
bool all_digits(const std::string& text);

/// Bad usage. \throws Error with exit code 2.
[[noreturn]] void bad(const std::string& line);

}  // namespace course
