// Work and steps of five scans of 1024 numbers: counted, not looked up.
//
// Work: all additions together. Steps: additions that wait for one another, so the length of the
// longest chain in any result. Each number carries the length of its own chain along, and each
// thread counts what it adds.
//
//   nvcc -O3 work_and_steps.cu -o work
//   ./work

#include <cstdio>
#include <cstdlib>
#include <vector>

/// Ends the program if a CUDA call failed: one line names the call and its error, or says what this
/// machine lacks. Exit code 3: no usable GPU; 1: any other error.
void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  int driver = 0;  // the newest CUDA that the driver supports (13000 is 13.0), 0 without a driver
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice) {
    std::fprintf(stderr, "no NVIDIA GPU found: its driver sees none (CUDA_VISIBLE_DEVICES set?)\n");
  } else if (status == cudaErrorInsufficientDriver && driver == 0) {
    std::fprintf(stderr, "no NVIDIA driver found: CUDA needs an NVIDIA GPU and its driver\n");
  } else if (status == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "NVIDIA driver too old: it serves CUDA %d.%d, not %d.%d; update it\n",
                 driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 100 / 10);
  } else {
    std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", __FILE__, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(1);
  }
  std::exit(3);
}
#define CHECK(call) check((call), #call, __LINE__)

constexpr int n = 1024;
constexpr int log_n = 10;
constexpr int warps = n / 32;

/// A sum, and how many additions in a row it took to know it.
struct Number {
  int value, chain;
};

/// Adds, and counts: what all of this thread's additions go through.
struct Add {
  int count = 0;
  __device__ Number operator()(Number a, Number b) {
    ++count;
    return {a.value + b.value, (a.chain > b.chain ? a.chain : b.chain) + 1};
  }
};

__device__ Number number(int value) { return {value, 0}; }

/// One thread, one addition after the other.
__device__ Number one_thread(const int* in, Number* s, Add& add) {
  const int t = threadIdx.x;
  if (t == 0) {
    s[0] = number(in[0]);
    for (int i = 1; i < n; ++i) s[i] = add(s[i - 1], number(in[i]));
  }
  __syncthreads();
  return s[t];
}

/// Each thread adds up all before it, whatever the others know.
__device__ Number all_before(const int* in, Number*, Add& add) {
  const int t = threadIdx.x;
  Number sum = number(in[0]);
  for (int i = 1; i <= t; ++i) sum = add(sum, number(in[i]));
  return sum;
}

/// Hillis and Steele: each adds what stands 1, 2, 4, ... to its left.
__device__ Number doubling(const int* in, Number* s, Add& add) {
  const int t = threadIdx.x;
  Number x = number(in[t]);
  for (int step = 1; step < n; step *= 2) {
    s[t] = x;
    __syncthreads();
    if (t >= step) x = add(s[t - step], x);
    __syncthreads();
  }
  return x;
}

/// Blelloch: up and down a tree. Exclusive: what comes before element t.
__device__ Number tree(const int* in, Number* s, Add& add) {
  const int t = threadIdx.x;
  s[t] = number(in[t]);
  for (int step = 1; step < n; step *= 2) {
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < n) s[right] = add(s[right - step], s[right]);
  }
  __syncthreads();
  if (t == 0) s[n - 1] = number(0);
  for (int step = n / 2; step > 0; step /= 2) {
    __syncthreads();
    const int right = (2 * t + 2) * step - 1;
    if (right < n) {
      const Number left = s[right - step];
      s[right - step] = s[right];
      s[right] = add(s[right], left);
    }
  }
  __syncthreads();
  return s[t];
}

__device__ Number warp_scan(Number x, Add& add) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const Number left = {__shfl_up_sync(0xffffffffu, x.value, step),
                         __shfl_up_sync(0xffffffffu, x.chain, step)};
    if (lane >= step) x = add(left, x);
  }
  return x;
}

/// Version 06: warps, then the sums of the warps, then together.
__device__ Number shuffles(const int* in, Number* s, Add& add) {
  const int t = threadIdx.x, warp = t / 32;
  Number x = warp_scan(number(in[t]), add);
  if (t % 32 == 31) s[warp] = x;
  __syncthreads();
  if (warp == 0) s[t] = warp_scan(s[t], add);
  __syncthreads();
  return warp > 0 ? add(s[warp - 1], x) : x;
}

