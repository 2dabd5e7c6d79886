#pragma once
/// \file
/// What a chapter declares: its studies, each a problem, a list of versions and a list of sizes.
/// Host C++ only.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "chapter/problem.hpp"

namespace course {

/// Device pointers and stream of one launch.
struct Arguments {
  std::vector<void*> inputs, outputs;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;

  template <class T>
  const T* in(int k) const {
    return static_cast<const T*>(inputs[static_cast<std::size_t>(k)]);
  }
  template <class T>
  T* out(int k) const {
    return static_cast<T*>(outputs[static_cast<std::size_t>(k)]);
  }
};

enum class Role { version, peer, limit, exercise };
/// "version", "peer", "limit" or "exercise": as in result files.
const char* name_of(Role role);

/// For Needs::slow_above: a launcher that takes any n whose arrays fit into memory.
constexpr std::int64_t any_n = INT64_MAX;

/// What a version needs beyond any CUDA GPU, and what its launcher refuses. tests/contract.hpp
/// holds every launcher to it.
struct Needs {
  int capability = 0;      ///< 90: compute capability 9.0 or later
  bool no_later = false;   ///< instructions that later GPUs do not have, such as wgmma's
  bool capturable = true;  ///< false: measured by plain launches, not by graph replay
  std::int64_t max_n = 0;  ///< largest dimension "n" that the launcher takes; 0: not declared
  std::int64_t slow_above = any_n;  ///< larger n would take too long: they are not tried
  int alignment = 0;  ///< bytes that each array must be aligned to; 0: its elements' own
  std::int64_t shared_bytes = 0;  ///< most shared memory of a block, where that is above 48 KiB
  const char* library = "its library";  ///< of a peer: what it calls

  /// The largest n to run.
  std::int64_t most() const { return std::min(max_n == 0 ? any_n : max_n, slow_above); }
};

/// What each measured launch follows.
enum class Behind {
  /// An empty kernel, launched ordinarily; its own time is taken off, so all rows have equal terms.
  /// A launch that may begin before the kernel in front of it has ended gains nothing from a copy
  /// of itself.
  empty,
  itself,  ///< the launch before: what a program gains that repeats the same call
  host     ///< the launch before, in a plain loop: the time of the CPU counts as well
};
const char* name_of(Behind behind);

using MakeProblem = std::function<std::unique_ptr<Problem>(const Size&, std::uint64_t seed, Input)>;

/// Makes problems of class P. `more`: what its constructor takes besides size, seed and input.
template <class P, class... More>
MakeProblem make_problem(More... more) {
  return [more...](const Size& size, std::uint64_t seed, Input input) {
    return std::make_unique<P>(size, seed, input, more...);
  };
}

/// One row of a table.
struct Version {
  std::string id;     ///< file name without suffix; names the row in tables, tests, JSON and --only
  std::string title;  ///< a few words
  /// Calls the launcher; empty if the version was not built.
  std::function<cudaError_t(const Problem&, const Arguments&)> launch = {};
  Role role = Role::version;
  Needs needs = {};
  /// Scratch memory that the launcher asks for; empty: none.
  std::function<std::size_t(const Problem&)> workspace_bytes = {};
  /// Tells which sizes have a meaning for this version; empty: all.
  std::function<bool(const Size&)> takes = {};
  /// For a peer or limit that does something else with the same traffic: a problem of its own;
  /// empty: the study's.
  MakeProblem make = {};
  Behind behind = Behind::empty;
  /// Measures one sample its own way: gets a function that launches once, returns seconds. For
  /// measurements of more than launches on one stream (several streams, GPUs, work of the host),
  /// and for showing how not to measure (docs/how_we_measure.md); empty: the engine measures.
  std::function<double(const std::function<void()>& launch, cudaStream_t stream)> timer = {};

  /// What a finished launch reports about itself in its workspace, besides its result: a line below
  /// the row; "": nothing.
  std::function<std::string(const Arguments&)> remark = {};

  /// The version's source file, relative to the chapter and without suffix; empty: its id.
  std::string file = {};
  std::string declared = {};  ///< the type of the launcher that a row of rows.hpp was made of

