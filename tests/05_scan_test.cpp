// Chapter 05: every version on every test size and family of inputs, and the special properties of
// a scan: each result holds all elements before it and none after it, some operators depend on the
// order, and blocks wait for each other without a deadlock and without leaving anything behind.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "chapter/input.hpp"
#include "chapter_test.hpp"
#include "contract.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "guarded.hpp"
#include "kernels/device_ops.hpp"
#ifdef SIMT
#include "simt/findings.hpp"
#endif

#ifndef SIMT
/// Kernels of this test, in 05_scan_stress.cu.
namespace scan_stress {
/// The first of n 4-byte words that differs; -1: none.
cudaError_t first_difference(const void* got, const void* want, std::int64_t n,
                             std::int64_t* first);
/// data[i] = 1 for i = 1, every + 1, 2 every + 1, ..., and 0 elsewhere; floats, or unsigned.
cudaError_t fill_marks(void* data, bool floats, std::int64_t n, std::int64_t every);
/// The first element that is not the sum of those marks; -1: none.
cudaError_t first_wrong_mark(const void* sums, bool floats, std::int64_t n, std::int64_t every,
                             bool exclusive, std::int64_t* first);
/// Runs a case many times; *elements becomes the number of wrong ones, *run and *element the first.
/// Missing if a version does not compile, or for compute capability 9.0.
__attribute__((weak)) cudaError_t stress(const std::string& name, int runs, std::int64_t* elements,
                                         std::int64_t* run, std::int64_t* element);
__attribute__((weak)) cudaError_t stress_hopper(const std::string& name, int runs,
                                                std::int64_t* elements, std::int64_t* run,
                                                std::int64_t* element);
}  // namespace scan_stress
#endif

namespace {

using course::Buffer;
using course::Device;
using course::Input;
using course::Role;
using course::Size;
using course::Study;
using course::Type;
using course::Version;
using course_test::copy_to;
using course_test::Guarded;
using course_test::sanitized;
using course_test::size_n;
using course_test::sizes_here;
using course_test::slow;
using course_test::small_numbers;
using course_test::to_device;
using course_test::to_host;
using course_test::Workspace;

// On the backend that checks every access: one family with roundings, one that is exact.
#ifdef SIMT
const course_test::Inputs inputs = {Input::random, Input::integers};
#else
const course_test::Inputs inputs = {Input::random,    Input::integers,   Input::equal,
                                    Input::ascending, Input::descending, Input::few_distinct,
                                    Input::denormal};  // not large: their sums overflow
#endif

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Study study(const std::string& name) { return course_test::study_of(course::chapter(), name); }

// ---- A scan on the host ----

enum class Op { sum, largest, maps };

/// x -> a x + b modulo 2^16, as a << 16 | b: f, then g.
std::uint32_t then(std::uint32_t f, std::uint32_t g) {
  const std::uint32_t a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + (g & 0xffffu);
  return a << 16 | (b & 0xffffu);
}

template <class T>
T combine(Op op, T a, T b) {
  if constexpr (std::is_same_v<T, float>) {  // NaN is no number, and 0.0 is larger than -0.0
    if (op == Op::largest) return a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
  }
  if constexpr (std::is_same_v<T, unsigned>) {
    if (op == Op::maps) return then(a, b);
    return a + b;
  }
  return a + b;
}

/// One element after the other.
template <class T>
std::vector<T> scanned(const std::vector<T>& in, Op op, bool exclusive) {
  std::vector<T> out(in.size());
  T upto = op == Op::maps ? static_cast<T>(1 << 16) : T{0};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const T before = upto;
    upto = i == 0 ? in[0] : combine(op, upto, in[i]);
    out[i] = exclusive ? before : upto;
  }
  return out;
}

/// One row that scans elements of one type.
struct Scan {
  Study of;
  Version version;
  Op op = Op::sum;
  bool exclusive = false;

  bool takes(std::int64_t n) const { return n <= version.needs.most(); }
  std::size_t workspace_bytes(std::int64_t n) const {
    return version.workspace_bytes(*course_test::problem_of(of, version, size_n(n)));
  }
  /// Not waited for.
  cudaError_t launch(const void* in, void* out, std::int64_t n, void* workspace, std::size_t bytes,
                     cudaStream_t stream = nullptr) const {
    course::Arguments arguments;
    arguments.inputs = {const_cast<void*>(in)};
    arguments.outputs = {out};
    arguments.workspace = workspace;
    arguments.workspace_bytes = bytes;
    arguments.stream = stream;
    return version.launch(*course_test::problem_of(of, version, size_n(n)), arguments);
  }
  std::string name() const { return of.name + "." + version.id; }
  bool is(const std::string& number) const { return version.id.substr(0, 2) == number; }
  bool ours() const { return version.role == Role::version; }
  /// Loads or stores 16 bytes at once.
  bool needs_alignment() const {
    return ours() && (version.id >= "11" || of.name == "operators" || of.name == "large_kernel");
  }
};

template <class T>
constexpr Type type_of = std::is_same_v<T, float>      ? Type::f32
                         : std::is_same_v<T, unsigned> ? Type::u32
                                                       : Type::i64;

