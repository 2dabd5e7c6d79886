// Chapter 02: every version on every test size and family of inputs, and what is special about a
// sum: each element counts once, NaN and infinity get through, a workspace may hold anything.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "chapter_test.hpp"
#include "contract.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "kernels/device_ops.hpp"
#ifdef SIMT
#include "simt/findings.hpp"
#endif

namespace {

using course::Buffer;
using course::Device;
using course::Input;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Version;
using course_test::copy_to;
using course_test::sanitized;
using course_test::size_n;
using course_test::sizes_here;
using course_test::slow;
using course_test::small_numbers;
using course_test::to_device;
using course_test::to_host;
using course_test::Workspace;

const course_test::Inputs inputs = {Input::random,    Input::integers,   Input::equal,
                                    Input::ascending, Input::descending, Input::few_distinct,
                                    Input::denormal};

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Study study(const std::string& name) { return course_test::study_of(course::chapter(), name); }

/// Calls body(version) for each version of a study that can run here.
template <class Body>
void for_each_version(const Study& of, const Device& gpu, Body body) {
  course_test::for_each_version(of, size_n(1), gpu, body);
}

/// The sums of floats in an order that is not fixed.
bool in_any_order(const Study& of, const Version& version) {
  return version.id == "09_atomic_per_block" && of.type == course::Type::f32;
}

/// Elements on the device, each between two guard elements that no kernel may write.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t count = 1) : count_(count), buffer_(bytes(2 * count + 1)) {
    reset();
  }
  /// The elements become NaN or the largest number, so that a value added to them still shows.
  void reset() {
    COURSE_CHECK(cudaMemset(buffer_.data(), 0xA5, buffer_.bytes()));
    for (std::int64_t k = 0; k < count_; ++k) COURSE_CHECK(cudaMemset(at(k), 0xFF, sizeof(T)));
  }
  T* at(std::int64_t k = 0) const { return static_cast<T*>(buffer_.data()) + 2 * k + 1; }
  /// Element k, after a check that the guards are unchanged.
  T value(std::int64_t k = 0) const {
    const auto all = to_host<T>(buffer_.data(), 2 * count_ + 1);
    T guard;
    std::memset(&guard, 0xA5, sizeof guard);
    for (std::size_t i = 0; i < all.size(); i += 2) {
      EXPECT_EQ(std::memcmp(&all[i], &guard, sizeof guard), 0)
          << "written beside the result, at element " << i << " around " << count_;
    }
    return all[static_cast<std::size_t>(2 * k + 1)];
  }
  /// True if element k is unchanged since reset().
  bool untouched(std::int64_t k = 0) const {
    T fresh;
    std::memset(&fresh, 0xFF, sizeof fresh);
    const T now = value(k);
    return std::memcmp(&now, &fresh, sizeof now) == 0;
  }

 private:
  static std::size_t bytes(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  std::int64_t count_;
  Buffer buffer_;
};

std::size_t workspace_bytes(const Study& of, const Version& version, std::int64_t n) {
  return version.workspace_bytes(*course_test::problem_of(of, version, size_n(n)));
}

/// One launch, not waited for.
template <class In, class Out>
cudaError_t launch(const Study& of, const Version& version, const void* in, Out* out,
                   std::int64_t n, void* workspace, std::size_t bytes,
                   cudaStream_t stream = nullptr) {
  course::Arguments arguments;
  arguments.inputs = {const_cast<void*>(in)};
  arguments.outputs = {out};
  arguments.workspace = workspace;
  arguments.workspace_bytes = bytes;
  arguments.stream = stream;
  return version.launch(*course_test::problem_of(of, version, size_n(n)), arguments);
}

/// The result of one launch on a workspace of its own, guards checked.
template <class In, class Out = In>
Out reduce(const Study& of, const Version& version, const void* in, std::int64_t n) {
  const Workspace workspace(workspace_bytes(of, version, n));
  const Guarded<Out> out;
  COURSE_CHECK(
      (launch<In, Out>(of, version, in, out.at(), n, workspace.data(), workspace.bytes())));
  return out.value();
}

/// The same for elements on the host.
template <class In, class Out = In>
Out reduce(const Study& of, const Version& version, const std::vector<In>& in) {
  const Buffer device = to_device(in);
  return reduce<In, Out>(of, version, device.data(), static_cast<std::int64_t>(in.size()));
}

