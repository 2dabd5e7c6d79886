// One warp, one access, one launch: how addresses turn into the profiler's counters.
//
// Each launch makes one access of one kind and width, with the offset of every lane taken from a
// table, and prints a line about it. Run under Nsight Compute by `collect patterns`, the i-th line
// belongs to the i-th kernel of the report. On the CPU backend the line also holds the modelled
// counts, for `compare patterns`.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#ifdef SIMT
#include "findings.hpp"
#endif

namespace {

constexpr int window_bytes = 16 * 1024;

/// The byte offset of each lane from the start of the window, and which lanes are active.
struct Pattern {
  unsigned short offset[32];
  unsigned mask;
};

// ---- Values of every width ----

template <class T>
__device__ T make(unsigned lane) {
  return static_cast<T>(lane + 1);
}
template <>
__device__ uint2 make<uint2>(unsigned lane) {
  return make_uint2(lane, lane + 1);
}
template <>
__device__ uint4 make<uint4>(unsigned lane) {
  return make_uint4(lane, lane + 1, lane + 2, lane + 3);
}

template <class T>
__device__ unsigned fold(T value) {
  return static_cast<unsigned>(value);
}
__device__ unsigned fold(uint2 value) { return value.x ^ value.y; }
__device__ unsigned fold(uint4 value) { return value.x ^ value.y ^ value.z ^ value.w; }

// ---- Atomics ----

struct Add {  // adds a value that differs between lanes
  using type = int;
  static __device__ int apply(int* p, unsigned lane) {
    return atomicAdd(p, static_cast<int>(lane) + 1);
  }
};
struct AddOne {  // as in a histogram; ptxas has a special instruction for it
  using type = int;
  static __device__ int apply(int* p, unsigned) { return atomicAdd(p, 1); }
};
struct AddFloat {
  using type = float;
  static __device__ float apply(float* p, unsigned lane) {
    return atomicAdd(p, static_cast<float>(lane + 1));
  }
};
struct Add64 {
  using type = unsigned long long;
  static __device__ type apply(type* p, unsigned lane) { return atomicAdd(p, type{lane} + 1); }
};
struct Swap {
  using type = int;
  static __device__ int apply(int* p, unsigned lane) {
    return atomicCAS(p, 0, static_cast<int>(lane) + 1);
  }
};

// ---- Kernels: one access of the kind in the name; the other accesses are of other kinds ----

__device__ void fill(uint4* window) {
  for (int k = threadIdx.x; k < window_bytes / 16; k += 32) window[k] = make_uint4(0, 0, 0, 0);
  __syncthreads();
}

/// The element of type T that this lane accesses.
template <class T>
__device__ T* at(void* window, const Pattern& pattern) {
  return reinterpret_cast<T*>(static_cast<char*>(window) + pattern.offset[threadIdx.x]);
}

__device__ bool active(const Pattern& pattern) { return (pattern.mask >> threadIdx.x & 1) != 0; }

template <class T>
__global__ void shared_load(const __grid_constant__ Pattern pattern, void*, unsigned* sink) {
  __shared__ uint4 window[window_bytes / 16];
  fill(window);
  if (active(pattern)) sink[threadIdx.x] = fold(*at<T>(window, pattern));
}

template <class T>
__global__ void shared_store(const __grid_constant__ Pattern pattern, void*, unsigned* sink) {
  __shared__ uint4 window[window_bytes / 16];
  if (active(pattern)) *at<T>(window, pattern) = make<T>(threadIdx.x);
  __syncthreads();  // so that the next line is a load, which keeps the store alive
  if (active(pattern)) sink[threadIdx.x] = fold(*at<T>(window, pattern));
}

template <class A>
__global__ void shared_atomic(const __grid_constant__ Pattern pattern, void*, unsigned* sink) {
  __shared__ uint4 window[window_bytes / 16];
  fill(window);
  if (active(pattern)) A::apply(at<typename A::type>(window, pattern), threadIdx.x);
  __syncthreads();
  if (active(pattern)) sink[threadIdx.x] = fold(*at<typename A::type>(window, pattern));
}

template <class A>
__global__ void shared_atomic_result(const __grid_constant__ Pattern pattern, void*,
                                     unsigned* sink) {
  __shared__ uint4 window[window_bytes / 16];
  fill(window);
  if (active(pattern)) {
    sink[threadIdx.x] = fold(A::apply(at<typename A::type>(window, pattern), threadIdx.x));
  }
}

template <class T>
__global__ void global_load(const __grid_constant__ Pattern pattern, void* window, unsigned* sink) {
  if (active(pattern)) sink[threadIdx.x] = fold(*at<T>(window, pattern));
}

template <class T>
__global__ void global_store(const __grid_constant__ Pattern pattern, void* window, unsigned*) {
  if (active(pattern)) *at<T>(window, pattern) = make<T>(threadIdx.x);
}

template <class A>
__global__ void global_red(const __grid_constant__ Pattern pattern, void* window, unsigned*) {
  if (active(pattern)) A::apply(at<typename A::type>(window, pattern), threadIdx.x);
}

template <class A>
__global__ void global_atom(const __grid_constant__ Pattern pattern, void* window, unsigned* sink) {
  if (active(pattern)) {
    sink[threadIdx.x] = fold(A::apply(at<typename A::type>(window, pattern), threadIdx.x));
  }
}

// ---- Patterns ----

struct Case {
  std::string name;
  Pattern pattern;
};

constexpr unsigned all_lanes = 0xffffffffu;

/// `byte(lane)` is the lane's offset.
template <class F>
Case make_case(const std::string& name, F byte, unsigned mask = all_lanes) {
  Case c{name, {}};
  for (int lane = 0; lane < 32; ++lane) {
    c.pattern.offset[lane] = static_cast<unsigned short>(byte(lane));
  }
  c.pattern.mask = mask;
  return c;
}

/// Small, and the same on every system, unlike the distributions of <random>.
unsigned below(std::mt19937& random, unsigned limit) {
  return static_cast<unsigned>(std::uint64_t{random()} * limit >> 32);
}

/// Each lane accesses a random one of the first `range` elements of `size` bytes.
Case random_case(const std::string& name, int size, int range, unsigned seed,
                 unsigned mask = all_lanes) {
  std::mt19937 random(seed);
  return make_case(
      name + "_" + std::to_string(range) + ":" + std::to_string(seed),
      [&](int) { return below(random, range) * size; }, mask);
}

Case permutation_case(int size, unsigned seed) {
  std::mt19937 random(seed);
  int order[32];
  for (int k = 0; k < 32; ++k) order[k] = k;
  for (int k = 31; k > 0; --k) std::swap(order[k], order[below(random, k + 1)]);
  return make_case("permutation:" + std::to_string(seed), [&](int l) { return order[l] * size; });
}

/// The patterns that matter for both memories, for elements of s bytes.
std::vector<Case> common_cases(int s) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto byte) {
    cases.push_back(make_case(name, byte));
  };
  add("unit", [=](int l) { return l * s; });
  add("same", [=](int) { return 0; });
  for (const int stride : {2, 3, 4, 8, 16, 32, 33}) {
    add("stride_" + std::to_string(stride), [=](int l) { return l * stride * s; });
  }
  add("reversed", [=](int l) { return (31 - l) * s; });
  add("two_elements", [=](int l) { return l % 2 * s; });
  add("half_broadcast", [=](int l) { return l % 16 * s; });
  add("pairs", [=](int l) { return l / 2 * s; });
  add("shifted_1_element", [=](int l) { return (l + 1) * s; });
  add("shifted_16_bytes", [=](int l) { return l * s + 16; });
  add("shifted_64_bytes", [=](int l) { return l * s + 64; });
  for (unsigned seed = 1; seed <= 3; ++seed) cases.push_back(permutation_case(s, seed));
  for (unsigned seed = 1; seed <= 3; ++seed) cases.push_back(random_case("random", s, 32, seed));
  for (unsigned seed = 1; seed <= 4; ++seed) cases.push_back(random_case("random", s, 256, seed));
  std::mt19937 random(99);
  const unsigned some = random() & random(), most = random() | random();
  for (const unsigned mask : {0x0000ffffu, 0x55555555u, 0x00020000u, some}) {
    cases.push_back(make_case(
        "unit", [=](int l) { return l * s; }, mask));
  }
  for (const unsigned mask : {0x0000ffffu, 0xffff0000u, 0x55555555u, 0x00000001u, 0x00020000u,
                              0x000000ffu, 0x00ff0000u, 0x0f0f0f0fu, some, most}) {
    cases.push_back(random_case("random", s, 256, 7, mask));
  }
  return cases;
}

