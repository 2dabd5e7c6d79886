// The versions of this chapter and its studies: the one list behind tables, tests and plots.
#include <memory>

#include "anchors.hpp"
#include "chapter.hpp"
#include "vector_add.hpp"

using course::Arguments;
using course::Problem;
using course::Role;
using course::Size;
using course::Study;
using course::Version;

/// The launcher of every version of the sequence.
using Add = cudaError_t(const float* a, const float* b, float* c, std::int64_t n,
                        cudaStream_t stream);

namespace one_thread {
COURSE_OPTIONAL Add add;
}
namespace one_thread_per_element {
COURSE_OPTIONAL Add add;
}
namespace grid_stride {
COURSE_OPTIONAL Add add;
}
namespace unrolled_x2 {
COURSE_OPTIONAL Add add;
}
namespace unrolled_x4 {
COURSE_OPTIONAL Add add;
}
namespace vectors {
COURSE_OPTIONAL Add add;
}
namespace vectors_unrolled {
COURSE_OPTIONAL Add add;
}
namespace limit {
COURSE_OPTIONAL Add add;
}
namespace cub_transform {
COURSE_OPTIONAL Add add;
}

using AddInFlight = cudaError_t(const float* a, const float* b, float* c, std::int64_t n, int kib,
                                cudaStream_t stream);
namespace in_flight_study {
COURSE_OPTIONAL AddInFlight by_threads, by_unrolling;
}
namespace in_flight_bulk_study {
COURSE_OPTIONAL AddInFlight by_bulk_copies;
}

using Copy = cudaError_t(const float* in, float* out, std::int64_t n, std::int64_t step,
                         cudaStream_t stream);
namespace stride_study {
COURSE_OPTIONAL Copy copy;
}
namespace offset_study {
COURSE_OPTIONAL Copy copy;
}

using MakeGrey = cudaError_t(const float* in, float* out, std::int64_t n, cudaStream_t stream);
namespace layout_study {
COURSE_OPTIONAL MakeGrey array_of_structures, structure_of_arrays;
}

using AddLoads = cudaError_t(const float* x, const float* y, const float* z, float* out,
                             std::int64_t n, int loads, cudaStream_t stream);
namespace loads_study {
COURSE_OPTIONAL AddLoads add;
}

