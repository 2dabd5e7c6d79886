// The program behind an exercise. 1 to 3 are launchers, checked like those of later chapters; 4 to
// 6 are functions of the host, called here as a program would call them.
#include <cmath>

#include "chapter/rows.hpp"
#include "device/cuda_check.hpp"
#include "exercise/exercise.hpp"
#include "exercises/problems.hpp"

using AddOnGpu = cudaError_t(const float* a, const float* b, float* c, int n);
using DoubleOnGpu = cudaError_t(const float* in, float* out, int n, int threads);
using TimeLaunches = cudaError_t(void (*launch)(), cudaEvent_t start, cudaEvent_t stop,
                                 float* milliseconds);
COURSE_LAUNCHERS(Apply, (apply), exercise);
COURSE_LAUNCHERS(Paint, (chessboard), exercise);
COURSE_LAUNCHERS(AddOnGpu, (add_on_gpu), exercise);
COURSE_LAUNCHERS(DoubleOnGpu, (double_on_gpu), exercise);
COURSE_LAUNCHERS(TimeLaunches, (time_launches), exercise);

namespace {

const char* const missing = "the starter's function is missing from namespace exercise";

std::vector<float> random_floats(int n, std::uint64_t seed) {
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = course::value<float>(course::Input::random, seed, i);
  return values;
}

/// "wrong for n = 1000: element 250 is nan, should be 1.5", or nothing.
std::string first_wrong(const std::vector<float>& got, const std::vector<float>& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (got[i] == want[i]) continue;
    char text[120];
    std::snprintf(text, sizeof text, "wrong for n = %zu: element %zu is %g, should be %g",
                  want.size(), i, got[i], want[i]);
    return text;
  }
  return "";
}

std::string judge_copies() {
  if (exercise::add_on_gpu == nullptr) return missing;
  for (const int n : {1, 256, 1000, 100003}) {
    const std::vector<float> a = random_floats(n, 1), b = random_floats(n, 2);
    std::vector<float> c(n, NAN), sums(n);
    for (int i = 0; i < n; ++i) sums[i] = a[i] + b[i];
    if (const cudaError_t error = exercise::add_on_gpu(a.data(), b.data(), c.data(), n)) {
      return "for n = " + std::to_string(n) + " it returned " + course::describe(error);
    }
    if (std::string why = first_wrong(c, sums); !why.empty()) return why;
  }
  return "";
}

