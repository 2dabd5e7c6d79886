// Chapter 05 under stress, on a GPU. The shipped files are included here unchanged, but their
// barriers, votes, atomics and accesses to words that blocks pass on are replaced: before each of
// them some warps of some blocks wait for up to a few microseconds. So blocks overtake each other
// as they hardly ever do otherwise. Results are compared on the GPU, bit by bit, after each of many
// launches of random size.
// Built three times: STRESS == 1 holds versions 09 to 13 and unpack; 2, for compute capability 9.0,
// version 80 and pack; 0 holds only comparisons of arrays that are too large for the host.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>
#include <string>
#include <thread>
#include <vector>
#if STRESS == 2
#include <cooperative_groups.h>

#include <cuda/ptx>
#endif

namespace scan_stress {
namespace {

/// Device memory with an owner.
template <class T>
class Array {
 public:
  explicit Array(std::size_t count) {
    error = cudaMalloc(&data, std::max<std::size_t>(count, 1) * sizeof(T));
  }
  explicit Array(const std::vector<T>& host) : Array(host.size()) {
    if (error == cudaSuccess)
      error = cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data = nullptr;
  cudaError_t error = cudaSuccess;
};

}  // namespace
}  // namespace scan_stress

#if STRESS != 0

namespace scan_stress {
namespace {

__device__ unsigned seed_of_run;  // a multiple of 8: no warp waits
int sms_of_run = 1;               // the number of SMs that launchers are given

__host__ __device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

__device__ void wait_cycles(long long cycles) {
  const long long until = clock64() + cycles;
  while (clock64() < until) {
  }
}

/// Waits in some calls: often in a quarter of the blocks, seldom in the others; never in every
/// eighth run.
__device__ void wait_a_moment() {
  const unsigned seed = *static_cast<volatile unsigned*>(&seed_of_run);
  if (seed % 8 == 0) return;
  const unsigned block = mixed(seed + blockIdx.x * 0x9e3779b9u);
  const unsigned warp = threadIdx.x / 32 * 0x85ebca6bu;
  const unsigned x = mixed(block ^ warp ^ static_cast<unsigned>(clock64()));
  if (x % (block % 4 == 0 ? 4 : 64) != 0) return;
  wait_cycles(x >> 8 & 8191);
}

}  // namespace
}  // namespace scan_stress

/// Replaces `cuda` in the included files: the same, with waits.
namespace delayed {
using namespace ::cuda;

template <class T, ::cuda::thread_scope scope>
class atomic_ref {
 public:
  __device__ explicit atomic_ref(T& at) : at_(at) {}
  __device__ void store(T value, ::cuda::memory_order order) {
    scan_stress::wait_a_moment();
    at_.store(value, order);
  }
  __device__ T load(::cuda::memory_order order) {
    scan_stress::wait_a_moment();
    return at_.load(order);
  }

 private:
  ::cuda::atomic_ref<T, scope> at_;
};

#if STRESS == 2
namespace ptx {
using namespace ::cuda::ptx;

template <class... Arguments>
__device__ void mbarrier_arrive(Arguments... arguments) {
  scan_stress::wait_a_moment();
  ::cuda::ptx::mbarrier_arrive(arguments...);
}
template <class... Arguments>
__device__ void cp_async_bulk(Arguments... arguments) {
  scan_stress::wait_a_moment();
  ::cuda::ptx::cp_async_bulk(arguments...);
}
}  // namespace ptx
#endif
}  // namespace delayed

/// The same with a mistake: the mark of a word is stored before its sum. The stress must detect it.
namespace torn {
using namespace ::cuda;

template <class T, ::cuda::thread_scope scope>
class atomic_ref {
 public:
  __device__ explicit atomic_ref(T& at) : at_(&at) {}
  __device__ void store(T value, ::cuda::memory_order) {
    volatile ::std::uint32_t* const half = reinterpret_cast<::std::uint32_t*>(at_);
    half[1] = static_cast<::std::uint32_t>(value >> 32);
    scan_stress::wait_cycles(2000);
    half[0] = static_cast<::std::uint32_t>(value);
  }
  __device__ T load(::cuda::memory_order) { return *static_cast<volatile T*>(at_); }

