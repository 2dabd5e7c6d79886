// The host API: memory, streams, events, queries, errors. Which errors there are and when they are
// reported follows CUDA's documentation.
#include <cstring>
#include <string>
#include <type_traits>

#include "simt_test.hpp"

namespace {

using simt_test::Array;
using simt_test::iota;

class Memory : public simt_test::Device {};
class Streams : public simt_test::Device {};
class Queries : public simt_test::Device {};
class LaunchError : public simt_test::Device {};
class StickyError : public simt_test::Device {};

__global__ void fill(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] += value; }

__global__ void nothing() {}

// ---- Memory ----

TEST_F(Memory, copies_in_every_direction) {
  const auto in = iota<int>(100);
  std::vector<int> out(100);
  int *a = nullptr, *b = nullptr;
  ASSERT_EQ(cudaMalloc(&a, 400), cudaSuccess);
  ASSERT_EQ(cudaMalloc((void**)&b, 400), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
  EXPECT_EQ(cudaMemcpy(a, in.data(), 400, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(b, a, 400, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), b, 400, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out, in);
  std::vector<int> host(100);
  EXPECT_EQ(cudaMemcpy(host.data(), in.data(), 400, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(host, in);
  EXPECT_EQ(cudaMemset(b, 0xff, 200), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), b, 400, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(out[49], -1);
  EXPECT_EQ(out[50], 50);
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_EQ(cudaFree(b), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  expect_clean();
}
TEST_F(Memory, rows_with_a_pitch) {
  char* d = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&d, &pitch, 30, 5), cudaSuccess);
  EXPECT_GE(pitch, 30u);
  std::vector<char> in(5 * 40), out(5 * 30, 0);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i);
  EXPECT_EQ(cudaMemcpy2D(d, pitch, in.data(), 40, 30, 5, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(d + 10, pitch, 7, 2, 5), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DAsync(out.data(), 30, d, pitch, 30, 5, cudaMemcpyDeviceToHost, nullptr),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[4 * 30 + 9], static_cast<char>(169));
  EXPECT_EQ(out[4 * 30 + 10], 7);
  EXPECT_EQ(out[4 * 30 + 12], static_cast<char>(172));
  EXPECT_EQ(cudaMemcpy2D(out.data(), 20, d, pitch, 30, 5, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue)
      << "rows are wider than their pitch";
  in.resize(std::size_t(6) * 300);
  EXPECT_EQ(cudaMemcpy2D(in.data(), 300, d, pitch, 30, 6, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue)
      << "the last row lies behind the source";
  EXPECT_EQ(cudaMemcpy2D(d, pitch, in.data(), 300, 30, 6, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue)
      << "the last row lies behind the target";
  cudaGetLastError();
  cudaFree(d);
}
TEST_F(Memory, boxes) {
  const cudaExtent extent = make_cudaExtent(30, 4, 3);
  cudaPitchedPtr box{};
  ASSERT_EQ(cudaMalloc3D(&box, extent), cudaSuccess);
  EXPECT_GE(box.pitch, 30u);
  std::vector<char> in(30 * 4 * 3), out(in.size(), 0);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), 30, 30, 4);
  copy.dstPtr = box;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(box, 7, make_cudaExtent(2, 1, 3)), cudaSuccess);
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(out.data(), 30, 30, 4);
  copy.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3DAsync(&copy), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[1], 7);
  EXPECT_EQ(out[2], 2);
  EXPECT_EQ(out[2 * 120 + 1], 7) << "row 0 of slice 2";
  EXPECT_EQ(out[2 * 120 + 30], static_cast<char>(2 * 120 + 30));
  EXPECT_EQ(out[3 * 120 - 1], static_cast<char>(3 * 120 - 1));
  copy.srcPos = make_cudaPos(0, 0, 1);  // a box of two slices, from the second on
  copy.extent = make_cudaExtent(30, 4, 2);
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(out[120 + 5], static_cast<char>(2 * 120 + 5));
  copy.extent = make_cudaExtent(30, 4, 3);
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue) << "the last slice leaves the box";
  cudaGetLastError();
  cudaFree(box.ptr);
}
TEST_F(Memory, pinned_managed_and_stream_ordered) {
  int *pinned = nullptr, *also = nullptr, *managed = nullptr, *ordered = nullptr, *view = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 128), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&also, 128, cudaHostAllocMapped), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 128), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&ordered, 128, nullptr), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(&view, also, 0), cudaSuccess);
  fill<<<1, 32>>>(ordered, 5);
  fill<<<1, 32>>>(view, 6);
  fill<<<1, 32>>>(managed, 7);
  ASSERT_EQ(cudaMemcpyAsync(pinned, ordered, 128, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(pinned[31] * 100 + also[31] * 10 + managed[31], 567);
  EXPECT_EQ(cudaFreeAsync(ordered, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(also), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  expect_clean();
}
unsigned long long pool_number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long value = 12345;
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, attribute, &value), cudaSuccess);
  return value;
}
TEST_F(Memory, pools) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr, standard = nullptr, current = nullptr;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 0), cudaSuccess);
  int *a = nullptr, *b = nullptr, *c = nullptr;
  ASSERT_EQ(cudaMallocFromPoolAsync(&a, 128, pool, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&b, 1000, pool, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&c, 500, nullptr), cudaSuccess);
  fill<<<1, 32>>>(a, 5);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemCurrent), 1128u);
  EXPECT_EQ(pool_number(standard, cudaMemPoolAttrUsedMemCurrent), 500u);
  EXPECT_EQ(cudaFreeAsync(b, nullptr), cudaSuccess);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemCurrent), 128u);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemHigh), 1128u);
  EXPECT_GE(pool_number(pool, cudaMemPoolAttrReservedMemCurrent), 128u);

  unsigned long long keep = ~0ull, none = 0;
  int no = 0, reuse = 1;
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), cudaSuccess);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrReleaseThreshold), keep);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &no), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse), cudaSuccess);
  EXPECT_EQ(reuse, 0);
  EXPECT_EQ(cudaFree(a), cudaSuccess) << "cudaFree() takes it, too";
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemCurrent), 0u);
  EXPECT_GT(pool_number(pool, cudaMemPoolAttrReservedMemCurrent), 0u) << "below the threshold";
  EXPECT_EQ(cudaMemPoolTrimTo(pool, 0), cudaSuccess);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrReservedMemCurrent), 0u);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none), cudaSuccess);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemHigh), 0u);
  EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &none),
            cudaErrorInvalidValue);

  EXPECT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetMemPool(&current, 0), cudaSuccess);
  EXPECT_EQ(current, pool);
  ASSERT_EQ(cudaMallocAsync(&a, 64, nullptr), cudaSuccess);
  EXPECT_EQ(pool_number(pool, cudaMemPoolAttrUsedMemCurrent), 64u);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess) << "what it gave stays";
  fill<<<1, 16>>>(a, 1);
  EXPECT_EQ(cudaFreeAsync(a, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeAsync(c, nullptr), cudaSuccess);
  EXPECT_EQ(pool_number(standard, cudaMemPoolAttrUsedMemCurrent), 0u);
  properties.maxSize = 100;
  ASSERT_EQ(cudaMemPoolCreate(&pool, &properties), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&a, 128, pool, nullptr), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMemPoolDestroy(pool), cudaSuccess);
  cudaGetLastError();
  expect_clean();
}
__device__ int table[8];
__global__ void read_table(int* out) { *out = table[5]; }
TEST_F(Memory, symbols_by_the_defaults_of_the_arguments) {
  Array<int> out(1);
  int h[8] = {0, 1, 2, 3, 4, 5, 6, 7}, back[8] = {};
  EXPECT_EQ(cudaMemcpyToSymbolAsync(table, h, sizeof h), cudaSuccess);
  read_table<<<1, 1>>>(out.get());
  EXPECT_EQ(out.first(), 5);
  EXPECT_EQ(cudaMemcpyFromSymbolAsync(back, table, sizeof h), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(back[7], 7);
  EXPECT_EQ(cudaMemcpyFromSymbolAsync(back, table, sizeof(int), 3 * sizeof(int)), cudaSuccess);
  EXPECT_EQ(back[0], 3);
  expect_clean();
}
TEST_F(Memory, free_and_total) {
  std::size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_LE(before, total);
  EXPECT_GT(before, 0u);
  Array<char> data(64 << 20);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_GE(before - after, std::size_t(64) << 20);
}
TEST_F(Memory, kinds_of_pointers) {
  cudaPointerAttributes attributes{};
  Array<int> device(4);
  int* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 16), cudaSuccess);
  int host = 0;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, device.get()), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, &host), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  cudaFree(managed);
}
TEST_F(Memory, wrong_calls) {
  int* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, std::size_t(1) << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(p, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "it does not stick";
  ASSERT_EQ(cudaMalloc(&p, 64), cudaSuccess);
  int host[64] = {};
  EXPECT_EQ(cudaMemcpy(p, host, 256, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(p, 0, 65), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(p), cudaSuccess);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue) << "freed twice";
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  simt::take_findings();
}

// ---- Streams and events ----

__global__ void copy_one(const int* from, int* to) { *to = *from + 1; }
void CUDART_CB count_call(void* data) { ++*static_cast<int*>(data); }
TEST_F(Streams, order_and_events) {
  cudaStream_t one, two;
  cudaEvent_t start, stop;
  ASSERT_EQ(cudaStreamCreate(&one), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&stop, cudaEventDefault), cudaSuccess);
  Array<int> data(3, 0);
  EXPECT_EQ(cudaEventRecord(start, one), cudaSuccess);
  copy_one<<<1, 1, 0, one>>>(data.get(), data.get() + 1);
  EXPECT_EQ(cudaEventRecord(stop, one), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(two, stop, 0), cudaSuccess);
  copy_one<<<1, 1, 0, two>>>(data.get() + 1, data.get() + 2);
  int calls = 0;
  EXPECT_EQ(cudaLaunchHostFunc(two, count_call, &calls), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(two), cudaSuccess);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(cudaStreamQuery(two), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(stop), cudaSuccess);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(data.host()[2], 2);
  cudaEvent_t never, quick;
  ASSERT_EQ(cudaEventCreate(&never), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, never), cudaErrorInvalidResourceHandle)
      << "not recorded";
  ASSERT_EQ(cudaEventCreateWithFlags(&quick, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(quick, one), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, quick), cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  for (cudaEvent_t e : {start, stop, never, quick}) EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(one), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(two), cudaSuccess);
  nothing<<<1, 1, 0, two>>>();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  expect_clean();
}