/// Patterns that distinguish the possible rules for banks: which lanes are served together?
std::vector<Case> bank_cases(int s) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto byte) {
    cases.push_back(make_case(name, byte));
  };
  add("quads", [=](int l) { return l / 4 * s; });
  add("halves", [=](int l) { return l / 16 * s; });
  add("rotated_1", [=](int l) { return (l + 1) % 32 * s; });
  add("rotated_8", [=](int l) { return (l + 8) % 32 * s; });
  add("swapped_neighbours", [=](int l) { return (l ^ 1) * s; });
  add("quarter_broadcast", [=](int l) { return l % 8 * s; });
  add("quarter_broadcast_rotated", [=](int l) { return (l + l / 8) % 8 * s; });
  add("quarters_interleaved", [=](int l) { return (l % 8 * 4 + l / 8) * s; });
  add("eighths_interleaved", [=](int l) { return (l % 4 * 8 + l / 4) * s; });
  add("halves_interleaved", [=](int l) { return (l % 16 * 2 + l / 16) * s; });
  add("half_broadcast_stride_2", [=](int l) { return l % 16 * 2 * s; });
  add("one_bank", [=](int l) { return l * 128; });
  add("one_bank_two_rows", [=](int l) { return l % 2 * 128; });
  add("one_bank_four_rows", [=](int l) { return l % 4 * 128; });
  add("one_bank_rows_by_quarter", [=](int l) { return l / 8 * 128; });
  add("halves_same_banks", [=](int l) { return l % 16 * s + l / 16 * 1024; });
  add("quarters_same_banks", [=](int l) { return l % 8 * s + l / 8 * 1024; });
  // Conflicts within each half (quarter), but the halves (quarters) use different banks.
  add("halves_other_banks", [=](int l) {
    const int k = l % 16, row = 64 / s;
    return k % row * s + k / row * 256 + l / 16 * 64;
  });
  add("quarters_other_banks", [=](int l) {
    const int k = l % 8, row = 32 / s;
    return k % row * s + k / row * 256 + l / 8 * 32;
  });
  // Neighbouring lanes (by distance 1, 2, 4) with the same address: wide loads may be served
  // faster.
  add("pairs_at_2", [=](int l) { return (l / 4 * 2 + l % 2) * s; });
  add("pairs_at_4", [=](int l) { return (l / 8 * 4 + l % 4) * s; });
  add("pairs_but_lane_31", [=](int l) { return (l == 31 ? 16 : l / 2) * s; });
  add("pairs_at_1_then_at_2", [=](int l) { return (l < 16 ? l / 2 : l / 4 * 2 + l % 2) * s; });
  add("pairs_then_unit", [=](int l) { return (l < 16 ? l / 2 : l) * s; });
  add("pairs_quarter_by_quarter", [=](int l) { return (l / 8 % 2 == 0 ? l / 2 : l) * s; });
  for (unsigned seed = 31; seed <= 33; ++seed) {
    std::mt19937 random(seed);
    std::vector<int> to(16);
    for (int& element : to) element = static_cast<int>(below(random, 128));
    const unsigned mask = seed == 33 ? static_cast<unsigned>(random()) : all_lanes;
    const std::string name = ":" + std::to_string(seed);
    cases.push_back(make_case(
        "random_pairs_at_1" + name, [&](int l) { return to[l / 2] * s; }, mask));
    cases.push_back(make_case(
        "random_pairs_at_2" + name, [&](int l) { return to[l / 4 * 2 + l % 2] * s; }, mask));
  }
  for (unsigned seed = 11; seed <= 13; ++seed) cases.push_back(random_case("random", s, 64, seed));
  for (unsigned seed = 11; seed <= 14; ++seed) {
    cases.push_back(random_case("random", s, 1024, seed));
  }
  std::mt19937 random(5);
  for (unsigned seed = 21; seed <= 24; ++seed) {
    cases.push_back(random_case("random", s, 128, seed, static_cast<unsigned>(random())));
  }
  return cases;
}

