#pragma once
/// \file
/// The exception that ends a run with one clear line.

#include <stdexcept>
#include <string>

namespace course {

/// what() is one line that names what is wrong and what to do; `exit_code` is what the program
/// returns: 1 failed, 2 bad usage, 3 no usable GPU, 4 a file could not be written.
struct Error : std::runtime_error {
  explicit Error(const std::string& line, int code = 1)
      : std::runtime_error(line), exit_code(code) {}
  int exit_code;
};

}  // namespace course
