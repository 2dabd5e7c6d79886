// Tensor copies: boxes of one to five axes against a plain reference, over every edge, with fill,
// element strides and swizzles; reductions; and planted faults.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <cuda/ptx>

#include "simt_test.hpp"

namespace {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using simt_test::Array;
using Bytes = std::vector<unsigned char>;

class Tensor : public simt_test::Device {};
class TensorFault : public simt_test::Device {};

std::string at(const std::string& name) { return simt_test::here("api_tensor.cu", name); }

// ---- An array, a box of it, and the addresses of the box's bytes ----

struct Box {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  int element = 4;  // bytes
  int axes = 1;
  cuuint64_t size[5] = {1, 1, 1, 1, 1};
  cuuint64_t stride[5] = {};  // bytes, of each axis; 0: without gaps, up to a multiple of 16
  cuuint32_t box[5] = {1, 1, 1, 1, 1}, every[5] = {1, 1, 1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  bool nan = false;

  void complete() {
    stride[0] = static_cast<cuuint64_t>(element);
    for (int a = 1; a < 5; ++a) {
      if (stride[a] == 0) stride[a] = (stride[a - 1] * size[a - 1] + 15) / 16 * 16;
    }
  }
  std::size_t bytes() const { return stride[4] * size[4]; }
  int count(int a) const { return static_cast<int>((box[a] + every[a] - 1) / every[a]); }
  int rows() const { return count(1) * count(2) * count(3) * count(4); }
  int inner() const { return static_cast<int>(box[0]) * element; }
  unsigned counted() const { return static_cast<unsigned>(rows() * inner()); }
  int span() const { return swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16 << swizzle; }
  int pitch() const { return inner() < span() ? span() : inner(); }
  unsigned room() const { return static_cast<unsigned>((rows() * pitch() + 1023) / 1024 * 1024); }

  /// f(byte in shared memory, byte in the array or -1) for each byte of the box.
  template <class F>
  void for_each_byte(const std::int32_t* from, F f) const {
    for (int row = 0; row < rows(); ++row) {
      const int of[5] = {0, row % count(1), row / count(1) % count(2),
                         row / count(1) / count(2) % count(3),
                         row / count(1) / count(2) / count(3)};
      for (int k = 0; k < inner(); ++k) {
        std::int64_t place = k % element;
        bool inside = true;
        for (int a = 0; a < axes; ++a) {
          const std::int64_t i =
              from[a] + (a == 0 ? k / element : of[a] * static_cast<int>(every[a]));
          inside = inside && i >= 0 && i < static_cast<std::int64_t>(size[a]);
          place += i * static_cast<std::int64_t>(stride[a]);
        }
        const int dense = row * pitch() + k;
        const int chunk = dense / 16 ^ (dense / 128 & (span() == 0 ? 0 : span() / 16 - 1));
        f(chunk * 16 + dense % 16, inside ? place : -1);
      }
    }
  }
};

CUresult encode(const Box& b, void* address, CUtensorMap* map) {
  return cuTensorMapEncodeTiled(map, b.type, static_cast<cuuint32_t>(b.axes), address, b.size,
                                b.stride + 1, b.box, b.every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                b.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                b.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                      : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
CUtensorMap map_of(const Box& b, void* address) {
  CUtensorMap map;
  EXPECT_EQ(encode(b, address, &map), CUDA_SUCCESS);
  return map;
}

Bytes noise(std::size_t n, unsigned seed) {
  Bytes bytes(n);
  for (auto& byte : bytes) byte = static_cast<unsigned char>((seed = seed * 1664525 + 9) >> 24);
  return bytes;
}

// ---- Kernels that move one box ----

struct Place {
  std::int32_t at[5];
};
template <int N>
__device__ void load(void* to, const CUtensorMap& map, const Place& place, std::uint64_t* barrier) {
  std::int32_t at[N];
  for (int a = 0; a < N; ++a) at[a] = place.at[a];
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &map, at,  // HERE load
                            barrier);
}
__device__ void expect(std::uint64_t* barrier, unsigned bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
}
__device__ void initialise(std::uint64_t* barrier) {
  ptx::mbarrier_init(barrier, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {  // HERE wait
  }
}
__device__ void wait_for_stores() {
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

constexpr unsigned char untouched = 0xEE;

/// The box in the order of shared memory.
template <int N>
__global__ void load_box(const __grid_constant__ CUtensorMap map, Place place, unsigned bytes,
                         unsigned room, std::uint32_t* out) {
  extern __shared__ __align__(1024) std::uint32_t tile[];
  __shared__ alignas(8) std::uint64_t there;
  for (unsigned i = threadIdx.x; i < room / 4; i += blockDim.x) tile[i] = untouched * 0x01010101u;
  ptx::fence_proxy_async(ptx::space_shared);
  if (threadIdx.x == 0) initialise(&there);
  __syncthreads();
  if (threadIdx.x == 0) {
    load<N>(tile, map, place, &there);
    expect(&there, bytes);
  }
  wait(&there, 0);
  for (unsigned i = threadIdx.x; i < room / 4; i += blockDim.x) out[i] = tile[i];
}
template <int N>
Bytes loaded(const Box& b, const Place& place, Array<unsigned char>& in) {
  Array<unsigned char> out(b.room());
  load_box<N><<<1, 32, b.room()>>>(map_of(b, in.get()), place, b.counted(), b.room(),
                                   reinterpret_cast<std::uint32_t*>(out.get()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return out.host();
}
template <int N>
void expect_load(Box b, const Place& place) {
  b.axes = N;
  b.complete();
  const Bytes array = noise(b.bytes(), 5);
  Array<unsigned char> in(array);
  Bytes want(b.room(), untouched);
  b.for_each_byte(place.at, [&](int to, std::int64_t from) {
    const unsigned char outside = !b.nan ? 0 : to % 2 == 0 ? 0xF7 : 0x7F;
    want[static_cast<std::size_t>(to)] = from < 0 ? outside : array[static_cast<std::size_t>(from)];
  });
  ASSERT_EQ(loaded<N>(b, place, in), want)
      << N << " axes, element " << b.element << ", swizzle " << b.span() << ", at " << place.at[0]
      << " " << place.at[1] << " " << place.at[2] << " " << place.at[3] << " " << place.at[4];
}

template <int N>
__global__ void store_box(const __grid_constant__ CUtensorMap map, Place place, unsigned room,
                          const std::uint32_t* in) {
  extern __shared__ __align__(1024) std::uint32_t tile[];
  for (unsigned i = threadIdx.x; i < room / 4; i += blockDim.x) tile[i] = in[i];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::int32_t at[N];
  for (int a = 0; a < N; ++a) at[a] = place.at[a];
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
  wait_for_stores();
}
template <int N>
void expect_store(Box b, const Place& place) {
  b.axes = N;
  b.complete();
  const Bytes tile = noise(b.room(), 8);
  Array<unsigned char> in(tile), out(b.bytes(), untouched);
  Bytes want(b.bytes(), untouched);
  b.for_each_byte(place.at, [&](int from, std::int64_t to) {
    if (to >= 0) want[static_cast<std::size_t>(to)] = tile[static_cast<std::size_t>(from)];
  });
  store_box<N><<<1, 32, b.room()>>>(map_of(b, out.get()), place, b.room(),
                                    reinterpret_cast<const std::uint32_t*>(in.get()));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(out.host(), want) << N << " axes, swizzle " << b.span() << ", at " << place.at[0] << " "
                              << place.at[1] << " " << place.at[2];
}

// ---- Boxes of one to five axes, over every edge ----

/// Inside, then over each end of each axis, over all ends at once, and wholly outside.
template <int N>
std::vector<Place> places(const Box& b, bool before) {
  const auto low = [&](int a) { return a == 0 ? -4 : -1; };
  const auto high = [&](int a) {
    return static_cast<std::int32_t>(b.size[a] - 1) / (a == 0 ? 4 : 1) * (a == 0 ? 4 : 1);
  };
  std::vector<Place> result{{{4, 1, 1, 0, 0}}};
  Place all_low{}, all_high{};
  for (int a = 0; a < N; ++a) {
    result.push_back(result[0]);
    result.back().at[a] = high(a);
    result.push_back(result[0]);
    result.back().at[a] = static_cast<std::int32_t>(b.size[a] + 11) / 4 * 4;  // outside
    all_high.at[a] = high(a);
    all_low.at[a] = low(a);
    if (!before) continue;
    result.push_back(result[0]);
    result.back().at[a] = low(a);
  }
  result.push_back(all_high);
  if (before) result.push_back(all_low);
  return result;
}
Box floats() {
  Box b;
  const cuuint64_t size[5] = {21, 5, 4, 3, 3};
  const cuuint32_t box[5] = {8, 3, 2, 2, 2};
  for (int a = 0; a < 5; ++a) b.size[a] = size[a], b.box[a] = box[a];
  b.stride[1] = 112;  // a gap of 28 bytes after each row
  return b;
}
template <int N>
void expect_all_loads(bool nan) {
  Box b = floats();
  for (int a = N; a < 5; ++a) b.size[a] = b.box[a] = 1;
  b.nan = nan;
  for (const Place& place : places<N>(b, true)) expect_load<N>(b, place);
}
TEST_F(Tensor, loads) {
  for (const bool nan : {false, true}) {
    expect_all_loads<1>(nan);
    expect_all_loads<2>(nan);
    expect_all_loads<3>(nan);
    expect_all_loads<4>(nan);
    expect_all_loads<5>(nan);
  }
  expect_clean();
}
template <int N>
void expect_all_stores() {
  Box b = floats();
  for (int a = N; a < 5; ++a) b.size[a] = b.box[a] = 1;
  for (const Place& place : places<N>(b, false)) expect_store<N>(b, place);
}
TEST_F(Tensor, stores) {
  expect_all_stores<1>();
  expect_all_stores<2>();
  expect_all_stores<3>();
  expect_all_stores<4>();
  expect_all_stores<5>();
  expect_clean();
}

// ---- Element strides ----

TEST_F(Tensor, every_kth_row) {
  for (cuuint32_t every = 1; every <= 8; ++every) {
    Box b;
    b.size[0] = 16, b.size[1] = 40;
    b.box[0] = 8, b.box[1] = 17;
    b.every[1] = every;
    b.every[0] = every;  // ignored
    expect_load<2>(b, {{4, 3, 0, 0, 0}});
    expect_load<2>(b, {{4, 30, 0, 0, 0}});  // the last rows are outside
    expect_load<2>(b, {{0, -5, 0, 0, 0}});
  }
  expect_clean();
}

// ---- Swizzles ----

TEST_F(Tensor, swizzles) {
  const CUtensorMapDataType types[] = {
      CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32,
      CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
  for (int t = 0; t < 4; ++t) {
    for (const auto swizzle : {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                               CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B}) {
      Box b;
      b.type = types[t];
      b.element = 1 << t;
      b.swizzle = swizzle;
      b.size[0] = static_cast<cuuint64_t>(256 / b.element), b.size[1] = 40;
      b.box[1] = 20;
      for (int inner = b.span() == 0 ? 128 : b.span(); inner >= 16; inner /= 2) {
        b.box[0] = static_cast<cuuint32_t>(inner / b.element);
        const std::int32_t sixteen = 16 / b.element;
        expect_load<2>(b, {{2 * sixteen, 1, 0, 0, 0}});
        expect_load<2>(b, {{-sixteen, 30, 0, 0, 0}});
        expect_store<2>(b, {{15 * sixteen, 30, 0, 0, 0}});
      }
    }
  }
  expect_clean();
}
/// A tile 128 bytes after a multiple of 1024: the swizzle looks at the address, not at the row.
__global__ void load_behind(const __grid_constant__ CUtensorMap map, std::uint32_t* out) {
  __shared__ alignas(1024) std::uint32_t s[32 * 9];
  __shared__ alignas(8) std::uint64_t there;
  if (threadIdx.x == 0) {
    initialise(&there);
    load<2>(s + 32, map, {{0, 0}}, &there);
    expect(&there, 8 * 128);
  }
  __syncthreads();
  wait(&there, 0);
  for (int row = 0; row < 8; ++row) out[32 * row + threadIdx.x] = s[32 * (row + 1) + threadIdx.x];
}
TEST_F(Tensor, swizzle_by_address) {
  Box b;
  b.axes = 2;
  b.size[0] = b.box[0] = 32;
  b.size[1] = b.box[1] = 8;
  b.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  b.complete();
  Array<std::uint32_t> in(simt_test::iota<std::uint32_t>(256)), out(256);
  load_behind<<<1, 32>>>(map_of(b, in.get()), out.get());
  const auto got = out.host();
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned row = i / 32, chunk = i / 4 % 8;
    ASSERT_EQ(got[row * 32 + 4 * (chunk ^ ((row + 1) % 8)) + i % 4], i);
  }
  expect_clean();
}

// ---- Where a map may be, and which threads may issue a copy ----

__constant__ CUtensorMap constant_map;

__device__ void load_by_pointer(int* to, const CUtensorMap* map, std::uint64_t* barrier) {
  const std::int32_t at[] = {4};
  ptx::cp_async_bulk_tensor(ptx::space_shared, ptx::space_global, to, map, at, barrier);
}
/// The same 16 bytes four times, by maps in four kinds of memory.
__global__ void maps_everywhere(const __grid_constant__ CUtensorMap map, const CUtensorMap* global,
                                int* out) {
  __shared__ alignas(128) int s[4][32];
  __shared__ alignas(8) std::uint64_t there;
  if (threadIdx.x == 0) initialise(&there);
  __syncthreads();
  cg::invoke_one(cg::coalesced_threads(), [&] {
    load<1>(s[0], map, {{4}}, &there);
    load_by_pointer(s[1], &map, &there);
    load_by_pointer(s[2], &constant_map, &there);
    load_by_pointer(s[3], global, &there);
    expect(&there, 64);
  });
  wait(&there, 0);
  if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x / 4][threadIdx.x % 4];
}
TEST_F(Tensor, maps_as_parameter_constant_and_in_global_memory) {
  Array<int> in(simt_test::iota<int>(64)), out(16);
  Box b;
  b.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  b.size[0] = 64;
  b.box[0] = 4;
  const CUtensorMap map = map_of(b, in.get());
  Array<CUtensorMap> global(1, map);
  ASSERT_EQ(cudaMemcpyToSymbol(constant_map, &map, sizeof map), cudaSuccess);
  maps_everywhere<<<1, 32>>>(map, global.get(), out.get());
  EXPECT_EQ(out.host(), (std::vector<int>{4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7}));
  expect_clean();
}

/// Block 0 loads for both blocks of the cluster; each waits at its own barrier.
__global__ void __cluster_dims__(2)
    load_for_all(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int s[32];
  __shared__ alignas(8) std::uint64_t there;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) initialise(&there);
  cluster.sync();
  if (threadIdx.x == 0) {
    expect(&there, 128);
    const std::int32_t at[] = {32};
    if (cluster.block_rank() == 0) {
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, at, &there,
                                std::uint16_t{3});
    }
  }
  wait(&there, 0);
  out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
  cluster.sync();
}
TEST_F(Tensor, load_for_all_blocks_of_a_cluster) {
  Array<int> in(simt_test::iota<int>(64)), out(64);
  Box b;
  b.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  b.size[0] = 64;
  b.box[0] = 32;
  load_for_all<<<2, 32>>>(map_of(b, in.get()), out.get());
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out.host()[i], 32 + i % 32);
  expect_clean();
}

__global__ void aligned_places(unsigned* out) {
  extern __shared__ __align__(1024) char dynamic[];
  __shared__ char odd[3];
  __shared__ alignas(1024) char first[40];
  __shared__ __align__(1024) char second[2000];
  odd[0] = first[0] = second[0] = dynamic[0] = 1;
  const void* const places[] = {dynamic, first, second};
  for (int k = 0; k < 3; ++k) {
    out[k] = static_cast<unsigned>(__cvta_generic_to_shared(places[k]) % 1024);
    out[3 + k] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(places[k]) % 1024);
  }
}
TEST_F(Tensor, places_are_aligned_as_declared) {
  Array<unsigned> out(6);
  aligned_places<<<1, 1, 100>>>(out.get());
  EXPECT_EQ(out.host(), std::vector<unsigned>(6, 0u));
  expect_clean();
}

// ---- Reductions ----

constexpr int reduced_n = 64;

/// Each block combines its tile with the same n elements.
template <class T, class Op>
__global__ void reduce_into(T* out, const T* in, Op op) {
  __shared__ alignas(128) T tile[reduced_n];
  tile[threadIdx.x] = in[blockIdx.x * reduced_n + threadIdx.x];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, op, out, tile, sizeof tile);
  wait_for_stores();
}
template <class T, class Op, class F>
void expect_reduction(Op op, T start, F f) {
  constexpr int blocks = 40;
  std::vector<T> values(blocks * reduced_n), want(reduced_n, start);
  for (int i = 0; i < blocks * reduced_n; ++i) values[i] = static_cast<T>((i * 37 + 11) % 50);
  for (int i = 0; i < blocks * reduced_n; ++i) {
    want[i % reduced_n] = f(want[i % reduced_n], values[i]);
  }
  Array<T> in(values), out(reduced_n, start);
  reduce_into<T><<<blocks, reduced_n>>>(out.get(), in.get(), op);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < reduced_n; ++i) {
    ASSERT_EQ(static_cast<double>(out.host()[i]), static_cast<double>(want[i]));
  }
}
TEST_F(Tensor, bulk_reductions_of_many_blocks) {
  const auto add = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  const auto min = [](auto a, auto b) { return b < a ? b : a; };
  const auto max = [](auto a, auto b) { return a < b ? b : a; };
  expect_reduction<float>(ptx::op_add, 3, add);
  expect_reduction<double>(ptx::op_add, 3, add);
  expect_reduction<std::int32_t>(ptx::op_add, -3, add);
  expect_reduction<std::uint64_t>(ptx::op_add, 3, add);
  expect_reduction<__half>(ptx::op_add, __half(3), add);
  expect_reduction<__half>(ptx::op_min, __half(30), min);
  expect_reduction<std::int32_t>(ptx::op_min, 30, min);
  expect_reduction<std::uint64_t>(ptx::op_max, 3, max);
  expect_reduction<std::uint32_t>(ptx::op_and_op, ~0u, [](auto a, auto b) { return a & b; });
  expect_reduction<std::uint64_t>(ptx::op_or_op, 1, [](auto a, auto b) { return a | b; });
  expect_reduction<std::int32_t>(ptx::op_xor_op, 1, [](auto a, auto b) { return a ^ b; });
  expect_clean();
}
/// With the same limit in all blocks, their order does not matter.
TEST_F(Tensor, increments_wrap) {
  Array<std::uint32_t> in(40 * reduced_n, 6u), up(reduced_n, 0u), down(reduced_n, 3u);
  reduce_into<std::uint32_t><<<40, reduced_n>>>(up.get(), in.get(), ptx::op_inc);
  reduce_into<std::uint32_t><<<40, reduced_n>>>(down.get(), in.get(), ptx::op_dec);
  EXPECT_EQ(up.host(), std::vector<std::uint32_t>(reduced_n, 40u % 7));
  EXPECT_EQ(down.host(), std::vector<std::uint32_t>(reduced_n, (3u + 7 * 40 - 40) % 7));
  expect_clean();
}

