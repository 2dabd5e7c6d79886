// Chapter 04: the choice of 80 at all kinds of shapes, and products that are too large for a
// reference: random projections of all of them, and elements beyond the reach of 32 bits.
#include "04_matmul_test.hpp"
#include "device/buffer.hpp"
#include "device/cuda_check.hpp"

namespace {

using namespace matmul_test;

/// 80 chooses a kernel by the shape: tiny, flat, tall, deep, and between. On a small GPU, as the
/// CPU backend simulates it, it chooses other kernels for the same shapes than on a large one.
TEST(Special, RecordAtAnyShape) {
  COURSE_NEEDS_GPU(gpu);
  IN_ONE_ORDER();
  std::vector<Case> cases = {{1, 1, 1},     {2, 2, 2},     {1, 700, 3},   {700, 1, 3},
                             {1, 1, 5000},  {3, 3, 3000},  {1, 64, 9},    {64, 64, 65},
                             {65, 65, 129}, {17, 300, 40}, {300, 17, 9},  {129, 1, 1},
                             {9, 9, 7},     {9, 9, 15},    {130, 260, 17}};
  if (!slow(*gpu)) {
    for (const Case& of : std::vector<Case>{{1, 1, 200000},
                                            {1, 5000, 5000},
                                            {5000, 1, 5000},
                                            {1, 100000, 1},
                                            {100000, 1, 1},
                                            {64, 64, 100003},
                                            {128, 128, 4099},
                                            {1000, 1000, 8},
                                            {640, 640, 640},
                                            {1100, 900, 300},
                                            {1, 2, 131071},
                                            {200, 3000, 100}}) {
      cases.push_back(of);
    }
  }
  for (Case of : cases) {
    expect_right(*gpu, of, [](const Form& form) { return form.is_record(); });
    of.beta = -1, of.gap_a = 1, of.shift_c = 3;
    expect_right(*gpu, of, [](const Form& form) { return form.is_record(); });
  }
}

/// Random integers for a projection. A wrong row stays undetected with a chance below 2^-15.
std::vector<std::int64_t> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<std::int64_t>(course::mix(seed, static_cast<std::uint64_t>(i)) >> 48) -
                32768);
  }
  return x;
}

/// M x, exact, for integers; *odd counts the values that are no integer, or above 2^24.
std::vector<std::int64_t> times(const Values& matrix, const std::vector<std::int64_t>& x,
                                std::int64_t rows, std::int64_t* odd) {
  const auto cols = static_cast<std::int64_t>(x.size());
  std::vector<std::int64_t> y(static_cast<std::size_t>(rows));
  *odd += course::total_of<std::int64_t>(rows, [&](std::int64_t first, std::int64_t last) {
    std::int64_t strange = 0;
    for (std::int64_t r = first; r < last; ++r) {
      const float* const row = matrix.data() + r * cols;
      std::int64_t sum = 0;
      for (std::int64_t c = 0; c < cols; ++c) {
        const bool whole = std::fabs(row[c]) <= 0x1p24f && std::floor(row[c]) == row[c];
        strange += whole ? 0 : 1;
        sum += whole ? static_cast<std::int64_t>(row[c]) * x[static_cast<std::size_t>(c)] : 0;
      }
      y[static_cast<std::size_t>(r)] = sum;
    }
    return strange;
  });
  return y;
}

/// Freivalds' check: C x is A (B x), for a random x. All elements are used, in a time that is
/// negligible compared with the product's; integers, so there is no tolerance.
TEST(Special, ProjectionsOfLargeProducts) {
  COURSE_NEEDS_GPU(gpu);
  COURSE_ABOUT_VALUES();
  IN_ONE_ORDER();
  std::vector<Case> cases = {{140, 131, 26, 1, 0, 1, 1, 1}};
  if (!gpu->simulated) {
    cases = {{4096, 4096, 4096}, {4099, 4097, 4093, 1, 0, 0, 3, 1},
             {2049, 8191, 1025}, {100003, 65, 515},
             {67, 100003, 509},  {511, 1021, 32749},
             {8388613, 3, 2},    {2, 8388611, 3},
             {1, 1, 262143},     {65, 33, 200003},
             {8192, 8192, 64},   {1021, 7, 40099}};
  }
  for (const Case& of : cases) {
    SCOPED_TRACE(text(of));
    const Matrices in(of);
    const std::vector<std::int64_t> x = random_vector(of.n, 77);
    std::int64_t odd = 0;
    const auto want = times(in.a, times(in.b, x, of.k, &odd), of.m, &odd);
    ASSERT_EQ(odd, 0);
    Placed placed(of, in);
    for_each_form(*gpu, [&](const Form& form) {
      placed.c.reset();
      ASSERT_EQ(placed.launch(form, of), cudaSuccess);
      std::int64_t strange = 0;
      const auto got = times(placed.c.values(), x, of.m, &strange);
      EXPECT_EQ(strange, 0) << "elements that are no whole numbers";
      std::int64_t wrong = 0, first = -1;
      for (std::size_t r = 0; r < got.size(); ++r) {
        if (got[r] != want[r] && wrong++ == 0) first = static_cast<std::int64_t>(r);
      }
      EXPECT_EQ(wrong, 0) << "rows of C, first " << first;
    });
  }
}

