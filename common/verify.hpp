#pragma once
/// \file
/// The correctness check of one version on one problem, as the tests run it.

#include <string>

#include "chapter.hpp"
#include "device.hpp"

namespace course {

struct Outcome {
  enum State { passed, failed, skipped } state = passed;
  std::string why;
};

/// What a launcher's error means for the version: "not written yet", or the error described.
std::string failure_text(cudaError_t error);

/// Why a version cannot run here: "needs compute capability 9.0", "did not compile", ...; empty if
/// it can.
std::string missing(const Version& version, const Problem& problem, const Device& device);

/// Two launches on one workspace with arbitrary contents, in buffers of exactly the right size,
/// outputs poisoned before and compared after each, inputs compared at the end: a version must not
/// write to them.
Outcome verify(const Version& version, const Problem& problem, const Device& device);

}  // namespace course