__global__ void add_by_name(float* out) {
  __shared__ alignas(128) float tile[reduced_n];
  tile[threadIdx.x] = static_cast<float>(threadIdx.x);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  simt::bulk_reduce_add(out, tile, sizeof tile);
  wait_for_stores();
}
TEST_F(Tensor, bulk_reduction_without_its_instruction) {
  Array<float> out(reduced_n, 1.0f);
  add_by_name<<<40, reduced_n>>>(out.get());
  for (int i = 0; i < reduced_n; ++i) ASSERT_EQ(out.host()[i], 1 + 40.0f * static_cast<float>(i));
  expect_clean();
}

/// One proxy fence, two reductions, and a copy of their result: the copy engine sees its own
/// writes.
__global__ void add_twice(int* out, int* seen) {
  __shared__ alignas(128) int tile[2][reduced_n];
  __shared__ alignas(8) std::uint64_t there;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) initialise(&there);
  tile[0][t] = tile[1][t] = t;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    for (auto& half : tile) {
      ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, half,
                                sizeof half);
      wait_for_stores();
    }
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[0], out, sizeof tile[0], &there);
    expect(&there, sizeof tile[0]);
  }
  wait(&there, 0);
  seen[t] = tile[0][t];
}
TEST_F(Tensor, copy_of_what_reductions_made) {
  Array<int> out(reduced_n, 0), seen(reduced_n);
  add_twice<<<1, reduced_n>>>(out.get(), seen.get());
  for (int i = 0; i < reduced_n; ++i) ASSERT_EQ(seen.host()[i], 2 * i);
  expect_clean();
}
/// A plain read during the reductions of other blocks is a race.
__global__ void add_and_look(int* out, int* seen) {
  __shared__ alignas(128) int tile[reduced_n];
  tile[threadIdx.x] = 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out,  // HERE add
                              tile, sizeof tile);
    wait_for_stores();
  }
  __syncthreads();
  seen[blockIdx.x * reduced_n + threadIdx.x] = out[threadIdx.x];  // HERE looked
}
TEST_F(TensorFault, look_beside_reductions) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  Array<int> out(reduced_n, 0), seen(2 * reduced_n);
  add_and_look<<<2, reduced_n>>>(out.get(), seen.get());
  expect_finding("race", "add_and_look", {at("add"), at("looked")});
}