// ---- Launches ----

void* window = nullptr;
unsigned* sink = nullptr;
int launches = 0;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "patterns: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

#ifdef SIMT
constexpr const char* more_columns = ",requests,units";

/// The counts of the last launch's access: requests, and sectors or wavefronts.
void print_model(const std::string& op) {
  const simt::Space space = op[0] == 's' ? simt::Space::shared : simt::Space::global;
  const bool load = op.find("load") != std::string::npos;
  const bool store = op.find("store") != std::string::npos;
  const std::string access = load ? "load" : store ? "store" : "atomic";
  std::uint64_t requests = 0, units = 0;
  for (const simt::KernelCount& kernel : simt::take_counts()) {
    requests += kernel.requests(space, access);
    units += kernel.units(space, access);
  }
  std::printf(",%llu,%llu", static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(units));
}
#else
constexpr const char* more_columns = "";
void print_model(const std::string&) {}
#endif

int every = 1;  ///< 3: only each third case

/// All cases with one kernel, which `launch(pattern)` launches.
template <class F>
void run(const char* op, const char* type, int bytes, bool banks, F launch) {
  std::vector<Case> cases = common_cases(bytes);
  if (banks) {
    for (const Case& c : bank_cases(bytes)) cases.push_back(c);
  }
  for (std::size_t k = 0; k < cases.size(); k += every) {
    const Case& c = cases[k];
    require(cudaMemset(window, 0, window_bytes), "cudaMemset");
    launch(c.pattern);
    require(cudaGetLastError(), "launch");
    require(cudaDeviceSynchronize(), op);
    std::printf("%d,%s,%s,%d,%s,%08x,", launches++, op, type, bytes, c.name.c_str(),
                c.pattern.mask);
    for (int lane = 0; lane < 32; ++lane) {
      std::printf("%s%d", lane == 0 ? "" : " ", c.pattern.offset[lane]);
    }
    print_model(op);
    std::printf("\n");
  }
}