/// All rows for elements of T that can run here.
template <class T>
std::vector<Scan> scans(const Device& gpu) {
  std::vector<Scan> rows;
  for (const Study& of : course::chapter().studies) {
    if (of.test_sizes.empty()) continue;  // the same rows again, at other sizes
    if (of.name == "pack" || of.name == "unpack" || of.name == "split") continue;
    for (const Version& version : of.versions) {
      const auto problem = course_test::problem_of(of, version, size_n(1));
      if (problem->inputs()[0].type != type_of<T>) continue;
      if (!course::missing(version, *problem, gpu).empty()) continue;
      Scan row{of, version};
      const std::string name = row.name();
      if (name.find("maps") != std::string::npos) row.op = Op::maps;
      if (name.find("largest") != std::string::npos) row.op = Op::largest;
      row.exclusive = name.find("exclusive") != std::string::npos;
      rows.push_back(row);
    }
  }
  return rows;
}

/// Calls body(row) for each of them that takes n elements.
template <class T, class Body>
void for_each_scan(const Device& gpu, std::int64_t n, Body body) {
  int ran = 0;
  for (const Scan& row : scans<T>(gpu)) {
    if (!row.takes(n)) continue;
    SCOPED_TRACE(row.name() + ", n = " + std::to_string(n));
    body(row);
    ++ran;
  }
  EXPECT_GT(ran, 0) << "no row for this type runs here";
}

#define FOR_ALL_TYPES(body) \
  body<float>(*gpu);        \
  body<unsigned>(*gpu);     \
  body<std::int64_t>(*gpu)

// ---- Memory ----

/// The inputs for a row: for float exact in any grouping; all bits for the others.
template <class T>
std::vector<T> numbers(std::int64_t n, std::uint64_t seed) {
  if (std::is_same_v<T, float>) return small_numbers<T>(n, seed, 3);
  std::vector<T> in(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(course::mix(seed, i) >> 8);
  return in;
}

/// Compares bit by bit, and names the first element that differs.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    ADD_FAILURE() << what << ": element " << i << " of " << got.size() << " is " << got[i]
                  << " and should be " << want[i];
    return;
  }
}

/// The results of one launch on buffers and a workspace of its own, guards checked.
template <class T>
std::vector<T> run(const Scan& row, const void* in, std::int64_t n) {
  const Workspace workspace(row.workspace_bytes(n));
  const Guarded<T> out(n);
  COURSE_CHECK(row.launch(in, out.data(), n, workspace.data(), workspace.bytes()));
  return out.values();
}

template <class T>
std::vector<T> run(const Scan& row, const std::vector<T>& in) {
  const Buffer device = to_device(in);
  return run<T>(row, device.data(), static_cast<std::int64_t>(in.size()));
}

// ---- Sizes ----

/// Every size up to a limit; both arrays continue after the n elements.
template <class T>
void check_every_size(const Device& gpu) {
  const std::int64_t largest = slow(gpu) ? 132 : 2100;
  const auto in = numbers<T>(largest + 64, 3);
  const Buffer device = to_device(in);
  for_each_scan<T>(gpu, 0, [&](const Scan& row) {
    const auto want = scanned(in, row.op, row.exclusive);
    const std::int64_t most = std::min(largest, row.version.needs.most());
    const Workspace workspace(row.workspace_bytes(most));
    Guarded<T> out(largest + 64);
    for (std::int64_t n = 0; n <= most; n += slow(gpu) && n > 5 ? 18 : 1) {
      out.reset();
      COURSE_CHECK(row.launch(device.data(), out.data(), n, workspace.data(), workspace.bytes()));
      expect_same(out.values(n), {want.begin(), want.begin() + n}, "n = " + std::to_string(n));
      if (testing::Test::HasFailure()) return;
    }
  });
}
TEST(Special, EverySize) {
  COURSE_NEEDS_GPU(gpu);
  FOR_ALL_TYPES(check_every_size);
}

/// The most elements for which 80 launches two blocks per SM, by 2, 4 and 8 vectors per thread; and
/// one more.
template <class T>
std::vector<std::int64_t> edges_of_80(const Device& gpu) {
  int sms = 0;
  COURSE_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::vector<std::int64_t> sizes;
  for (const int vectors : {2, 4, 8}) {
    if (slow(gpu) && vectors > 2) break;
    const std::int64_t edge = std::int64_t{2} * sms * 512 * vectors * 16 / sizeof(T);
    sizes.insert(sizes.end(), {edge, edge + 1});
  }
  return sizes;
}

/// Around the edges of tiles, of looks at 32 or 160 tiles, and of 80's three kernels.
template <class T>
void check_edges(const Device& gpu) {
  std::vector<std::int64_t> sizes = {1023, 1025, 4097};
  if (!slow(gpu)) {
    for (const std::int64_t tile : {1024, 2048, 4096, 5760, 8192, 11520, 16384}) {
      for (const std::int64_t tiles : {1, 2, 3, 17, 32, 33, 34, 64, 65, 97, 160, 161, 162, 321}) {
        for (const std::int64_t more : {-5, -1, 0, 1, 2, 3}) {
          if (tiles > 3 && more != -1 && more != 1) continue;
          sizes.push_back(tile * tiles + more);
        }
      }
    }
    for (const std::int64_t edge : {131072, 262144, 1048576, 2097152, 4194304}) {
      sizes.insert(sizes.end(), {edge, edge + 1});
    }
  }
  const std::vector<std::int64_t> of_80 = edges_of_80<T>(gpu);
  const std::int64_t largest = std::max(*std::max_element(sizes.begin(), sizes.end()),
                                        *std::max_element(of_80.begin(), of_80.end()));
  const auto in = numbers<T>(largest, 31);
  const Buffer device = to_device(in);
  for_each_scan<T>(gpu, 1, [&](const Scan& row) {
    const auto want = to_device(scanned(in, row.op, row.exclusive));
    const Workspace workspace(row.workspace_bytes(std::min(largest, row.version.needs.most())));
    const Guarded<T> out(largest);
    std::vector<std::int64_t> some = sizes;
    if (row.is("80")) some.insert(some.end(), of_80.begin(), of_80.end());
    for (const std::int64_t n : some) {
      if (!row.takes(n) || (row.is("01") && n > 70000)) continue;
      COURSE_CHECK(cudaMemset(out.data(), 0xFF, static_cast<std::size_t>(n) * sizeof(T)));
      COURSE_CHECK(row.launch(device.data(), out.data(), n, workspace.data(), workspace.bytes()));
#ifndef SIMT
      std::int64_t first = 0;
      COURSE_CHECK(scan_stress::first_difference(
          out.data(), want.data(), n * static_cast<std::int64_t>(sizeof(T) / 4), &first));
      ASSERT_EQ(first, -1) << "word of 4 bytes that differs, n = " << n;
#else
      expect_same(to_host<T>(out.data(), n), to_host<T>(want.data(), n),
                  "n = " + std::to_string(n));
#endif
    }
    out.values(std::min(largest, row.version.needs.most()));
  });
}
TEST(Special, EdgesOfTiles) {
  COURSE_NEEDS_GPU(gpu);
  FOR_ALL_TYPES(check_edges);
}