/// Boxes of 4 x 16 ones that overlap, and extend past the end.
template <class Op>
__global__ void reduce_boxes(const __grid_constant__ CUtensorMap map, Op op) {
  __shared__ alignas(128) int tile[4 * 16];
  tile[threadIdx.x] = 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::int32_t at[] = {4 * static_cast<std::int32_t>(blockIdx.x),
                             static_cast<std::int32_t>(blockIdx.y)};
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, op, &map,  // HERE boxes
                                   at, tile);
  wait_for_stores();
}
Box matrix_of_ints() {
  Box b;
  b.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  b.axes = 2;
  b.size[0] = 30, b.size[1] = 20;
  b.box[0] = 16, b.box[1] = 4;
  b.stride[1] = 128;
  b.complete();
  return b;
}
TEST_F(Tensor, reductions_of_boxes) {
  const Box b = matrix_of_ints();
  Array<int> out(32 * 20, 0);
  reduce_boxes<<<dim3(8, 20), 64>>>(map_of(b, out.get()), ptx::op_add);
  std::vector<int> want(32 * 20, 0);
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 30; ++x) {
      want[y * 32 + x] = std::min(y + 1, 4) * std::min(x / 4 + 1, 4);
    }
  }
  EXPECT_EQ(out.host(), want);
  expect_clean();
}
TEST_F(TensorFault, reduction_that_the_type_has_not) {
  Box b = matrix_of_ints();
  b.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  Array<int> out(32 * 20, 0);
  reduce_boxes<<<1, 64>>>(map_of(b, out.get()), ptx::op_inc);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("tensor map", "reduce_boxes", {at("boxes"), "no such reduction"});
}

