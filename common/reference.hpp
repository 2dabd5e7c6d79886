#pragma once
/// \file
/// The reference run: what a chapter can show and check on a machine without CUDA.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problem.hpp"

namespace course {

/// Input and output arrays of a problem in host memory, in the order of inputs() and outputs().
struct HostArrays {
  std::vector<std::vector<float>> inputs, outputs;
};

/// A problem and the plain loop on the CPU that solves it in float.
struct Reference {
  std::string chapter, what;  ///< "01_vector_add", "c = a + b"
  std::function<std::unique_ptr<Problem>(const Size&, std::uint64_t seed, Input)> make;
  std::function<void(const Problem&, HostArrays&)> solve;
  std::vector<Size> sizes;
};

/// Solves every size for random and for integer inputs, compares with the reference in double,
/// prints a line each. Options: --size, --seed, --help. Returns the exit code: 0, 1 if a result is
/// wrong, 2 for bad usage.
int run_reference(int argc, char** argv, const Reference& reference);

}  // namespace course
