#pragma once
// What the tests of common/ on a device share: short names, copies, and versions that are wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "chapter_test.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "kernels/comparators.hpp"
#include "measure/anchors.hpp"

using course::Arguments;
using course::Array;
using course::Buffer;
using course::Chapter;
using course::CopyProblem;
using course::Input;
using course::Mismatch;
using course::Outcome;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Tolerance;
using course::Type;
using course::Version;

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// True under compute-sanitizer, where nothing is timed.
inline bool sanitized() { return std::getenv("COURSE_SANITIZE") != nullptr; }

inline Size size_n(std::int64_t n) { return {{{"n", n}}}; }

template <class T>
std::vector<T> to_host(const void* data, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  COURSE_CHECK(cudaMemcpy(host.data(), data, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

inline std::size_t misalignment(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; }

/// A copy by the driver with a mistake: `floats` elements too few are copied, then `spoil` does its
/// work.
using Spoil = std::function<cudaError_t(const Problem&, const Arguments&)>;
inline Version copy_but(const std::string& id, std::int64_t floats_too_few, Spoil spoil = {}) {
  Version version;
  version.id = id;
  version.title = "a copy";
  version.launch = [floats_too_few, spoil](const Problem& p, const Arguments& a) {
    const std::int64_t floats = p.n() - floats_too_few;
    if (floats > 0) {
      const cudaError_t error =
          cudaMemcpyAsync(a.outputs[0], a.inputs[0], static_cast<std::size_t>(4 * floats),
                          cudaMemcpyDeviceToDevice, a.stream);
      if (error != cudaSuccess) return error;
    }
    return spoil ? spoil(p, a) : cudaSuccess;
  };
  return version;
}
