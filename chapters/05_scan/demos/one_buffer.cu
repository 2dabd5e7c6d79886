// Hillis and Steele with one buffer: without a second barrier it is a race.
//
// In each step a thread reads the entry that another thread changes in the same step. Version 02
// has two buffers; one is enough if all have read before anybody writes.
//
//   nvcc -O3 one_buffer.cu -o one_buffer
//   ./one_buffer
//   compute-sanitizer --tool racecheck ./one_buffer     sees the race: this is shared memory

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

#ifdef SIMT  // the CPU backend checks each access, which takes time
constexpr int runs = 3;
#else
constexpr int runs = 1000;
#endif

constexpr int n = 1024;  // elements, and threads of the one block

/// Two buffers: all read the one and write the other.
__global__ void scan_two_buffers(const int* in, int* out) {
  __shared__ int s[2][n];
  const int t = threadIdx.x;
  s[0][t] = in[t];
  __syncthreads();
  int from = 0;
  for (int step = 1; step < n; step *= 2) {
    s[1 - from][t] = t >= step ? s[from][t - step] + s[from][t] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[t] = s[from][t];
}

/// One buffer, two barriers per step: all have read before anybody writes.
__global__ void scan_two_barriers(const int* in, int* out) {
  __shared__ int s[n];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    const int left = t >= step ? s[t - step] : 0;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  out[t] = s[t];
}

/// One buffer, one barrier a step: thread t may read what thread t - step has written already.
__global__ void scan_in_place(const int* in, int* out) {
  __shared__ int s[n];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    if (t >= step) s[t] += s[t - step];
    __syncthreads();
  }
  out[t] = s[t];
}

struct Method {
  const char* name;
  void (*launch)(const int* in, int* out);
  bool allowed;
};
const Method ways[] = {
    {"two buffers, one barrier",
     [](const int* in, int* out) { scan_two_buffers<<<1, n>>>(in, out); }, true},
    {"one buffer, two barriers",
     [](const int* in, int* out) { scan_two_barriers<<<1, n>>>(in, out); }, true},
    {"one buffer, one barrier", [](const int* in, int* out) { scan_in_place<<<1, n>>>(in, out); },
     false},
};

/// In how many runs a result was wrong; *first: the first wrong element ever, n if there is none.
int count_wrong(const Method& way, const std::vector<int>& in, const int* device_in, int* first) {
  int* device_out = nullptr;
  CHECK(cudaMalloc(&device_out, n * sizeof(int)));
  std::vector<int> out(n);
  int wrong = 0;
  *first = n;
  for (int run = 0; run < runs; ++run) {
    way.launch(device_in, device_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), device_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0, i = 0;
    while (i < n && out[i] == (sum += in[i])) ++i;
    wrong += i < n;
    if (i < *first) *first = i;
  }
  CHECK(cudaFree(device_out));
  return wrong;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "one_buffer: bad argument '%s'; usage: one_buffer\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = 1 + i * i % 7;
  int* device_in = nullptr;
  CHECK(cudaMalloc(&device_in, n * sizeof(int)));
  CHECK(cudaMemcpy(device_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  std::printf("%-26s wrong of %d runs\n", "scan", runs);
  int wrong_but_allowed = 0, wrong_by_race = 0;
  for (const Method& way : ways) {
    int first = n;
    const int wrong = count_wrong(way, in, device_in, &first);
    std::printf("%-26s %d", way.name, wrong);
    if (wrong) std::printf(", from element %d on", first);
    std::printf("\n");
    (way.allowed ? wrong_but_allowed : wrong_by_race) += wrong;
  }
  CHECK(cudaFree(device_in));
  std::printf(wrong_by_race ? "the race: wrong in %d runs, and never promised to be right\n"
                            : "the race: wrong in %d runs this time; that proves nothing\n",
              wrong_by_race);
  std::printf(
      "the CPU backend sees it in any run; with SIMT_ORDER=reverse the highest thread reads "
      "first,\n"
      "so that all results are right, and it is reported all the same\n");
  return wrong_but_allowed ? 1 : 0;
}
