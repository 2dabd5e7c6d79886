// Chapter 03: every version on every test size and family of inputs, and what moving elements
// requires: bits do not change, each element gets to its place, and no other memory is written.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "chapter/launchers.hpp"
#include "chapter_test.hpp"
#include "contract.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"
#include "kernels/device_ops.hpp"
#include "transpose.hpp"

// Version 10 with all its arguments; its rows use only some of them.
COURSE_TYPED_LAUNCHERS(TransposePitched, (transpose), any_matrix);

namespace {

using course::Buffer;
using course::Device;
using course::Input;
using course::Role;
using course::Size;
using course::Study;
using course::Version;
using course_test::copy_to;
using course_test::for_each_version;
using course_test::sanitized;
using course_test::to_device;
using course_test::to_host;

const course_test::Inputs inputs = {Input::random, Input::ascending, Input::large};

Size matrix(std::int64_t rows, std::int64_t cols) { return {{{"rows", rows}, {"cols", cols}}}; }

Study sequence() { return course_test::study_of(course::chapter(), "sequence"); }

/// The ceilings of the sequence move elements without transposing them.
bool copies(const Version& version) { return version.role == Role::limit; }

/// The library multiplies by one and adds zero: it keeps the value, but may change bit patterns.
bool moves_bits(const Version& version) { return version.role != Role::peer; }

/// Shapes smaller and larger than tiles, and with edges that fill none.
std::vector<Size> shapes_here(const Device& gpu) {
  std::vector<Size> shapes = {matrix(1, 1),    matrix(1, 77),  matrix(77, 1),   matrix(4, 8),
                              matrix(36, 68),  matrix(31, 65), matrix(33, 127), matrix(64, 128),
                              matrix(129, 70), matrix(200, 52)};
  if (!gpu.simulated && !sanitized()) {
    shapes.push_back(matrix(1003, 2050));
    shapes.push_back(matrix(4100, 516));
  }
  return shapes;
}

/// One launch, not waited for.
cudaError_t launch(const Study& study, const Version& version, const Size& size, const void* in,
                   void* out, cudaStream_t stream = nullptr) {
  course::Arguments arguments;
  arguments.inputs = {const_cast<void*>(in)};
  arguments.outputs = {out};
  arguments.stream = stream;
  return version.launch(*course_test::problem_of(study, version, size), arguments);
}

/// The expected output, on the host.
template <class T>
std::vector<T> transposed(const std::vector<T>& in, std::int64_t rows, std::int64_t cols) {
  std::vector<T> out(in.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c)
      out[static_cast<std::size_t>(c * rows + r)] = in[static_cast<std::size_t>(r * cols + c)];
  }
  return out;
}

/// Empty if all bits are the same, otherwise the first element that differs.
template <class T>
std::string difference(const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) return "sizes differ";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) {
      return "element " + std::to_string(i) + " of " + std::to_string(got.size()) + " is " +
             std::to_string(got[i]) + " instead of " + std::to_string(want[i]);
    }
  }
  return "";
}

/// Elements of any bits.
template <class T>
std::vector<T> noise(std::int64_t count, std::uint64_t seed) {
  std::vector<T> elements(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t bits = course::mix(seed, i);
    std::memcpy(&elements[i], &bits, sizeof(T));
  }
  return elements;
}

/// Elements that all differ, if T has enough bits: their own indices, as bits. Of fewer bits, the
/// digits of the index that begin at bit `shift`.
template <class T>
std::vector<T> indices(std::int64_t count, int shift = 0) {
  std::vector<T> elements(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t bits = static_cast<std::uint64_t>(i) >> shift;
    std::memcpy(&elements[i], &bits, sizeof(T));
  }
  return elements;
}