// ---- What the driver accepts ----

TEST_F(Tensor, driver_entry_points) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointVersionNotSufficent;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                             cudaEnableDefault, &result),
            cudaSuccess);
  EXPECT_EQ(result, cudaDriverEntryPointSuccess);
  EXPECT_EQ(reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found), &cuTensorMapEncodeTiled);
  ASSERT_EQ(cudaGetDriverEntryPoint("cuNoSuchCall", &found, cudaEnableDefault, &result),
            cudaSuccess);
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(found, nullptr);
}
TEST_F(Tensor, descriptions_that_are_refused) {
  alignas(64) unsigned char memory[sizeof(CUtensorMap) + 16];
  Array<float> array(4096);
  const auto result = [&](auto change, std::size_t map = 0, std::size_t address = 0) {
    Box b = matrix_of_ints();
    b.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    change(b);
    return encode(b, reinterpret_cast<char*>(array.get()) + address,
                  reinterpret_cast<CUtensorMap*>(memory + map));
  };
  const auto same = [](Box&) {};
  EXPECT_EQ(result(same), CUDA_SUCCESS);
  EXPECT_EQ(result(same, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result(same, 0, 16), CUDA_SUCCESS);
  EXPECT_EQ(result(same, 0, 8), CUDA_ERROR_INVALID_VALUE);
  const auto bad = CUDA_ERROR_INVALID_VALUE;
  EXPECT_EQ(result([](Box& b) { b.axes = 0; }), bad);
  EXPECT_EQ(result([](Box& b) { b.axes = 6; }), bad);
  EXPECT_EQ(result([](Box& b) { b.size[1] = 0; }), bad);
  EXPECT_EQ(result([](Box& b) { b.size[1] = (cuuint64_t{1} << 32) + 1; }), bad);
  EXPECT_EQ(result([](Box& b) { b.size[1] = cuuint64_t{1} << 32; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Box& b) { b.stride[1] = 120; }), bad);
  EXPECT_EQ(result([](Box& b) { b.stride[1] = cuuint64_t{1} << 40; }), bad);
  EXPECT_EQ(result([](Box& b) { b.box[1] = 0; }), bad);
  EXPECT_EQ(result([](Box& b) { b.box[1] = 257; }), bad);
  EXPECT_EQ(result([](Box& b) { b.box[0] = 6; }), bad);
  EXPECT_EQ(result([](Box& b) { b.every[1] = 0; }), bad);
  EXPECT_EQ(result([](Box& b) { b.every[1] = 9; }), bad);
  EXPECT_EQ(result([](Box& b) { b.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }), bad);
  EXPECT_EQ(result([](Box& b) { b.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Box& b) { b.nan = true; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Box& b) {
              b.nan = true;
              b.type = CU_TENSOR_MAP_DATA_TYPE_INT32;
            }),
            bad);
  EXPECT_EQ(result([](Box& b) { b.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }),
            CUDA_ERROR_NOT_SUPPORTED);
}

// ---- Faults ----

/// variant 0: right; 1: reads before the wait; 2: refills while others read.
template <int variant>
__global__ void two_tiles(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ alignas(8) std::uint64_t there[2];
  const int t = static_cast<int>(threadIdx.x);
  if (t < 2) initialise(&there[t]);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (t == 0) {
      load<2>(tile, map, {{0, 4 * k}}, &there[k]);
      expect(&there[k], sizeof tile);
    }
    if (variant == 1) sum += tile[t];  // HERE before the wait
    wait(&there[k], 0);
    sum += tile[63 - t];  // HERE read
    ptx::fence_proxy_async(ptx::space_shared);
    if (variant != 2) __syncthreads();
  }
  out[t] = sum;
}
template <int variant>
void run_two_tiles() {
  const Box b = matrix_of_ints();
  Array<int> in(32 * 20, 1), out(64);
  two_tiles<variant><<<1, 64>>>(map_of(b, in.get()), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}
TEST_F(TensorFault, two_tiles_are_right) {
  run_two_tiles<0>();
  expect_clean();
}
TEST_F(TensorFault, read_before_the_wait) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  run_two_tiles<1>();
  expect_finding("race|uninitialised|order", "two_tiles<variant>", {at("before the wait")});
}
TEST_F(TensorFault, refilled_while_others_read) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  run_two_tiles<2>();
  expect_finding("race|order", "two_tiles<variant>", {at("read"), at("load")});
}