// ---- Queries ----

template <int threads>
__global__ void __launch_bounds__(threads) with_shared(int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[0];
}
__global__ void with_dynamic(int* out, int last) {
  extern __shared__ char s2[];
  s2[last] = 1;
  *out = s2[last];
}
TEST_F(Queries, device_properties) {
  int count = 0, device = -1, value = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  EXPECT_EQ(p.maxThreadsDim[2], 64);
  EXPECT_EQ(p.maxGridSize[0], 2147483647);
  EXPECT_EQ(p.maxGridSize[1], 65535);
  EXPECT_EQ(p.sharedMemPerBlock, 48u << 10);
  EXPECT_EQ(p.sharedMemPerBlockOptin, 227u << 10);
  EXPECT_GT(p.multiProcessorCount, 0);
  EXPECT_GT(std::strlen(p.name), 0u);
  EXPECT_GT(p.asyncEngineCount, 0) << "programs ask for it before they overlap copies";
  EXPECT_GT(p.l2CacheSize, 0);
  EXPECT_GT(p.memoryBusWidth, 0);
  EXPECT_GE(p.maxTexture2D[1], 65000);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0), cudaSuccess);
  EXPECT_EQ(value, 1000000) << "clock64() counts nanoseconds";
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture1DWidth, 0), cudaSuccess);
  EXPECT_EQ(value, p.maxTexture1D);
  char bus[16] = "";
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_STREQ(bus, "0000:01:00.0");
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 0), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, bus), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, 5, 0), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0), cudaSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, p.multiProcessorCount);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_GE(value, 12000);
  EXPECT_EQ(cudaRuntimeGetVersion(&value), cudaSuccess);
}
TEST_F(Queries, occupancy) {
  int blocks = 0, grid = 0, block = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0), cudaSuccess);
  EXPECT_GT(blocks, 0);
  EXPECT_LE(blocks, 8);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 1024, 0), cudaSuccess);
  EXPECT_GE(blocks, 1);
  EXPECT_LE(blocks, 2);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_dynamic, 32, 48 << 10),
            cudaSuccess);
  EXPECT_LE(blocks, 5) << "shared memory is the limit";
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0), cudaSuccess);
  EXPECT_GE(block, 32);
  EXPECT_LE(block, 1024);
  EXPECT_GE(grid, 1);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, with_shared<64>), cudaSuccess);
  EXPECT_GE(attributes.maxThreadsPerBlock, 64);
}
TEST_F(Queries, error_texts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMisalignedAddress), "misaligned address");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorAssert), "device-side assert triggered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorNotReady), "device not ready");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(123456)), "unrecognized error code");
  EXPECT_EQ(cudaErrorInvalidValue, 1);
  EXPECT_EQ(cudaErrorMemoryAllocation, 2);
  EXPECT_EQ(cudaErrorInvalidConfiguration, 9);
  EXPECT_EQ(cudaErrorIllegalAddress, 700);
  EXPECT_EQ(cudaErrorLaunchTimeout, 702);
  EXPECT_EQ(cudaErrorAssert, 710);
  EXPECT_EQ(cudaErrorMisalignedAddress, 716);
  EXPECT_EQ(cudaErrorLaunchFailure, 719);
}