// ---- Values ----

/// The first result of an exclusive scan is the identity: 0, or the map that changes nothing; all
/// bits of it.
template <class T>
void check_first(const Device& gpu) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1027}}) {
    for_each_scan<T>(gpu, n <= 1024 ? n : 1, [&](const Scan& row) {
      if (!row.takes(n)) return;
      const auto got = run(row, numbers<T>(n, 5));
      const T initial = row.op == Op::maps ? static_cast<T>(1 << 16) : T{0};
      const T want = row.exclusive ? initial : numbers<T>(n, 5)[0];
      EXPECT_EQ(std::memcmp(&got[0], &want, sizeof want), 0) << got[0] << " is not " << want;
    });
  }
}
TEST(Special, TheFirstElement) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  FOR_ALL_TYPES(check_first);
}

/// From an element that is not finite on, no sum is finite; the sums before it are not affected.
TEST(Special, NanAndInfinityGoOnlyForward) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 37, 4099, 40001, 300001}, 4099)) {
    std::set<std::int64_t> places = {0, n / 2, n - 1};
    if (!slow(*gpu) && n > 4096) places.insert({31, 32, 1023, 1024, 4095, n - 2});
    // every place inside a vector, every lane by vectors and by elements, the edges of tiles
    for (std::int64_t k = 0; n == 4099 && !slow(*gpu) && k < 132; ++k)
      places.insert({k, n - 1 - k / 16});
    if (gpu->simulated && n == 37) places = {0, 1, 2, 3, 30, 31, 32, 33, 36};
    if (gpu->simulated && n > 37) places = {n / 3};
    for (const std::int64_t at : places) {
      for (const float special : {nan, inf, -inf}) {
        if (gpu->simulated && special == -inf) continue;
        auto in = small_numbers<float>(n, 5, 3);
        in[static_cast<std::size_t>(at)] = special;
        const Buffer device = to_device(in);
        for_each_scan<float>(*gpu, std::min<std::int64_t>(n, 1), [&](const Scan& row) {
          if (!row.takes(n) || row.op != Op::sum || (row.is("01") && n > 70000)) return;
          const auto got = run<float>(row, device.data(), n);
          const auto want = scanned(in, row.op, row.exclusive);
          for (std::size_t i = 0; i < got.size(); ++i) {
            const bool same = std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i];
            ASSERT_TRUE(same) << special << " at " << at << " of " << n << ": element " << i
                              << " is " << got[i] << " and should be " << want[i];
          }
        });
      }
    }
  }
}

/// Huge elements alternate with their opposites. Nothing is infinite if every sum of a contiguous
/// range is finite, within a tile; between tiles some versions add values that are not adjacent.
TEST(Special, NoSumBesideTheRanges) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const float huge = 3.0e38f;
  for (const std::int64_t n : {std::int64_t{2}, std::int64_t{64}, std::int64_t{1023}}) {
    std::vector<float> in(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 2 ? -huge : huge;
    for_each_scan<float>(*gpu, std::min<std::int64_t>(n, 1), [&](const Scan& row) {
      if (!row.takes(n) || row.op != Op::sum) return;
      expect_same(run(row, in), scanned(in, row.op, row.exclusive), "alternating");
    });
  }
}

TEST(Special, UnsignedWrapsAround) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 33, 1025, 4099, 70001})) {
    const std::vector<unsigned> in(static_cast<std::size_t>(n), UINT32_MAX);
    for_each_scan<unsigned>(*gpu, 1, [&](const Scan& row) {
      if (!row.takes(n) || row.op != Op::sum) return;
      const auto got = run(row, in);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto terms = static_cast<unsigned>(row.exclusive ? i : i + 1);
        ASSERT_EQ(got[i], -terms) << "element " << i << " of " << n;
      }
    });
  }
}

/// Sums of 64-bit integers whose halves are both in use.
TEST(Special, BothHalvesOfLongSums) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n : sizes_here(*gpu, {3, 1025, 5633, 20001, 300001, 2200001}, 20001)) {
    std::vector<std::int64_t> in(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<std::int64_t>(course::mix(9, i)) >> 24;
    for_each_scan<std::int64_t>(*gpu, n, [&](const Scan& row) {
      expect_same(run(row, in), scanned(in, row.op, row.exclusive), "64 bits");
    });
  }
}