  // Each returns a copy of the version with one property changed, for lists of rows.
  Version solving(MakeProblem own) const {
    return with([&](Version& v) { v.make = std::move(own); });
  }
  Version in_file(const char* path) const {
    return with([&](Version& v) { v.file = path; });
  }
  /// A peer: what a user would call instead.
  Version peer(const char* library) const {
    return with([&](Version& v) { v.role = Role::peer, v.needs.library = library; });
  }
  Version needing(int capability) const {
    return with([&](Version& v) { v.needs.capability = capability; });
  }
  Version aligned(int bytes) const {
    return with([&](Version& v) { v.needs.alignment = bytes; });
  }
  Version sharing(std::int64_t bytes) const {
    return with([&](Version& v) { v.needs.shared_bytes = bytes; });
  }
  Version saying(std::function<std::string(const Arguments&)> of_launch) const {
    return with([&](Version& v) { v.remark = std::move(of_launch); });
  }
  /// Its launcher refuses larger n.
  Version up_to(std::int64_t n) const {
    return with([&](Version& v) { v.needs.max_n = n; });
  }
  Version slow_above(std::int64_t n) const {
    return with([&](Version& v) { v.needs.slow_above = n; });
  }
  /// A row of its own that is measured after another kind of launch: "plain_80_limit".
  Version behind_other(const std::string& prefix, Behind other) const {
    return with([&](Version& v) {
      v.file = v.source();
      v.id = prefix + v.id;
      v.behind = other;
    });
  }
  std::string source() const { return file.empty() ? id : file; }

  friend void PrintTo(const Version& version, std::ostream* out) { *out << version.id; }

 private:
  template <class Change>
  Version with(Change change) const {
    Version copy = *this;
    change(copy);
    return copy;
  }
};

/// A ceiling that was measured or derived, never quoted.
struct Limit {
  std::string name;
  double value = 0;
  std::string unit;
  std::string how;
};

/// What every run measures first, in the same process, and what limits are derived from.
struct Anchors {
  int capability = 0;         ///< major * 10 + minor: 90 for 9.0
  int sm_count = 0;           ///< from the driver
  double clock_mhz = 0;       ///< the highest SM clock, from the driver; 0 if it does not tell
  double read_gbs = 0;        ///< read-only kernel
  double copy_gbs = 0;        ///< fastest device-to-device copy: bytes read plus bytes written
  std::string copy_by;        ///< which copy that was
  double empty_kernel_s = 0;  ///< one of many empty kernels in a replayed graph
};

/// Time for a problem's least traffic if reads run at the rate of the read-only kernel and writes
/// at the rate that follows from the copy; in GB/s. The limit of every chapter that moves bytes.
Limit memory_limit(const Anchors& anchors, const Problem& problem);

struct Study {
  std::string name;  ///< "sequence" is the one that runs by default
  std::string title;
  Type type = Type::f32;
  MakeProblem make = {};
  std::vector<Version> versions = {};
  std::vector<Size> sizes = {};       ///< measured sizes
  std::vector<Size> test_sizes = {};  ///< sizes of the correctness tests
  /// Sizes of a run on the CPU backend. Empty: the measured ones, made smaller until the largest
  /// array has at most 2^20 elements.
  std::vector<Size> cpu_sizes = {};
  std::string axis = {};  ///< the dimension that the plot has on x; empty: bars
  std::string axis_label = {};
  bool log_axis = true;
  /// A launch longer than this is measured at a smaller size. 0: the engine's bound.
  double slow_launch_s = 0;
  /// Least length of a sample. 0: the engine's, some milliseconds, in which a row keeps the clock
  /// of the rows around it. Where power decides, a row reaches a clock of its own only after some
  /// tenths of a second. Only for rows that are a graph and whose data exceed the cache.
  double sample_s = 0;
  std::function<Limit(const Anchors&, const Problem&)> limit = memory_limit;
};

struct Chapter {
  std::string name;  ///< "01_vector_add"
  std::string title;
  std::vector<Study> studies;
};

/// Defined once by each chapter (versions.cpp): main and the tests share it.
Chapter chapter();

/// The program of a chapter: command line, checks, measurements, table, JSON. Returns the exit
/// code.
int run(int argc, char** argv, const Chapter& chapter);

}  // namespace course