template <int N>
void run_load(const Box& b, unsigned bytes) {
  Array<unsigned char> in(b.bytes(), static_cast<unsigned char>(1)), out(b.room());
  load_box<N><<<1, 32, b.room()>>>(map_of(b, in.get()), Place{{0, 0}}, bytes, b.room(),
                                   reinterpret_cast<std::uint32_t*>(out.get()));
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
}
TEST_F(TensorFault, too_many_bytes_expected) {
  const Box b = matrix_of_ints();
  run_load<2>(b, b.counted() + 16);
  expect_finding("deadlock", "load_box<N>", {at("wait")});
}
TEST_F(TensorFault, too_few_bytes_expected) {
  const Box b = matrix_of_ints();
  run_load<2>(b, b.counted() - 16);
  expect_finding("barrier", "load_box<N>", {at("wait"), "more bytes were copied"});
}
TEST_F(TensorFault, wrong_rank) {
  const Box b = matrix_of_ints();
  run_load<3>(b, b.counted());
  expect_finding("tensor map", "load_box<N>", {at("load"), "3 coordinates", "2 axes"});
}

/// Copies a box that begins at column `col` to byte `shift` of a tile, by the map at `map`.
__global__ void load_at(const CUtensorMap* map, int col, int shift) {
  __shared__ alignas(1024) char tile[1024];
  __shared__ alignas(8) std::uint64_t there;
  initialise(&there);
  load<2>(tile + shift, *map, {{col, 0}}, &there);
  expect(&there, 256);
  wait(&there, 0);
}
void run_load_at(int col, int shift, std::size_t map_byte = 0) {
  const Box b = matrix_of_ints();
  Array<int> in(32 * 20, 1);
  Array<CUtensorMap> maps(2, map_of(b, in.get()));
  load_at<<<1, 1>>>(
      reinterpret_cast<const CUtensorMap*>(reinterpret_cast<char*>(maps.get()) + map_byte), col,
      shift);
  cudaDeviceSynchronize();
}
TEST_F(TensorFault, map_in_global_memory_is_right) {
  run_load_at(4, 128);
  expect_clean();
}
TEST_F(TensorFault, misaligned_tile) {
  run_load_at(4, 64);
  expect_finding("misaligned", "load_at", {at("load"), "multiple of 128 bytes"});
}
TEST_F(TensorFault, box_that_begins_between_sixteen_bytes) {
  run_load_at(2, 128);
  expect_finding("tensor map", "load_at", {at("load"), "multiple of 16 bytes"});
}
TEST_F(TensorFault, no_map) {
  run_load_at(4, 128, 64);
  expect_finding("tensor map", "load_at", {at("load"), "no tensor map lies there", "encode one"});
}
TEST_F(TensorFault, map_of_the_host) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const CUtensorMap map{};
  load_at<<<1, 1>>>(&map, 4, 128);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("host memory", "load_at", {at("load")});
}
TEST_F(TensorFault, array_that_was_freed) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const Box b = matrix_of_ints();
  int* freed = nullptr;
  ASSERT_EQ(cudaMalloc(&freed, b.bytes()), cudaSuccess);
  Array<CUtensorMap> map(1, map_of(b, freed));
  cudaFree(freed);
  load_at<<<1, 1>>>(map.get(), 4, 128);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("bounds|lifetime", "load_at", {at("load")});
}

