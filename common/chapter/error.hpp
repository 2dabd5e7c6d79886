#pragma once
/// \file
/// The exception that ends a run with one clear line.

#include <cstdio>
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

/// Runs the body of a program. \returns what the body returns, or the exit code of the error that
/// ended it; then one line on stderr follows everything that was printed before.
template <class Body>
int run_reporting_errors(const std::string& program, Body body) {
  const auto say = [&](const std::string& line) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", program.c_str(), line.c_str());
  };
  try {
    return body();
  } catch (const Error& error) {
    say(error.what());
    return error.exit_code;
  } catch (const std::exception& error) {  // the host is out of memory
    say(std::string(error.what()) + " on the host: try a smaller --size");
    return 1;
  }
}

}  // namespace course