/// An operator whose order matters: random maps, and maps that forget all before them.
TEST(Special, OrderMatters) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n :
       sizes_here(*gpu, {1, 2, 3, 33, 1025, 4099, 11265, 40001, 262149, 700001, 4194305, 5000011},
                  40001)) {
    for (const unsigned every : {0u, 97u}) {
      std::vector<unsigned> in(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = static_cast<unsigned>(course::mix(19, i));
        in[i] |= 1u << 16;  // odd factors keep all bits of the result before
        if (every != 0 && i % every == every - 1) in[i] &= 0xffffu;  // "the result is b"
      }
      const auto backwards = [&] {  // the test's own proof that order matters
        std::vector<unsigned> turned(in.rbegin(), in.rend());
        return scanned(turned, Op::maps, false).back();
      };
      for_each_scan<unsigned>(*gpu, n <= 1024 ? n : 1, [&](const Scan& row) {
        if (row.op != Op::maps) return;
        const auto want = scanned(in, row.op, row.exclusive);
        EXPECT_TRUE(n <= 2 || scanned(in, row.op, false).back() != backwards());
        expect_same(run(row, in), want, "maps");
      });
      if (slow(*gpu) && n > 5000) break;
    }
  }
}

/// Where NaN may be among numbers: at one place of every vector, at every lane, at the edges of
/// tiles, at the beginning, anywhere.
std::vector<std::function<bool(std::int64_t)>> patterns_of_nan(std::int64_t n) {
  std::vector<std::function<bool(std::int64_t)>> patterns;
  for (const std::int64_t r : {0, 1, 2, 3}) {
    patterns.push_back([r](std::int64_t i) { return i % 4 == r; });
    patterns.push_back([r](std::int64_t i) { return i % 4 != r; });
  }
  for (const std::int64_t lane : {0, 1, 15, 30, 31}) {
    patterns.push_back([lane](std::int64_t i) { return i % 32 == lane; });
    patterns.push_back([lane](std::int64_t i) { return i / 4 % 32 == lane; });
  }
  for (const std::int64_t tile : {4096, 11520}) {
    patterns.push_back([tile](std::int64_t i) { return i % tile < 2 || i % tile > tile - 3; });
  }
  for (const std::int64_t first : {std::int64_t{1}, std::int64_t{37}, n / 2, n}) {
    patterns.push_back([first](std::int64_t i) { return i < first; });
  }
  patterns.push_back([](std::int64_t i) { return course::mix(77, std::uint64_t(i)) % 2 == 0; });
  return patterns;
}

/// NaN is no largest number, and does not hide earlier ones; before the first number the result is
/// NaN. 0.0 is larger than -0.0. Not for CUB's own operator, which compares by `<`.
TEST(Special, LargestBesideNanAndZeros) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::int64_t n : sizes_here(*gpu, {5, 1025, 4099, 40001, 300001, 2200001}, 1025)) {
    for (const auto& is_nan : patterns_of_nan(n)) {
      for (const bool zeros : {false, true}) {
        std::vector<float> in(static_cast<std::size_t>(n)), want(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
          const std::uint64_t bits = course::mix(3, i);
          in[i] = zeros ? (bits % 2 ? -0.0f : 0.0f) : -1e30f + 1e24f * float(bits % (i + 1));
          if (zeros && bits % 5 != 0 && i < in.size() / 2) in[i] = -0.0f;
          if (is_nan(static_cast<std::int64_t>(i))) in[i] = nan;
          want[i] = i == 0 ? in[0] : combine(Op::largest, want[i - 1], in[i]);
        }
        for_each_scan<float>(*gpu, 1, [&](const Scan& row) {
          if (row.op != Op::largest || row.version.id == "cub_largest") return;
          const auto got = run(row, in);
          for (std::size_t i = 0; i < got.size(); ++i) {
            const bool same = std::isnan(want[i]) ? std::isnan(got[i])
                                                  : got[i] == want[i] && std::signbit(got[i]) ==
                                                                             std::signbit(want[i]);
            ASSERT_TRUE(same) << "element " << i << " of " << n << " is " << got[i]
                              << " and should be " << want[i];
          }
        });
        if (slow(*gpu) && n > 1000) break;
      }
    }
  }
}

/// The largest of numbers that are all below zero: no operand made of zero bits is used.
TEST(Special, LargestOfNegativeNumbers) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n :
       sizes_here(*gpu, {1, 5, 33, 1025, 4099, 11265, 40001, 300001, 4194309}, 40001)) {
    std::vector<float> in(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = -1e30f + 1e24f * static_cast<float>(course::mix(3, i) % (i + 1));
    for_each_scan<float>(*gpu, 1, [&](const Scan& row) {
      if (row.op != Op::largest) return;
      expect_same(run(row, in), scanned(in, row.op, row.exclusive), "largest");
    });
  }
}

// ---- Arrays ----

/// Results overwrite the inputs; not for 01, whose threads read all of the input.
template <class T>
void check_in_place(const Device& gpu) {
  for (const std::int64_t n : sizes_here(gpu, {1, 5, 1000, 4099, 16387, 300001, 4200001}, 16387)) {
    const auto in = numbers<T>(n, 13);
    for_each_scan<T>(gpu, 1, [&](const Scan& row) {
      if (!row.takes(n) || row.is("01")) return;
      const Guarded<T> both(n);
      COURSE_CHECK(cudaMemcpy(both.data(), in.data(), in.size() * sizeof(T), cudaMemcpyDefault));
      const Workspace workspace(row.workspace_bytes(n));
      COURSE_CHECK(row.launch(both.data(), both.data(), n, workspace.data(), workspace.bytes()));
      expect_same(both.values(), scanned(in, row.op, row.exclusive),
                  "in place, n = " + std::to_string(n));
    });
  }
}
TEST(Special, InPlace) {
  COURSE_NEEDS_GPU(gpu);
  FOR_ALL_TYPES(check_in_place);
}