#ifndef SIMT  // too large for a CPU
/// Copies a dense host matrix to a window on the device, or back.
void copy_window(float* window, std::int64_t pitch, Values* values, std::int64_t rows,
                 std::int64_t cols, bool to_device) {
  const auto row = static_cast<std::size_t>(cols) * sizeof(float);
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const there = window + r * pitch;
    float* const here = values->data() + r * cols;
    COURSE_CHECK(to_device ? cudaMemcpy(there, here, row, cudaMemcpyHostToDevice)
                           : cudaMemcpy(here, there, row, cudaMemcpyDeviceToHost));
  }
}

/// All three in one matrix of NaN with rows so long that element 2^31 is in row 127: 130 rows.
/// Without the library, which need not support such distances.
TEST(Special, LeadingDimensionsOfMillions) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (course::free_device_bytes() < 10000000000) GTEST_SKIP() << "needs 10 GB of free memory";
  const Case of{130, 130, 130, 2, -3};
  Matrices in(of);
  const Values want = reference(of, in);
  for (const std::int64_t more : {0, 1}) {  // with 16-byte accesses and without
    const std::int64_t pitch = 17000000 + more;
    course::Buffer memory(static_cast<std::size_t>(130 * pitch) * sizeof(float));
    memory.poison();
    float* const a = static_cast<float*>(memory.data());
    float *const b = a + 4000 + more, *const c = b + 4000;
    copy_window(a, pitch, &in.a, of.m, of.k, true);
    copy_window(b, pitch, &in.b, of.k, of.n, true);
    for_each_form(*gpu, [&](const Form& form) {
      if (form.is_peer()) return;
      copy_window(c, pitch, &in.c, of.m, of.n, true);
      ASSERT_EQ(
          form.launcher(a, b, c, of.m, of.n, of.k, pitch, pitch, pitch, of.alpha, of.beta, nullptr),
          cudaSuccess);
      Values got(want.size()), around(static_cast<std::size_t>(of.m * (of.n + 16)));
      copy_window(c, pitch, &got, of.m, of.n, false);
      EXPECT_EQ(difference(of, got, want), "");
      copy_window(c - 8, pitch, &around, of.m, of.n + 16, false);
      EXPECT_EQ(std::count_if(around.begin(), around.end(), [](float x) { return std::isnan(x); }),
                of.m * 16)
          << "written beside C";
    });
  }
}

/// C with more than 2^31 elements; the rows around element 2^31 and others are compared.
TEST(Special, MoreThanTwoGigaElements) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "too large for a sanitizer";
  if (course::free_device_bytes() < 10000000000) GTEST_SKIP() << "needs 10 GB of free memory";
  const Case of{46400, 46347, 5};
  Values a = integers(of.m * of.k, 1), b = integers(of.k * of.n, 2);
  const course::Buffer a_there = course_test::to_device(a), b_there = course_test::to_device(b);
  course::Buffer c_there(static_cast<std::size_t>(of.m * of.n) * sizeof(float));
  const std::int64_t middle = (std::int64_t{1} << 31) / of.n;
  for_each_form(*gpu, [&](const Form& form) {
    if (form.is_peer()) return;
    c_there.poison();
    float* const c = static_cast<float*>(c_there.data());
    ASSERT_EQ(form.launcher(static_cast<const float*>(a_there.data()),
                            static_cast<const float*>(b_there.data()), c, of.m, of.n, of.k, of.k,
                            of.n, of.n, of.alpha, of.beta, nullptr),
              cudaSuccess);
    for (const std::int64_t row :
         {std::int64_t{0}, std::int64_t{127}, middle - 1, middle, middle + 1, of.m - 1}) {
      const Case one{1, of.n, of.k};
      Matrices in(one);
      in.a.assign(a.begin() + row * of.k, a.begin() + (row + 1) * of.k);
      in.b = b;
      EXPECT_EQ(
          difference(one, course_test::to_host<float>(c + row * of.n, of.n), reference(one, in)),
          "")
          << "in row " << row;
    }
  });
}
#endif

}  // namespace