/// The sum of the first n; exact below 2^24, including in float.
template <class T>
T sum_of(const std::vector<T>& in, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(in[static_cast<std::size_t>(i)]);
  return static_cast<T>(sum);
}

/// Runs body<float>(study) and body<unsigned>(study) for the two studies of sums.
#define FOR_BOTH_TYPES(body)            \
  body<float>(study("sequence"), *gpu); \
  body<unsigned>(study("unsigned"), *gpu)

/// Launch 0 counts all elements. Launch k counts those whose index has bit k - 1, and so names an
/// element that is lost or counted twice.
template <class T>
void check_that_each_counts_once(const Study& of, const Device& gpu) {
  const auto sizes =
      sizes_here(gpu, {2, 33, 257, 1025, 3001, 4101, 16391, 32777, 65539, (1 << 17) + 5, 1000003});
  for (const std::int64_t n : sizes) {
    int bits = 0;
    while ((n - 1) >> bits != 0) ++bits;
    for (int k = 0; k <= bits; ++k) {
      std::vector<T> in(static_cast<std::size_t>(n), T{1});
      if (k > 0) {
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i >> (k - 1) & 1);
      }
      const T want = sum_of(in, n);
      const Buffer device = to_device(in);
      for_each_version(of, gpu, [&](const Version& v) {
        EXPECT_EQ(reduce<T>(of, v, device.data(), n), want)
            << "n = " << n << ", "
            << (k ? "elements with bit " + std::to_string(k - 1) : "all elements");
      });
    }
  }
}
TEST(Special, EachElementCountsOnce) {
  COURSE_NEEDS_GPU(gpu);
  FOR_BOTH_TYPES(check_that_each_counts_once);
}

/// Elements of very different magnitude around the edges of the tiles that one block, or the whole
/// grid, reads at once.
template <class T>
void check_edges_of_tiles(const Study& of, const Device& gpu) {
  const std::int64_t most = 32777;
  const auto numbers = small_numbers<T>(most, 31, 511);
  const Buffer in = to_device(numbers);
  for (const std::int64_t n : {4095, 4096, 4097, 8191, 16383, 16384, 16387, 32768, 32777}) {
    for_each_version(of, gpu, [&](const Version& v) {
      EXPECT_EQ(reduce<T>(of, v, in.data(), n), sum_of(numbers, n)) << "n = " << n;
    });
  }
}
TEST(Special, EdgesOfTiles) {
  COURSE_NEEDS_GPU(gpu);
  FOR_BOTH_TYPES(check_edges_of_tiles);
}

/// in[i] = 1 and zeros elsewhere, for every i: quick on a GPU.
TEST(Special, TheOnlyOneIsFoundEverywhere) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too many launches for a sanitizer";
  const Study of = study("sequence");
  const std::int64_t n = gpu->simulated ? 67 : 3001;
  std::vector<float> rows(static_cast<std::size_t>(n * 2 - 1));
  rows[static_cast<std::size_t>(n - 1)] = 1;  // each test uses a window of n elements
  for_each_version(of, *gpu, [&](const Version& v) {
    Buffer in(static_cast<std::size_t>(n) * sizeof(float));
    const Workspace workspace(workspace_bytes(of, v, n));
    const Guarded<float> out(n);
    for (std::int64_t i = 0; i < n; ++i) {
      COURSE_CHECK(
          cudaMemcpy(in.data(), &rows[static_cast<std::size_t>(i)], in.bytes(), cudaMemcpyDefault));
      COURSE_CHECK((launch<float, float>(of, v, in.data(), out.at(i), n, workspace.data(),
                                         workspace.bytes())));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      float got = 0;
      COURSE_CHECK(cudaMemcpy(&got, out.at(i), sizeof got, cudaMemcpyDeviceToHost));
      ASSERT_EQ(got, 1) << "the 1 is at " << n - 1 - i << " of " << n;
    }
    out.value();
  });
}

/// Every size up to two tiles of the largest tree, in an array that continues after them.
template <class T>
void check_every_size(const Study& of, const Device& gpu) {
  const std::int64_t largest = slow(gpu) ? 300 : 2100;
  const auto numbers = small_numbers<T>(largest + 64, 3, 4095);
  const Buffer in = to_device(numbers);
  for_each_version(of, gpu, [&](const Version& v) {
    for (std::int64_t n = 0; n <= largest; n += slow(gpu) && n > 70 ? 23 : 1)
      ASSERT_EQ(reduce<T>(of, v, in.data(), n), sum_of(numbers, n)) << "n = " << n;
  });
}
TEST(Special, EverySize) {
  COURSE_NEEDS_GPU(gpu);
  FOR_BOTH_TYPES(check_every_size);
}