// ---- Launches ----

/// The same bits in every run, also on another stream, where the order of the additions is fixed.
/// 10 to 13 may add a tile's sums in other groups, depending on who has published what.
bool in_fixed_order(const Scan& row, Type type) {
  if (type != Type::f32 || row.op != Op::sum) return true;  // exact: the grouping does not matter
  return row.ours() && row.version.id < "10";
}

template <class T>
void check_same_bits(const Device& gpu) {
  cudaStream_t other{};
  COURSE_CHECK(cudaStreamCreate(&other));
  for (const std::int64_t n : sizes_here(gpu, {1021, 4099, 65537, 1000003, (1 << 24) + 5}, 4099)) {
    if (gpu.simulated && std::is_same_v<T, std::int64_t>) continue;
    if (n > 1000003 && !std::is_same_v<T, float>) continue;
    std::vector<T> in(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = course::value<T>(Input::random, 17, static_cast<std::int64_t>(i));
    const Buffer device = to_device(in);
    for_each_scan<T>(gpu, 1, [&](const Scan& row) {
      if (!row.takes(n) || (row.is("01") && n > 70000) || !in_fixed_order(row, type_of<T>)) return;
      if (gpu.simulated && !std::is_same_v<T, float>) return;
      Workspace workspace(row.workspace_bytes(n));
      const int runs = gpu.simulated || n > 2000000 ? 3 : 20;
      const Guarded<T> out(n);
      std::vector<T> first;
      for (int k = 0; k < runs; ++k) {
        workspace.fill(k);
        COURSE_CHECK(row.launch(device.data(), out.data(), n, workspace.data(), workspace.bytes(),
                                k % 2 ? other : nullptr));
        COURSE_CHECK(cudaDeviceSynchronize());
        const auto now = to_host<T>(out.data(), n);
        if (k == 0)
          first = now;
        else
          expect_same(now, first, "run " + std::to_string(k));
      }
    });
  }
  COURSE_CHECK(cudaStreamDestroy(other));
}
TEST(Special, FixedOrdersGiveTheSameBits) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  FOR_ALL_TYPES(check_same_bits);
}

/// Launches of different sizes on one stream, one workspace and one pair of arrays, each on the
/// results of the one before, without waiting: no kernel may read too early or leave anything
/// behind.
template <class T>
void check_back_to_back(const Device& gpu) {
  const auto sizes =
      sizes_here(gpu, {1023, 5, 1025, 1, 4097, 70001, 33, 1000003, 65536, 257}, 1025);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const int launches = gpu.simulated ? 5 : sanitized() ? 10 : 60;
  const auto in = small_numbers<T>(largest, 41, 7);
  const Buffer source = to_device(in);
  for_each_scan<T>(gpu, 1, [&](const Scan& row) {
    if (row.is("02")) return;  // takes few of the sizes
    std::size_t bytes = 0;
    for (const std::int64_t n : sizes) {
      if (row.takes(n)) bytes = std::max(bytes, row.workspace_bytes(n));
    }
    const Workspace workspace(bytes);
    const Guarded<T> arrays[] = {Guarded<T>(largest), Guarded<T>(largest)};
    cudaStream_t stream{};
    COURSE_CHECK(cudaStreamCreate(&stream));
    for (const auto& array : arrays)
      COURSE_CHECK(cudaMemcpy(array.data(), source.data(), source.bytes(), cudaMemcpyDefault));
    COURSE_CHECK(cudaDeviceSynchronize());
    // The host does the same: sums of sums wrap, but sums of floats must stay exact, so their
    // launches read the source and not the results of the launch before.
    std::vector<T> host[] = {in, in};
    int from = 0;
    for (int k = 0; k < launches; ++k) {
      const std::int64_t n = sizes[static_cast<std::size_t>(k) % sizes.size()];
      if (!row.takes(n) || (row.is("01") && n > 70000)) continue;
      const bool chain = !std::is_same_v<T, float>;
      if (!chain) {
        COURSE_CHECK(cudaMemcpyAsync(arrays[from].data(), source.data(), source.bytes(),
                                     cudaMemcpyDeviceToDevice, stream));
        host[from] = in;
      }
      COURSE_CHECK(row.launch(arrays[from].data(), arrays[1 - from].data(), n, workspace.data(),
                              workspace.bytes(), stream));
      const auto want = scanned(std::vector<T>(host[from].begin(), host[from].begin() + n), row.op,
                                row.exclusive);
      std::copy(want.begin(), want.end(), host[1 - from].begin());
      from = 1 - from;
    }
    COURSE_CHECK(cudaStreamSynchronize(stream));
    for (int k = 0; k < 2; ++k) expect_same(arrays[k].values(), host[k], "after all launches");
    COURSE_CHECK(cudaStreamDestroy(stream));
  });
}
TEST(Special, BackToBackOnOneWorkspace) {
  COURSE_NEEDS_GPU(gpu);
  FOR_ALL_TYPES(check_back_to_back);
}