/// Writes a tile and stores it at row `row`; without a proxy fence, unless `fenced`.
template <bool fenced>
__global__ void store_tile(const __grid_constant__ CUtensorMap map, int row) {
  __shared__ alignas(128) int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);  // HERE tile written
  if (fenced) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::int32_t at[] = {0, row};
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);  // HERE store
  wait_for_stores();
}
TEST_F(TensorFault, store_without_a_proxy_fence) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const Box b = matrix_of_ints();
  Array<int> out(32 * 20);
  store_tile<false><<<1, 64>>>(map_of(b, out.get()), 0);
  expect_finding("order", "store_tile<false>", {at("tile written"), at("store")});
}
TEST_F(TensorFault, store_before_the_array) {
  const Box b = matrix_of_ints();
  Array<int> out(32 * 20);
  store_tile<true><<<1, 64>>>(map_of(b, out.get()), -1);
  EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  expect_finding("tensor map", "store_tile<true>", {at("store"), "before the start"});
}
/// Stores a tile and overwrites it; then all threads look for the stored values. `landed`: waits
/// for the copy itself, not only for its reads.
template <bool landed, bool look>
__global__ void store_and_look(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[64];
  const int t = static_cast<int>(threadIdx.x);
  tile[t] = 7;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    const std::int32_t at[] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);  // HERE early
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    if (landed) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
  __syncthreads();
  tile[t] = 9;
  if (look && out[t / 16 * 32 + t % 16] == 0) out[32 * 10 + t] = 1;  // HERE look
}
template <bool landed, bool look>
void run_store_and_look() {
  const Box b = matrix_of_ints();
  Array<int> out(32 * 20, 0);
  store_and_look<landed, look><<<1, 64>>>(map_of(b, out.get()), out.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(out.host()[i / 16 * 32 + i % 16], 7);
}
TEST_F(Tensor, source_that_was_read_may_be_overwritten) {
  run_store_and_look<false, false>();
  expect_clean();
}
TEST_F(Tensor, copy_that_was_waited_for_is_there) {
  run_store_and_look<true, true>();
  expect_clean();
}
TEST_F(TensorFault, copy_that_has_only_read_its_source) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  run_store_and_look<false, true>();
  expect_finding("race", "store_and_look<landed, look>", {at("early"), at("look")});
}

/// Two blocks store the same box, and nothing orders the two.
TEST_F(TensorFault, two_blocks_store_one_box) {
  if (!simt::instrumented()) GTEST_SKIP() << "needs the checks";
  const Box b = matrix_of_ints();
  Array<int> out(32 * 20);
  store_tile<true><<<2, 64>>>(map_of(b, out.get()), 0);
  expect_finding("race|order", "store_tile<true>", {at("store")});
}

}  // namespace
