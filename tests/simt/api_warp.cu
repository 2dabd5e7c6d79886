// Warp functions against a scalar model with random inputs, masks and widths.
#include <algorithm>
#include <cstdint>
#include <random>

#include "simt_test.hpp"

namespace {

using simt_test::Array;

class Warp : public simt_test::Device {
 protected:
  std::mt19937 random{42};
  template <class T>
  std::vector<T> values() {
    std::vector<T> v(32);
    for (auto& x : v) x = static_cast<T>(static_cast<int>(random() % 200) - 100);
    return v;
  }
  /// Masks with some lanes, all lanes and one lane.
  std::vector<unsigned> masks() {
    std::vector<unsigned> m = {0xffffffffu, 0x0000ffffu, 0x80000001u, 0x10u, 0xaaaaaaaau};
    for (int i = 0; i < 5; ++i) m.push_back(static_cast<unsigned>(random()) | 1u);
    return m;
  }
};

// ---- Shuffles ----

enum Form { form_idx, form_up, form_down, form_xor };

template <class T>
__global__ void shuffle(const T* in, int form, int argument, int width, T* out) {
  const int t = threadIdx.x;
  const T v = in[t];
  if (form == form_idx) out[t] = __shfl_sync(0xffffffffu, v, argument, width);
  if (form == form_up) out[t] = __shfl_up_sync(0xffffffffu, v, argument, width);
  if (form == form_down) out[t] = __shfl_down_sync(0xffffffffu, v, argument, width);
  if (form == form_xor) out[t] = __shfl_xor_sync(0xffffffffu, v, argument, width);
}
int source_lane(int lane, int form, int argument, int width) {
  const int first = lane / width * width, last = first + width - 1;
  int source = lane;
  if (form == form_idx) source = first + argument % width;
  if (form == form_up && lane - argument >= first) source = lane - argument;
  if (form == form_down && lane + argument <= last) source = lane + argument;
  // A lane may read lower segments, not higher ones.
  if (form == form_xor && (lane ^ argument) <= last) source = lane ^ argument;
  return source;
}
template <class T>
void expect_shuffles(const std::vector<T>& in) {
  Array<T> device(in), out(32);
  for (int form = 0; form < 4; ++form) {
    for (const int width : {32, 16, 8, 4, 2, 1}) {
      for (const int argument : {0, 1, 2, 3, 5, 8, 16, 31}) {
        shuffle<T><<<1, 32>>>(device.get(), form, argument, width, out.get());
        const auto got = out.host();
        for (int t = 0; t < 32; ++t) {
          ASSERT_EQ(got[t], in[source_lane(t, form, argument, width)])
              << "form " << form << ", argument " << argument << ", width " << width << ", lane "
              << t;
        }
      }
    }
  }
}
TEST_F(Warp, shuffles_of_int) {
  expect_shuffles(values<int>());
  expect_clean();
}
TEST_F(Warp, shuffles_of_other_types) {
  expect_shuffles(values<unsigned>());
  expect_shuffles(values<float>());
  expect_shuffles(values<double>());
  expect_shuffles(values<long long>());
  expect_shuffles(values<unsigned long long>());
  expect_clean();
}

__global__ void own_source(const int* in, const int* from, int* out) {
  const int t = threadIdx.x;
  out[t] = __shfl_sync(0xffffffffu, in[t], from[t]);
}
TEST_F(Warp, each_lane_its_own_source) {
  const auto in = values<int>();
  auto from = values<int>();
  for (int& f : from) f = (f + 100) % 40;  // more than 31 wraps around
  Array<int> a(in), b(from), out(32);
  own_source<<<1, 32>>>(a.get(), b.get(), out.get());
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out.host()[t], in[from[t] % 32]);
  expect_clean();
}

// ---- Votes, match, reduce: with masks ----