/// Runs one version and compares all bits of the output and of `margin` guard elements on both
/// sides.
void expect_bits(const Study& study, const Version& version, const Size& size,
                 const std::vector<float>& in) {
  constexpr std::size_t margin = 64;  // keeps the output aligned
  const std::vector<float> wanted =
      copies(version) ? in : transposed(in, size["rows"], size["cols"]);
  const Buffer from = to_device(in);
  const Buffer all((in.size() + 2 * margin) * sizeof(float));
  COURSE_CHECK(cudaMemset(all.data(), 0xA5, all.bytes()));
  std::vector<float> want =
      to_host<float>(all.data(), static_cast<std::int64_t>(in.size() + 2 * margin));
  std::copy(wanted.begin(), wanted.end(), want.begin() + margin);
  COURSE_CHECK(launch(study, version, size, from.data(), static_cast<float*>(all.data()) + margin));
  EXPECT_EQ(difference(to_host<float>(all.data(), static_cast<std::int64_t>(want.size())), want),
            "")
      << margin << " elements lie in front";
}

/// Each element is its own index, so an element at a wrong place is always found.
TEST(Special, EachElementAtItsPlace) {
  COURSE_NEEDS_GPU(gpu);
  const Study study = sequence();
  for (const Size& size : shapes_here(*gpu)) {
    std::vector<float> in(static_cast<std::size_t>(size["rows"] * size["cols"]));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);  // exact to 2^24
    for_each_version(study, size, *gpu, [&](const Version& v) { expect_bits(study, v, size, in); });
  }
}

/// NaN with its payload, signalling NaN, -0 and denormals are moved, not computed with.
TEST(Special, BitsStayAsTheyAre) {
  COURSE_NEEDS_GPU(gpu);
  const Study study = sequence();
  const std::uint32_t patterns[] = {0x80000000u, 0x7FC00001u, 0x7F800001u, 0xFFFFFFFFu, 0x00000001u,
                                    0x807FFFFFu, 0x7F800000u, 0xFF800000u, 0xFFA5A5A5u};
  for (const Size& size : {matrix(1, 9), matrix(36, 68), matrix(65, 33)}) {
    std::vector<float> special(static_cast<std::size_t>(size["rows"] * size["cols"]));
    for (std::size_t i = 0; i < special.size(); ++i)
      std::memcpy(&special[i], &patterns[i % 9], sizeof(float));
    const auto any = noise<float>(size["rows"] * size["cols"], 3);
    for_each_version(study, size, *gpu, [&](const Version& v) {
      if (!moves_bits(v)) return;
      expect_bits(study, v, size, special);
      expect_bits(study, v, size, any);
    });
  }
}

/// Transposed twice is the matrix again.
TEST(Special, TwiceGivesTheInputBack) {
  COURSE_NEEDS_GPU(gpu);
  const Study study = sequence();
  for (const Size& size : shapes_here(*gpu)) {
    const std::int64_t rows = size["rows"], cols = size["cols"];
    const auto in = indices<float>(rows * cols);
    const Buffer from = to_device(in);
    for_each_version(study, size, *gpu, [&](const Version& v) {
      if (!moves_bits(v)) return;
      Buffer there(from.bytes()), back(from.bytes());
      there.poison();
      back.poison();
      COURSE_CHECK(launch(study, v, size, from.data(), there.data()));
      COURSE_CHECK(launch(study, v, matrix(cols, rows), there.data(), back.data()));
      EXPECT_EQ(difference(to_host<float>(back.data(), rows * cols), in), "");
    });
  }
}

/// 09 and 80 move groups of four: other sizes are refused, and nothing is written.
TEST(Special, OnlyMultiplesOfFour) {
  COURSE_NEEDS_GPU(gpu);
  const Study study = sequence();
  const Buffer in(70 * 70 * sizeof(float)), out(70 * 70 * sizeof(float));
  for_each_version(study, matrix(4, 4), *gpu, [&](const Version& v) {
    if (!v.takes) return;
    EXPECT_TRUE(v.id == "09_vectors" || v.id == "80_limit") << v.id;
    COURSE_CHECK(cudaMemset(out.data(), 0xA5, out.bytes()));
    for (const Size& size : {matrix(1, 4), matrix(4, 1), matrix(3, 3), matrix(6, 8), matrix(8, 6),
                             matrix(65, 64), matrix(64, 66), matrix(67, 69)}) {
      EXPECT_FALSE(v.takes(size)) << size.text();
      EXPECT_EQ(launch(study, v, size, in.data(), out.data()), cudaErrorInvalidValue)
          << size.text();
    }
    EXPECT_EQ(to_host<unsigned char>(out.data(), static_cast<std::int64_t>(out.bytes())),
              std::vector<unsigned char>(out.bytes(), 0xA5));
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  });
}

