// How one thread of a warp is chosen to give an order, three ways.
//
//   thread 0     if (threadIdx.x == 0): the compiler cannot know that this is one lane of a warp
//                alone. Where an instruction takes its operands from uniform registers, as orders
//                to the TMA do, it may make a loop over the lanes that are there.
//   elected      elect.sync: the hardware chooses a lane, and the compiler knows that it is one.
//   invoke_one   cooperative groups' word for it.
//
// Each kernel orders tiles in a loop; more.md has the machine code of the three. The clocks here
// are those of thread 0 from the first order to the last, without any wait: what an order costs who
// gives it.
//
//   nvcc -O3 -arch=sm_90 one_thread.cu -o one_thread
//   ./one_thread

#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

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

/// Ends the program, exit code 3, on a GPU without a TMA of this kind.
void need_hopper() {
  int device = 0, major = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major >= 9) return;
  std::fprintf(stderr, "this GPU has compute capability %d.x: bulk copies need 9.0\n", major);
  std::exit(3);
}

constexpr int orders = 64;
constexpr int bytes = 512;  // of each

enum class Who { thread_0, elected, invoke_one };

/// True for one lane of a whole warp. PTX ISA, "elect.sync".
__device__ bool elect() {
#ifdef SIMT
  return ptx::elect_sync(~0u);
#else
  unsigned elected = 0;
  asm volatile("{\n .reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.b32 %0, 1, 0, p;\n}\n"
               : "=r"(elected));
  return elected != 0;
#endif
}

/// Orders all tiles; \returns the clocks that it took.
__device__ std::int64_t order(char* s, const char* in, std::uint64_t* there) {
  const std::int64_t begin = clock64();
#pragma unroll 1
  for (int i = 0; i < orders; ++i) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s + i * bytes, in + i * bytes, bytes,
                       there);
  }
  const std::int64_t clocks = clock64() - begin;
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, there,
                                 orders * bytes);
  return clocks;
}

template <Who who>
__global__ void sum_bytes(const char* in, int* sum, std::int64_t* clocks) {
  __shared__ alignas(128) char s[orders * bytes];
  __shared__ std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    ptx::mbarrier_init(&there, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (who == Who::thread_0) {
    if (t == 0) *clocks = order(s, in, &there);
  } else if (t < 32) {
    if (who == Who::elected) {
      if (elect()) *clocks = order(s, in, &there);
    } else {
      cg::invoke_one(cg::coalesced_threads(), [&] { *clocks = order(s, in, &there); });
    }
  }
  while (!ptx::mbarrier_try_wait_parity(&there, 0)) {
  }
  int mine = 0;
  for (int i = t; i < orders * bytes; i += static_cast<int>(blockDim.x)) mine += s[i];
  atomicAdd(sum, mine);
}

template <Who who>
bool run(const char* name, const char* in, int* sum, std::int64_t* clocks) {
  std::int64_t best = INT64_MAX;
  for (int k = 0; k < 3; ++k) {
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    sum_bytes<who><<<1, 128>>>(in, sum, clocks);
    CHECK(cudaGetLastError());
    std::int64_t took = 0;
    CHECK(cudaMemcpy(&took, clocks, sizeof took, cudaMemcpyDeviceToHost));
    if (took < best) best = took;
  }
  int got = 0;
  CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
#ifdef SIMT  // no clocks that mean anything
  std::printf("%-12s sum %d\n", name, got);
#else
  std::printf("%-12s %5.1f clocks per order, sum %d\n", name, static_cast<double>(best) / orders,
              got);
#endif
  return got == orders * bytes;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "one_thread: bad argument '%s'; usage: one_thread\n", argv[1]);
    return 2;
  }
  need_hopper();
  char* in = nullptr;
  int* sum = nullptr;
  std::int64_t* clocks = nullptr;
  CHECK(cudaMalloc(&in, orders * bytes));
  CHECK(cudaMalloc(&sum, sizeof *sum));
  CHECK(cudaMalloc(&clocks, sizeof *clocks));
  CHECK(cudaMemset(in, 1, orders * bytes));
  bool right = run<Who::thread_0>("thread 0", in, sum, clocks);
  right = run<Who::elected>("elected", in, sum, clocks) && right;
  right = run<Who::invoke_one>("invoke_one", in, sum, clocks) && right;
  CHECK(cudaFree(in));
  CHECK(cudaFree(sum));
  CHECK(cudaFree(clocks));
  return right ? 0 : 1;
}