/// What is wrong with a call with so many threads in a block, or nothing.
std::string judge_call(int n, int threads) {
  const std::vector<float> in = random_floats(n, 3);
  std::vector<float> out(n, NAN), doubled(n);
  for (int i = 0; i < n; ++i) doubled[i] = 2 * in[i];
  const cudaError_t error = exercise::double_on_gpu(in.data(), out.data(), n, threads);
  const cudaError_t left = cudaGetLastError();
  if (threads <= 1024) {
    return error ? "it returned " + course::describe(error) : first_wrong(out, doubled);
  }
  if (error == cudaSuccess) return "the launch was refused, and it returned cudaSuccess";
  if (left == cudaSuccess) return "";
  return std::string("it returned the error, and left it behind: the next cudaGetLastError() is ") +
         cudaGetErrorName(left);
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  COURSE_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

/// What is wrong with a call whose copy to the host, or from it, cannot be done, or nothing.
std::string judge_impossible_copy(bool to_host) {
  std::vector<float> values(1000);
  const cudaError_t error = exercise::double_on_gpu(to_host ? values.data() : nullptr,
                                                    to_host ? nullptr : values.data(), 1000, 256);
  cudaGetLastError();
  if (error != cudaSuccess) return "";
  return std::string("the copy ") + (to_host ? "to" : "from") +
         " the host failed, and it returned cudaSuccess: each call returns an error";
}

std::string judge_errors() {
  if (exercise::double_on_gpu == nullptr) return missing;
  for (const int threads : {256, 2048, 64}) {  // and after an error all must be well again
    const std::size_t before = free_bytes();
    const std::string why = judge_call(threads == 2048 ? 1 << 21 : 1000, threads);
    if (!why.empty()) return std::to_string(threads) + " threads in a block: " + why;
    if (threads == 2048 && free_bytes() < before) {
      return "2048 threads in a block: it returned the error, but did not free the two arrays";
    }
  }
  for (const bool to_host : {true, false}) {
    const std::string why = judge_impossible_copy(to_host);
    if (!why.empty()) return why;
  }
  return "";
}

/// What the exercise's launches found: how many came before the first event, between the two, and
/// after the second.
struct Launches {
  cudaEvent_t mark, start, stop;
  int before = 0, between = 0, after = 0;
  void* work = nullptr;
};
Launches launches;

/// True once `event` stands in the stream: without a record there is no time since the mark.
bool recorded(cudaEvent_t event) {
  float milliseconds = 0;
  const cudaError_t error = cudaEventElapsedTime(&milliseconds, launches.mark, event);
  cudaGetLastError();
  return error != cudaErrorInvalidResourceHandle;
}

constexpr std::size_t work_bytes = 1 << 20;

void launch() {
  ++(recorded(launches.stop)    ? launches.after
     : recorded(launches.start) ? launches.between
                                : launches.before);
  COURSE_CHECK(cudaMemsetAsync(launches.work, 0, work_bytes));
}

std::string judge_timing() {
  if (exercise::time_launches == nullptr) return missing;
  launches = Launches{};
  for (cudaEvent_t* event : {&launches.mark, &launches.start, &launches.stop})
    COURSE_CHECK(cudaEventCreate(event));
  COURSE_CHECK(cudaMalloc(&launches.work, work_bytes));
  COURSE_CHECK(cudaEventRecord(launches.mark));
  COURSE_CHECK(cudaDeviceSynchronize());
  float told = NAN, all = 0;
  const cudaError_t error = exercise::time_launches(launch, launches.start, launches.stop, &told);
  if (error) return "it returned " + course::describe(error);
  COURSE_CHECK(cudaDeviceSynchronize());
  if (!recorded(launches.start) || !recorded(launches.stop)) return "an event was not recorded";
  COURSE_CHECK(cudaEventElapsedTime(&all, launches.start, launches.stop));
  for (cudaEvent_t event : {launches.mark, launches.start, launches.stop})
    COURSE_CHECK(cudaEventDestroy(event));
  COURSE_CHECK(cudaFree(launches.work));
  if (launches.before == 0) return "no launch came before the first event: it is not warm";
  if (launches.between != 20) {
    return std::to_string(launches.between) + " launches between the two events, not 20";
  }
  if (launches.after > 0) return "launches after the second event, which nobody timed";
  const float one = all / 20;
  if (std::abs(told - one) <= 1e-3f * one) return "";
  char text[120];
  std::snprintf(text, sizeof text, "20 launches took %.4g ms, and it says %.4g ms for one", all,
                told);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  course::Exercise exercise;
  exercise.chapter = "00_first_steps";
  // sectors, wavefronts and requests in turn
  exercise.solutions = {{25002, 0, 13}, {25002, 0, 13}, {9400, 0, 4}};
  exercise.make = course::make_problem<Doubled>();
  exercise.yours = course::row("yours", "your version", exercise::apply);
  // the full blocks first: what is wrong with the starters comes after them
  exercise.test_sizes = course::sizes_of_n({256, 1024, 257, 1000, 100, 1, 100003});
  if (exercise.number == 3) {
    exercise.make = course::make_problem<Chessboard>();
    exercise.yours = course::row("yours", "your version", exercise::chessboard);
    exercise.test_sizes.clear();
    for (const auto& [rows, columns] :
         {std::pair{16, 16}, {32, 64}, {40, 50}, {50, 40}, {200, 300}, {1, 300}})
      exercise.test_sizes.push_back({{{"rows", rows}, {"columns", columns}}});
  }
  if (exercise.number == 4) exercise.judge = judge_copies;
  if (exercise.number == 5) exercise.judge = judge_errors;
  if (exercise.number == 6) exercise.judge = judge_timing;
  return course::run_exercise(argc, argv, exercise);
}