/// A window as version 10 sees it: distances in elements.
struct Window {
  std::int64_t rows, cols, in_pitch, out_pitch, in_shift, out_shift;
};

std::string text(const Window& w) {
  return std::to_string(w.rows) + " x " + std::to_string(w.cols) + ", pitches " +
         std::to_string(w.in_pitch) + " and " + std::to_string(w.out_pitch) + ", shifted by " +
         std::to_string(w.in_shift) + " and " + std::to_string(w.out_shift);
}

/// Elements up to the last one of the last row: none after it may be read or written.
std::int64_t extent(std::int64_t shift, std::int64_t rows, std::int64_t pitch, std::int64_t cols) {
  return rows > 0 && cols > 0 ? shift + (rows - 1) * pitch + cols : shift;
}

/// Transposes a window into an output full of 0xA5, and compares all of it, gaps included.
template <class T>
void expect_window(TransposePitched<T>* transpose, const Window& w, const std::vector<T>& in) {
  const std::int64_t count = extent(w.out_shift, w.cols, w.out_pitch, w.rows);
  const Buffer from = to_device(in);
  const Buffer to(static_cast<std::size_t>(count) * sizeof(T));
  if (count > 0) COURSE_CHECK(cudaMemset(to.data(), 0xA5, to.bytes()));
  std::vector<T> want(static_cast<std::size_t>(count));
  if (count > 0) std::memset(want.data(), 0xA5, to.bytes());
  for (std::int64_t r = 0; r < w.rows; ++r) {
    for (std::int64_t c = 0; c < w.cols; ++c) {
      want[static_cast<std::size_t>(w.out_shift + c * w.out_pitch + r)] =
          in[static_cast<std::size_t>(w.in_shift + r * w.in_pitch + c)];
    }
  }
  COURSE_CHECK(transpose(static_cast<const T*>(from.data()) + w.in_shift, w.in_pitch,
                         static_cast<T*>(to.data()) + w.out_shift, w.out_pitch, w.rows, w.cols,
                         nullptr));
  EXPECT_EQ(difference(to_host<T>(to.data(), count), want), "")
      << sizeof(T) << "-byte elements, " << text(w);
}

template <class T>
class AnyMatrix : public testing::Test {};
using Elements = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, float, double>;
TYPED_TEST_SUITE(AnyMatrix, Elements);

#define NEEDS_TRANSPOSE(gpu)                                            \
  COURSE_NEEDS_GPU(gpu);                                                \
  TransposePitched<TypeParam>* const transpose = any_matrix::transpose; \
  if (transpose == nullptr) GTEST_SKIP() << "10_any is not in this build"

/// Arrays that begin at any element, on both sides, each combination; bits of all kinds.
TYPED_TEST(AnyMatrix, AnyShift) {
  NEEDS_TRANSPOSE(gpu);
  for (const auto& [rows, cols] : {std::pair(37, 70), std::pair(136, 24), std::pair(8, 136)}) {
    for (const std::int64_t in_shift : {0, 1, 2, 3, 4, 6, 8}) {
      for (const std::int64_t out_shift : {0, 1, 2, 3, 4, 6, 8}) {
        const Window w = {rows, cols, cols, rows, in_shift, out_shift};
        expect_window<TypeParam>(transpose, w,
                                 noise<TypeParam>(extent(in_shift, rows, cols, cols), 7));
      }
    }
  }
}

/// Rows that begin at any distance: the gaps between them do not change.
TYPED_TEST(AnyMatrix, AnyPitch) {
  NEEDS_TRANSPOSE(gpu);
  for (const auto& [rows, cols] : {std::pair(5, 3), std::pair(64, 36), std::pair(37, 130)}) {
    for (const std::int64_t more_in : {0, 1, 2, 3, 4, 6, 8}) {
      for (const std::int64_t more_out : {0, 1, 2, 3, 4, 6, 8}) {
        const Window w = {rows, cols, cols + more_in, rows + more_out, 0, 0};
        expect_window<TypeParam>(transpose, w,
                                 noise<TypeParam>(extent(0, rows, w.in_pitch, cols), 9));
      }
    }
  }
}

