// A barrier in a branch: five placements, one of them allowed.
//
// Outside of the branch; in one that whole warps skip; in one that lanes skip; one in each of two
// branches; and the barrier of a group object, in a branch. What the last four do is undefined:
// this program says what it saw, here and now.
//
//   nvcc barrier_in_branch.cu -o barrier
//   ./barrier      all five, each in a process of its own, because a kernel that hangs ends with it
//   ./barrier c    one of them, a to e

#include <cooperative_groups.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
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

// The task, for all five: threads work in pairs whose warps differ. Each writes its element to s;
// barrier P; one of the two, the adder, adds the other's entry to its own; barrier Q; both read the
// sum. Without P an adder may find an empty entry, without Q its partner may read half a sum.

constexpr int block_size = 256;
constexpr int middle = block_size / 2;

/// P outside of the branch: right.
__global__ void sync_outside(const int* in, int* out) {
  __shared__ int s[block_size];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();  // P
  if (t < middle) s[t] += s[t ^ middle];
  __syncthreads();  // Q
  out[t] = s[t < middle ? t : t ^ middle];
}

/// P where four of the eight warps do not come by: they are at Q while the adders are at P.
__global__ void sync_half_of_the_warps(const int* in, int* out) {
  __shared__ int s[block_size];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  if (t < middle) {
    __syncthreads();  // P
    s[t] += s[t ^ middle];
  }
  __syncthreads();  // Q
  out[t] = s[t < middle ? t : t ^ middle];
}

/// P where every second lane does not come by. The adders have odd numbers, their partners even
/// ones, four warps away.
__global__ void sync_half_of_the_lanes(const int* in, int* out) {
  __shared__ int s[block_size];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  if (t % 2) {
    __syncthreads();  // P
    s[t] += s[t ^ (middle + 1)];
  }
  __syncthreads();  // Q
  out[t] = s[t % 2 ? t : t ^ (middle + 1)];
}

/// P twice. Everybody comes by a barrier, but not by the same one.
__global__ void sync_in_both_branches(const int* in, int* out) {
  __shared__ int s[block_size];
  const unsigned t = threadIdx.x;
  s[t] = in[t];
  if (t < middle) {
    __syncthreads();  // P of the adders
    s[t] += s[t ^ middle];
  } else {
    __syncthreads();  // P of their partners
  }
  __syncthreads();  // Q
  out[t] = s[t < middle ? t : t ^ middle];
}

/// P as the group's own barrier. It is the same barrier, for all threads of the group, which is the
/// block: so it is as wrong in a branch as __syncthreads().
__global__ void sync_a_group(const int* in, int* out) {
  __shared__ int s[block_size];
  const cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
  const unsigned t = block.thread_rank();
  s[t] = in[t];
  if (t < middle) {
    block.sync();  // P
    s[t] += s[t ^ middle];
  }
  block.sync();  // Q
  out[t] = s[t < middle ? t : t ^ middle];
}

struct Placement {
  const char* name;
  const char* where;
  void (*launch)(const int* in, int* out);
  int partner;   // of thread t: t ^ partner
  bool allowed;  // else its behaviour is undefined
};
const Placement placements[] = {
    {"a", "outside of the branch",
     [](const int* in, int* out) { sync_outside<<<1, block_size>>>(in, out); }, middle, true},
    {"b", "inside if (t < 128), which whole warps skip",
     [](const int* in, int* out) { sync_half_of_the_warps<<<1, block_size>>>(in, out); }, middle,
     false},
    {"c", "inside if (t % 2), which lanes of every warp skip",
     [](const int* in, int* out) { sync_half_of_the_lanes<<<1, block_size>>>(in, out); },
     middle + 1, false},
    {"d", "one in the if, another in the else",
     [](const int* in, int* out) { sync_in_both_branches<<<1, block_size>>>(in, out); }, middle,
     false},
    {"e", "block.sync() of cooperative groups, inside if (t < 128)",
     [](const int* in, int* out) { sync_a_group<<<1, block_size>>>(in, out); }, middle, false},
};

/// Waits for the kernel, but not for ever. \returns cudaErrorNotReady if it is still running after
/// two seconds; it needs microseconds.
cudaError_t wait_two_seconds() {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::seconds(2);
  cudaError_t status = cudaStreamQuery(nullptr);
  while (status == cudaErrorNotReady && clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = cudaStreamQuery(nullptr);
  }
  return status;
}

/// Runs one kernel in this process and says what happened. \returns whether its result was right.
bool try_placement(const Placement& placement) {
  std::vector<int> in(block_size), out(block_size);
  for (int t = 0; t < block_size; ++t) in[t] = 1000 + t;
  int *device_in = nullptr, *device_out = nullptr;
  const std::size_t bytes = block_size * sizeof(int);
  CHECK(cudaMalloc(&device_in, bytes));
  CHECK(cudaMalloc(&device_out, bytes));
  CHECK(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(device_out, 0, bytes));
  placement.launch(device_in, device_out);
  CHECK(cudaGetLastError());
  const cudaError_t status = wait_two_seconds();
  std::printf("%s: %s: ", placement.name, placement.where);
  if (status == cudaErrorNotReady) {
    std::printf("hang: not over after 2 s, so this process ends, and the kernel with it\n");
    std::fflush(stdout);
    std::_Exit(0);  // no clean-up: cudaFree() would wait for the kernel
  }
  if (status != cudaSuccess) {
    std::printf("no result: %s\n", cudaGetErrorName(status));
    return false;
  }
  CHECK(cudaMemcpy(out.data(), device_out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  int wrong = 0;
  for (int t = 0; t < block_size; ++t) wrong += out[t] != in[t] + in[t ^ placement.partner];
  if (wrong) {
    std::printf("wrong: %d of %d threads read something else than their sum\n", wrong, block_size);
  } else {
    std::printf("the result is right%s\n", placement.allowed ? "" : ", this time");
  }
  return wrong == 0;
}

/// Runs this program again for one placement. \returns its exit code; -1 if a signal ended it.
int run_child(char* program, const Placement& placement) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::string name = placement.name;
    char* arguments[] = {program, &name[0], nullptr};
    execvp(program, arguments);
    std::_Exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  const Placement* chosen = nullptr;
  for (const Placement& placement : placements) {
    if (wanted == placement.name) chosen = &placement;
  }
  if (argc > 2 || (argc == 2 && !chosen)) {
    std::fprintf(stderr, "barrier_in_branch: bad argument '%s'; usage: barrier_in_branch [a-e]\n",
                 argv[argc - 1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here

  if (chosen) return try_placement(*chosen) || !chosen->allowed ? 0 : 1;

  std::printf("b to e are undefined: another GPU, compiler or day may show something else\n");
  const int found = 66;  // a process in which the CPU backend found a mistake
  int code = 0;
  for (const Placement& placement : placements) {
    const int child = run_child(argv[0], placement);
    if (child == found) {
      std::printf("   and the CPU backend says what is wrong with it: see above\n");
      if (code == 0) code = found;
    } else if (child != 0) {
      std::printf("%s: the process failed (%d)\n", placement.name, child);
    }
    if (placement.allowed && child != 0) code = 1;
  }
  return code;
}