/// Two streams at once, each with its own workspace: a launcher keeps no state of its own, and
/// blocks that wait for others do not keep those of the other launch from running.
template <class T>
void check_two_streams(const Device& gpu) {
  const int launches = slow(gpu) ? 2 : 20;
  const std::int64_t largest = slow(gpu) ? 20005 : 9000003;
  std::vector<std::vector<T>> in = {numbers<T>(std::min<std::int64_t>(largest, 300001), 1),
                                    numbers<T>(largest, 2)};
  const Buffer device[] = {to_device(in[0]), to_device(in[1])};
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams)
    COURSE_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for_each_scan<T>(gpu, 1, [&](const Scan& row) {
    std::int64_t n[2];
    for (int s = 0; s < 2; ++s) {
      n[s] = std::min<std::int64_t>(static_cast<std::int64_t>(in[s].size()),
                                    row.is("01") ? 1025 : row.version.needs.most());
    }
    const Workspace workspaces[] = {Workspace(row.workspace_bytes(n[0])),
                                    Workspace(row.workspace_bytes(n[1]))};
    const Guarded<T> outs[] = {Guarded<T>(n[0]), Guarded<T>(n[1])};
    COURSE_CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < launches; ++k) {
      for (int s = 0; s < 2; ++s) {
        COURSE_CHECK(row.launch(device[s].data(), outs[s].data(), n[s], workspaces[s].data(),
                                workspaces[s].bytes(), streams[s]));
      }
    }
    COURSE_CHECK(cudaDeviceSynchronize());
    for (int s = 0; s < 2; ++s) {
      const std::vector<T> part(in[s].begin(), in[s].begin() + n[s]);
      // Sums of floats above 2^24 are rounded, in any order.
      const std::int64_t exact =
          std::is_same_v<T, float> ? std::min<std::int64_t>(n[s], 5 << 20) : n[s];
      auto got = outs[s].values(), want = scanned(part, row.op, row.exclusive);
      got.resize(static_cast<std::size_t>(exact)), want.resize(static_cast<std::size_t>(exact));
      expect_same(got, want, "stream " + std::to_string(s));
    }
  });
  for (const cudaStream_t stream : streams) COURSE_CHECK(cudaStreamDestroy(stream));
}
TEST(Special, TwoStreamsAtOnce) {
  COURSE_NEEDS_GPU(gpu);
  FOR_ALL_TYPES(check_two_streams);
}

/// More elements than 32 bits count, in place. 0, 1, 0, 0 ... : every result is known without a
/// second array, and sums of floats stay exact.
TEST(Special, MoreThanTwoGigaElements) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
#ifndef SIMT
  const std::int64_t n = (std::int64_t{1} << 31) + 5, every = 1 << 10;
  const auto least = static_cast<std::int64_t>(n * sizeof(float) + (std::size_t{1} << 29));
  if (course::free_device_bytes() < least) GTEST_SKIP() << "needs 9.2 GB of free memory";
  const auto check = [&](auto zero) {
    using T = decltype(zero);
    const Buffer both(static_cast<std::size_t>(n) * sizeof(T));
    for_each_scan<T>(*gpu, n, [&](const Scan& row) {
      if (row.op != Op::sum || row.is("01")) return;
      const std::size_t bytes = row.workspace_bytes(n);
      if (static_cast<std::int64_t>(bytes) + (1 << 28) > course::free_device_bytes()) {
        std::cout << row.name() << " left out: needs " << bytes / 1000000 << " MB more\n";
        return;
      }
      COURSE_CHECK(scan_stress::fill_marks(both.data(), std::is_same_v<T, float>, n, every));
      const Workspace workspace(bytes);
      COURSE_CHECK(row.launch(both.data(), both.data(), n, workspace.data(), workspace.bytes()));
      std::int64_t first = 0;
      COURSE_CHECK(scan_stress::first_wrong_mark(both.data(), std::is_same_v<T, float>, n, every,
                                                 row.exclusive, &first));
      EXPECT_EQ(first, -1) << "the first wrong element";
    });
  };
  check(0.0f);
  check(0u);
#endif
}

// ---- Pack, unpack and split ----

/// Launches a row with two inputs or two outputs, not waited for.
cudaError_t launch(const Study& of, const Version& version, std::int64_t n,
                   std::vector<const void*> in, std::vector<void*> out, const Workspace& workspace,
                   cudaStream_t stream = nullptr) {
  course::Arguments arguments;
  for (const void* array : in) arguments.inputs.push_back(const_cast<void*>(array));
  arguments.outputs = std::move(out);
  arguments.workspace = workspace.data();
  arguments.workspace_bytes = workspace.bytes();
  arguments.stream = stream;
  return version.launch(*course_test::problem_of(of, version, size_n(n)), arguments);
}

std::size_t workspace_bytes(const Study& of, const Version& version, std::int64_t n) {
  return version.workspace_bytes(*course_test::problem_of(of, version, size_n(n)));
}

/// Calls body(study, version) for each row of one of the three studies.
template <class Body>
void for_each_use(const std::string& name, const Device& gpu, Body body) {
  const Study of = study(name);
  course_test::for_each_version(of, size_n(1), gpu, [&](const Version& v) { body(of, v); });
}

std::vector<float> packed(const std::vector<float>& in) {
  std::vector<float> out;
  for (const float x : in) {
    if (x > 0) out.push_back(x);
  }
  return out;
}

/// Elements of which about `percent` are kept; the others are 0, below 0 or NaN.
std::vector<float> mixed(std::int64_t n, int percent, std::uint64_t seed) {
  std::vector<float> in(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint64_t bits = course::mix(seed, i);
    const float others[] = {0.0f, -0.0f, -1.5f, nan, -inf};
    in[i] = static_cast<int>(bits % 100) < percent ? static_cast<float>(1 + (bits >> 32) % 100000)
                                                   : others[(bits >> 8) % 5];
  }
  return in;
}