/// Full tiles in the middle, parts of tiles at both edges; aligned, on one side, on neither.
TYPED_TEST(AnyMatrix, LargeWindows) {
  NEEDS_TRANSPOSE(gpu);
  const std::int64_t rows = 261, cols = 150;
  for (const std::int64_t in_pitch : {cols, cols + 2, cols + 3}) {
    for (const std::int64_t out_pitch : {rows, rows + 3, rows + 6}) {
      for (const std::int64_t shift : {0, 1, 8}) {
        const Window w = {rows, cols, in_pitch, out_pitch, shift, 8 - shift};
        expect_window<TypeParam>(transpose, w,
                                 noise<TypeParam>(extent(shift, rows, in_pitch, cols), 11));
      }
    }
  }
}

/// Each byte of the index in turn, so that elements of one byte are distinguished as well.
TYPED_TEST(AnyMatrix, EachElementAtItsPlace) {
  NEEDS_TRANSPOSE(gpu);
  for (const Size& size : shapes_here(*gpu)) {
    const Window w = {size["rows"], size["cols"], size["cols"], size["rows"], 0, 0};
    for (int shift = 0; (w.rows * w.cols) >> shift != 0; shift += 8 * int{sizeof(TypeParam)}) {
      expect_window<TypeParam>(transpose, w, indices<TypeParam>(w.rows * w.cols, shift));
      if (sizeof(TypeParam) >= 4) break;
    }
  }
}

