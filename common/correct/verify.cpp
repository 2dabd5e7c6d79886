#include "correct/verify.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "chapter/error.hpp"
#include "chapter/sizes.hpp"
#include "device/cuda_check.hpp"
#include "kernels/device_ops.hpp"
#ifdef SIMT
#include "simt/findings.hpp"
#endif

namespace course {

void fill_input(const Array& array, Input input, void* data, cudaStream_t stream) {
  if (!array.values) return fill(array, input, data, stream);
  if (array.count == 0) return;
  // new, not a vector, which would first write gigabytes of zeros
  const auto bytes = static_cast<std::size_t>(array.bytes());
  const std::unique_ptr<std::max_align_t[]> host(
      new std::max_align_t[bytes / sizeof(std::max_align_t) + 1]);
  array.values(host.get());
  COURSE_CHECK(cudaMemcpyAsync(data, host.get(), bytes, cudaMemcpyHostToDevice, stream));
  COURSE_CHECK(cudaStreamSynchronize(stream));
}

namespace {

/// True if an input array still holds what fill_input() wrote, bit for bit.
bool unchanged(const Array& array, Input input, const Buffer& buffer, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(array.bytes());
  if (bytes == 0) return true;
  Buffer again(bytes);
  fill_input(array, input, again.data(), stream);
  // new, not a vector, which would first write gigabytes of zeros
  const std::unique_ptr<char[]> now(new char[bytes]), before(new char[bytes]);
  COURSE_CHECK(cudaMemcpyAsync(now.get(), buffer.data(), bytes, cudaMemcpyDeviceToHost, stream));
  COURSE_CHECK(cudaMemcpyAsync(before.get(), again.data(), bytes, cudaMemcpyDeviceToHost, stream));
  COURSE_CHECK(cudaStreamSynchronize(stream));
  return std::memcmp(now.get(), before.get(), bytes) == 0;
}

/// A copy on the device.
template <class T>
Buffer on_device(const T* host, std::size_t count, cudaStream_t stream) {
  Buffer device(count * sizeof(T));
  if (count == 0) return device;
  COURSE_CHECK(
      cudaMemcpyAsync(device.data(), host, device.bytes(), cudaMemcpyHostToDevice, stream));
  COURSE_CHECK(cudaStreamSynchronize(stream));
  return device;
}

/// A copy of an output with each segment sorted whose elements may come in any order.
Buffer sorted_parts(const Array& array, const void* device, const std::vector<std::int64_t>& begins,
                    cudaStream_t stream) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(array.count));
  if (!words.empty()) {
    COURSE_CHECK(cudaMemcpyAsync(words.data(), device, words.size() * sizeof(std::uint32_t),
                                 cudaMemcpyDeviceToHost, stream));
    COURSE_CHECK(cudaStreamSynchronize(stream));
  }
  const auto parts = static_cast<std::int64_t>(begins.size());
  const auto begin = [&](std::int64_t part) {
    return words.begin() + (part < parts ? begins[static_cast<std::size_t>(part)] : array.count);
  };
  parallel_for(
      parts,
      [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t part = from; part < to; ++part) std::sort(begin(part), begin(part + 1));
      },
      1);
  return on_device(words.data(), words.size(), stream);
}

}  // namespace

References::References(const Problem& problem, cudaStream_t stream) : outputs_(problem.outputs()) {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const int output = static_cast<int>(k);
    tolerances_.push_back(problem.tolerance(output));
    const std::vector<std::int64_t> sample = problem.sample(output);
    any_order_.push_back(problem.any_order(output));
    if (!any_order_.back().empty() && (outputs_[k].type != Type::u32 || !sample.empty()))
      throw Error(outputs_[k].name + ": only u32 outputs without a sample may be in any order");
    counts_.push_back(sample.empty() ? outputs_[k].count
                                     : static_cast<std::int64_t>(sample.size()));
    // new, not a vector, which would first write gigabytes of zeros
    const auto count = static_cast<std::size_t>(counts_.back());
    const std::unique_ptr<double[]> values(new double[count]);
    problem.expected(output, values.get());
    values_.push_back(on_device(values.get(), count, stream));
    samples_.push_back(on_device(sample.data(), sample.size(), stream));
  }
}

std::string References::mismatch(const Arguments& arguments, double* largest_error) const {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const Buffer sorted = any_order_[k].empty() ? Buffer(0)
                                                : sorted_parts(outputs_[k], arguments.outputs[k],
                                                               any_order_[k], arguments.stream);
    const void* got = any_order_[k].empty() ? arguments.outputs[k] : sorted.data();
    const auto* want = static_cast<const double*>(values_[k].data());
    const auto* sample =
        samples_[k].bytes() == 0 ? nullptr : static_cast<const std::int64_t*>(samples_[k].data());
    const Mismatch found = compare_sample(outputs_[k], got, want, sample, counts_[k],
                                          tolerances_[k], arguments.stream);
    if (largest_error) *largest_error = std::max(*largest_error, found.largest_error);
    if (!found.ok()) return text(found, counts_[k], outputs_[k].name);
  }
  return "";
}