 private:
  T* at_;
};

#if STRESS == 2
namespace ptx = ::delayed::ptx;
#endif
}  // namespace torn

// The text of a macro is not expanded again, so it calls CUDA's own function.
#define __syncthreads() (::scan_stress::wait_a_moment(), __syncthreads())
#define __syncwarp() (::scan_stress::wait_a_moment(), __syncwarp())
#define __ballot_sync(mask, vote) (::scan_stress::wait_a_moment(), __ballot_sync(mask, vote))
#define __all_sync(mask, vote) (::scan_stress::wait_a_moment(), __all_sync(mask, vote))
#define atomicAdd(at, value) (::scan_stress::wait_a_moment(), atomicAdd(at, value))
#define cudaDeviceGetAttribute(value, attribute, device) \
  (*(value) = ::scan_stress::sms_of_run, static_cast<void>(device), cudaSuccess)

#define cuda ::delayed
namespace stressed {
#if STRESS == 2
#include "../chapters/05_scan/80_limit.cu"
#include "../chapters/05_scan/studies/pack.cu"
#else
#include "../chapters/05_scan/09_chained.cu"
#include "../chapters/05_scan/10_look_back.cu"
#include "../chapters/05_scan/11_vectors.cu"
#include "../chapters/05_scan/12_streaming.cu"
#include "../chapters/05_scan/13_prefetch.cu"
#include "../chapters/05_scan/studies/unpack.cu"
#endif
}  // namespace stressed
#undef cuda

#define cuda ::torn
namespace broken {
#if STRESS == 2
#include "../chapters/05_scan/80_limit.cu"
#else
#include "../chapters/05_scan/10_look_back.cu"
#endif
}  // namespace broken
#undef cuda

#undef __syncthreads
#undef __syncwarp
#undef __ballot_sync
#undef __all_sync
#undef atomicAdd
#undef cudaDeviceGetAttribute

namespace scan_stress {
namespace {

/// The wrong results in all runs of a case.
struct Wrong {
  unsigned long long elements;  // 0: nothing
  unsigned long long first;     // run << 40 | element
};

constexpr std::int64_t behind = 64;  // guard elements after the results

/// Compares n results, none of them NaN, with the reference, and the guards after them with the
/// fresh pattern; then restores the pattern, so that no result is left for the next run.
template <class T>
__global__ void check(const T* want, T* got, std::int64_t n, Wrong* wrong, unsigned long long run) {
  T fresh;
  std::memset(&fresh, 0xA5, sizeof fresh);
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n + behind;
       i += stride) {
    const T x = got[i], y = i < n ? want[i] : fresh;
    if (x != y) {
      atomicAdd(&wrong->elements, 1ull);
      atomicMin(&wrong->first, run << 40 | static_cast<unsigned long long>(i));
    }
    got[i] = fresh;
  }
}

__global__ void set_seed(unsigned seed) { seed_of_run = seed; }

/// Runs launch(workspace, bytes, n, stream) and compare(n, wrong, run, stream) many times with
/// n of [1, most], half of them small. Ends the program if they hang.
template <class Launch, class Compare>
cudaError_t repeat(int runs, std::int64_t most, Launch launch, Compare compare,
                   std::int64_t* elements, std::int64_t* first_run, std::int64_t* first_element) {
  using Clock = std::chrono::steady_clock;
  constexpr auto limit = std::chrono::seconds(20);  // for a hundred runs of some microseconds
  std::size_t bytes = 0;
  sms_of_run = 1;
  if (cudaError_t error = launch(nullptr, bytes, most, nullptr)) return error;
  bytes *= 4;  // small arrays may need more: their tiles are smaller
  const Array<unsigned char> workspace(bytes);
  const Array<Wrong> wrong(std::vector<Wrong>{{0, ~0ull}});
  if (workspace.error != cudaSuccess) return workspace.error;
  if (wrong.error != cudaSuccess) return wrong.error;
  cudaStream_t stream{};
  cudaEvent_t done{};
  if (cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return error;
  if (cudaError_t error = cudaEventCreateWithFlags(&done, cudaEventDisableTiming)) return error;
  if (cudaError_t error = cudaMemsetAsync(workspace.data, 0xFF, bytes, stream)) return error;
  if (cudaError_t error = cudaDeviceSynchronize()) return error;  // all arrays are filled
  for (int run = 0; run < runs; ++run) {
    const unsigned random = mixed(static_cast<unsigned>(run) + 1);
    const std::int64_t range = random % 2 ? most : std::max<std::int64_t>(most / 8, 1);
    std::int64_t n = 1 + (random >> 1) % range;
    if (random % 4 == 0) n = (n + 511) / 512 * 512;  // sometimes whole tiles only
    n = std::min(n, most);
    sms_of_run = 1 + static_cast<int>(mixed(random) % 8);
    set_seed<<<1, 1, 0, stream>>>(mixed(random + 1));
    if (cudaError_t error = launch(workspace.data, bytes, n, stream)) return error;
    if (cudaError_t error = compare(n, wrong.data, run, stream)) return error;
    if (run % 100 != 99 && run != runs - 1) continue;
    if (cudaError_t error = cudaEventRecord(done, stream)) return error;
    const auto start = Clock::now();
    for (;;) {
      const cudaError_t state = cudaEventQuery(done);
      if (state == cudaSuccess) break;
      if (state != cudaErrorNotReady) return state;
      if (Clock::now() - start > limit) {
        std::fprintf(stderr, "FAILED: hangs, at most a hundred launches before number %d\n",
                     run + 1);
        std::_Exit(1);  // a call that frees memory would wait for the kernel
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  Wrong seen{};
  if (cudaError_t error = cudaMemcpy(&seen, wrong.data, sizeof seen, cudaMemcpyDeviceToHost))
    return error;
  *elements = static_cast<std::int64_t>(seen.elements);
  *first_run = static_cast<std::int64_t>(seen.first >> 40);
  *first_element = static_cast<std::int64_t>(seen.first & ((1ull << 40) - 1));
  cudaEventDestroy(done);
  return cudaStreamDestroy(stream);
}

/// Where a case stores its findings.
struct Places {
  std::int64_t *elements, *run, *element;
};

template <class T>
cudaError_t compare_with(const Array<T>& want, const Array<T>& got, std::int64_t n, Wrong* wrong,
                         int run, cudaStream_t stream) {
  check<<<132, 512, 0, stream>>>(want.data, got.data, n, wrong,
                                 static_cast<unsigned long long>(run));
  return cudaGetLastError();
}

template <class T>
cudaError_t fresh(const Array<T>& array, std::int64_t count) {
  if (array.error != cudaSuccess) return array.error;
  return cudaMemset(array.data, 0xA5, static_cast<std::size_t>(count) * sizeof(T));
}

/// A scan of up to `most` elements; `op` of the host.
template <class T, class Launcher, class Op>
cudaError_t stress_scan(Launcher* launcher, bool exclusive, T initial, Op op, std::int64_t most,
                        int runs, Places places) {
  std::vector<T> in(static_cast<std::size_t>(most)), want(in.size());
  T upto{};
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto k = static_cast<unsigned>(i);
    in[i] = static_cast<T>(static_cast<std::uint64_t>(mixed(k)) << 32 | mixed(k + 77));
    if (sizeof(T) == 4) in[i] |= T{1} << 16;  // as a map: keeps all bits of the result before it
    const T before = i == 0 ? initial : upto;
    upto = i == 0 ? in[0] : op(upto, in[i]);
    want[i] = exclusive ? before : upto;
  }
  const Array<T> source(in), results(want), out(in.size() + behind);
  if (source.error != cudaSuccess) return source.error;
  if (results.error != cudaSuccess) return results.error;
  if (cudaError_t error = fresh(out, most + behind)) return error;
  return repeat(
      runs, most,
      [&](void* workspace, std::size_t& bytes, std::int64_t n, cudaStream_t stream) {
        return launcher(workspace, bytes, source.data, out.data, n, stream);
      },
      [&](std::int64_t n, Wrong* wrong, int run, cudaStream_t stream) {
        return compare_with(results, out, n, wrong, run, stream);
      },
      places.elements, places.run, places.element);
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

template <class T>
using ScanLauncher = cudaError_t(void*, std::size_t&, const T*, T*, std::int64_t, cudaStream_t);

/// Elements of which every other one, at random, is above 0.
std::vector<float> for_packing(std::int64_t n) {
  std::vector<float> in(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float x = static_cast<float>(1 + i % 1000003);
    in[i] = mixed(static_cast<unsigned>(i)) % 2 ? x : -x;
  }
  return in;
}

#if STRESS == 2

struct Then {
  unsigned operator()(unsigned f, unsigned g) const {
    const unsigned a = (f >> 16) * (g >> 16), b = (g >> 16) * (f & 0xffffu) + (g & 0xffffu);
    return a << 16 | (b & 0xffffu);
  }
};

cudaError_t stress_pack(std::int64_t most, int runs, Places places) {
  const std::vector<float> in = for_packing(most);
  std::vector<float> kept;
  std::vector<std::int64_t> count(in.size() + 1);  // number kept of the first n
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] > 0) kept.push_back(in[i]);
    count[i + 1] = static_cast<std::int64_t>(kept.size());
  }
  const Array<float> source(in), results(kept), out(in.size() + behind);
  const Array<std::int64_t> counts(count), number(1 + behind);
  if (source.error != cudaSuccess) return source.error;
  if (results.error != cudaSuccess) return results.error;
  if (counts.error != cudaSuccess) return counts.error;
  if (cudaError_t error = fresh(out, most + behind)) return error;
  if (cudaError_t error = fresh(number, 1 + behind)) return error;
  return repeat(
      runs, most,
      [&](void* workspace, std::size_t& bytes, std::int64_t n, cudaStream_t stream) {
        return stressed::pack_study::pack(workspace, bytes, source.data, out.data, number.data, n,
                                          stream);
      },
      [&](std::int64_t n, Wrong* wrong, int run, cudaStream_t stream) {
        check<<<1, 128, 0, stream>>>(counts.data + n, number.data, 1, wrong,
                                     static_cast<unsigned long long>(run));
        if (cudaError_t error = cudaGetLastError()) return error;
        return compare_with(results, out, count[static_cast<std::size_t>(n)], wrong, run, stream);
      },
      places.elements, places.run, places.element);
}

cudaError_t stress_case(const std::string& name, int runs, Places places) {
  const unsigned unchanged = 1u << 16;
  constexpr std::int64_t few = 1 << 16, tiny = 1 << 18, small = 1 << 22;
  constexpr std::int64_t large = 40 * 11520, longs = 40 * 5760;
  using namespace stressed;
  // scan_once by one block and by a cluster; then with words, in two rows: of one word and of two.
  if (name == "cluster")
    return stress_scan<unsigned>(limit::exclusive_compose, true, unchanged, Then(), few, runs,
                                 places);
  if (name == "tiny")
    return stress_scan<unsigned>(limit::inclusive_compose, false, unchanged, Then(), tiny, runs,
                                 places);
  if (name == "tiny_int64") {
    ScanLauncher<std::int64_t>* const scan = limit::exclusive;
    return stress_scan<std::int64_t>(scan, true, 0, Add(), tiny / 2, runs, places);
  }
  // With two to eight rows; half of the runs are of two.
  if (name == "small")
    return stress_scan<unsigned>(limit::exclusive_compose, true, unchanged, Then(), small, runs,
                                 places);
  // The ring, with one to eight blocks.
  if (name == "ring")
    return stress_scan<unsigned>(limit::inclusive_compose_large, false, unchanged, Then(), large,
                                 runs, places);
  if (name == "ring_int64")
    return stress_scan<std::int64_t>(limit::exclusive_large, true, 0, Add(), longs, runs, places);
  // One to eight tiles, or a ring of two to sixteen blocks.
  if (name == "pack") return stress_pack(100 * 8192, runs, places);
  if (name == "torn_tiny")
    return stress_scan<unsigned>(broken::limit::inclusive_compose, false, unchanged, Then(), tiny,
                                 runs, places);
  if (name == "torn_ring")
    return stress_scan<unsigned>(broken::limit::inclusive_compose_large, false, unchanged, Then(),
                                 large, runs, places);
  return cudaErrorInvalidValue;
}

#else

cudaError_t stress_unpack(std::int64_t most, int runs, Places places) {
  const std::vector<float> in = for_packing(most);
  std::vector<float> kept, want(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] > 0) kept.push_back(static_cast<float>(kept.size() + 1));
    want[i] = in[i] > 0 ? kept.back() : 0;
  }
  const Array<float> source(in), packed(kept), results(want), out(in.size() + behind);
  if (source.error != cudaSuccess) return source.error;
  if (packed.error != cudaSuccess) return packed.error;
  if (results.error != cudaSuccess) return results.error;
  if (cudaError_t error = fresh(out, most + behind)) return error;
  return repeat(
      runs, most,
      [&](void* workspace, std::size_t& bytes, std::int64_t n, cudaStream_t stream) {
        return stressed::unpack_study::unpack(workspace, bytes, source.data, packed.data, out.data,
                                              n, stream);
      },
      [&](std::int64_t n, Wrong* wrong, int run, cudaStream_t stream) {
        return compare_with(results, out, n, wrong, run, stream);
      },
      places.elements, places.run, places.element);
}

cudaError_t stress_case(const std::string& name, int runs, Places places) {
  constexpr std::int64_t small = 40 * 4096, large = 40 * 16384;
  using namespace stressed;
  const auto sums = [&](ScanLauncher<unsigned>* scan, bool exclusive, std::int64_t most) {
    return stress_scan<unsigned>(scan, exclusive, 0u, Add(), most, runs, places);
  };
  if (name == "09") return sums(chained::inclusive, false, small);
  if (name == "10") return sums(look_back_scan::inclusive, false, small);
  if (name == "11") return sums(vectors::exclusive, true, large);
  if (name == "12") return sums(streaming::inclusive, false, large);
  if (name == "13") return sums(prefetch::exclusive, true, large);
  if (name == "unpack") return stress_unpack(large, runs, places);
  if (name == "torn_10") return sums(broken::look_back_scan::inclusive, false, small);
  return cudaErrorInvalidValue;
}

#endif

}  // namespace

