#pragma once
/// \file
/// The correctness check of one version on one problem, as the tests run it.

#include <string>
#include <vector>

#include "chapter/chapter.hpp"
#include "count/model.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace course {

/// Fills an input of a problem on the device: by its `values`, if it has any (then the call waits
/// for the copy), otherwise by fill() of kernels/device_ops.hpp.
void fill_input(const Array& array, Input input, void* data, cudaStream_t stream);

/// The expected outputs of a problem, or of the sample that it chooses, on the device.
class References {
 public:
  References(const Problem& problem, cudaStream_t stream);
  /// Empty if all outputs are right, otherwise one line about the first wrong array.
  std::string mismatch(const Arguments& arguments, double* largest_error = nullptr) const;

 private:
  std::vector<Array> outputs_;
  std::vector<Tolerance> tolerances_;
  std::vector<Buffer> values_;
  std::vector<Buffer> samples_;  // empty buffers where all elements are compared
  std::vector<std::int64_t> counts_;
  std::vector<std::vector<std::int64_t>> any_order_;  // as Problem::any_order()
};

/// Device memory for one launch of a version on a problem, in buffers of exactly the right size:
/// filled inputs, outputs, a workspace with arbitrary contents.
class DeviceArrays {
 public:
  DeviceArrays(const Version& version, const Problem& problem, cudaStream_t stream);
  const Arguments& arguments() const { return arguments_; }
  void poison_outputs();
  /// Empty, or the name of the first input whose contents have changed.
  std::string changed_input() const;

 private:
  std::vector<Array> arrays_;  // of the inputs
  Input input_;
  std::vector<Buffer> inputs_, outputs_;
  Buffer workspace_;
  Arguments arguments_;
};

struct Outcome {
  enum State { passed, failed, skipped } state = passed;
  std::string why;
  std::vector<Finding> findings = {};  ///< of the CPU backend's checkers
  std::string remark = {};             ///< what the version's last launch said of itself
};

/// The text for a launcher's error: "not written yet", or the error described.
std::string failure_text(cudaError_t error);

/// What the CPU backend's checkers saw since the last call; nothing on a GPU.
std::vector<Finding> take_findings();

/// Why a version cannot run here: "needs compute capability 9.0", "did not compile", ...; empty if
/// it can.
std::string missing(const Version& version, const Problem& problem, const Device& device);

/// Two launches on one workspace with arbitrary contents, in buffers of exactly the right size.
/// Outputs are poisoned before each launch and compared after it; inputs are compared at the end,
/// because a version must not write to them. A finding of the CPU backend fails a version; with
/// `strict`, a missing acquire or proxy fence is a finding as well.
Outcome verify(const Version& version, const Problem& problem, const Device& device,
               bool strict = true);

}  // namespace course
