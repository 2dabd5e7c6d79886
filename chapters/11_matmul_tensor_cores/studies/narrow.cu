// Study: what narrower numbers save where bytes decide. y = A x reads every element of A once.
// Idea: one kernel for three types: float, half in pairs (HFMA2), signed bytes in fours (dp4a). A
//   block takes 8 rows, so that 16 bytes of x serve 8 times 16 of A; each thread has 128 bytes of A
//   on their way before it uses the first.
// Predicts: the same bytes per second for all three, so half and a quarter of the time of floats.
//   Arithmetic does not matter: 16 bytes of A take 4 to 8 instructions of it in any type.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace narrow_study {

constexpr int block_size = 256;
constexpr int warps = block_size / 32;
constexpr int rows_per_block = 8;
// Of an SM, so that a thread gets up to 80 registers. With 64 the compiler reads half of the rows,
// adds them up, and only then reads the others.
constexpr int least_blocks = 3;
constexpr std::int64_t most_bytes = std::int64_t{1} << 47;  // of a matrix: no GPU has as many

/// What differs from type to type: elements, the 16 bytes of a group, the type of sums, and how
/// products are added to a sum, by the group and one by one.
struct Floats {
  using Element = float;
  using Group = float4;
  using Sum = float;
  static __device__ float add(float4 a, float4 x, float sum) {
    sum += a.x * x.x;
    sum += a.y * x.y;
    sum += a.z * x.z;
    return sum + a.w * x.w;
  }
  static __device__ float add(float a, float x, float sum) { return sum + a * x; }
};

/// A sum in half is carried into float after four products, once per group. A half has 11 bits:
/// the larger the sum, the more each addition rounds off, and a sum above 2^11 products stands
/// still. Four products up to 1 are off by at most 11 / 4096 (narrow.hpp), however many columns
/// there are, and far from the largest half, 65504. Carrying costs two conversions and two
/// additions per group, as much as the products.
struct Halves {
  using Element = std::uint16_t;
  using Group = uint4;
  using Sum = float;
  static __device__ __half2 pair(const unsigned& bits) {
    return *reinterpret_cast<const __half2*>(&bits);
  }
  static __device__ float add(const uint4& a, const uint4& x, float sum) {
    __half2 part = __hmul2(pair(a.x), pair(x.x));
    part = __hfma2(pair(a.y), pair(x.y), part);
    part = __hfma2(pair(a.z), pair(x.z), part);
    part = __hfma2(pair(a.w), pair(x.w), part);
    const float2 both = __half22float2(part);
    return sum + (both.x + both.y);
  }
  static __device__ float add(std::uint16_t a, std::uint16_t x, float sum) {
    return sum + __half2float(__ushort_as_half(a)) * __half2float(__ushort_as_half(x));
  }
};

struct Bytes {
  using Element = std::uint8_t;
  using Group = int4;
  using Sum = std::int32_t;
  static __device__ int add(int4 a, int4 x, int sum) {
    sum = __dp4a(a.x, x.x, sum);
    sum = __dp4a(a.y, x.y, sum);
    sum = __dp4a(a.z, x.z, sum);
    return __dp4a(a.w, x.w, sum);
  }
  static __device__ int add(std::uint8_t a, std::uint8_t x, int sum) {
    return sum + static_cast<std::int8_t>(a) * static_cast<std::int8_t>(x);
  }
};

/// A thread's part of a block's rows: every block_size-th of n elements, or groups, of each. a
/// points to the first of these `rows` rows. A is read once, and says so (__ldcs), x by all blocks.
template <class Type, class T>
__device__ void add_products(const T* a, const T* x, typename Type::Sum* sums, int rows,
                             std::int64_t n) {
#pragma unroll 1
  for (std::int64_t i = threadIdx.x; i < n; i += block_size) {
    T of_a[rows_per_block];
#pragma unroll
    for (int r = 0; r < rows_per_block; ++r) {
      const int row = r < rows ? r : 0;  // past the end: for a sum that nobody stores
      of_a[r] = __ldcs(&a[row * n + i]);
    }
    const T of_x = x[i];
#pragma unroll
    for (int r = 0; r < rows_per_block; ++r) sums[r] = Type::add(of_a[r], of_x, sums[r]);
  }
}