template <class T>
void shared_width(const char* type) {
  const int bytes = sizeof(T);
  run("shared_load", type, bytes, true,
      [](const Pattern& p) { shared_load<T><<<1, 32>>>(p, window, sink); });
  run("shared_store", type, bytes, true,
      [](const Pattern& p) { shared_store<T><<<1, 32>>>(p, window, sink); });
}

template <class A>
void shared_atomics(const char* type) {
  const int bytes = sizeof(typename A::type);
  run("shared_atomic", type, bytes, false,
      [](const Pattern& p) { shared_atomic<A><<<1, 32>>>(p, window, sink); });
  run("shared_atomic_result", type, bytes, false,
      [](const Pattern& p) { shared_atomic_result<A><<<1, 32>>>(p, window, sink); });
}

template <class T>
void global_width(const char* type) {
  const int bytes = sizeof(T);
  run("global_load", type, bytes, false,
      [](const Pattern& p) { global_load<T><<<1, 32>>>(p, window, sink); });
  run("global_store", type, bytes, false,
      [](const Pattern& p) { global_store<T><<<1, 32>>>(p, window, sink); });
}

template <class A>
void global_atomics(const char* type) {
  const int bytes = sizeof(typename A::type);
  run("global_red", type, bytes, false,
      [](const Pattern& p) { global_red<A><<<1, 32>>>(p, window, sink); });
  run("global_atom", type, bytes, false,
      [](const Pattern& p) { global_atom<A><<<1, 32>>>(p, window, sink); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc == 2 || argc == 3 ? argv[1] : "";
  if (argc == 3) every = std::atoi(argv[2]);
  if ((part != "shared" && part != "global") || every < 1) {
    std::fprintf(stderr, "usage: patterns shared|global [N]   N: only every N-th pattern\n");
    return 2;
  }
  require(cudaMalloc(&window, window_bytes), "cudaMalloc");
  require(cudaMalloc(&sink, 32 * sizeof(unsigned)), "cudaMalloc");
  std::printf("index,op,type,bytes,pattern,mask,offsets%s\n", more_columns);
#ifdef SIMT
  simt::set_counting(true);
  simt::expect_findings(true);  // lanes that store to the same word are intended here
#endif
  if (part == "shared") {
    shared_width<unsigned char>("u8");
    shared_width<unsigned short>("u16");
    shared_width<unsigned>("u32");
    shared_width<uint2>("u32x2");
    shared_width<uint4>("u32x4");
    shared_atomics<Add>("int");
    shared_atomics<AddOne>("int+1");
    shared_atomics<AddFloat>("float");
    shared_atomics<Add64>("u64");
    shared_atomics<Swap>("int_cas");
  } else {
    global_width<unsigned char>("u8");
    global_width<unsigned short>("u16");
    global_width<unsigned>("u32");
    global_width<uint2>("u32x2");
    global_width<uint4>("u32x4");
    global_atomics<Add>("int");
    global_atomics<AddFloat>("float");
    global_atomics<Add64>("u64");
    global_atomics<Swap>("int_cas");
  }
  require(cudaFree(window), "cudaFree");
  require(cudaFree(sink), "cudaFree");
  return 0;
}