/// Negative sizes and rows longer than their distance are refused, and nothing is written.
TYPED_TEST(AnyMatrix, RefusesBadSizes) {
  NEEDS_TRANSPOSE(gpu);
  const Buffer in(64 * 64 * sizeof(TypeParam)), out(64 * 64 * sizeof(TypeParam));
  COURSE_CHECK(cudaMemset(out.data(), 0xA5, out.bytes()));
  const auto call = [&](std::int64_t rows, std::int64_t cols, std::int64_t in_pitch,
                        std::int64_t out_pitch) {
    return transpose(static_cast<const TypeParam*>(in.data()), in_pitch,
                     static_cast<TypeParam*>(out.data()), out_pitch, rows, cols, nullptr);
  };
  EXPECT_EQ(call(20, 30, 29, 20), cudaErrorInvalidValue) << "in_pitch < cols";
  EXPECT_EQ(call(20, 30, 30, 19), cudaErrorInvalidValue) << "out_pitch < rows";
  EXPECT_EQ(call(20, 30, 20, 30), cudaErrorInvalidValue) << "pitches of the wrong sides";
  EXPECT_EQ(call(20, 30, -30, 20), cudaErrorInvalidValue);
  EXPECT_EQ(call(20, 30, 30, -20), cudaErrorInvalidValue);
  EXPECT_EQ(call(20, 30, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(call(-1, 30, 30, 20), cudaErrorInvalidValue);
  EXPECT_EQ(call(20, -1, 30, 20), cudaErrorInvalidValue);
  EXPECT_EQ(call(-20, -30, 30, 20), cudaErrorInvalidValue);
  EXPECT_EQ(call(0, 30, 30, 0), cudaSuccess) << "no rows";
  EXPECT_EQ(call(20, 0, 0, 20), cudaSuccess) << "no columns";
  EXPECT_EQ(call(0, 0, 0, 0), cudaSuccess);
  EXPECT_EQ(to_host<unsigned char>(out.data(), static_cast<std::int64_t>(out.bytes())),
            std::vector<unsigned char>(out.bytes(), 0xA5));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

/// More tiles in one direction than a grid has blocks in y or z (65535).
TEST(Special, MoreTilesThanAGridIsHigh) {
  COURSE_NEEDS_GPU(gpu);
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  const Study study = sequence();
  const std::int64_t many = std::int64_t{65536} * 64 + 4;
  for (const Size& size :
       {matrix(many, 4), matrix(4, many), matrix(many + 1, 1), matrix(1, many + 1)}) {
    std::vector<float> in(static_cast<std::size_t>(size["rows"] * size["cols"]));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % (1 << 24));
    for_each_version(study, size, *gpu, [&](const Version& v) { expect_bits(study, v, size, in); });
  }
  TransposePitched<std::uint8_t>* const transpose = any_matrix::transpose;
  if (transpose == nullptr) return;
  const std::int64_t bytes = std::int64_t{65536} * 256 + 3;
  expect_window<std::uint8_t>(transpose, {bytes, 1, 1, bytes, 0, 0}, noise<std::uint8_t>(bytes, 1));
  expect_window<std::uint8_t>(transpose, {1, bytes, bytes, 1, 0, 0}, noise<std::uint8_t>(bytes, 2));
}

/// Compares rows of a large output, `cols` of them, with value(random, 1, i) of the input.
template <class T>
void expect_rows(const T* out, std::int64_t rows, std::int64_t cols, bool copied) {
  // The first and last rows, those at edges of tiles, those around the element 2^31 and 2^32.
  std::vector<std::int64_t> chosen = {0, 1, 31, 32, 63, 64, 255, 256, cols / 2, cols - 2, cols - 1};
  for (const std::int64_t element : {std::int64_t{1} << 31, std::int64_t{1} << 32}) {
    for (std::int64_t c = element / rows - 1; c <= element / rows + 1; ++c) {
      if (c < cols) chosen.push_back(c);
    }
  }
  for (const std::int64_t c : chosen) {
    const auto got = to_host<T>(out + c * rows, rows);
    std::int64_t wrong = 0, first = -1;
    for (std::int64_t r = 0; r < rows; ++r) {
      const T want = course::value<T>(Input::random, 1, copied ? c * rows + r : r * cols + c);
      if (got[static_cast<std::size_t>(r)] == want) continue;
      if (wrong++ == 0) first = r;
    }
    EXPECT_EQ(wrong, 0) << "in row " << c << " of the output, first at " << first;
  }
}

/// Elements beyond the reach of 32 bits.
TEST(Special, MoreThanTwoGigaElements) {
  COURSE_NEEDS_GPU(gpu);
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  const std::int64_t rows = 50004, cols = 50000;
  if (course::free_device_bytes() < 22000000000) GTEST_SKIP() << "needs 22 GB of free memory";
  const Study study = sequence();
  const Size size = matrix(rows, cols);
  const Buffer in(static_cast<std::size_t>(rows * cols) * sizeof(float));
  Buffer out(in.bytes());
  course::fill({"in", rows * cols, course::Type::f32, 1}, Input::random, in.data(), nullptr);
  for_each_version(study, size, *gpu, [&](const Version& v) {
    if (v.role == Role::peer) return;  // its indices have 32 bits
    out.poison();
    COURSE_CHECK(launch(study, v, size, in.data(), out.data()));
    expect_rows(static_cast<const float*>(out.data()), rows, cols, copies(v));
  });
}

/// The same for elements of one byte, more than 2^32 of them.
TEST(Special, MoreThanFourGigaBytes) {
  COURSE_NEEDS_GPU(gpu);
  if (gpu->simulated) GTEST_SKIP() << "too large for the CPU backend";
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  TransposePitched<std::uint8_t>* const transpose = any_matrix::transpose;
  if (transpose == nullptr) GTEST_SKIP() << "10_any is not in this build";
  const std::int64_t rows = 70001, cols = 70003;
  if (course::free_device_bytes() < 11000000000) GTEST_SKIP() << "needs 11 GB of free memory";
  const Buffer in(static_cast<std::size_t>(rows * cols));
  Buffer out(in.bytes());
  out.poison();
  course::fill({"in", rows * cols, course::Type::u8, 1}, Input::random, in.data(), nullptr);
  COURSE_CHECK(transpose(static_cast<const std::uint8_t*>(in.data()), cols,
                         static_cast<std::uint8_t*>(out.data()), rows, rows, cols, nullptr));
  expect_rows(static_cast<const std::uint8_t*>(out.data()), rows, cols, false);
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const course_test::SkipReason reason = [](const Study& study) {
    return study.name == "windows" && course::under_initcheck()
               ? "the gaps are seen by poison, and initcheck looks for unwritten memory itself"
               : "";
  };
  course_test::register_chapter(course::chapter(), inputs, reason);
  course_test::register_contracts(course::chapter(), reason);
  return RUN_ALL_TESTS();
}