/// y = A x. Block b computes y[8 b] to y[8 b + 7]; launch with a block of block_size threads for
/// every 8 rows. Groups are read where all rows begin at a multiple of 16 bytes.
template <class Type>
__global__ void __launch_bounds__(block_size, least_blocks)
    multiply_rows(const typename Type::Element* a, const typename Type::Element* x,
                  typename Type::Sum* y, std::int64_t rows, std::int64_t cols) {
  using Group = typename Type::Group;
  using Sum = typename Type::Sum;
  constexpr int in_group = sizeof(Group) / sizeof(typename Type::Element);
  __shared__ Sum of_warps[warps][rows_per_block];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{blockIdx.x} * rows_per_block;
  const int here = static_cast<int>(rows - first < rows_per_block ? rows - first : rows_per_block);
  a += first * cols;
  Sum sums[rows_per_block] = {};
  if (cols % in_group == 0) {
    add_products<Type>(reinterpret_cast<const Group*>(a), reinterpret_cast<const Group*>(x), sums,
                       here, cols / in_group);
  } else {
    add_products<Type>(a, x, sums, here, cols);
  }
#pragma unroll
  for (int r = 0; r < rows_per_block; ++r) {
    for (int distance = 16; distance > 0; distance /= 2) {
      sums[r] += __shfl_xor_sync(~0u, sums[r], distance);
    }
    if (t % 32 == 0) of_warps[t / 32][r] = sums[r];
  }
  __syncthreads();
  if (t >= here) return;
  Sum sum = 0;
  for (int w = 0; w < warps; ++w) sum += of_warps[w][t];
  y[first + t] = sum;
}

template <class Type>
cudaError_t multiply(const typename Type::Element* a, const typename Type::Element* x,
                     typename Type::Sum* y, std::int64_t rows, std::int64_t cols,
                     cudaStream_t stream) {
  constexpr std::int64_t most = most_bytes / sizeof(typename Type::Element);
  if (rows < 0 || cols < 0 || cols > most) return cudaErrorInvalidValue;
  if (cols > 0 && rows > most / cols) return cudaErrorInvalidValue;
  if (reinterpret_cast<std::uintptr_t>(a) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(x) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(y) % sizeof *y != 0) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0) return cudaSuccess;
  if (rows > std::int64_t{INT32_MAX} * rows_per_block) return cudaErrorInvalidValue;
  const auto blocks = static_cast<unsigned>((rows + rows_per_block - 1) / rows_per_block);
  multiply_rows<Type><<<blocks, block_size, 0, stream>>>(a, x, y, rows, cols);
  return cudaGetLastError();
}

/// y = A x in floats: A is rows x cols, row major, x has cols elements and y rows. Device pointers,
/// a and x at multiples of 16 bytes; y may not overlap them. Without columns y is zeros. Fast where
/// rows are multiples of 16 bytes long. \returns cudaErrorInvalidValue for other pointers, sizes
/// below 0, more rows than a grid has blocks for (8 each) or a matrix above 2^47 bytes, or the
/// error of the launch.
cudaError_t multiply_floats(const float* a, const float* x, float* y, std::int64_t rows,
                            std::int64_t cols, cudaStream_t stream) {
  return multiply<Floats>(a, x, y, rows, cols, stream);
}

/// The same for the bits of __half, with sums in float. Four products, in columns c, c + 2, c + 4
/// and c + 6 of a group of eight, are added in half: their sum must stay below 65504.
cudaError_t multiply_halves(const std::uint16_t* a, const std::uint16_t* x, float* y,
                            std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  return multiply<Halves>(a, x, y, rows, cols, stream);
}

/// The same for the bits of signed bytes, with sums in int: exact where those of the magnitudes fit
/// into 31 bits, as with fewer than 2^17 columns.
cudaError_t multiply_bytes(const std::uint8_t* a, const std::uint8_t* x, std::int32_t* y,
                           std::int64_t rows, std::int64_t cols, cudaStream_t stream) {
  return multiply<Bytes>(a, x, y, rows, cols, stream);
}

}  // namespace narrow_study
