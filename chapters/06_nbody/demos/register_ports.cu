// What a multiply-add costs that reads three registers instead of two.
//
// Twelve chains a thread that do not depend on each other, four warps on each quarter of an SM:
// what is left to wait for are the instructions. Writes a CSV table.
//
//   nvcc -O3 register_ports.cu -o ports
//   ./ports

#include <algorithm>
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

#ifdef SIMT  // the CPU backend has no times: it checks
constexpr bool has_times = false;
#else
constexpr bool has_times = true;
#endif

constexpr int block_size = 512;  // 16 warps, four on each quarter of the SM
constexpr int warps_a_quarter = block_size / 32 / 4;
constexpr int chains = 12;
constexpr int rounds = has_times ? 4096 : 16;

enum Kind { two_registers, three_registers, three_one_kept, two_and_root };

/// 1 / sqrt(x) by one instruction. PTX ISA, "rsqrt".
__device__ float reciprocal_root(float x) {
#ifdef SIMT
  return 1 / sqrtf(x);
#else
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

/// Each chain adds a product `rounds` times. in: 2 * chains + 1 numbers for each thread, all above
/// zero; out: the sum of its chains. cycles[0] = clock cycles of the block.
template <Kind kind>
__global__ void __launch_bounds__(block_size)
    add_products(const float* in, float* out, long long* cycles) {
  const int t = threadIdx.x;
  float a[chains] = {}, d[chains], s[chains];
  for (int k = 0; k < chains; ++k) {
    d[k] = in[k * block_size + t];
    s[k] = in[(chains + k) * block_size + t];
  }
  const float common = in[2 * chains * block_size + t];
  float root[4] = {common, common, common, common};
  __syncthreads();
  const long long start = clock64();
#pragma unroll 16
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int k = 0; k < chains; ++k) {
      const float factor = kind == three_registers ? s[k] : kind == three_one_kept ? common : d[k];
      a[k] = fmaf(d[k], factor, a[k]);
    }
    if (kind == two_and_root) root[round % 4] = reciprocal_root(root[round % 4]);
  }
  __syncthreads();
  if (t == 0) *cycles = clock64() - start;
  float sum = 0;
  for (int k = 0; k < chains; ++k) sum += a[k];
  out[t] = root[0] + root[1] + root[2] + root[3] > 0 ? sum : 0;  // so that the roots are needed
}

struct Row {
  const char* instructions;
  const char* registers;
  int a_round;  ///< instructions of a thread
  void (*launch)(const float* in, float* out, long long* cycles);
};
const Row rows[] = {
    {"d * d + a", "2", chains,
     [](const float* in, float* out, long long* cycles) {
       add_products<two_registers><<<1, block_size>>>(in, out, cycles);
     }},
    {"d * s + a", "3", chains,
     [](const float* in, float* out, long long* cycles) {
       add_products<three_registers><<<1, block_size>>>(in, out, cycles);
     }},
    {"d * s + a with one s for all", "3", chains,
     [](const float* in, float* out, long long* cycles) {
       add_products<three_one_kept><<<1, block_size>>>(in, out, cycles);
     }},
    {"12 times d * d + a and a root", "2", chains + 1,
     [](const float* in, float* out, long long* cycles) {
       add_products<two_and_root><<<1, block_size>>>(in, out, cycles);
     }},
};

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "register_ports: bad argument '%s'; usage: register_ports\n", argv[1]);
    return 2;
  }
  int gpus = 0, runtime = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  CHECK(cudaRuntimeGetVersion(&runtime));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));

  // Powers of two, so that every sum is exact.
  const std::vector<float> in((2 * chains + 1) * block_size, 0x1p-6f);
  const float expected = static_cast<float>(chains) * rounds * 0x1p-12f;
  std::vector<float> out(block_size);
  float *device_in = nullptr, *device_out = nullptr;
  long long* device_cycles = nullptr;
  CHECK(cudaMalloc(&device_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_out, out.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_cycles, sizeof *device_cycles));
  CHECK(cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));

  std::printf(
      "# clock cycles of a quarter of an SM for one instruction of a warp (%s, CUDA %d.%d)\n",
      device.name, runtime / 1000, runtime % 100 / 10);
  std::puts("instructions,different_registers,clocks_each");
  bool right = true;
  for (const Row& row : rows) {
    long long least = 0;
    for (int run = 0; run < (has_times ? 5 : 1); ++run) {  // the first one loads the code
      long long cycles = 0;
      CHECK(cudaMemset(device_out, 0xff, out.size() * sizeof(float)));  // all NaN
      row.launch(device_in, device_out, device_cycles);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(&cycles, device_cycles, sizeof cycles, cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
      for (const float sum : out) right = right && sum == expected;
      least = run == 0 ? cycles : std::min(least, cycles);
    }
    std::printf("%s,%s,", row.instructions, row.registers);
    const double each = static_cast<double>(least) / (1.0 * rounds * row.a_round * warps_a_quarter);
    if (has_times) std::printf("%.2f\n", each);
    if (!has_times) std::puts("-");
  }
  if (!has_times) std::puts("# no clocks without a GPU; recorded: h200-register_ports.csv");
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  CHECK(cudaFree(device_cycles));
  if (!right) std::fprintf(stderr, "register_ports: a sum is wrong\n");
  return right ? 0 : 1;
}