/// The sizes of the three uses, whose tiles have 16384 elements.
std::vector<std::int64_t> sizes_of_uses(const Device& gpu) {
  return sizes_here(gpu, {0, 1, 3, 4, 5, 127, 1025, 16383, 16387, 33000, 600001, 1500003},
                    gpu.simulated ? 1025 : 16387);
}

/// Around the sizes at which pack changes its method: one tile, one per SM, and one to five per
/// block.
std::vector<std::int64_t> edges_of_pack(const Device& gpu) {
  int sms = 0;
  COURSE_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::vector<std::int64_t> edges = {1024, 1025, 2049, 4096, 4097};
  if (gpu.simulated) edges.insert(edges.end(), {1024 * sms + 1, 2 * 8192 * sms + 1});
  if (slow(gpu)) return edges;
  for (const int elements : {1024, 2048, 4096, 2 * 8192, 4 * 8192, 6 * 8192, 8 * 8192, 10 * 8192})
    edges.insert(edges.end(), {std::int64_t{elements} * sms, std::int64_t{elements} * sms + 1});
  return edges;
}

/// Nothing kept, everything kept, and most cases between; the output has room for n elements, of
/// which only the kept ones are written.
TEST(Uses, PackKeepsWhatIsAboveZero) {
  COURSE_NEEDS_GPU(gpu);
  std::vector<std::int64_t> sizes = sizes_of_uses(*gpu);
  const std::vector<std::int64_t> edges = edges_of_pack(*gpu);
  sizes.insert(sizes.end(), edges.begin(), edges.end());
  for (const std::int64_t n : sizes) {
    for (const int percent : {0, 3, 50, 100}) {
      const auto in = mixed(n, percent, 7);
      const auto want = packed(in);
      const Buffer device = to_device(in);
      for_each_use("pack", *gpu, [&](const Study& of, const Version& v) {
        const Workspace workspace(workspace_bytes(of, v, n));
        const Guarded<float> out(n);
        const Guarded<std::int64_t> kept(1);
        COURSE_CHECK(launch(of, v, n, {device.data()}, {out.data(), kept.data()}, workspace));
        EXPECT_EQ(kept.values()[0], static_cast<std::int64_t>(want.size()));
        expect_same(out.values(static_cast<std::int64_t>(want.size())), want,
                    std::to_string(percent) + " of 100, n = " + std::to_string(n));
      });
    }
  }
}

/// unpack(pack(x)) == x where x is above 0, and 0 elsewhere; unpack also in place.
TEST(Uses, UnpackIsTheInverseOfPack) {
  COURSE_NEEDS_GPU(gpu);
  const Study packing = study("pack");
  const Version* pack = nullptr;
  for (const Version& v : packing.versions) {
    if (v.id == "pack" &&
        course::missing(v, *course_test::problem_of(packing, v, size_n(1)), *gpu).empty())
      pack = &v;
  }
  if (pack == nullptr) GTEST_SKIP() << "no pack here";
  for (const std::int64_t n : sizes_of_uses(*gpu)) {
    for (const int percent : {0, 40, 100}) {
      const auto in = mixed(n, percent, 17);
      auto want = in;
      for (float& x : want) x = x > 0 ? x : 0.0f;
      const auto kept_here = static_cast<std::int64_t>(packed(in).size());
      const Buffer device = to_device(in), few(static_cast<std::size_t>(kept_here) * sizeof(float)),
                   kept(sizeof(std::int64_t));
      const Workspace first(workspace_bytes(packing, *pack, n));
      COURSE_CHECK(launch(packing, *pack, n, {device.data()}, {few.data(), kept.data()}, first));
      for_each_use("unpack", *gpu, [&](const Study& of, const Version& v) {
        Workspace workspace(workspace_bytes(of, v, n));
        for (const bool in_place : {false, true}) {
          const Guarded<float> out(n);
          const void* from = in_place ? out.data() : device.data();
          if (in_place && n > 0) {
            COURSE_CHECK(
                cudaMemcpy(out.data(), in.data(), in.size() * sizeof(float), cudaMemcpyDefault));
          }
          COURSE_CHECK(launch(of, v, n, {from, few.data()}, {out.data()}, workspace));
          expect_same(out.values(), want, in_place ? "in place" : "out of place");
        }
      });
    }
  }
}

/// Equal keys keep their order: the upper bits number the elements.
TEST(Uses, SplitIsStable) {
  COURSE_NEEDS_GPU(gpu);
  for (const std::int64_t n : sizes_of_uses(*gpu)) {
    for (const int percent : {0, 1, 50, 100}) {
      std::vector<unsigned> in(static_cast<std::size_t>(n)), want;
      for (std::size_t i = 0; i < in.size(); ++i)
        in[i] = static_cast<unsigned>(i) << 1 |
                (static_cast<int>(course::mix(23, i) % 100) < percent ? 0u : 1u);
      for (const unsigned odd : {0u, 1u}) {
        for (const unsigned x : in) {
          if (x % 2 == odd) want.push_back(x);
        }
      }
      const Buffer device = to_device(in);
      for_each_use("split", *gpu, [&](const Study& of, const Version& v) {
        const Workspace workspace(workspace_bytes(of, v, n));
        const Guarded<unsigned> out(n);
        COURSE_CHECK(launch(of, v, n, {device.data()}, {out.data()}, workspace));
        expect_same(out.values(), want,
                    std::to_string(percent) + " of 100 even, n = " + std::to_string(n));
      });
    }
  }
}

// ---- Orders of threads that are rare without help ----

