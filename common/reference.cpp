#include "reference.hpp"

#include <cstdio>
#include <limits>

#include "compare.hpp"
#include "error.hpp"
#include "input.hpp"
#include "options.hpp"

namespace course {
namespace {

HostArrays arrays_of(const Problem& problem) {
  HostArrays arrays;
  for (const Array& array : problem.inputs()) {
    arrays.inputs.emplace_back(static_cast<std::size_t>(array.count));
    float* data = arrays.inputs.back().data();
    parallel_for(array.count, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        data[i] = value<float>(problem.input(), array.seed, i, array.magnitude_every);
    });
  }
  for (const Array& array : problem.outputs()) {
    arrays.outputs.emplace_back(static_cast<std::size_t>(array.count),
                                std::numeric_limits<float>::quiet_NaN());
  }
  return arrays;
}

/// \returns "" or the first mismatch. Compares all elements: such a problem names no sample.
std::string check(const Problem& problem, const HostArrays& arrays) {
  const auto outputs = problem.outputs();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::vector<double> want(static_cast<std::size_t>(outputs[k].count));
    problem.expected(static_cast<int>(k), want.data());
    const Tolerance t = problem.tolerance(static_cast<int>(k));
    const float* got = arrays.outputs[k].data();
    const Mismatch found = t.bits
                               ? same_bits(got, want.data(), outputs[k].count)
                               : close(got, want.data(), outputs[k].count, t.absolute, t.relative);
    if (!found.ok()) return text(found, outputs[k].count, outputs[k].name);
  }
  return "";
}

int run(const Reference& reference, const std::vector<Size>& sizes, std::uint64_t seed) {
  int failed = 0;
  for (const Size& size : sizes) {
    for (const Input input : {Input::random, Input::integers}) {
      const auto problem = reference.make(size, seed, input);
      HostArrays arrays = arrays_of(*problem);
      reference.solve(*problem, arrays);
      const std::string mismatch = check(*problem, arrays);
      std::printf("  %-12s %-10s %s\n", size.text().c_str(), name_of(input),
                  mismatch.empty() ? "correct" : ("FAILED: " + mismatch).c_str());
      failed += mismatch.empty() ? 0 : 1;
    }
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int run_reference(int argc, char** argv, const Reference& reference) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.help) {
      std::printf("usage: %s_reference [--size N,...] [--seed S]\n", reference.chapter.c_str());
      return 0;
    }
    std::vector<Size> sizes = reference.sizes;
    if (!options.sizes.empty()) sizes.clear();
    for (const auto& asked : options.sizes) {
      Size size = reference.sizes.front();
      if (asked.size() > size.dimensions.size()) {
        throw Error("--size has " + std::to_string(asked.size()) +
                        " dimensions, this problem has " + std::to_string(size.dimensions.size()),
                    2);
      }
      for (std::size_t k = 0; k < asked.size(); ++k) size.dimensions[k].second = asked[k];
      sizes.push_back(size);
    }
    std::printf("%s on the CPU: %s, a plain loop in float against a reference in double\n",
                reference.chapter.c_str(), reference.what.c_str());
    return run(reference, sizes, options.seed);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s_reference: %s\n", reference.chapter.c_str(), error.what());
    return error.exit_code;
  } catch (const std::exception&) {  // out of memory, or a size that no vector can have
    std::fprintf(stderr, "%s_reference: --size is too large for this machine's memory\n",
                 reference.chapter.c_str());
    return 2;
  }
}

}  // namespace course
