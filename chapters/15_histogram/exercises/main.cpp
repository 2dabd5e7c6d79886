// The program behind an exercise: one file of yours, next to the version that it has to match or to
// beat. Passed means: right on every size below, and, where the exercise asks for it, fast enough:
// by its rate on a GPU, by what is counted on the CPU backend.
#include "chapter/rows.hpp"
#include "exercise/exercise.hpp"
#include "histogram.hpp"

using Words = Histogram<std::uint32_t>;
using Bytes = Histogram<std::uint8_t>;
COURSE_LAUNCHERS(Words, (histogram), exercise, global_atomics, shared_counters);
COURSE_LAUNCHERS(HistogramBy, (histogram_by), exercise);
COURSE_LAUNCHERS(Bytes, (histogram), exercise, bytes);

using Equalise = cudaError_t(const std::uint8_t* pixels, const unsigned* counts,
                             std::uint8_t* table, std::uint8_t* out, std::int64_t n,
                             cudaStream_t stream);
COURSE_LAUNCHERS(Equalise, (equalise), exercise);

using AddWeights = cudaError_t(const unsigned* samples, const unsigned* weights, unsigned* sums,
                               std::int64_t n, std::int64_t bins, cudaStream_t stream);
COURSE_LAUNCHERS(AddWeights, (add_weights), exercise);

namespace {

using namespace course;

std::vector<Size> sizes(const std::vector<std::string>& names,
                        const std::vector<std::vector<std::int64_t>>& list) {
  std::vector<Size> all;
  for (const auto& values : list) {
    Size size;
    for (std::size_t k = 0; k < names.size(); ++k) size.dimensions.push_back({names[k], values[k]});
    all.push_back(size);
  }
  return all;
}

/// Counting samples of four bytes, every bin as likely.
void count_words(Exercise& exercise) {
  exercise.make = make_problem<HistogramProblem<std::uint32_t>>();
  Words* const histogram = exercise::histogram;
  exercise.yours = row("yours", "your version", histogram);
}

/// n pixels of `greys` different ones. They were counted as if the image were `times` of them.
class EqualiseProblem : public Problem {
 public:
  using Problem::Problem;
  std::uint8_t pixel(std::int64_t i) const {
    const std::uint64_t bits = mix(seed(), static_cast<std::uint64_t>(i));
    const auto greys = static_cast<std::uint64_t>(size()["greys"]);
    const auto darkest = (256 - greys) / 2;
    if (input() == Input::integers) {  // all as frequent, so that many quotients are whole numbers
      return static_cast<std::uint8_t>(darkest + static_cast<std::uint64_t>(i) % greys);
    }
    const std::uint64_t first = bits % greys, second = (bits >> 20) % greys;
    const std::uint64_t nearer = first < second ? first : second;  // dark ones are more frequent
    return static_cast<std::uint8_t>(darkest + (bits >> 60 == 0 ? first : nearer));
  }
  std::vector<std::uint32_t> counts() const {
    std::vector<std::uint32_t> all(256, 0);
    const auto times = static_cast<std::uint32_t>(size()["times"]);
    for (std::int64_t i = 0; i < n(); ++i) all[pixel(i)] += times;
    return all;
  }
  std::vector<Array> inputs() const override {
    Array pixels{"pixels", n(), Type::u8, seed()}, counted{"counts", 256, Type::u32, seed()};
    pixels.values = [this](void* host) {
      for (std::int64_t i = 0; i < n(); ++i) static_cast<std::uint8_t*>(host)[i] = pixel(i);
    };
    counted.values = [this](void* host) {
      const std::vector<std::uint32_t> all = counts();
      std::copy(all.begin(), all.end(), static_cast<std::uint32_t*>(host));
    };
    return {pixels, counted};
  }
  std::vector<Array> outputs() const override {
    return {{"table", 256, Type::u8}, {"out", n(), Type::u8}};
  }
  double bytes_read() const override { return 1024 + static_cast<double>(n()); }
  double bytes_written() const override { return 256 + static_cast<double>(n()); }
  void expected(int output, double* values) const override {
    const std::vector<std::uint32_t> all = counts();
    std::uint64_t sums[256], sum = 0, darkest = 0;
    for (int v = 0; v < 256; ++v) {
      if (sum == 0) darkest = all[static_cast<std::size_t>(v)];
      sums[v] = sum += all[static_cast<std::size_t>(v)];
    }
    const auto grey = [&](int v) {
      return sums[v] <= darkest ? 0.0
                                : static_cast<double>(255 * (sums[v] - darkest) / (sum - darkest));
    };
    for (std::int64_t i = 0; i < outputs()[static_cast<std::size_t>(output)].count; ++i) {
      values[i] = grey(output == 0 ? static_cast<int>(i) : pixel(i));
    }
  }
  Tolerance tolerance(int) const override { return {0, 0, true}; }
};

/// sums[b] = the sum of the weights of all samples that are b. Runs of `run` equal samples.
class WeightsProblem : public HistogramProblem<std::uint32_t> {
 public:
  using HistogramProblem::HistogramProblem;
  std::uint32_t sample(std::int64_t i) const override {
    const std::int64_t first = i / size()["run"] * size()["run"];
    return HistogramProblem::sample(first);
  }
  std::uint32_t weight(std::int64_t i) const {
    return static_cast<std::uint32_t>(mix(seed() + 1, static_cast<std::uint64_t>(i)) >> 32);
  }
  std::vector<Array> inputs() const override {
    std::vector<Array> both = HistogramProblem::inputs();
    Array weights{"weights", n(), Type::u32, seed()};
    weights.values = [this](void* host) {
      for (std::int64_t i = 0; i < n(); ++i) static_cast<std::uint32_t*>(host)[i] = weight(i);
    };
    both.push_back(weights);
    return both;
  }
  std::vector<Array> outputs() const override { return {{"sums", bins(), Type::u32}}; }
  double bytes_read() const override { return 8.0 * static_cast<double>(n()); }
  void expected(int, double* values) const override {
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(bins()), 0);
    for (std::int64_t i = 0; i < n(); ++i) {
      const std::uint32_t bin = sample(i);
      if (bin < sums.size()) sums[bin] += weight(i);
    }
    std::copy(sums.begin(), sums.end(), values);
  }
};