#if STRESS == 2
#define STRESS_NAME stress_hopper
#else
#define STRESS_NAME stress
#endif

/// Runs a case; *elements becomes how many were wrong, *run and *element which was the first.
cudaError_t STRESS_NAME(const std::string& name, int runs, std::int64_t* elements,
                        std::int64_t* run, std::int64_t* element) {
  return stress_case(name, runs, {elements, run, element});
}

}  // namespace scan_stress

#else

// ---- Comparisons for arrays that are too large for the host ----

namespace scan_stress {
namespace {

using First = unsigned long long;

__device__ std::int64_t first_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::int64_t index_step() { return std::int64_t{gridDim.x} * blockDim.x; }

__global__ void find_difference(const std::uint32_t* got, const std::uint32_t* want, std::int64_t n,
                                First* first) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) {
    if (got[i] != want[i]) atomicMin(first, static_cast<First>(i));
  }
}

template <class T>
__global__ void store_marks(T* data, std::int64_t n, std::int64_t every) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) data[i] = i % every == 1;
}

template <class T>
__global__ void find_wrong_mark(const T* sums, std::int64_t n, std::int64_t every, bool exclusive,
                                First* first) {
  for (std::int64_t i = first_index(); i < n; i += index_step()) {
    const std::int64_t last = exclusive ? i - 1 : i;
    const std::int64_t marks = last >= 1 ? (last - 1) / every + 1 : 0;
    if (!(sums[i] == static_cast<T>(marks))) atomicMin(first, static_cast<First>(i));
  }
}