/// Every place inside a vector, every lane of the first warp by vectors and by elements, and both
/// sides of the edges of tiles, as far as n elements have them.
std::vector<std::int64_t> places_of(std::int64_t n, const Device& gpu) {
  std::set<std::int64_t> places = {0, n / 2, n - 1};
  const std::int64_t most = slow(gpu) ? 8 : 132;
  for (std::int64_t k = 0; k < most; ++k) places.insert({k, n - 1 - k / 16});
  if (slow(gpu)) places.insert({31, 32, 63, 127, 128});
  for (const std::int64_t tile : {256, 512, 1024, 4096, 8192, 16384}) {
    for (std::int64_t k = -2; k <= 2; ++k) {
      if (!slow(gpu) || tile == 4096) places.insert(tile + k);
    }
  }
  std::vector<std::int64_t> inside;
  for (const std::int64_t at : places) {
    if (at >= 0 && at < n) inside.push_back(at);
  }
  return inside;
}

/// A value that is not finite reaches the result from any place in the array.
TEST(Special, NanAndInfinityReachTheSum) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  const Study of = study("sequence");
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 33, 4099, 16389, 70001}, 4099)) {
    const auto finite = small_numbers<float>(n, 5);
    const Buffer device = to_device(finite);
    for (const std::int64_t at : places_of(n, *gpu)) {
      for (const float special : {nan, inf, -inf}) {
        if (slow(*gpu) && special == -inf) continue;
        float* const place = static_cast<float*>(device.data()) + at;
        COURSE_CHECK(cudaMemcpy(place, &special, sizeof special, cudaMemcpyHostToDevice));
        for_each_version(of, *gpu, [&](const Version& v) {
          const float sum = reduce<float>(of, v, device.data(), n);
          EXPECT_TRUE(std::isnan(special) ? std::isnan(sum) : sum == special)
              << special << " at " << at << " of " << n << " gave " << sum;
        });
        const float before = finite[static_cast<std::size_t>(at)];
        COURSE_CHECK(cudaMemcpy(place, &before, sizeof before, cudaMemcpyHostToDevice));
      }
    }
    if (n == 1) continue;
    auto in = small_numbers<float>(n, 5);
    in.front() = inf, in.back() = -inf;
    for_each_version(of, *gpu, [&](const Version& v) {
      const float sum = reduce<float>(of, v, in);
      EXPECT_TRUE(std::isnan(sum)) << "inf - inf over " << n << " gave " << sum;
    });
  }
}

/// 200 elements of up to 2^120 cannot overflow, in any order.
TEST(Special, LargeMagnitudes) {
  COURSE_NEEDS_GPU(gpu);
  const Study of = study("sequence");
  for_each_version(of, *gpu, [&](const Version& v) {
    for (const std::int64_t n : {1, 2, 31, 33, 200}) {
      const auto problem = of.make(size_n(n), 1, Input::large);
      const course::Outcome outcome = course::verify(v, *problem, *gpu);
      EXPECT_EQ(outcome.state, course::Outcome::passed) << "n = " << n << ": " << outcome.why;
    }
  });
}

TEST(Special, UnsignedWrapsAround) {
  COURSE_NEEDS_GPU(gpu);
  const Study of = study("unsigned");
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 33, 1025, 4099, 70001})) {
    const std::vector<unsigned> in(static_cast<std::size_t>(n), UINT32_MAX);
    for_each_version(of, *gpu, [&](const Version& v) {
      EXPECT_EQ(reduce<unsigned>(of, v, in), -static_cast<unsigned>(n)) << "n = " << n;
    });
  }
}