std::string failure_text(cudaError_t error) {
  return error == cudaErrorNotYetImplemented ? "not written yet" : describe(error);
}

std::string missing(const Version& version, const Problem& problem, const Device& device) {
  const bool too_old = device.capability < version.needs.capability;
  if (too_old || (version.needs.no_later && device.capability > version.needs.capability)) {
    const int major = version.needs.capability / 10, minor = version.needs.capability % 10;
    return "needs compute capability " + std::to_string(major) + "." + std::to_string(minor) +
           (too_old ? "" : " and no later") + ", this GPU has " + device.capability_text();
  }
  if (device.shared_bytes < version.needs.shared_bytes) {
    return "needs " + std::to_string((version.needs.shared_bytes + 1023) / 1024) +
           " KiB of shared memory per block, this GPU has " +
           std::to_string(device.shared_bytes / 1024);
  }
  if (!version.launch && device.simulated) {
    if (version.role == Role::peer) {
      return std::string("peer: needs a GPU and ") + version.needs.library;
    }
    return version.needs.capability > 0 ? "needs a GPU" : "did not compile";
  }
  if (!version.launch)
    return "not in this build (it did not compile, or its architecture was left out)";
  if (!(within_limit(version, problem.size()) == problem.size()))
    return "n is limited to " + size_text(version.needs.most());
  return "";
}

DeviceArrays::DeviceArrays(const Version& version, const Problem& problem, cudaStream_t stream)
    : arrays_(problem.inputs()),
      input_(problem.input()),
      workspace_(version.workspace_bytes ? version.workspace_bytes(problem) : 0) {
  for (const Array& array : arrays_) {
    inputs_.emplace_back(static_cast<std::size_t>(array.bytes()),
                         static_cast<std::size_t>(array.offset_bytes));
    fill_input(array, input_, inputs_.back().data(), stream);
    arguments_.inputs.push_back(inputs_.back().data());
  }
  for (const Array& array : problem.outputs()) {
    outputs_.emplace_back(static_cast<std::size_t>(array.bytes()),
                          static_cast<std::size_t>(array.offset_bytes));
    arguments_.outputs.push_back(outputs_.back().data());
  }
  workspace_.poison(stream);
  arguments_.workspace = workspace_.data();
  arguments_.workspace_bytes = workspace_.bytes();
  arguments_.stream = stream;
}

void DeviceArrays::poison_outputs() {
  for (Buffer& output : outputs_) output.poison(arguments_.stream);
}

std::string DeviceArrays::changed_input() const {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (!unchanged(arrays_[k], input_, inputs_[k], arguments_.stream)) return arrays_[k].name;
  }
  return "";
}

namespace {

Outcome verify_results(const Version& version, const Problem& problem, const Device& device) {
  if (std::string why = missing(version, problem, device); !why.empty())
    return {Outcome::skipped, why};
  const cudaStream_t stream = nullptr;
  const References references(problem, stream);
  DeviceArrays arrays(version, problem, stream);
  for (int run = 0; run < 2; ++run) {
    arrays.poison_outputs();
    cudaError_t error = version.launch(problem, arrays.arguments());
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return {Outcome::failed, failure_text(error)};
    if (std::string why = references.mismatch(arrays.arguments()); !why.empty())
      return {Outcome::failed, why};
  }
  if (const std::string name = arrays.changed_input(); !name.empty()) {
    return {Outcome::failed, "the version wrote to its input " + name};
  }
  return {Outcome::passed, "", {}, version.remark ? version.remark(arrays.arguments()) : ""};
}

}  // namespace

std::vector<Finding> take_findings() {
  std::vector<Finding> findings;
#ifdef SIMT
  for (const simt::Finding& f : simt::take_findings()) findings.push_back({f.kind, f.text});
#endif
  return findings;
}

Outcome verify(const Version& version, const Problem& problem, const Device& device, bool strict) {
  Outcome outcome = verify_results(version, problem, device);
  outcome.findings = take_findings();
  if (outcome.state != Outcome::passed) return outcome;
  for (const Finding& finding : outcome.findings) {
    if (finding.kind == "order" && !strict) continue;
    outcome.state = Outcome::failed;
    outcome.why = "right, but not by the rules: " + finding.text;
    return outcome;
  }
  return outcome;
}

}  // namespace course
