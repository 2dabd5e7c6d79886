// Who does what: eight elements shared out in five ways, the order of work, and a lost tail.
//
//   nvcc 03_launch_geometry.cu -o geometry
//   ./geometry           every part
//   ./geometry tail      one part: blocks, threads, both, 2d, 3d, warps, lanes or tail

#include <cstdio>
#include <cstdlib>
#include <string>
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

/// <<<n, 1>>>: the number of the block is the element.
__global__ void blocks_only() {
  const unsigned i = blockIdx.x;
  printf("  block %u, thread %u -> element %u\n", blockIdx.x, threadIdx.x, i);
}

/// <<<1, n>>>: the number of the thread is the element. A block has at most 1024 threads.
__global__ void threads_only() {
  const unsigned i = threadIdx.x;
  printf("  block %u, thread %u -> element %u\n", blockIdx.x, threadIdx.x, i);
}

/// Blocks of several threads: skip the blocks before mine, then count inside mine.
__global__ void blocks_and_threads() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  printf("  block %u, thread %u -> element %u\n", blockIdx.x, threadIdx.x, i);
}

/// The same rule once for x and once for y. x runs along a row: neighbours in x share a row.
__global__ void two_dimensions() {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  printf("  block (%u,%u), thread (%u,%u) -> row %u, column %u\n", blockIdx.x, blockIdx.y,
         threadIdx.x, threadIdx.y, row, column);
}

/// And once more for z.
__global__ void three_dimensions() {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned layer = blockIdx.z * blockDim.z + threadIdx.z;
  printf("  block (%u,%u,%u), thread (%u,%u,%u) -> layer %u, row %u, column %u\n", blockIdx.x,
         blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, layer, row, column);
}

/// The threads of a block run in warps of 32 lanes. Lane 0 of each warp reports for its warp.
__global__ void report_warps() {
  if (threadIdx.x % warpSize == 0) {
    printf("  block %u, warp %u\n", blockIdx.x, threadIdx.x / warpSize);
  }
}

/// Each lane of one warp reports, all on one line.
__global__ void report_lanes() {
  const unsigned lane = threadIdx.x % warpSize;
  printf(lane + 1 < warpSize ? " %u" : " %u\n", lane);
}

/// Marks element i as done, for i < n.
__global__ void mark(unsigned char* done, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) done[i] = 1;
}

/// Counts the elements out of n that a launch of this shape reaches.
void show_reach(const char* rounding, unsigned blocks, unsigned threads, unsigned n) {
  unsigned char* device_done = nullptr;
  CHECK(cudaMalloc(&device_done, n));
  CHECK(cudaMemset(device_done, 0, n));
  mark<<<blocks, threads>>>(device_done, n);
  CHECK(cudaGetLastError());
  std::vector<unsigned char> done(n);
  CHECK(cudaMemcpy(done.data(), device_done, n, cudaMemcpyDeviceToHost));  // waits for the kernel
  CHECK(cudaFree(device_done));
  unsigned reached = 0;
  for (const unsigned char one : done) reached += one;
  std::printf("  rounded %s: %u blocks x %u threads = %u, %u of %u done, %u lost\n", rounding,
              blocks, threads, blocks * threads, reached, n, n - reached);
}

/// The blocks needed for 1000 elements, computed wrongly and rightly.
void show_tail() {
  const unsigned n = 1000, threads = 256;
  show_reach("down", n / threads, threads, n);
  show_reach("up", (n + threads - 1) / threads, threads, n);
}

struct Part {
  const char* name;
  const char* title;
  void (*run)();
};
const Part parts[] = {
    {"blocks", "<<<8, 1>>>", [] { blocks_only<<<8, 1>>>(); }},
    {"threads", "<<<1, 8>>>", [] { threads_only<<<1, 8>>>(); }},
    {"both", "<<<2, 4>>>", [] { blocks_and_threads<<<2, 4>>>(); }},
    {"2d", "<<<dim3(2, 1), dim3(2, 2)>>>", [] { two_dimensions<<<dim3(2, 1), dim3(2, 2)>>>(); }},
    {"3d", "<<<dim3(1, 1, 2), dim3(2, 2, 1)>>>",
     [] { three_dimensions<<<dim3(1, 1, 2), dim3(2, 2, 1)>>>(); }},
    {"warps", "<<<6, 64>>>, in the order of arrival", [] { report_warps<<<6, 64>>>(); }},
    {"lanes", "<<<1, 32>>>, in the order of arrival", [] { report_lanes<<<1, 32>>>(); }},
    {"tail", "1000 elements in blocks of 256", show_tail},
};

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  bool known = argc == 1;
  for (const Part& part : parts) known = known || wanted == part.name;
  if (!known) {
    std::fprintf(stderr,
                 "03_launch_geometry: bad argument '%s'; usage: 03_launch_geometry "
                 "[blocks|threads|both|2d|3d|warps|lanes|tail]\n",
                 argv[argc - 1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  for (const Part& part : parts) {
    if (argc == 2 && wanted != part.name) continue;
    std::printf("%s: %s\n", part.name, part.title);
    part.run();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());  // waits for the kernel and for what it prints
  }
  return 0;
}
