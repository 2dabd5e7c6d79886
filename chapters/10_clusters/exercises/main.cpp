// The program behind an exercise: one file of yours, beside the version that it has to beat. Passed
// means: right on every size below, and, where the exercise asks for it, fast enough: by its rate
// on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "clusters.hpp"
#include "exercise/exercise.hpp"

COURSE_LAUNCHERS(FloatsToFloats, (add_rings, sum), exercise);
COURSE_LAUNCHERS(Histogram, (histogram), exercise, windows);
COURSE_LAUNCHERS(RanksBy, (rank_of_each), exercise, multicast);
COURSE_LAUNCHERS(Ranks, (rank_of_each), exercise);

namespace {

using namespace course;

std::vector<Size> sizes(const char* second, const std::vector<std::vector<std::int64_t>>& list) {
  std::vector<Size> all;
  for (const auto& v : list) {
    Size size{{{"n", v[0]}, {second, v[1]}}};
    if (v.size() > 2) size.dimensions.push_back({"size", v[2]});
    all.push_back(size);
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "10_clusters";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{8252, 28672, 128}, {2562, 148, 52},    {26781, 26280, 276},
                        {8252, 14336, 72},  {25600, 91411, 39}, {31485, 24912, 139}};
  const int number = exercise.number;
  if (number == 1 || number == 4) {
    exercise.make = make_problem<RingProblem>();
    FloatsToFloats* const add_rings = exercise::add_rings;
    exercise.yours = row("yours", "your version", add_rings);
    exercise.test_sizes = sizes_of_n({32768, 1, 4097, 33001, 0, 32769});
    exercise.room.in_turn = 2;  // a block does a ring's work alone in three times as many
    exercise.size = {{{"n", std::int64_t{1} << 28}}};
  } else if (number == 2) {
    exercise.make = make_problem<SumProblem>();
    FloatsToFloats* const sum = exercise::sum;
    exercise.yours = row("yours", "your version", sum);
    exercise.test_sizes = sizes_of_n({1024, 1, 33, 4097, 20483, 0, 8192});
    exercise.size = {{{"n", 1 << 14}}};
  } else if (number == 3) {
    exercise.make = make_problem<RankProblem>();
    RanksBy* const ranks = exercise::rank_of_each;
    exercise.yours = row("yours", "your version", ranks);
    exercise.test_sizes = sizes(
        "m", {{4096, 4, 4}, {3, 5, 2}, {70001, 9, 4}, {40961, 3, 8}, {0, 2, 2}, {8192, 2, 2}});
    exercise.size = {{{"n", 1 << 22}, {"m", 1056}, {"size", 4}}};
  } else if (number == 5) {
    exercise.make = make_problem<HistogramProblem>();
    Histogram* const histogram = exercise::histogram;
    exercise.yours = row("yours", "your version", histogram);
    exercise.test_sizes =
        sizes("bins", {{4099, 255}, {1, 1}, {4099, 58111}, {0, 7}, {9001, 1000}, {3 << 16, 4096}});
    exercise.size = {{{"n", 1 << 22}, {"bins", 58000}}};
    exercise.compared = row("02_windows", "shared memory, a window per block", windows::histogram);
    exercise.least_ratio = 1.15;
    // Four clusters add 4096 counters each, by warps, for 3 2^16 samples: a twelfth per 32.
    exercise.most.atomic_requests = 0.085;
    exercise.room.in_turn = 2;
  } else {
    exercise.make = make_problem<RankProblem>();
    Ranks* const ranks = exercise::rank_of_each;
    exercise.yours = row("yours", "your version", ranks, {"n", "m"});
    exercise.test_sizes = sizes(
        "m", {{8192, 4, 1}, {3, 5, 1}, {70001, 9, 1}, {40961, 3, 1}, {0, 2, 1}, {1 << 16, 16, 1}});
    exercise.size = {{{"n", 1 << 22}, {"m", 1056}, {"size", 1}}};
    RanksBy* const alone = multicast::rank_of_each;
    exercise.compared = row("06_multicast", "clusters of one block", alone, {"n", "m", "size"});
    exercise.least_ratio = 1.3;
    exercise.most.load_requests = 0.5;  // only queries are loaded by threads
    // 16 queries in clusters of four: each value is read four times.
    exercise.most.bulk_bytes_per_element = 16;
  }
  return run_exercise(argc, argv, exercise);
}