/// Samples of one byte, of `greys` values: 256 at random, few of them very frequent, or one.
std::unique_ptr<Problem> make_bytes(const Size& size, std::uint64_t seed, Input input) {
  const std::int64_t greys = size["greys"];
  const Spread spread = greys == 1   ? Spread::constant
                        : greys == 2 ? Spread::two
                        : greys == 3 ? Spread::zipf
                                     : Spread::uniform;
  return std::make_unique<HistogramProblem<std::uint8_t>>(size, seed, input, spread);
}

}  // namespace

int main(int argc, char** argv) {
  Exercise exercise;
  exercise.chapter = "15_histogram";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{53648, 0, 8},      {17408, 15057, 19}, {17408, 15057, 19},
                        {16896, 24576, 81}, {18440, 20373, 38}, {33256, 4604, 27}};
  if (exercise.number == 1) {
    count_words(exercise);
    exercise.test_sizes =
        sizes({"n", "bins"},
              {{256, 1}, {1, 1}, {4099, 255}, {0, 7}, {33, 0}, {20483, 1000}, {1 << 16, 256}});
  } else if (exercise.number == 2) {
    count_words(exercise);
    exercise.test_sizes = sizes({"n", "bins"}, {{4099, 255},
                                                {1, 1},
                                                {20483, 4096},
                                                {0, 7},
                                                {33, 0},
                                                {9001, 1000},
                                                {3, 4096},
                                                {1 << 17, 256}});
    exercise.size = {{{"n", 1 << 27}, {"bins", 256}}};
    exercise.compared =
        row("01_global_atomics", "atomics in the L2 cache", global_atomics::histogram);
    exercise.least_ratio = 2;
    // 64 blocks of 256 threads are on the device at one time. Each adds 256 counters by 8 warps:
    // 512 atomics for 2^12 warps of samples, an eighth. Blocks of 128 threads take twice as many.
    exercise.most.atomic_requests = 0.25;
  } else if (exercise.number == 3) {
    exercise.make = make_problem<HistogramProblem<std::uint32_t>>();
    exercise.yours = row("yours", "your version", exercise::histogram_by);
    exercise.test_sizes = sizes({"n", "bins", "size"}, {{1 << 14, 256, 256},
                                                        {5003, 256, 96},
                                                        {4099, 100, 160},
                                                        {1, 1, 1},
                                                        {20483, 4096, 1000},
                                                        {0, 7, 96},
                                                        {33, 0, 31},
                                                        {3, 4096, 33},
                                                        {1 << 17, 256, 512}});
    exercise.most.atomic_requests = 0.25;  // 32 blocks add 256 counters by 8 warps: a sixteenth
  } else if (exercise.number == 4) {
    exercise.make = make_bytes;
    Bytes* const histogram = exercise::histogram;
    exercise.yours = row("yours", "your version", histogram, {"n", "bins"});
    exercise.test_sizes = sizes({"n", "bins", "greys"}, {{4099, 256, 256},
                                                         {1, 1, 1},
                                                         {70001, 256, 1},
                                                         {15, 2, 2},
                                                         {0, 256, 3},
                                                         {33, 0, 256},
                                                         {20483, 255, 256},
                                                         {1 << 19, 256, 256}});
    exercise.size = {{{"n", 1 << 29}, {"bins", 256}, {"greys", 256}}};
    Bytes* const alone = bytes::histogram;
    exercise.compared = row("04_bytes", "16 samples per load", alone, {"n", "bins"});
    exercise.least_ratio = 1.2;
    exercise.most.atomic_wavefronts = 1;
    exercise.most.read_wavefronts = exercise.most.write_wavefronts = 2;
    exercise.room.wavefronts = 2.5;  // counters that are a thread's own are read and written
  } else if (exercise.number == 5) {
    exercise.make = make_problem<EqualiseProblem>();
    exercise.yours = row("yours", "your version", exercise::equalise, {"n"});
    exercise.test_sizes = sizes({"n", "greys", "times"}, {{4096, 100, 1},
                                                          {4099, 256, 1000},
                                                          {4096, 256, 1000003},
                                                          {1, 1, 1},
                                                          {33, 1, 70000000},
                                                          {0, 256, 1},
                                                          {9001, 2, 1},
                                                          {1 << 18, 256, 10000}});
    // A scan in shared memory, 24 requests per warp of each block, and pixels one by one. A thread
    // that adds up 256 counts takes more requests in turn than that.
    exercise.room.wavefronts = exercise.room.in_turn = 3;
  } else {
    exercise.make = make_problem<WeightsProblem>();
    exercise.yours = row("yours", "your version", exercise::add_weights, {"n", "bins"});
    exercise.test_sizes = sizes({"n", "bins", "run"}, {{4099, 255, 48},
                                                       {1, 1, 1},
                                                       {20483, 4096, 1},
                                                       {0, 7, 1},
                                                       {33, 0, 5},
                                                       {9001, 1000, 7},
                                                       {70001, 256, 70001},
                                                       {126 << 10, 256, 40}});
    // Its time on a GPU depends on the samples: nothing has been measured from which to ask a rate.
    exercise.untimed = "additions of equal lanes";
    // In global memory: 32 blocks add 256 sums by 8 warps for 4032 warps of samples, a sixteenth.
    exercise.most.atomic_requests = 0.25;
    exercise.room.sectors = 2.5;  // threads that load 64 consecutive bytes touch sectors twice
  }
  return run_exercise(argc, argv, exercise);
}