__global__ void vote(const int* in, unsigned mask, unsigned* out) {
  const int t = threadIdx.x;
  if ((mask >> t & 1) == 0) return;
  out[4 * t] = __ballot_sync(mask, in[t] > 0);
  out[4 * t + 1] = __any_sync(mask, in[t] > 90) != 0;
  out[4 * t + 2] = __all_sync(mask, in[t] > -95) != 0;
  out[4 * t + 3] = __match_any_sync(mask, in[t] % 3);
}
TEST_F(Warp, votes) {
  Array<unsigned> out(128, 0u);
  for (const unsigned mask : masks()) {
    const auto in = values<int>();
    Array<int> device(in);
    vote<<<1, 32>>>(device.get(), mask, out.get());
    const auto got = out.host();
    unsigned ballot = 0, any = 0, all = 1;
    for (int t = 0; t < 32; ++t) {
      if ((mask >> t & 1) == 0) continue;
      ballot |= static_cast<unsigned>(in[t] > 0) << t;
      any |= in[t] > 90;
      all &= in[t] > -95;
    }
    for (int t = 0; t < 32; ++t) {
      if ((mask >> t & 1) == 0) continue;
      unsigned match = 0;
      for (int u = 0; u < 32; ++u) {
        if ((mask >> u & 1) && in[u] % 3 == in[t] % 3) match |= 1u << u;
      }
      ASSERT_EQ(got[4 * t], ballot);
      ASSERT_EQ(got[4 * t + 1], any);
      ASSERT_EQ(got[4 * t + 2], all);
      ASSERT_EQ(got[4 * t + 3], match);
    }
  }
  expect_clean();
}

__global__ void match_all(const int* in, unsigned mask, unsigned* out, int* predicates) {
  const int t = threadIdx.x;
  if ((mask >> t & 1) == 0) return;
  int predicate = 7;
  out[t] = __match_all_sync(mask, in[t], &predicate);
  predicates[t] = predicate;
}
TEST_F(Warp, match_all) {
  Array<unsigned> out(32, 0u);
  Array<int> predicates(32, -1), same(32, 5);
  match_all<<<1, 32>>>(same.get(), 0x00ff00ffu, out.get(), predicates.get());
  EXPECT_EQ(out.first(), 0x00ff00ffu);
  EXPECT_EQ(predicates.first(), 1);
  Array<int> different(simt_test::iota<int>(32));
  match_all<<<1, 32>>>(different.get(), 0x00ff00ffu, out.get(), predicates.get());
  EXPECT_EQ(out.first(), 0u);
  EXPECT_EQ(predicates.first(), 0);
  match_all<<<1, 32>>>(different.get(), 0x1u, out.get(), predicates.get());
  EXPECT_EQ(out.first(), 1u);
  expect_clean();
}

__global__ void reduce(const int* in, unsigned mask, int* out) {
  const int t = threadIdx.x;
  if ((mask >> t & 1) == 0) return;
  const unsigned u = static_cast<unsigned>(in[t]);
  int* o = out + 8 * t;
  o[0] = __reduce_add_sync(mask, in[t]);
  o[1] = __reduce_min_sync(mask, in[t]);
  o[2] = __reduce_max_sync(mask, in[t]);
  o[3] = static_cast<int>(__reduce_and_sync(mask, u));
  o[4] = static_cast<int>(__reduce_or_sync(mask, u));
  o[5] = static_cast<int>(__reduce_xor_sync(mask, u));
  o[6] = static_cast<int>(__reduce_min_sync(mask, u));
  o[7] = static_cast<int>(__reduce_max_sync(mask, u));
}
TEST_F(Warp, reductions) {
  Array<int> out(256, 0);
  for (const unsigned mask : masks()) {
    const auto in = values<int>();
    Array<int> device(in);
    reduce<<<1, 32>>>(device.get(), mask, out.get());
    const auto got = out.host();
    int sum = 0, low = 1000, high = -1000;
    unsigned a = ~0u, o = 0, x = 0, umin = ~0u, umax = 0;
    for (int t = 0; t < 32; ++t) {
      if ((mask >> t & 1) == 0) continue;
      const unsigned u = static_cast<unsigned>(in[t]);
      sum += in[t], low = std::min(low, in[t]), high = std::max(high, in[t]);
      a &= u, o |= u, x ^= u, umin = std::min(umin, u), umax = std::max(umax, u);
    }
    const std::vector<int> want = {sum,
                                   low,
                                   high,
                                   static_cast<int>(a),
                                   static_cast<int>(o),
                                   static_cast<int>(x),
                                   static_cast<int>(umin),
                                   static_cast<int>(umax)};
    for (int t = 0; t < 32; ++t) {
      if (mask >> t & 1) {
        ASSERT_EQ(std::vector<int>(got.begin() + 8 * t, got.begin() + 8 * t + 8), want);
      }
    }
  }
  expect_clean();
}

