#pragma once
/// \file
/// The problems of the anchors: what the memory of this GPU can do, measured with kernels that do
/// nothing else.

#include "chapter/chapter.hpp"

namespace course {

/// Copies size["n"] floats.
class CopyProblem : public Problem {
 public:
  using Problem::Problem;
  std::vector<Array> inputs() const override { return {{"in", n(), Type::f32, seed()}}; }
  std::vector<Array> outputs() const override { return {{"out", n(), Type::f32}}; }
  double bytes_read() const override { return 4.0 * static_cast<double>(n()); }
  double bytes_written() const override { return bytes_read(); }
  void expected(int output, double* values) const override;
  Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// Reads size["n"] floats and writes nothing: its output is empty.
class ReadProblem : public CopyProblem {
 public:
  using CopyProblem::CopyProblem;
  std::vector<Array> outputs() const override { return {{"out", 0, Type::f32}}; }
  double bytes_written() const override { return 0; }
  void expected(int, double*) const override {}
};

/// cudaMemcpyAsync from device to device: the copy that a user would choose. Measured by plain
/// launches: as a node of a graph it runs on the copy engine, which is slower
/// (docs/how_we_measure.md).
Version memcpy_version(const std::string& id, Role role);
/// The course's own copies and read, for studies that show them as rows.
Version copy_version(const std::string& id, Role role);
Version bulk_copy_version(const std::string& id, Role role);
Version read_version(const std::string& id, Role role);

/// Lanes of an SM that multiply and add floats (CUDA C++ Programming Guide, "arithmetic
/// instructions").
inline double float_lanes(int capability) {
  for (const int half : {60, 70, 72, 75, 80}) {
    if (capability == half) return 64;
  }
  return 128;
}

/// All rows of a study, each followed by an ordinary kernel that reads its outputs, as the next
/// kernel of a program would: a version that leaves them in the L2 cache, or ends early, gains. A
/// row's time is that of both kernels; its rates still count the bytes of the row alone. Outputs of
/// floats, aligned to 16 bytes.
Study then_read(Study study);

}  // namespace course
