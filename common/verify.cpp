#include "verify.hpp"

#include "buffer.hpp"
#include "check.hpp"
#include "device_ops.hpp"
#include "measure.hpp"

namespace course {
namespace {

/// True if an input array still holds what fill() wrote, bit for bit.
bool unchanged(const Array& array, Input input, const Buffer& buffer, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(array.bytes());
  if (bytes == 0) return true;
  Buffer again(bytes);
  fill(array, input, again.data(), stream);
  std::vector<char> now(bytes), before(bytes);
  COURSE_CHECK(cudaMemcpyAsync(now.data(), buffer.data(), bytes, cudaMemcpyDeviceToHost, stream));
  COURSE_CHECK(cudaMemcpyAsync(before.data(), again.data(), bytes, cudaMemcpyDeviceToHost, stream));
  COURSE_CHECK(cudaStreamSynchronize(stream));
  return now == before;
}

}  // namespace

std::string failure_text(cudaError_t error) {
  return error == cudaErrorNotYetImplemented ? "not written yet" : describe(error);
}

std::string missing(const Version& version, const Problem& problem, const Device& device) {
  if (device.capability < version.needs.capability) {
    const int major = version.needs.capability / 10, minor = version.needs.capability % 10;
    return "needs compute capability " + std::to_string(major) + "." + std::to_string(minor) +
           ", this GPU has " + device.capability_text();
  }
  if (!version.launch)
    return "not in this build (it did not compile, or its architecture was left out)";
  for (const auto& [name, value] : problem.size().dimensions) {
    if (name == "n" && value > version.needs.max_n) {
      return "n is limited to " + size_text(version.needs.max_n);
    }
  }
  return "";
}

Outcome verify(const Version& version, const Problem& problem, const Device& device) {
  if (std::string why = missing(version, problem, device); !why.empty())
    return {Outcome::skipped, why};
  const cudaStream_t stream = nullptr;
  const References references(problem, stream);
  std::vector<Buffer> inputs, outputs;
  Arguments arguments;
  for (const Array& array : problem.inputs()) {
    inputs.emplace_back(static_cast<std::size_t>(array.bytes()),
                        static_cast<std::size_t>(array.offset_bytes));
    fill(array, problem.input(), inputs.back().data(), stream);
    arguments.inputs.push_back(inputs.back().data());
  }
  for (const Array& array : problem.outputs()) {
    outputs.emplace_back(static_cast<std::size_t>(array.bytes()),
                         static_cast<std::size_t>(array.offset_bytes));
    arguments.outputs.push_back(outputs.back().data());
  }
  Buffer workspace(version.workspace_bytes ? version.workspace_bytes(problem) : 0);
  workspace.poison(stream);
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = workspace.bytes();

  for (int run = 0; run < 2; ++run) {
    for (Buffer& output : outputs) output.poison(stream);
    cudaError_t error = version.launch(problem, arguments);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return {Outcome::failed, failure_text(error)};
    if (std::string why = references.mismatch(arguments); !why.empty())
      return {Outcome::failed, why};
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!unchanged(problem.inputs()[k], problem.input(), inputs[k], stream)) {
      return {Outcome::failed, "the version wrote to its input " + problem.inputs()[k].name};
    }
  }
  return {Outcome::passed, ""};
}

}  // namespace course