namespace {

Version row(const char* id, const char* title, Add* add, Role role = Role::version,
            int capability = 0) {
  Version version{id, title, {}, role};
  version.needs.capability = capability;
  if (add) {
    version.launch = [add](const Problem& p, const Arguments& a) {
      return add(a.in<float>(0), a.in<float>(1), a.out<float>(0), p.n(), a.stream);
    };
  }
  return version;
}

/// cudaMemcpy moving as many bytes as the addition: 6n read and 6n written.
Version memcpy_row() {
  Version version = course::memcpy_version("91_memcpy", Role::peer);
  version.make = [](const Size& size, std::uint64_t seed, course::Input input) {
    return std::make_unique<course::CopyProblem>(Size{{{"n", size["n"] * 3 / 2}}}, seed, input);
  };
  return version;
}

std::vector<Size> test_sizes(const std::vector<std::pair<std::string, std::int64_t>>& more = {}) {
  std::vector<Size> sizes;
  for (const std::int64_t n :
       {0,   1,   2,    3,    4,    5,    31,   32,    33,      255,
        256, 257, 1023, 1024, 1025, 4095, 4097, 65537, 1000003, (1 << 22) + 1}) {
    Size size{{{"n", n}}};
    for (const auto& dimension : more) size.dimensions.push_back(dimension);
    sizes.push_back(size);
  }
  return sizes;
}

Study sequence() {
  Study study;
  study.name = "sequence";
  study.title = "Vector add, from one thread to the limit";
  study.make = course::make_problem<VectorAdd>();
  study.versions = {
      row("01_one_thread", "one block of one thread", one_thread::add),
      row("02_one_thread_per_element", "one thread an element", one_thread_per_element::add),
      row("03_grid_stride", "grid-stride loop", grid_stride::add),
      row("04_unrolled_x2", "two elements a thread", unrolled_x2::add),
      row("05_unrolled_x4", "four elements a thread", unrolled_x4::add),
      row("06_vectors", "one float4 a thread", vectors::add),
      row("07_vectors_unrolled", "two float4 a thread", vectors_unrolled::add),
      row("80_limit", "bulk copies, 48 KiB in flight", limit::add, Role::version, 90),
      row("90_cub", "CUB DeviceTransform", cub_transform::add, Role::peer),
      memcpy_row(),
  };
  study.versions[8].needs.library = "CUB";
  study.sizes = {Size{{{"n", std::int64_t{1} << 28}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study size_sweep() {
  Study study = sequence();
  study.name = "size";
  study.title = "Rate over size, L2 cold";
  study.versions.erase(study.versions.begin() + 6);
  study.versions.erase(study.versions.begin() + 2, study.versions.begin() + 5);
  study.versions.erase(study.versions.begin());
  study.versions.pop_back();
  study.sizes.clear();
  for (int k = 10; k <= 30; ++k) study.sizes.push_back(Size{{{"n", std::int64_t{1} << k}}});
  study.test_sizes.clear();  // the sequence tests the same launchers
  study.axis = "n";
  study.axis_label = "floats in each array";
  return study;
}

Version in_flight_row(const char* id, const char* title, AddInFlight* add, std::vector<int> takes,
                      int capability = 0) {
  Version version{id, title};
  version.needs.capability = capability;
  version.takes = [takes](const Size& size) {
    for (const int kib : takes) {
      if (kib == size["kib"]) return true;
    }
    return false;
  };
  if (add) {
    version.launch = [add](const Problem& p, const Arguments& a) {
      return add(a.in<float>(0), a.in<float>(1), a.out<float>(0), p.n(),
                 static_cast<int>(p.size()["kib"]), a.stream);
    };
  }
  return version;
}

Study in_flight() {
  Study study;
  study.name = "in_flight";
  study.title = "Bandwidth over bytes in flight per SM";
  study.make = course::make_problem<VectorAdd>();
  study.versions = {
      in_flight_row("by_threads", "more threads", in_flight_study::by_threads,
                    {2, 4, 6, 8, 10, 12, 14, 16}),
      in_flight_row("by_unrolling", "more loads a thread", in_flight_study::by_unrolling,
                    {16, 32, 48, 64, 96, 128}),
      in_flight_row("by_bulk_copies", "bulk copies", in_flight_bulk_study::by_bulk_copies,
                    {8, 16, 24, 32, 40, 48, 56, 64, 96, 128}, 90),
  };
  for (const int kib : {2, 4, 6, 8, 10, 12, 14, 16, 24, 32, 40, 48, 56, 64, 96, 128}) {
    study.sizes.push_back(Size{{{"n", std::int64_t{1} << 28}, {"kib", kib}}});
  }
  for (const int kib : {2, 14, 16, 48, 128}) {
    for (const std::int64_t n : {1, 257, 1025, 1000003})
      study.test_sizes.push_back(Size{{{"n", n}, {"kib", kib}}});
  }
  study.axis = "kib";
  study.axis_label = "KiB of loads in flight per SM (by construction)";
  return study;
}

Version copy_row(const char* id, const char* title, Copy* copy, const char* dimension) {
  Version version{id, title};
  if (copy) {
    version.launch = [copy, dimension](const Problem& p, const Arguments& a) {
      return copy(a.in<float>(0), a.out<float>(0), p.n(), p.size()[dimension], a.stream);
    };
  }
  return version;
}

Study stride() {
  Study study;
  study.name = "stride";
  study.title = "Copy every s-th float";
  study.make = course::make_problem<StridedCopy>();
  study.versions = {
      copy_row("strided_copy", "out[i] = in[i * stride]", stride_study::copy, "stride")};
  for (const int s : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}) {
    study.sizes.push_back(Size{{{"n", 1 << 25}, {"stride", s}}});
  }
  for (const int s : {1, 3, 32}) {
    for (const Size& size : test_sizes({{"stride", s}})) study.test_sizes.push_back(size);
  }
  study.axis = "stride";
  study.axis_label = "stride in floats";
  return study;
}

Study offset() {
  Study study;
  study.name = "offset";
  study.title = "Copy from the middle of a sector";
  study.make = course::make_problem<ShiftedCopy>();
  study.versions = {
      copy_row("shifted_copy", "out[i] = in[i + offset]", offset_study::copy, "offset")};
  for (const int o : {0, 1, 2, 4, 7, 8, 12, 16, 24, 31, 32}) {
    study.sizes.push_back(Size{{{"n", 1 << 28}, {"offset", o}}});
  }
  for (const int o : {0, 1, 31}) {
    for (const Size& size : test_sizes({{"offset", o}})) study.test_sizes.push_back(size);
  }
  study.axis = "offset";
  study.axis_label = "offset in floats";
  study.log_axis = false;
  return study;
}

Study layout() {
  const auto grey_row = [](const char* id, const char* title, MakeGrey* make_grey,
                           bool structures) {
    Version version{id, title};
    version.make = [structures](const Size& size, std::uint64_t seed, course::Input input) {
      return std::make_unique<Grey>(size, seed, input, structures);
    };
    if (make_grey) {
      version.launch = [make_grey](const Problem& p, const Arguments& a) {
        return make_grey(a.in<float>(0), a.out<float>(0), p.n(), a.stream);
      };
    }
    return version;
  };
  Study study;
  study.name = "layout";
  study.title = "Three of eight fields: array of structures, structure of arrays";
  study.versions = {
      grey_row("array_of_structures", "fields side by side", layout_study::array_of_structures,
               true),
      grey_row("structure_of_arrays", "an array a field", layout_study::structure_of_arrays, false),
  };
  study.make = study.versions.back().make;
  study.sizes = {Size{{{"n", 1 << 26}}}};
  study.test_sizes = test_sizes();
  return study;
}

Study loads() {
  Study study;
  study.name = "loads";
  study.title = "The simple kernel with one, two and three loads a thread";
  study.make = course::make_problem<SumOfLoads>();
  Version version{"simple_kernel", "one element a thread"};
  if (loads_study::add) {
    version.launch = [](const Problem& p, const Arguments& a) {
      return loads_study::add(a.in<float>(0), a.in<float>(1), a.in<float>(2), a.out<float>(0),
                              p.n(), static_cast<int>(p.size()["loads"]), a.stream);
    };
  }
  study.versions = {version};
  for (const int k : {1, 2, 3}) {
    study.sizes.push_back(Size{{{"n", 1 << 28}, {"loads", k}}});
    for (const Size& size : test_sizes({{"loads", k}})) study.test_sizes.push_back(size);
  }
  study.axis = "loads";
  study.axis_label = "loads a thread";
  study.log_axis = false;
  return study;
}

}  // namespace

course::Chapter course::chapter() {
  return {"01_vector_add",
          "c = a + b",
          {sequence(), in_flight(), loads(), stride(), offset(), layout(), size_sweep()}};
}
