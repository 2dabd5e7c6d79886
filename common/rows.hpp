#pragma once
/// \file
/// Rows of a study, made of plain launchers: what versions.cpp and the exercises' main.cpp list.
/// Host C++ only; a version knows nothing of it.

#include <cuda_runtime.h>

#include <tuple>
#include <type_traits>

#include "chapter.hpp"
#include "options.hpp"

/// Declares launchers of one type in a version's namespace: COURSE_LAUNCHERS(padded, Transpose,
/// transpose);. Any of them may be missing from the link, so that a file that does not compile
/// stops only its own row.
#define COURSE_LAUNCHERS(space, type, ...) \
  namespace space {                        \
  __attribute__((weak)) type __VA_ARGS__;  \
  }                                        \
  static_assert(true, "for the semicolon")

namespace course {

/// Where the parameters of a launcher come from, in their order: const pointers are the problem's
/// inputs, other pointers its outputs; whole numbers are the dimensions of its size, and
/// floating-point numbers its scalars; void* and std::size_t& are the workspace.
struct Given {
  const Problem& problem;
  const Arguments& arguments;
  void* workspace;
  std::size_t& workspace_bytes;
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
    } else if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(problem.size().dimensions.at(dimension++).second);
    } else if constexpr (std::is_floating_point_v<A>) {
      return static_cast<A>(problem.scalar(scalar++));
    } else if constexpr (std::is_const_v<std::remove_pointer_t<A>>) {
      return arguments.in<std::remove_const_t<std::remove_pointer_t<A>>>(input++);
    } else {
      return arguments.out<std::remove_pointer_t<A>>(output++);
    }
  }
};

/// How a type is written.
template <class T>
std::string type_text() {
  const std::string text = __PRETTY_FUNCTION__;  // "... [with T = int; std::string = ...]"
  const std::size_t from = text.find("T = ") + 4;
  return text.substr(from, text.find_first_of(";]", from) - from);
}

/// A row that calls `launcher`; one that cannot run if it was not linked.
template <class... A>
Version row(const char* id, const char* title, cudaError_t (*launcher)(A...)) {
  Version version{id, title};
  version.declared = type_text<cudaError_t(A...)>();
  if (launcher == nullptr) return version;
  const auto call = [launcher](const Problem& p, const Arguments& a, void* workspace,
                               std::size_t& bytes) {
    Given given{p, a, workspace, bytes};
    return std::apply(launcher, std::tuple<A...>{given.template take<A>()...});
  };
  version.launch = [call](const Problem& p, const Arguments& a) {
    std::size_t bytes = a.workspace_bytes;
    return call(p, a, a.workspace, bytes);
  };
  if constexpr ((std::is_same_v<A, std::size_t&> || ...)) {
    version.workspace_bytes = [call](const Problem& p) {
      std::size_t bytes = 0;
      const std::vector<void*> none(8, nullptr);  // a question takes no pointers
      call(p, {none, none}, nullptr, bytes);
      return bytes;
    };
  }
  return version;
}

/// Those whose numbers or names `only` gives, as on the command line: "05,08-10,90".
inline std::vector<Version> chosen(const std::vector<Version>& all, const std::string& only) {
  const std::vector<std::string> selection = parse_selection(only);
  std::vector<Version> some;
  for (const Version& version : all) {
    if (selects(selection, version.id)) some.push_back(version);
  }
  return some;
}

/// The same rows as they are measured in three ways: behind an empty kernel, behind themselves
/// ("itself_80_limit"), and from the host with nothing hidden ("plain_80_limit").
inline std::vector<Version> in_three_ways(const std::vector<Version>& rows) {
  std::vector<Version> all = rows;
  for (const Version& row : rows) all.push_back(row.behind_other("itself_", Behind::itself));
  for (const Version& row : rows) all.push_back(row.behind_other("plain_", Behind::host));
  return all;
}

inline std::vector<Size> sizes_of_n(const std::vector<std::int64_t>& list) {
  std::vector<Size> sizes;
  for (const std::int64_t n : list) sizes.push_back(Size{{{"n", n}}});
  return sizes;
}

inline std::vector<Size> powers_of_two(const std::vector<int>& exponents) {
  std::vector<Size> sizes;
  for (const int k : exponents) sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  return sizes;
}

}  // namespace course