/// The same bits in every run, also on another stream, where the order of the additions is fixed.
TEST(Special, FixedOrdersGiveTheSameBits) {
  COURSE_NEEDS_GPU(gpu);
  const Study of = study("sequence");
  cudaStream_t other{};
  COURSE_CHECK(cudaStreamCreate(&other));
  for (const std::int64_t n : sizes_here(*gpu, {4099, 65537, 1000003, (1 << 24) + 5})) {
    std::vector<float> numbers(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = course::value<float>(Input::random, 17, static_cast<std::int64_t>(i));
    const Buffer in = to_device(numbers);
    for_each_version(of, *gpu, [&](const Version& v) {
      if (in_any_order(of, v)) return;
      Workspace workspace(workspace_bytes(of, v, n));
      const int runs = gpu->simulated ? 4 : 20;
      const Guarded<float> out(runs);
      for (int k = 0; k < runs; ++k) {
        workspace.scramble(static_cast<std::uint64_t>(k));
        COURSE_CHECK((launch<float, float>(of, v, in.data(), out.at(k), n, workspace.data(),
                                           workspace.bytes(), k % 2 ? other : nullptr)));
        COURSE_CHECK(cudaDeviceSynchronize());
      }
      for (int k = 1; k < runs; ++k) {
        const float a = out.value(0), b = out.value(k);
        EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << a << " and " << b << ", n = " << n;
      }
    });
  }
  COURSE_CHECK(cudaStreamDestroy(other));
}

/// Launches of different sizes on one stream and one workspace, the input changed before each,
/// without waiting: no kernel may read too early or leave anything for the next launch.
template <class T>
void check_back_to_back(const Study& of, const Device& gpu) {
  const auto sizes =
      sizes_here(gpu, {4099, 5, 1025, 1, 2049, 70001, 33, 1000003, 65536, 257}, 70001);
  const std::int64_t largest = *std::max_element(sizes.begin(), sizes.end());
  const int launches = gpu.simulated ? 12 : 100;
  std::vector<std::vector<T>> numbers;
  std::vector<Buffer> sources;
  for (std::uint64_t k = 0; k < 3; ++k) {
    numbers.push_back(small_numbers<T>(largest, k));
    sources.push_back(to_device(numbers[k]));
  }
  for_each_version(of, gpu, [&](const Version& v) {
    std::size_t bytes = 0;
    for (const std::int64_t n : sizes) bytes = std::max(bytes, workspace_bytes(of, v, n));
    const Workspace workspace(bytes);
    const Buffer in(static_cast<std::size_t>(largest) * sizeof(T));
    const Guarded<T> out(launches);
    cudaStream_t stream{};
    COURSE_CHECK(cudaStreamCreate(&stream));
    COURSE_CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < launches; ++k) {
      const std::int64_t n = sizes[static_cast<std::size_t>(k) % sizes.size()];
      COURSE_CHECK(cudaMemcpyAsync(in.data(), sources[static_cast<std::size_t>(k) % 3].data(),
                                   static_cast<std::size_t>(n) * sizeof(T),
                                   cudaMemcpyDeviceToDevice, stream));
      COURSE_CHECK((launch<T, T>(of, v, in.data(), out.at(k), n, workspace.data(),
                                 workspace.bytes(), stream)));
    }
    COURSE_CHECK(cudaStreamSynchronize(stream));
    for (int k = 0; k < launches; ++k) {
      const std::int64_t n = sizes[static_cast<std::size_t>(k) % sizes.size()];
      EXPECT_EQ(out.value(k), sum_of(numbers[static_cast<std::size_t>(k) % 3], n))
          << "launch " << k << ", n = " << n;
    }
    COURSE_CHECK(cudaStreamDestroy(stream));
  });
}
TEST(Special, BackToBackOnOneWorkspace) {
  COURSE_NEEDS_GPU(gpu);
  FOR_BOTH_TYPES(check_back_to_back);
}

