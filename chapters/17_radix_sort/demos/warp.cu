// A warp sorts a key per lane, bit by bit, with ballots.
//
// In each step a ballot tells every lane which lanes have a 1 at the bit. A key with a 0 goes after
// the zeros of lower lanes, a key with a 1 after all zeros and the ones of lower lanes. So keys
// with equal bits keep their order, and after the last bit all are sorted. Of fewer than 32 keys
// the zeros are not the complement of the ballot: lanes without a key are no zeros.
//
//   nvcc -std=c++17 -arch=sm_90 warp.cu -o warp
//   ./warp

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
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

constexpr int lanes = 32, most_bits = 32;

/// What a warp did at one bit: the ballot, the rank of each lane's key, and the key of each lane
/// after it.
struct Step {
  unsigned ballot, rank[lanes], key[lanes];
};

/// Sorts n keys by bits 0 to bits - 1; steps[bit] is what it did at the bit. One warp, of which
/// lanes 0 to n - 1 have a key.
// snippet: sort
__global__ void sort_keys(const unsigned* in, Step* steps, int n, int bits) {
  __shared__ unsigned s_keys[lanes];
  const unsigned lane = threadIdx.x;
  const unsigned here = ~0u >> (lanes - n);  // the lanes that have a key
  if (lane >= static_cast<unsigned>(n)) return;
  const unsigned below = (1u << lane) - 1;
  unsigned key = in[lane];
  for (int bit = 0; bit < bits; ++bit) {
    const bool is_one = (key >> bit & 1) == 1;
    const unsigned ones = __ballot_sync(here, is_one);
    const unsigned zeros = here & ~ones;  // ~ones alone counts lanes without a key
    const int rank = is_one ? __popc(zeros) + __popc(ones & below) : __popc(zeros & below);
    s_keys[rank] = key;
    __syncwarp(here);
    key = s_keys[lane];
    __syncwarp(here);  // all have read before the next step writes
    steps[bit].ballot = ones;
    steps[bit].rank[lane] = static_cast<unsigned>(rank);
    steps[bit].key[lane] = key;
  }
}
// /snippet

/// What the warp does with these keys, at each bit.
std::vector<Step> steps_of(const std::vector<unsigned>& keys, int bits) {
  const int n = static_cast<int>(keys.size());
  std::vector<Step> steps(static_cast<std::size_t>(bits));
  unsigned* keys_on_gpu = nullptr;
  Step* steps_on_gpu = nullptr;
  CHECK(cudaMalloc(&keys_on_gpu, keys.size() * sizeof keys[0]));
  CHECK(cudaMalloc(&steps_on_gpu, steps.size() * sizeof steps[0]));
  CHECK(cudaMemset(steps_on_gpu, 0, steps.size() * sizeof steps[0]));
  CHECK(cudaMemcpy(keys_on_gpu, keys.data(), keys.size() * sizeof keys[0], cudaMemcpyHostToDevice));
  sort_keys<<<1, lanes>>>(keys_on_gpu, steps_on_gpu, n, bits);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(steps.data(), steps_on_gpu, steps.size() * sizeof steps[0],
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(keys_on_gpu));
  CHECK(cudaFree(steps_on_gpu));
  return steps;
}

/// True if after each bit the keys are where a stable sort of the host by this bit puts them.
bool is_right(std::vector<unsigned> keys, const std::vector<Step>& steps) {
  for (std::size_t bit = 0; bit < steps.size(); ++bit) {
    std::stable_partition(keys.begin(), keys.end(),
                          [=](unsigned key) { return (key >> bit & 1) == 0; });
    if (!std::equal(keys.begin(), keys.end(), steps[bit].key)) return false;
  }
  return true;
}

/// A line of numbers, one per lane.
template <class Number>
void print_lanes(const char* what, std::size_t n, Number number) {
  std::printf("  %-8s", what);
  for (std::size_t lane = 0; lane < n; ++lane) std::printf(" %3u", number(lane));
}

/// Shows each step of a few keys.
void print_steps(std::vector<unsigned> keys, const std::vector<Step>& steps) {
  const std::size_t n = keys.size();
  for (std::size_t bit = 0; bit < steps.size(); ++bit) {
    const Step& step = steps[bit];
    std::printf("bit %zu\n", bit);
    print_lanes("key", n, [&](std::size_t lane) { return keys[lane]; });
    std::printf("\n");
    print_lanes("its bit", n, [&](std::size_t lane) { return step.ballot >> lane & 1; });
    std::printf("   ballot 0x%x%s\n", step.ballot, bit == 0 ? ": lane 0 is its lowest bit" : "");
    print_lanes("rank", n, [&](std::size_t lane) { return step.rank[lane]; });
    std::printf("\n");
    keys.assign(step.key, step.key + n);
    print_lanes("after", n, [&](std::size_t lane) { return keys[lane]; });
    std::printf("\n");
  }
}

/// Sorts n random keys of 32 bits and says whether they are sorted.
bool sort_random(std::size_t n, std::mt19937* random) {
  std::vector<unsigned> keys(n);
  for (unsigned& key : keys) key = static_cast<unsigned>((*random)());
  const std::vector<Step> steps = steps_of(keys, most_bits);
  const bool right = is_right(keys, steps);
  std::sort(keys.begin(), keys.end());
  const bool sorted = right && std::equal(keys.begin(), keys.end(), steps.back().key);
  std::printf("%zu random keys of %d bits: %s\n", n, most_bits, sorted ? "sorted" : "NOT SORTED");
  if (n < lanes) {
    const unsigned ones = steps[0].ballot, here = ~0u >> (lanes - n);
    std::printf(
        "  bit 0: ballot 0x%05x; %zu zeros among %zu keys, but 0x%08x, its complement, has\n"
        "  %zu ones: the first key with a 1 would go to place %zu of 0 to %zu\n",
        ones, n - __builtin_popcount(ones & here), n, ~ones,
        static_cast<std::size_t>(__builtin_popcount(~ones)),
        static_cast<std::size_t>(__builtin_popcount(~ones)), n - 1);
  }
  return sorted;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "warp: bad argument '%s'; usage: warp\n", argv[1]);
    return 2;
  }
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));  // without a GPU the program ends here
  const std::vector<unsigned> example = {7, 14, 4, 1};
  const std::vector<Step> steps = steps_of(example, 4);
  print_steps(example, steps);
  bool right = is_right(example, steps);
  std::mt19937 random(17);
  for (const std::size_t n : {32, 20}) right = sort_random(n, &random) && right;
  return right ? 0 : 1;
}
