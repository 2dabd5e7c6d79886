// Chapter 09: every version on every test size and family of inputs, held to its contract; what is
// special about this chapter, the rules of tensor maps, comes between the includes and main().
#include <algorithm>
#include <functional>
#include <string>

#include "../chapters/09_tma/tensor_map.hpp"
#include "chapter_test.hpp"
#include "contract.hpp"

namespace {

using tensor_map::Description;

/// A matrix of 64 x 64 floats, in boxes of 8 x 16, somewhere.
Description good() {
  return tensor_map::matrix(reinterpret_cast<const float*>(std::uintptr_t{1} << 20), 64, 64, 8, 16);
}

TEST(TensorMap, TakesWhatIsFine) {
  EXPECT_EQ(tensor_map::broken_rule(good()), "");
  Description d = good();
  d.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  EXPECT_EQ(tensor_map::broken_rule(d), "");
  d.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  EXPECT_EQ(tensor_map::broken_rule(d), "");
  d = good();
  d.box[0] = d.box[1] = 128;  // larger than the matrix
  EXPECT_EQ(tensor_map::broken_rule(d), "");
  d.axes = 1;
  EXPECT_EQ(tensor_map::broken_rule(d), "");
  d = good();
  d.size[1] = std::uint64_t{1} << 32;
  EXPECT_EQ(tensor_map::broken_rule(d), "");
}

struct Broken {
  const char* name;
  std::function<void(Description&)> change;
  const char* says;  ///< rule and value
  const char* cure;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

const Broken all_rules[] = {
    {"PackedType", [](Description& d) { d.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }, "type 13",
     "1, 2, 4 or 8 bytes"},
    {"NoAxis", [](Description& d) { d.axes = 0; }, "0 axes", "1 to 5"},
    {"SixAxes", [](Description& d) { d.axes = 6; }, "6 axes", "1 to 5"},
    {"InterleaveOfTwo", [](Description& d) { d.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; },
     "2 axes with an interleave", "3 to 5"},
    {"NullAddress", [](Description& d) { d.address = nullptr; }, "null", "device memory"},
    {"Address", [](Description& d) { d.address = static_cast<const char*>(d.address) + 24; },
     "8 bytes after a multiple of 16", "coordinates"},
    {"SizeZero", [](Description& d) { d.size[1] = 0; }, "the size of axis 1 is 0", "1 to 2^32"},
    {"SizeTooLarge", [](Description& d) { d.size[0] = (std::uint64_t{1} << 32) + 1; },
     "the size of axis 0 is 4294967297", "1 to 2^32"},
    {"StrideOfBytes", [](Description& d) { d.stride[0] = 260; }, "the stride of axis 1 is 260",
     "multiple of 16"},
    {"StrideTooLarge", [](Description& d) { d.stride[0] = std::uint64_t{1} << 40; },
     "the stride of axis 1 is 1099511627776", "2^40"},
    {"StrideInElements", [](Description& d) { d.stride[0] = 64; }, "the stride of axis 1 is 64",
     "in bytes"},
    {"BoxZero", [](Description& d) { d.box[1] = 0; }, "the box of axis 1 is 0", "1 to 256"},
    {"BoxTooLarge", [](Description& d) { d.box[1] = 257; }, "the box of axis 1 is 257",
     "several boxes"},
    {"BoxRow", [](Description& d) { d.box[0] = 6; }, "24 bytes", "a box of 8 elements"},
    {"BoxTooManyBytes", [](Description& d) { d.box[0] = d.box[1] = 256; }, "262144 bytes",
     "227 KiB"},
    {"StepZero", [](Description& d) { d.every[1] = 0; }, "the element stride of axis 1 is 0",
     "1 to 8"},
    {"StepNine", [](Description& d) { d.every[1] = 9; }, "the element stride of axis 1 is 9",
     "1 to 8"},
    {"StepAlongRow", [](Description& d) { d.every[0] = 2; }, "the element stride of axis 0 is 2",
     "ignores"},
    {"SwizzleTooShort", [](Description& d) { d.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; },
     "64 bytes, and swizzle 32B", "a larger swizzle"},
    {"SwizzleOfLater", [](Description& d) { d.swizzle = static_cast<CUtensorMapSwizzle>(4); },
     "swizzle 4", "NONE, 32B, 64B or 128B"},
    {"NanOfWholeNumbers",
     [](Description& d) {
       d.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
       d.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
     },
     "NaN", "zeros"},
    {"InterleaveSwizzle",
     [](Description& d) {
       d.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
       d.axes = 3;
       d.stride[1] = 64 * d.stride[0];
     },
     "INTERLEAVE_32B", "SWIZZLE_32B"},
};

class Rules : public testing::TestWithParam<Broken> {};
TEST_P(Rules, NameValueAndCure) {
  Description d = good();
  GetParam().change(d);
  const std::string rule = tensor_map::broken_rule(d);
  EXPECT_NE(rule.find(GetParam().says), std::string::npos) << rule;
  EXPECT_NE(rule.find(GetParam().cure), std::string::npos) << rule;
  EXPECT_EQ(rule.find('\n'), std::string::npos) << "one line";
  CUtensorMap map;
  std::string why;
  EXPECT_EQ(tensor_map::make(&map, d, &why), cudaErrorInvalidValue);
  EXPECT_EQ(why, rule);
}
INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(all_rules),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(TensorMap, CountsAllBytesOfABox) {
  Description d = good();
  EXPECT_EQ(tensor_map::bytes_of_box(d), 8u * 16 * 4);
  d.every[1] = 3;
  EXPECT_EQ(tensor_map::bytes_of_box(d), 3u * 16 * 4);
  d.every[1] = 1;
  d.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;  // rows of 64 bytes become rows of 128
  EXPECT_EQ(tensor_map::bytes_of_box(d), 8u * 16 * 4);
  EXPECT_EQ(tensor_map::footprint(d), 8u * 128);
}

/// initcheck of compute-sanitizer does not see what the TMA writes to global memory: it would
/// report the results of rows that store by bulk copies as uninitialised. The other three tools
/// test these rows.
const char* const stored_by_orders[] = {"02_bulk_store",    "04_tensor_map", "05_fill",
                                        "06_every_kth_row", "chunk_1k",      "chunk_4k",
                                        "chunk_16k",        "chunk_64k",     "prefetch"};

course::Chapter tested() {
  course::Chapter chapter = course::chapter();
  if (!course::under_sanitizer("initcheck")) return chapter;
  for (const char* id : stored_by_orders) {
    testing::GTEST_FLAG(filter) += std::string(":*.") + id;  // the filter ends with exceptions
    for (course::Study& study : chapter.studies) {
      auto& rows = study.versions;
      rows.erase(std::remove_if(rows.begin(), rows.end(),
                                [&](const course::Version& row) { return row.id == id; }),
                 rows.end());
    }
    std::printf("initcheck: without %s, which stores by orders\n", id);
  }
  return chapter;
}

}  // namespace

int main(int argc, char** argv) {
  course_test::take_order(&argc, argv);
  testing::InitGoogleTest(&argc, argv);
  course_test::register_chapter(
      course::chapter(), {course::Input::random, course::Input::integers, course::Input::denormal});
  course_test::register_contracts(tested());
  return RUN_ALL_TESTS();
}