/// More elements than 32 bits count: all of `integers`, whose sums are exact, then single ones.
template <class T>
void check_more_than_32_bits(const Study& of, const Device& gpu) {
  const std::int64_t n = (std::int64_t{1} << 31) + 5;
  const Buffer in(static_cast<std::size_t>(n) * sizeof(T));
  const auto check = [&](double want, const char* what) {
    for_each_version(of, gpu, [&](const Version& v) {
      const std::size_t bytes = workspace_bytes(of, v, n);
      std::size_t free = 0, total = 0;
      COURSE_CHECK(cudaMemGetInfo(&free, &total));
      if (bytes + (std::size_t{1} << 28) > free) {
        std::cout << v.id << " left out: needs " << bytes / 1000000 << " MB for its workspace\n";
        return;
      }
      EXPECT_EQ((reduce<T>(of, v, in.data(), n)), static_cast<T>(want)) << what;
    });
  };
  const auto problem = of.make(size_n(n), 1, Input::integers);
  double want = 0;
  problem->expected(0, &want);
  course::fill(problem->inputs()[0], Input::integers, in.data(), nullptr);
  check(want, "integers");
  COURSE_CHECK(cudaMemset(in.data(), 0, in.bytes()));
  const std::int64_t places[] = {0,
                                 (std::int64_t{1} << 30) - 1,
                                 std::int64_t{1} << 30,
                                 (std::int64_t{1} << 31) - 1,
                                 std::int64_t{1} << 31,
                                 n - 1};
  want = 0;
  T weight{1};
  for (const std::int64_t i : places) {
    COURSE_CHECK(
        cudaMemcpy(static_cast<T*>(in.data()) + i, &weight, sizeof weight, cudaMemcpyHostToDevice));
    want += static_cast<double>(weight);
    weight = static_cast<T>(2 * weight);
  }
  check(want, "single elements");
}
TEST(Special, MoreThanTwoGigaElements) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  if (course::free_device_bytes() < 12000000000) GTEST_SKIP() << "needs 12 GB of free memory";
  FOR_BOTH_TYPES(check_more_than_32_bits);
}

TEST(Special, IndicesOfMoreThan32Bits) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  const std::int64_t n = (std::int64_t{1} << 31) + 5;
  if (course::free_device_bytes() < 12000000000) GTEST_SKIP() << "needs 12 GB of free memory";
  const Buffer in(static_cast<std::size_t>(n) * sizeof(float));
  COURSE_CHECK(cudaMemset(in.data(), 0, in.bytes()));
  const float least = -1;
  const Study of = study("generic");
  for (const std::int64_t i : {n - 1, n - 2, std::int64_t{1} << 31, (std::int64_t{1} << 31) - 1}) {
    COURSE_CHECK(cudaMemcpy(static_cast<float*>(in.data()) + i, &least, sizeof least,
                            cudaMemcpyHostToDevice));
    for_each_version(of, *gpu, [&](const Version& v) {
      if (v.id != "index_of_minimum") return;
      EXPECT_EQ((reduce<float, std::int64_t>(of, v, in.data(), n)), i) << "the first of the least";
    });
  }
}

/// The results of the three operators of the study `generic` for an array: the course's, or the
/// peers'.
struct Results {
  float least, largest;
  std::int64_t index;
};
Results results_of(const std::vector<float>& in, const std::string& whose = "") {
  const Study of = study("generic");
  const Buffer device = to_device(in);
  const auto n = static_cast<std::int64_t>(in.size());
  Results results{};
  for (const Version& v : of.versions) {
    if (v.id == whose + "minimum") results.least = reduce<float>(of, v, device.data(), n);
    if (v.id == whose + "maximum") results.largest = reduce<float>(of, v, device.data(), n);
    if (v.id == whose + "index_of_minimum")
      results.index = reduce<float, std::int64_t>(of, v, device.data(), n);
  }
  return results;
}

/// "" if the generic study can run here, or why not.
std::string generic_is_missing(const Device& gpu) {
  const Study of = study("generic");
  for (const Version& v : of.versions) {
    if (v.role != Role::version) continue;
    const std::string why = course::missing(v, *course_test::problem_of(of, v, size_n(1)), gpu);
    if (!why.empty()) return why;
  }
  return "";
}

#define NEEDS_GENERIC(gpu) \
  COURSE_NEEDS_GPU(gpu);   \
  if (const std::string why = generic_is_missing(*gpu); !why.empty()) GTEST_SKIP() << why

/// A wrong identity wins where all elements have the same sign and some threads have none.
TEST(Generic, OneSignOnly) {
  NEEDS_GENERIC(gpu);
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 5, 33, 1025, 4099, 16389, 70001})) {
    for (const float x : {2.0f, -2.0f, 3.0e38f, -3.0e38f, inf, -inf}) {
      const Results got = results_of(std::vector<float>(static_cast<std::size_t>(n), x));
      EXPECT_EQ(got.least, x) << n << " of " << x;
      EXPECT_EQ(got.largest, x) << n << " of " << x;
      EXPECT_EQ(got.index, 0) << n << " of " << x << ": of equal ones the first";
    }
  }
}