/// Calls body(first) and waits for its result.
template <class Body>
cudaError_t find_first(std::int64_t* found, Body body) {
  const Array<First> first(std::vector<First>{~First{0}});
  if (first.error != cudaSuccess) return first.error;
  body(first.data);
  if (cudaError_t error = cudaGetLastError()) return error;
  return cudaMemcpy(found, first.data, sizeof *found, cudaMemcpyDeviceToHost);  // all bits: -1
}

}  // namespace

cudaError_t first_difference(const void* got, const void* want, std::int64_t n,
                             std::int64_t* first) {
  return find_first(first, [&](First* at) {
    find_difference<<<264, 512>>>(static_cast<const std::uint32_t*>(got),
                                  static_cast<const std::uint32_t*>(want), n, at);
  });
}

cudaError_t fill_marks(void* data, bool floats, std::int64_t n, std::int64_t every) {
  if (floats)
    store_marks<<<1056, 512>>>(static_cast<float*>(data), n, every);
  else
    store_marks<<<1056, 512>>>(static_cast<unsigned*>(data), n, every);
  return cudaGetLastError();
}

cudaError_t first_wrong_mark(const void* sums, bool floats, std::int64_t n, std::int64_t every,
                             bool exclusive, std::int64_t* first) {
  return find_first(first, [&](First* at) {
    if (floats)
      find_wrong_mark<<<1056, 512>>>(static_cast<const float*>(sums), n, every, exclusive, at);
    else
      find_wrong_mark<<<1056, 512>>>(static_cast<const unsigned*>(sums), n, every, exclusive, at);
  });
}

}  // namespace scan_stress

#endif