// ---- Launches that are refused ----

#define EXPECT_REFUSED(error, ...)                                       \
  do {                                                                   \
    __VA_ARGS__;                                                         \
    EXPECT_EQ(cudaPeekAtLastError(), error) << #__VA_ARGS__;             \
    EXPECT_EQ(cudaGetLastError(), error) << "peeking does not clear";    \
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "getting clears";      \
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "nothing sticks"; \
  } while (false)

TEST_F(LaunchError, configurations) {
  Array<int> data(2048, 1);
  int* p = data.get();
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<1, 1025>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<0, 32>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<1, 0>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<dim3(1, 0, 1), 32>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<1, dim3(32, 33)>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<1, dim3(1, 1, 65)>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<dim3(1, 65536), 1>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<dim3(1, 1, 65536), 1>>>(p, 2)));
  EXPECT_REFUSED(cudaErrorInvalidConfiguration, (fill<<<dim3(1u << 31), 1>>>(p, 2)));
  EXPECT_EQ(data.host(), std::vector<int>(2048, 1)) << "none of them ran";
  nothing<<<1, dim3(1, 1, 64)>>>();
  nothing<<<dim3(1, 65535), dim3(1, 1)>>>();
  fill<<<1, 1024>>>(p, 3);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  expect_clean();
}
TEST_F(LaunchError, shared_memory) {
  Array<int> data(1);
  int* p = data.get();
  EXPECT_REFUSED(cudaErrorInvalidValue, (with_dynamic<<<1, 1, (48 << 10) + 1>>>(p, 0)));
  with_dynamic<<<1, 1, 48 << 10>>>(p, (48 << 10) - 1);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_EQ(
      cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10),
      cudaSuccess);
  with_dynamic<<<1, 1, 100 << 10>>>(p, (100 << 10) - 1);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_REFUSED(cudaErrorInvalidValue, (with_dynamic<<<1, 1, (100 << 10) + 1>>>(p, 0)));
  EXPECT_EQ(
      cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10),
      cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  ASSERT_EQ(cudaFuncSetAttribute((const void*)with_shared<32>,
                                 cudaFuncAttributePreferredSharedMemoryCarveout, 50),
            cudaSuccess);
  expect_clean();
}
template <int n>
__global__ void with_much(int* out) {
  extern __shared__ char s3[];
  s3[(64 << 10) - 1] = n;
  *out = s3[(64 << 10) - 1];
}
template <class Kernel>
cudaError_t allow(Kernel kernel) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
}
struct Holder {
  void (*kernel)(int*);
  cudaError_t allow_it() const { return allow(kernel); }
};
TEST_F(LaunchError, shared_memory_goes_by_the_kernel_whatever_it_is_called) {
  Array<int> data(1);
  int* p = data.get();
  ASSERT_EQ(allow(with_much<1>), cudaSuccess);
  with_much<1><<<1, 1, 64 << 10>>>(p);
  EXPECT_EQ(data.first(), 1);
  EXPECT_REFUSED(cudaErrorInvalidValue, (with_much<2><<<1, 1, 64 << 10>>>(p)));
  void (*kernel)(int*) = with_much<3>;
  ASSERT_EQ(allow(kernel), cudaSuccess);
  with_much<3><<<1, 1, 64 << 10>>>(p);
  EXPECT_EQ(data.first(), 3);
  kernel<<<1, 1, 64 << 10>>>(p);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  kernel = with_much<2>;
  EXPECT_REFUSED(cudaErrorInvalidValue, (kernel<<<1, 1, 64 << 10>>>(p)));
  void (*several[])(int*) = {with_much<4>, with_much<5>};
  for (const auto one : several) {
    EXPECT_REFUSED(cudaErrorInvalidValue, (one<<<1, 1, 64 << 10>>>(p)));
    ASSERT_EQ(allow(one), cudaSuccess);
    one<<<1, 1, 64 << 10>>>(p);
  }
  EXPECT_EQ(data.first(), 5);
  int next = 0;
  several[next++]<<<1, 1, 64 << 10>>>(p);
  EXPECT_EQ(next * 10 + data.first(), 14);
  void* arguments[] = {&p};
  const void* untyped = (const void*)with_much<6>;
  ASSERT_EQ(cudaFuncSetAttribute(untyped, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10),
            cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel((const void*)with_much<6>, dim3(1), dim3(1), arguments, 64 << 10),
            cudaSuccess);
  EXPECT_EQ(data.first(), 6);
  const Holder holder{with_much<7>};
  ASSERT_EQ(holder.allow_it(), cudaSuccess);
  with_much<7><<<1, 1, 64 << 10>>>(p);
  EXPECT_EQ(data.first(), 7);
  const auto by_constant = [&](auto n) {
    const auto kernel = with_much<n()>;
    ASSERT_EQ(allow(kernel), cudaSuccess);
    with_much<n()><<<1, 1, 64 << 10>>>(p);
    EXPECT_EQ(data.first(), n());
  };
  by_constant(std::integral_constant<int, 8>());
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, with_much<7>), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 64 << 10);
  expect_clean();
}
TEST_F(LaunchError, a_pointer_to_void_cannot_be_launched) {
  const void* kernel = (const void*)nothing;
  void* arguments[] = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), arguments),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  expect_clean();
}
TEST_F(LaunchError, launch_by_pointer) {
  Array<int> data(64, 0);
  int *p = data.get(), value = 4;
  void* arguments[] = {&p, &value};
  EXPECT_EQ(cudaLaunchKernel((const void*)fill, dim3(2), dim3(32), arguments, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(data.host(), std::vector<int>(64, 4));
  EXPECT_EQ(cudaLaunchKernel((const void*)fill, dim3(2), dim3(1025), arguments, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(2);
  config.blockDim = dim3(32);
  EXPECT_EQ(cudaLaunchKernelEx(&config, fill, p, 6), cudaSuccess);
  EXPECT_EQ(data.host(), std::vector<int>(64, 6));
  config.blockDim = dim3(0);
  EXPECT_EQ(cudaLaunchKernelEx(&config, fill, p, 6), cudaErrorInvalidConfiguration);
  cudaGetLastError();
  expect_clean();
}
TEST_F(LaunchError, errors_of_calls_do_not_hide_launches) {
  Array<int> data(32, 0);
  EXPECT_EQ(cudaSetDevice(9), cudaErrorInvalidDevice);
  fill<<<1, 32>>>(data.get(), 1);
  EXPECT_EQ(data.host(), std::vector<int>(32, 1)) << "it ran";
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << "and the error is still there";
}

// ---- Errors of kernels ----

__global__ void out_of_bounds(int* p) { p[1 << 20] = 1; }
TEST_F(StickyError, every_call_reports_it) {
  Array<int> data(32, 0);
  cudaStream_t stream;
  cudaEvent_t event;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  out_of_bounds<<<1, 1>>>(data.get());
  int host = 0;
  EXPECT_EQ(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "getting does not clear this one";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorIllegalAddress);
  int* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
  fill<<<1, 32>>>(data.get(), 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_NE(simt::sticky_error(), 0);
  simt::take_findings();
}
TEST_F(StickyError, is_not_reported_by_the_launch) {
  Array<int> data(32, 0);
  out_of_bounds<<<1, 1>>>(data.get());
  // On a GPU the kernel has not run yet: a check right after the launch says nothing. Here the rule
  // is "by the next call that waits".
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  simt::take_findings();
}
__global__ void trap() { __trap(); }
TEST_F(StickyError, trap) {
  trap<<<1, 1>>>();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  simt::take_findings();
}
TEST_F(StickyError, the_other_threads_stop) {
  Array<int> data(32, 0);
  out_of_bounds<<<64, 256>>>(data.get());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_LE(simt::take_findings().size(), 16u) << "not one for each of the 16384 threads";
}

TEST_F(StickyError, add_is_used) {
  Array<int> data(32, 1);
  add<<<1, 32>>>(data.get(), 2);
  EXPECT_EQ(data.first(), 3);
  expect_clean();
}

}  // namespace