#ifdef SIMT
/// Everything that waits for other blocks, on several tiles. In random order the CPU backend runs
/// four blocks at once per core, their threads interleaved.
TEST(Stress, OneOrder) {
  COURSE_NEEDS_GPU(gpu);
  const auto in = numbers<unsigned>(9 * 4096 + 5, 1), large = numbers<unsigned>(4 * 16384 + 5, 2),
             many = numbers<unsigned>(8 * 11520 + 5, 4);  // more than a block of 80 has stages for
  for_each_scan<unsigned>(*gpu, 1, [&](const Scan& row) {
    if (row.ours() && !row.needs_alignment() && !row.is("09") && !row.is("10")) return;
    const bool vectors = row.is("11") || row.is("12") || row.is("13");
    const auto& chosen = row.of.name == "large_kernel" ? many : vectors ? large : in;
    for (int k = 0; k < 2; ++k)
      expect_same(run(row, chosen), scanned(chosen, row.op, row.exclusive), "unsigned");
  });
  const auto longs = numbers<std::int64_t>(8 * 5760 + 5, 3);
  for_each_scan<std::int64_t>(*gpu, 1, [&](const Scan& row) {
    if (row.is("08")) return;
    expect_same(run(row, longs), scanned(longs, row.op, row.exclusive), "64 bits");
  });
  const std::int64_t n = 3 * 16384 + 5;
  const auto floats = mixed(n, 50, 5);
  const auto few = packed(floats);
  auto back = floats;
  for (float& x : back) x = x > 0 ? x : 0.0f;
  const Buffer from = to_device(floats), packed_from = to_device(few);
  for (const bool packs : {true, false}) {
    for_each_use(packs ? "pack" : "unpack", *gpu, [&](const Study& of, const Version& v) {
      const Workspace workspace(workspace_bytes(of, v, n));
      const Guarded<float> out(n);
      const Guarded<std::int64_t> kept(1);
      COURSE_CHECK(launch(of, v, n, {from.data(), packed_from.data()}, {out.data(), kept.data()},
                          workspace));
      const auto& want = packs ? few : back;
      expect_same(out.values(static_cast<std::int64_t>(want.size())), want, "floats");
    });
  }
}

/// The same in twenty orders, each in a process of its own, with blocks on two cores; every other
/// one on a single SM, so that one block of 80's kernel for large arrays takes all tiles.
TEST(Stress, TwentyOrders) {
  if (simt::order().rfind("random", 0) != 0) GTEST_SKIP() << "once is enough: in random order";
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  for (int seed = 1; seed <= 20; ++seed) {
    const std::string order = "random:" + std::to_string(seed);
    const std::string command = "SIMT_THREADS=2 SIMT_SMS=" + std::to_string(seed % 2 ? 1 : 8) +
                                " SIMT_ORDER=" + order + " '" + self +
                                "' --gtest_filter=Stress.OneOrder --order=" + order + " 2>&1";
    std::FILE* child = popen(command.c_str(), "r");
    ASSERT_NE(child, nullptr);
    std::string said;
    char line[512];
    while (std::fgets(line, sizeof line, child) != nullptr) said += line;
    EXPECT_EQ(pclose(child), 0) << command << "\n" << said;
    EXPECT_NE(said.find("[  PASSED  ] 1 test."), std::string::npos) << said;
    if (testing::Test::HasFailure()) return;
  }
}
#else
/// A case of 05_scan_stress.cu; cases called torn_... have a mistake that must be detected.
class Stress : public testing::Test {
 public:
  Stress(std::string name, bool hopper) : name_(std::move(name)), hopper_(hopper) {}
  void TestBody() override {
    COURSE_NEEDS_GPU(gpu);
    if (sanitized()) GTEST_SKIP() << "too many launches for a sanitizer";
    if (hopper_ && gpu->capability != 90) GTEST_SKIP() << "needs compute capability 9.0";
    auto* const run = hopper_ ? scan_stress::stress_hopper : scan_stress::stress;
    if (run == nullptr) GTEST_SKIP() << "a version did not compile";
    const bool broken = name_.rfind("torn", 0) == 0;
    std::int64_t wrong = 0, number = 0, element = 0;
    ASSERT_EQ(run(name_, broken ? 200 : 10000, &wrong, &number, &element), cudaSuccess);
    if (broken) {
      EXPECT_GT(wrong, 0) << "the stress did not see a mark that is stored before its sum";
    } else {
      EXPECT_EQ(wrong, 0) << "the first in run " << number << ", element " << element;
    }
  }

 private:
  const std::string name_;
  const bool hopper_;
};

void register_stress() {
  const auto add = [](const char* name, bool hopper) {
    testing::RegisterTest("Stress", name, nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> testing::Test* { return new Stress(name, hopper); });
  };
  for (const char* name : {"09", "10", "11", "12", "13", "unpack", "torn_10"}) add(name, false);
  for (const char* name : {"cluster", "tiny", "tiny_int64", "small", "ring", "ring_int64", "pack",
                           "torn_tiny", "torn_ring"})
    add(name, true);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const course_test::SkipReason reason = [](const Study& study) {
    const bool twin = study.name == "unsigned" || study.name == "unsigned_exclusive" ||
                      study.name == "int64_exclusive";
    return std::string(twin && sanitized() ? "its kernels differ from another study's in the type"
                                           : "");
  };
  course_test::register_chapter(course::chapter(), inputs, reason);
  course_test::register_contracts(course::chapter(), reason);
#ifndef SIMT
  register_stress();
#endif
  return RUN_ALL_TESTS();
}
