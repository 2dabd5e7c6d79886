// A chain of blocks by blockIdx hangs if they start in another order.
//
// Block k waits for block k - 1. Each waiting block keeps its place on an SM, and only so many fit.
// If those that fit all wait for one that has not started, none of them ever ends.
//
//   nvcc -O3 wait_by_block_index.cu -o wait
//   ./wait

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

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

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

#ifdef SIMT  // there a block that waits for ever is a finding, "spin", after SIMT_TIMEOUT seconds
constexpr bool gives_up = false;
#else  // here it must give up, or the kernel never ends
constexpr bool gives_up = true;
#endif
constexpr int most_polls = 1 << 18;  // far more than a chain of all blocks takes

constexpr int block_size = 1024;  // so that few blocks fit at once

enum Numbers { rising, falling, drawn };

/// Block number k's part: waits for number k - 1, hands on. The last stores the number of links.
__device__ void hand_on(int k, int blocks, unsigned* flags, unsigned* last,
                        unsigned* waited_in_vain) {
  unsigned before = 0;
  for (int poll = 0; k > 0 && before == 0; ++poll) {
    before = Flag(flags[k - 1]).load(cuda::memory_order_relaxed);
    if (gives_up && before == 0 && poll == most_polls) {
      atomicAdd(waited_in_vain, 1u);
      return;  // so that its place is free, and the program ends; who waits for it waits in vain
    }
  }
  Flag(flags[k]).store(before + 1, cuda::memory_order_relaxed);
  if (k == blocks - 1) *last = before + 1;
}

/// flags: one per block, all zero.
template <Numbers numbers>
__global__ void run_chain(unsigned* flags, unsigned* next, unsigned* last,
                          unsigned* waited_in_vain) {
  if (threadIdx.x == 0) {
    const int blocks = gridDim.x, b = blockIdx.x;
    int k = b;                                      // what most GPUs start first, is first
    if (numbers == falling) k = blocks - 1 - b;     // as if they started the other way round
    if (numbers == drawn) k = atomicAdd(next, 1u);  // who starts first, is first
    hand_on(k, blocks, flags, last, waited_in_vain);
  }
  __syncthreads();  // the whole block stays until its link is done
}

struct Row {
  const char* name;
  void (*launch)(int blocks, unsigned* flags, unsigned* next, unsigned* last, unsigned* vain);
  bool promised;
};
const Row rows[] = {
    {"drawn from a counter",
     [](int blocks, unsigned* flags, unsigned* next, unsigned* last, unsigned* vain) {
       run_chain<drawn><<<blocks, block_size>>>(flags, next, last, vain);
     },
     true},
    {"blockIdx, rising",
     [](int blocks, unsigned* flags, unsigned* next, unsigned* last, unsigned* vain) {
       run_chain<rising><<<blocks, block_size>>>(flags, next, last, vain);
     },
     false},
    {"blockIdx, falling",
     [](int blocks, unsigned* flags, unsigned* next, unsigned* last, unsigned* vain) {
       run_chain<falling><<<blocks, block_size>>>(flags, next, last, vain);
     },
     false},
};

/// Four times as many blocks as the GPU holds at once.
int blocks_to_launch() {
  int sms = 0, threads = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
  return 4 * sms * std::max(threads / block_size, 1);
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "wait_by_block_index: bad argument '%s'; usage: wait_by_block_index\n",
                 argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

#ifdef SIMT
  setenv("SIMT_TIMEOUT", "1", 0);  // a second without progress is enough
  setenv("SIMT_THREADS", "2", 0);  // two blocks at once, on any machine
#endif

  const int blocks = blocks_to_launch();
  unsigned* memory = nullptr;  // three words, then the flags
  CHECK(cudaMalloc(&memory, (3 + blocks) * sizeof(unsigned)));
  unsigned *next = memory, *last = memory + 1, *vain = memory + 2, *flags = memory + 3;
  std::printf("%d blocks of %d threads: more than fit at once\n", blocks, block_size);
  std::printf("%-22s %s\n", "number of a block", "what came of it");
  int code = 0;
  for (const Row& row : rows) {
    CHECK(cudaMemset(memory, 0, (3 + blocks) * sizeof(unsigned)));
    row.launch(blocks, flags, next, last, vain);
    CHECK(cudaGetLastError());
    std::printf("%-22s ", row.name);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      std::printf("no result: %s\n", cudaGetErrorName(status));
      if (row.promised) code = 1;
      break;  // the error stays
    }
    unsigned links = 0, in_vain = 0;
    CHECK(cudaMemcpy(&links, last, sizeof links, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&in_vain, vain, sizeof in_vain, cudaMemcpyDeviceToHost));
    const bool right = links == static_cast<unsigned>(blocks) && in_vain == 0;
    if (right) std::printf("a chain of %u links%s\n", links, row.promised ? "" : ", this time");
    if (!right) std::printf("%u blocks waited in vain, and gave up\n", in_vain);
    if (row.promised && !right) code = 1;
  }
  std::printf(
      "that blocks start in rising order is a habit of today's GPUs, and no promise\n"
      "with SIMT_ORDER=reverse the CPU backend starts the highest first: then rising numbers wait "
      "for ever\n");
  return code;
}