/// The extremes at every place, or at enough of them; a second extreme after it does not count.
TEST(Generic, ExtremesAnywhere) {
  NEEDS_GENERIC(gpu);
  for (const std::int64_t n : sizes_here(*gpu, {1, 2, 5, 67, 1025, 4099, 16389, 70001}, 17000)) {
    const std::int64_t places = slow(*gpu) ? (n < 100 ? n : 9) : 300;
    for (std::int64_t k = 0; k < std::min(n, places); ++k) {
      const std::int64_t at = k == 0 ? n - 1 : k * n / places;
      std::vector<float> in = small_numbers<float>(n, 23);
      in[static_cast<std::size_t>(at)] = -1;
      in[static_cast<std::size_t>(std::max(at, n - 1 - k))] = -1;
      Results got = results_of(in);
      EXPECT_EQ(got.least, -1) << "at " << at << " of " << n;
      EXPECT_EQ(got.index, at) << "of " << n;
      in[static_cast<std::size_t>(at)] = 9999;
      got = results_of(in);
      EXPECT_EQ(got.largest, 9999) << "at " << at << " of " << n;
    }
  }
}

/// The implementations whose operators follow the rules here: the course's, and on a GPU the
/// peers'.
std::vector<std::string> all_operators(const Device& gpu) {
  const Study of = study("generic");
  for (const Version& v : of.versions) {
    if (v.id != "cub_minimum") continue;
    const auto problem = course_test::problem_of(of, v, size_n(1));
    if (!course::missing(v, *problem, gpu).empty()) return {""};
  }
  return {"", "cub_"};
}

/// NaN is never the smallest or largest element, at any place, and does not hide its neighbours.
TEST(Generic, NanIsSkipped) {
  NEEDS_GENERIC(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::string& whose : all_operators(*gpu)) {
    for (const std::int64_t n : sizes_here(*gpu, {1, 2, 5, 33, 4099, 16389, 70001}, 4099)) {
      SCOPED_TRACE(whose + " n = " + std::to_string(n));
      const std::vector<float> none(static_cast<std::size_t>(n), nan);
      const Results of_none = results_of(none, whose);
      EXPECT_EQ(of_none.least, inf);
      EXPECT_EQ(of_none.largest, -inf);
      EXPECT_EQ(of_none.index, 0) << "NaN counts as infinity there";
      for (const std::int64_t at : places_of(n, *gpu)) {
        SCOPED_TRACE("at " + std::to_string(at));
        const auto i = static_cast<std::size_t>(at);
        auto in = none;  // the only number
        in[i] = 4;
        Results got = results_of(in, whose);
        EXPECT_EQ(got.least, 4);
        EXPECT_EQ(got.largest, 4);
        EXPECT_EQ(got.index, at);
        for (const std::int64_t beside : {at - 1, at + 1}) {  // NaN next to the extreme
          if (beside < 0 || beside >= n) continue;
          in.assign(in.size(), 0.0f);
          in[i] = -100;
          in[static_cast<std::size_t>(beside)] = nan;
          got = results_of(in, whose);
          EXPECT_EQ(got.least, -100);
          EXPECT_EQ(got.index, at);
          in[i] = 100;
          EXPECT_EQ(results_of(in, whose).largest, 100);
          if (slow(*gpu)) break;
        }
      }
    }
  }
}

/// Infinities are extremes like others, and -0.0 is smaller than 0.0, at any place.
TEST(Generic, ZerosAndInfinities) {
  NEEDS_GENERIC(gpu);
  COURSE_ABOUT_VALUES();
  for (const std::string& whose : all_operators(*gpu)) {
    for (const std::int64_t n : sizes_here(*gpu, {2, 33, 4099, 70001}, 4099)) {
      for (const std::int64_t at : places_of(n, *gpu)) {
        SCOPED_TRACE(whose + " at " + std::to_string(at) + " of " + std::to_string(n));
        const auto i = static_cast<std::size_t>(at);
        std::vector<float> in(static_cast<std::size_t>(n), 0.0f);
        in[i] = -0.0f;
        EXPECT_TRUE(std::signbit(results_of(in, whose).least));
        in.assign(in.size(), -0.0f);
        in[i] = 0.0f;
        EXPECT_FALSE(std::signbit(results_of(in, whose).largest));
        in.assign(in.size(), 7.0f);
        in[i] = -inf;
        const Results got = results_of(in, whose);
        EXPECT_EQ(got.least, -inf);
        EXPECT_EQ(got.index, at);
        in[i] = inf;
        EXPECT_EQ(results_of(in, whose).largest, inf);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(course::chapter(), inputs);
  course_test::register_contracts(course::chapter());
  return RUN_ALL_TESTS();
}