// ---- Idioms ----

__global__ void sum_by_shuffles(const float* in, float* out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
TEST_F(Warp, sum_by_shuffles) {
  Array<float> in(simt_test::iota<float>(256)), out(8);
  sum_by_shuffles<<<2, 128>>>(in.get(), out.get());
  for (int w = 0; w < 8; ++w) EXPECT_EQ(out.host()[w], 32 * (32 * w) + 496);
  expect_clean();
}

__global__ void scan_by_shuffles(int* data) {
  int v = data[threadIdx.x];
  const int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    const int u = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += u;
  }
  data[threadIdx.x] = v;
}
TEST_F(Warp, scan_by_shuffles) {
  Array<int> data(64, 1);
  scan_by_shuffles<<<1, 64>>>(data.get());
  for (int t = 0; t < 64; ++t) EXPECT_EQ(data.host()[t], t % 32 + 1);
  expect_clean();
}

/// Each lane gets the same result as the other lanes of its branch, with a mask from a vote before.
__global__ void vote_then_branch(const int* in, int* out) {
  const int t = threadIdx.x;
  const bool big = in[t] > 0;
  const unsigned mask = __ballot_sync(0xffffffffu, big);
  if (big) {
    out[t] = __shfl_sync(mask, t, __ffs(static_cast<int>(mask)) - 1);
  } else {
    out[t] = -__popc(__ballot_sync(~mask, 1));
  }
}
TEST_F(Warp, mask_by_vote) {
  const auto in = values<int>();
  Array<int> device(in), out(32);
  vote_then_branch<<<1, 32>>>(device.get(), out.get());
  int first = -1, others = 0;
  for (int t = 31; t >= 0; --t) in[t] > 0 ? first = t : ++others;
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out.host()[t], in[t] > 0 ? first : -others);
  expect_clean();
}

__global__ void active(unsigned* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  out[t] = __activemask();
}
/// Guide: lanes are not guaranteed to be converged without a synchronisation.
TEST_F(Warp, activemask) {
  Array<unsigned> out(32, 0u);
  for (const int n : {32, 20, 1}) {
    active<<<1, 32>>>(out.get(), n);
    const auto host = out.host();
    for (int t = 0; t < n; ++t) EXPECT_TRUE(host[t] >> t & 1) << "a lane is active itself";
  }
  active<<<1, 20>>>(out.get(), 32);
  const auto few = out.host();
  for (int t = 0; t < 20; ++t) EXPECT_EQ(few[t] >> 20, 0u) << "there are 20 lanes only";
  expect_clean();
}

__global__ void lane_number(unsigned* out) {
  const int t = threadIdx.x;
  unsigned mine = 0;
  for (unsigned rest = __ballot_sync(0xffffffffu, t % 3 == 0); rest != 0; rest &= rest - 1) ++mine;
  out[t] = mine;
}
TEST_F(Warp, ballot_in_a_loop) {
  Array<unsigned> out(32);
  lane_number<<<1, 32>>>(out.get());
  EXPECT_EQ(out.host(), std::vector<unsigned>(32, 11u));
  expect_clean();
}

/// The last warp is not full: a full mask names lanes that do not exist.
__global__ void short_warp(int* out) {
  const unsigned mask = __ballot_sync(0xffffffffu, 1);
  out[threadIdx.x] = __popc(mask);
}
TEST_F(Warp, warp_that_is_not_full) {
  Array<int> out(40);
  short_warp<<<1, 40>>>(out.get());
  EXPECT_EQ(out.host()[0], 32);
  EXPECT_EQ(out.host()[39], 8);
  expect_clean();
}

}  // namespace