enum Way { by_one_thread, by_all_before, by_doubling, by_tree, by_shuffles };

/// One block of n threads. out: the results; *work: all additions.
template <Way way>
__global__ void scan(const int* in, Number* out, int* work) {
  __shared__ Number s[n];
  Add add;
  Number x;
  if (way == by_one_thread) x = one_thread(in, s, add);
  if (way == by_all_before) x = all_before(in, s, add);
  if (way == by_doubling) x = doubling(in, s, add);
  if (way == by_tree) x = tree(in, s, add);
  if (way == by_shuffles) x = shuffles(in, s, add);
  out[threadIdx.x] = x;
  atomicAdd(work, add.count);
}

constexpr int log_32 = 5;
/// Of a warp: lanes 1 to 31 add in the first step, 2 to 31 in the second, ...
constexpr int work_of_warp = 32 * log_32 - 32 + 1;

struct Row {
  const char* name;
  void (*launch)(const int* in, Number* out, int* work);
  bool exclusive;
  const char* formula;
  int work, steps;
};
const Row rows[] = {
    {"one thread",
     [](const int* in, Number* out, int* work) { scan<by_one_thread><<<1, n>>>(in, out, work); },
     false, "n - 1", n - 1, n - 1},
    {"each adds all before",
     [](const int* in, Number* out, int* work) { scan<by_all_before><<<1, n>>>(in, out, work); },
     false, "n (n - 1) / 2", n*(n - 1) / 2, n - 1},
    {"Hillis-Steele",
     [](const int* in, Number* out, int* work) { scan<by_doubling><<<1, n>>>(in, out, work); },
     false, "n log n - n + 1", n* log_n - n + 1, log_n},
    {"Blelloch",
     [](const int* in, Number* out, int* work) { scan<by_tree><<<1, n>>>(in, out, work); }, true,
     "2 (n - 1)", 2 * (n - 1), 2 * log_n - 1},
    {"warp shuffles",
     [](const int* in, Number* out, int* work) { scan<by_shuffles><<<1, n>>>(in, out, work); },
     false, "129 (w + 1) + n - 32", work_of_warp*(warps + 1) + n - 32, 2 * log_32 + 1},
};

/// Runs one row and prints it. \returns whether results and counts are what they must be.
bool count(const Row& row, const std::vector<int>& in, const int* device_in) {
  Number* device_out = nullptr;
  int* device_work = nullptr;
  CHECK(cudaMalloc(&device_out, n * sizeof(Number)));
  CHECK(cudaMalloc(&device_work, sizeof(int)));
  CHECK(cudaMemset(device_work, 0, sizeof(int)));
  row.launch(device_in, device_out, device_work);
  CHECK(cudaGetLastError());
  std::vector<Number> out(n);
  int work = 0, steps = 0, wrong = 0, sum = 0;
  CHECK(cudaMemcpy(out.data(), device_out, n * sizeof(Number), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&work, device_work, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(device_work));
  for (int i = 0; i < n; ++i) {
    if (row.exclusive) wrong += out[i].value != sum;
    sum += in[i];
    if (!row.exclusive) wrong += out[i].value != sum;
    if (out[i].chain > steps) steps = out[i].chain;
  }
  std::printf("%-22s %8d   %-22s %6d\n", row.name, work, row.formula, steps);
  if (wrong) std::printf("  wrong: %d of %d results\n", wrong, n);
  if (work != row.work) std::printf("  additions expected: %d\n", row.work);
  if (steps != row.steps) std::printf("  steps expected: %d\n", row.steps);
  return wrong == 0 && work == row.work && steps == row.steps;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "work_and_steps: bad argument '%s'; usage: work_and_steps\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = 1 + i * i % 7;
  int* device_in = nullptr;
  CHECK(cudaMalloc(&device_in, n * sizeof(int)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  std::printf("n = %d, w = %d warps, log to base 2\n", n, warps);
  std::printf("%-22s %8s   %-22s %6s\n", "scan", "work", "as a formula", "steps");
  bool as_expected = true;
  for (const Row& row : rows) as_expected = count(row, in, device_in) && as_expected;
  CHECK(cudaFree(device_in));
  std::printf(
      "a warp that adds in some lanes waits as long as one that adds in all: on a GPU the work of\n"
      "lanes counts little, steps with a barrier each count much\n");
  return as_expected ? 0 : 1;
}
