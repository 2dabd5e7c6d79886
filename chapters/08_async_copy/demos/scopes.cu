// What a barrier costs: of a warp, of a block, and of blocks.
//
//   __syncwarp()         the lanes of a warp. The hardware's: it lives nowhere, nobody initialises
//                        it.
//   __syncthreads()      the threads of a block. The hardware's, too; all threads of the block must
//                        come, and CUDA C++ has it in one piece only.
//   cuda::barrier with   lives in shared memory. One thread calls init() with the number of
//   thread_scope_block   arrivals, then __syncthreads(). Any threads of the block may use it, also
//                        some of them: the number decides.
//   cuda::barrier with   lives in global memory. One thread calls init(); before others use it, the
//   thread_scope_device  launch must end (here a launch of its own does it) or the grid must meet.
//                        Any threads of the device may use it that run at the same time: this is a
//                        cooperative launch, whose blocks all do.
//
// Expect: the wider the scope, the more clocks. What __syncwarp() costs may be next to nothing: the
// lanes are together already. Barriers in memory count every thread: more warps cost more. Their
// clocks are those of arrive_and_wait() as the library has it, with all of its polling.
//
//   nvcc -O3 scopes.cu -o scopes
//   ./scopes

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>

#ifdef __CUDACC__
#pragma nv_diag_suppress static_var_with_dynamic_init  // barriers in shared memory: init() does it
#endif

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

#ifdef SIMT  // the CPU backend has no times: it checks
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int blocks = 4;
constexpr int most_warps = 8;
constexpr int repeats = has_times ? 1000 : 2;  // with the clock
constexpr int checks = 3;                      // without it: does everybody really wait?

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;

enum Scope { warp, block, block_in_memory, device };

__global__ void initialise(DeviceBarrier* barrier, int expected) { init(barrier, expected); }

/// Arrives and waits: for the warp, the block, or all blocks.
template <Scope scope>
__device__ void meet(BlockBarrier& of_block, DeviceBarrier* of_device) {
  if constexpr (scope == warp) __syncwarp();
  if constexpr (scope == block) __syncthreads();
  if constexpr (scope == block_in_memory) of_block.arrive_and_wait();
  if constexpr (scope == device) of_device->arrive_and_wait();
}

/// *clocks = those of thread 0 for all repeats. Then, `checks` times: each thread writes a value,
/// all meet, each reads that of the next thread in its warp, its block, or the grid. values: one
/// per thread. Adds to *wrong how many read something else.
template <Scope scope>
__global__ void meet_often(DeviceBarrier* of_device, int* values, int* wrong, long long* clocks) {
  __shared__ BlockBarrier of_block;
  if (threadIdx.x == 0) init(&of_block, blockDim.x);
  __syncthreads();  // nobody uses a barrier before it is initialised
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  meet<scope>(of_block, of_device);
  const long long start = clock64();
#pragma unroll 8
  for (int k = 0; k < repeats; ++k) meet<scope>(of_block, of_device);
  const long long stop = clock64();
  if (i == 0) *clocks = stop - start;

  const int size = scope == warp ? 32 : scope == device ? gridDim.x * blockDim.x : blockDim.x;
  const int first = i / size * size;
  const int next = first + (i - first + 1) % size;
  for (int k = 0; k < checks; ++k) {
    values[i] = 1000 * i + k;
    meet<scope>(of_block, of_device);
    if (values[next] != 1000 * next + k) atomicAdd(wrong, 1);
    meet<scope>(of_block, of_device);
  }
}

DeviceBarrier* of_device = nullptr;
int *values = nullptr, *wrong = nullptr;
long long* device_clocks = nullptr;

struct Column {
  const char* name;
  cudaError_t (*launch)(int threads, void** arguments);
};
const Column columns[] = {
    {"__syncwarp()",
     [](int threads, void** arguments) {
       return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_often<warp>), blocks,
                                          threads, arguments, 0, nullptr);
     }},
    {"__syncthreads()",
     [](int threads, void** arguments) {
       return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_often<block>), blocks,
                                          threads, arguments, 0, nullptr);
     }},
    {"barrier, block",
     [](int threads, void** arguments) {
       return cudaLaunchCooperativeKernel(
           reinterpret_cast<const void*>(meet_often<block_in_memory>), blocks, threads, arguments,
           0, nullptr);
     }},
    {"barrier, device",
     [](int threads, void** arguments) {
       return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(meet_often<device>), blocks,
                                          threads, arguments, 0, nullptr);
     }},
};

/// Clocks of one barrier in blocks of so many threads: the least of five runs. Adds to *failed how
/// often somebody did not wait.
double measure(const Column& column, int threads, int* failed) {
  long long least = 0;
  for (int run = 0; run < (has_times ? 5 : 1); ++run) {  // the first one loads the code
    initialise<<<1, 1>>>(of_device, blocks * threads);
    CHECK(cudaGetLastError());
    CHECK(cudaMemset(values, 0, blocks * threads * sizeof(int)));
    CHECK(cudaMemset(wrong, 0, sizeof(int)));
    void* arguments[] = {&of_device, &values, &wrong, &device_clocks};
    CHECK(column.launch(threads, arguments));
    int count = 0;
    long long clocks = 0;
    CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&clocks, device_clocks, sizeof clocks, cudaMemcpyDeviceToHost));
    *failed += count;
    least = run == 0 ? clocks : std::min(least, clocks);
  }
  return static_cast<double>(least) / repeats;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "scopes: bad argument '%s'; usage: scopes\n", argv[1]);
    return 2;
  }
  int gpus = 0, cooperative = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  if (!cooperative) {
    std::fprintf(stderr, "scopes: this GPU cannot launch a grid that waits for itself\n");
    return 3;
  }
  CHECK(cudaMalloc(&of_device, sizeof(DeviceBarrier)));
  CHECK(cudaMalloc(&values, blocks * 32 * most_warps * sizeof(int)));
  CHECK(cudaMalloc(&wrong, sizeof(int)));
  CHECK(cudaMalloc(&device_clocks, sizeof(long long)));

  std::printf("clocks of one barrier, with the loop around it; %d blocks\n", blocks);
  std::printf("%5s", "warps");
  for (const Column& column : columns) std::printf(" %15s", column.name);
  std::printf("  result\n");
  int failed = 0;
  for (int warps = 1; warps <= most_warps; ++warps) {
    int failed_here = 0;
    std::printf("%5d", warps);
    for (const Column& column : columns) {
      const double clocks = measure(column, 32 * warps, &failed_here);
      if (has_times) std::printf(" %15.1f", clocks);
      if (!has_times) std::printf(" %15s", "-");
    }
    std::printf("  %s\n", failed_here == 0 ? "right" : "WRONG");
    failed += failed_here;
  }
  std::puts("right: with each of the four, all read what was written before it");
  if (!has_times) std::puts("no clocks without a GPU, and none of these is recorded yet");
  CHECK(cudaFree(of_device));
  CHECK(cudaFree(values));
  CHECK(cudaFree(wrong));
  CHECK(cudaFree(device_clocks));
  return failed ? 1 : 0;
}
