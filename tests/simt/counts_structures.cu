// Structures copied whole are counted in pieces of their alignment, as nvcc moves them.
#include "simt_test.hpp"
#include "structures.cuh"

namespace {

using namespace structures;
using simt_test::Array;

class Structures : public simt_test::Device {
 protected:
  void SetUp() override {
    Device::SetUp();
    if (!simt::instrumented()) GTEST_SKIP() << "only instrumented code is counted";
    simt::set_counting(true);
    simt::take_counts();
  }
};

struct Pieces {
  const char* kernel;
  unsigned count, bytes;
};
// tests/python/test_strict.py compares this table with what nvcc makes of the kernels.
constexpr Pieces expected[] = {
    {"copy_two_doubles", 2, 8},    {"copy_mixed", 2, 8},       {"copy_with_padding", 2, 8},
    {"copy_three_doubles", 3, 8},  {"copy_five", 5, 8},        {"copy_two_floats", 2, 4},
    {"copy_aligned_floats", 1, 8}, {"copy_four_floats", 4, 4}, {"copy_body", 3, 8},
};

template <class T>
const simt::KernelCount counted(void (*launch)(const T*, T*)) {
  Array<char> in(32 * sizeof(T), 0), out(32 * sizeof(T));
  launch(reinterpret_cast<const T*>(in.get()), reinterpret_cast<T*>(out.get()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto counts = simt::take_counts();
  EXPECT_EQ(counts.size(), 1u);
  return counts.empty() ? simt::KernelCount{} : counts.front();
}
#define COUNTED(T, name) counted<T>([](const T* in, T* out) { copy_##name<<<1, 32>>>(in, out); })

TEST_F(Structures, move_in_pieces_of_their_alignment) {
  const simt::KernelCount kernels[] = {
      COUNTED(TwoDoubles, two_doubles),
      COUNTED(Mixed, mixed),
      COUNTED(WithPadding, with_padding),
      COUNTED(ThreeDoubles, three_doubles),
      COUNTED(Five, five),
      COUNTED(TwoFloats, two_floats),
      COUNTED(AlignedFloats, aligned_floats),
      COUNTED(FourFloats, four_floats),
      COUNTED(Body, body),
  };
  for (std::size_t k = 0; k < std::size(expected); ++k) {
    SCOPED_TRACE(expected[k].kernel);
    EXPECT_EQ(kernels[k].kernel, expected[k].kernel);
    EXPECT_EQ(kernels[k].lines.size(), 2u) << "a load and a store";
    for (const simt::LineCount& line : kernels[k].lines) {
      EXPECT_EQ(line.requests, expected[k].count) << line.access;
      EXPECT_EQ(line.bytes, expected[k].bytes) << line.access;
    }
  }
}

}  // namespace
