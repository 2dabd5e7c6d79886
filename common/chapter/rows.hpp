#pragma once
/// \file
/// Rows of a study, made of plain launchers: what versions.cpp and the exercises' main.cpp list.
/// Host C++ only; a version knows nothing of it.

#include <cuda_runtime.h>

#include <tuple>
#include <type_traits>

#include "chapter/chapter.hpp"
#include "chapter/launchers.hpp"
#include "chapter/selection.hpp"

namespace course {

/// Where the parameters of a launcher come from, in their order: const pointers are the problem's
/// inputs, other pointers its outputs. Integers are the dimensions of its size (or those that
/// `named` lists, in its order), and floating-point numbers its scalars. void* and std::size_t& are
/// the workspace; a reference to a class is the problem's object.
struct Given {
  const Problem& problem;
  const Arguments& arguments;
  void* workspace;
  std::size_t& workspace_bytes;
  const std::vector<std::string>& named;
  int input = 0, output = 0, scalar = 0;
  std::size_t dimension = 0;

  template <class A>
  A take() {
    if constexpr (std::is_same_v<A, cudaStream_t>) {
      return arguments.stream;
    } else if constexpr (std::is_same_v<A, void*>) {
      return workspace;
    } else if constexpr (std::is_same_v<A, std::size_t&>) {
      return workspace_bytes;
    } else if constexpr (std::is_class_v<std::remove_reference_t<A>>) {
      return *static_cast<std::remove_reference_t<A>*>(problem.object());
    } else if constexpr (std::is_integral_v<A>) {
      const std::size_t k = dimension++;
      return static_cast<A>(named.empty() ? problem.size().dimensions.at(k).second
                                          : problem.size()[named.at(k)]);
    } else if constexpr (std::is_floating_point_v<A>) {
      return static_cast<A>(problem.scalar(scalar++));
    } else if constexpr (std::is_const_v<std::remove_pointer_t<A>>) {
      return arguments.in<std::remove_const_t<std::remove_pointer_t<A>>>(input++);
    } else {
      return arguments.out<std::remove_pointer_t<A>>(output++);
    }
  }
};

/// The name of a type as source code has it.
template <class T>
std::string type_text() {
  const std::string text = __PRETTY_FUNCTION__;  // "... [with T = int; std::string = ...]"
  const std::size_t from = text.find("T = ") + 4;
  return text.substr(from, text.find_first_of(";]", from) - from);
}

/// A row that calls `launcher`; one that cannot run if the launcher was not linked. `named`: the
/// dimensions that the launcher takes, in its order, where the order of the size does not fit.
template <class... A>
Version row(const char* id, const char* title, cudaError_t (*launcher)(A...),
            const std::vector<std::string>& named = {}) {
  Version version{id, title};
  version.declared = type_text<cudaError_t(A...)>();
  if (launcher == nullptr) return version;
  const auto call = [launcher, named](const Problem& p, const Arguments& a, void* workspace,
                                      std::size_t& bytes) {
    Given given{p, a, workspace, bytes, named};
    return std::apply(launcher, std::tuple<A...>{given.template take<A>()...});
  };
  version.launch = [call](const Problem& p, const Arguments& a) {
    std::size_t bytes = a.workspace_bytes;
    return call(p, a, a.workspace, bytes);
  };
  if constexpr ((std::is_same_v<A, std::size_t&> || ...)) {
    version.workspace_bytes = [call](const Problem& p) {
      std::size_t bytes = 0;
      const std::vector<void*> none(8, nullptr);  // a query of the workspace takes no pointers
      call(p, {none, none}, nullptr, bytes);
      return bytes;
    };
  }
  return version;
}

/// The rows whose numbers or names `only` gives, as on the command line: "05,08-10,90".
inline std::vector<Version> chosen(const std::vector<Version>& all, const std::string& only) {
  const std::vector<std::string> selection = parse_selection(only);
  std::vector<Version> some;
  for (const Version& version : all) {
    if (selects(selection, version.id)) some.push_back(version);
  }
  return some;
}

/// Each row measured in three ways: after an empty kernel, after itself ("itself_80_limit"), and
/// from the host with nothing hidden ("plain_80_limit").
inline std::vector<Version> in_three_ways(const std::vector<Version>& rows) {
  std::vector<Version> all = rows;
  for (const Version& row : rows) all.push_back(row.behind_other("itself_", Behind::itself));
  for (const Version& row : rows) all.push_back(row.behind_other("plain_", Behind::host));
  return all;
}

/// Sizes of one dimension, "n".
inline std::vector<Size> sizes_of_n(const std::vector<std::int64_t>& list) {
  std::vector<Size> sizes;
  for (const std::int64_t n : list) sizes.push_back(Size{{{"n", n}}});
  return sizes;
}

/// Some rows of a study at other sizes, as a study of its own: the rows whose numbers or names
/// `only` gives. They are tested in the first one.
inline Study at_sizes(Study study, const char* name, const char* title, const std::string& only,
                      const std::vector<Size>& sizes, const char* axis = "",
                      const char* axis_label = "") {
  study.name = name;
  study.title = title;
  study.versions = chosen(study.versions, only);
  study.sizes = sizes;
  study.test_sizes.clear();
  study.axis = axis;
  study.axis_label = axis_label;
  return study;
}

/// The largest n of a launcher whose blocks take `each` elements: a grid has less than 2^31 blocks.
constexpr std::int64_t grid_of(std::int64_t each) { return INT32_MAX * each; }

/// first, first + 1, ..., last.
inline std::vector<int> from_to(int first, int last) {
  std::vector<int> exponents;
  for (int k = first; k <= last; ++k) exponents.push_back(k);
  return exponents;
}

/// Sizes n = 2^k, for each exponent k.
inline std::vector<Size> powers_of_two(const std::vector<int>& exponents) {
  std::vector<Size> sizes;
  for (const int k : exponents) sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  return sizes;
}

}  // namespace course
