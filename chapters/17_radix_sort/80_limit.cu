// Version 05 with what measurements asked for. Lanes with equal digits are found by a vote per bit.
//   The block counts its digits before it ranks them, so that other tiles learn the counts early.
//   A key goes to shared memory as soon as it has its rank. The look-back reads four words at a
//   time. Tiles are as long as the registers allow, or short for few keys; one block sorts up to
//   4096 keys. A pass is left out if all keys have the same digit. Any n: 30 bits of a word count a
//   portion. Keys of all types and widths, with values, by a range of bits, in both orders.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "block_scan.cuh"
#include "keys.cuh"
#include "tile.cuh"
#include "workspace.hpp"

namespace radix_limit {

using keys::Kind;
using Large = unsigned long long;

// snippet: shapes
constexpr std::int64_t portion = 1 << 29;  // keys that the words of one launch count
constexpr std::int64_t most_keys = std::int64_t{1} << 36;  // counters of blocks have 32 bits
constexpr std::int64_t one_block = 4096;                   // keys, at most, that one block sorts
constexpr int count_threads = 512;                         // of a block that counts digits
constexpr std::int64_t few = 1 << 21;                      // keys, below which tiles are short

/// For sorts of keys alone.
struct Nothing {};

/// The shape of a block: threads, and rows of 32 elements per warp.
struct Shape {
  int threads, rows;
};
/// A long tile, with as many blocks on an SM as its registers and shared memory allow: three of 256
/// threads, or two larger ones.
template <class U, class V>
constexpr Shape long_tile = std::is_same_v<V, Nothing> ? Shape{256, sizeof(U) == 8 ? 20 : 28}
                            : sizeof(U) == 8           ? Shape{320, 17}
                            : sizeof(V) == 8           ? Shape{384, 18}
                                                       : Shape{384, 22};
constexpr Shape short_tile = {256, 16};
// /snippet

/// Three buffers: the input, the output and a spare one.
template <class T>
struct Buffers {
  const T* in;
  T *out, *spare;
  __device__ const T* source(int k) const { return k == 0 ? in : k == 1 ? out : spare; }
  __device__ T* target(int k) const { return k == 1 ? out : spare; }
};

/// From which buffer to which a pass moves keys. A pass with to == 0 is left out.
struct Pass {
  int from, to;
  bool is_last;
};

/// What the launches of a sort tell each other. All zero at first.
template <int passes>
struct Shared {
  Large counts[passes][digits];     ///< of all keys, later where the first key with a digit goes
  Large starts[2][passes][digits];  ///< the same for the next portion, even and odd
  Pass pass[passes];
};

/// Copies of each counter of a block, in 64 KiB at most.
template <int passes>
constexpr int copies = std::min(16, 64 / passes);

/// counts[p][d] = how many keys have digit d in pass p. In shared memory, each counter has copies,
/// and a lane adds to one of them, so that equal digits conflict less.
template <class U, int passes>
__global__ void __launch_bounds__(count_threads)
    count_digits(const U* in, Shared<passes>* shared, std::int64_t n, keys::Flip<U> flip, int first,
                 int last) {
  constexpr unsigned threads = count_threads, batch = 4, of_each = copies<passes>;
  extern __shared__ unsigned counts[];  // [passes][digits][of_each]
  for (unsigned k = threadIdx.x; k < passes * digits * of_each; k += threads) counts[k] = 0;
  __syncthreads();
  const auto count = [&](U key) {
#pragma unroll
    for (int p = 0; p < passes; ++p) {
      if (first + p * bits >= last) break;
      const unsigned digit = digit_of_pass(p, first, last)(key);
      atomicAdd(&counts[(p * digits + digit) * of_each + threadIdx.x % of_each], 1u);
    }
  };
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  for (; i + (batch - 1) * all < n; i += batch * all) {
    U key[batch];
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) key[k] = in[i + k * all];
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) count(flip(key[k]));
  }
  for (; i < n; i += all) count(flip(in[i]));
  __syncthreads();
  for (unsigned k = threadIdx.x; k < passes * digits; k += threads) {
    unsigned sum = 0;
    for (unsigned c = 0; c < of_each; ++c) sum += counts[k * of_each + (c + threadIdx.x) % of_each];
    if (sum != 0) atomicAdd(&shared->counts[0][0] + k, Large{sum});
  }
}

/// Counts become starts. Leaves out each pass in which all keys have the same digit, and says from
/// where to where the others move the keys, so that the last one ends in the output. One block.
template <int passes>
__global__ void __launch_bounds__(digits)
    plan_passes(Shared<passes>* shared, std::int64_t n, int used) {
  __shared__ Large sums[digits / 32];
  Large mine[passes];
  bool is_needed[passes] = {};
  int needed = 0;
#pragma unroll
  for (int p = 0; p < passes; ++p) mine[p] = shared->counts[p][threadIdx.x];
#pragma unroll
  for (int p = 0; p < passes; ++p) {
    if (p >= used) break;
    is_needed[p] = __syncthreads_or(mine[p] == static_cast<Large>(n)) == 0;
    if (p == used - 1 && needed == 0) is_needed[p] = true;  // it copies
    needed += is_needed[p] ? 1 : 0;
    Large all;
    shared->counts[p][threadIdx.x] = scan::block_scan<digits>(mine[p], sums, &all);
  }
  if (threadIdx.x != 0) return;
  int from = 0;
  for (int p = 0; p < used; ++p) {
    if (!is_needed[p]) continue;
    const int to = needed % 2 == 1 ? 1 : 2;
    shared->pass[p] = {from, to, --needed == 0};
    from = to;
  }
}

/// Moves the keys and values of one portion to their places, sorted by one digit. `next`: the
/// number of the next tile; blocks take them as they start, so that no block waits for one that has
/// not started. words: one per tile and digit. starts: where the first key of this portion with a
/// digit goes; writes those of the next portion. `next` and the words are zero at first.
template <class U, class V, int threads, int rows, int passes>
__global__ void __launch_bounds__(threads, threads == 256 ? 3 : 2)
    move_keys(Buffers<U> all_keys, Buffers<V> all_values, const Shared<passes>* shared, int p,
              const Large* starts, Large* next_starts, unsigned* next, unsigned* words,
              std::int64_t begin_of_portion, unsigned n, keys::Order<U> order, Digit digit) {
  constexpr bool has_values = !std::is_same_v<V, Nothing>;
  constexpr int tile_size = Tile<U, threads, rows>::size;
  constexpr int warps = threads / 32;
  __shared__ unsigned counts[warps][digits], sums[warps], number_of_block;
  __shared__ Large shift[digits];  // from a place in the sorted tile to one in the output
  extern __shared__ Large s_tile[];
  U* const s_keys = reinterpret_cast<U*>(s_tile);
  V* const s_values = reinterpret_cast<V*>(s_keys + tile_size);
  const Pass pass = shared->pass[p];
  if (pass.to == 0) return;
  if (threadIdx.x == 0) number_of_block = atomicAdd(next, 1u);
  __syncthreads();
  const unsigned tile_number = number_of_block;
  const unsigned begin = tile_number * tile_size;
  const unsigned left = n - begin < tile_size ? n - begin : tile_size;
  const std::int64_t offset = begin_of_portion + begin;

  const U* const from = all_keys.source(pass.from) + offset;
  const unsigned first_index = Tile<U, threads, rows>::first_index();
  Tile<U, threads, rows> tile;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned i = first_index + r * 32;
    tile.key[r] = static_cast<U>(~U{0});  // beyond the end: it goes behind all others
    if (left == tile_size || i < left) tile.key[r] = from[i];
    if (pass.from == 0 && i < left) tile.key[r] = order.to(tile.key[r]);
  }

  const unsigned count = tile.count(counts, digit);
  const bool has_digit = threads == digits || threadIdx.x < digits;
  unsigned* const word = words + std::size_t{tile_number} * digits + threadIdx.x;
  if (has_digit) {
    Word(*word).store((tile_number == 0 ? of_all : of_tile) << 30 | count,
                      cuda::memory_order_relaxed);
  }
  unsigned all;
  const unsigned place = scan::block_scan<threads>(count, sums, &all);
  tile.make_places(counts, place);

  V value[has_values ? rows : 1];
  if constexpr (has_values) {
    const V* const values = all_values.source(pass.from) + offset;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const unsigned i = first_index + r * 32;
      if (left == tile_size || i < left) value[r] = values[i];
    }
  }
  tile.place_keys(counts, digit, [&](int r, unsigned to) {
    s_keys[to] = tile.key[r];
    if constexpr (has_values) s_values[to] = value[r];
  });

  if (has_digit) {
    const unsigned before = look_back(word, tile_number);
    if (tile_number > 0) {
      Word(*word).store(of_all << 30 | (before + count), cuda::memory_order_relaxed);
    }
    const Large start = starts[threadIdx.x] + before;
    shift[threadIdx.x] = start - place;
    if (begin + left == n) {  // without what fills up the last tile
      next_starts[threadIdx.x] = start + count - (threadIdx.x == digit.mask ? tile_size - left : 0);
    }
  }
  __syncthreads();

  U* const to = all_keys.target(pass.to);
  V* const values_to = all_values.target(pass.to);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned i = threadIdx.x + r * threads;
    if (left < tile_size && i >= left) break;
    const U key = s_keys[i];
    const Large place = shift[digit(key)] + i;
    to[place] = pass.is_last ? order.back(key) : key;
    if constexpr (has_values) values_to[place] = s_values[i];
  }
}

/// Sorts up to a tile, all passes in shared memory. One block.
template <class U, class V, int threads, int rows>
__global__ void __launch_bounds__(threads)
    sort_tile(Buffers<U> all_keys, Buffers<V> all_values, unsigned n, keys::Order<U> order,
              int first, int last) {
  constexpr bool has_values = !std::is_same_v<V, Nothing>;
  constexpr int tile_size = Tile<U, threads, rows>::size;
  constexpr int warps = threads / 32;
  __shared__ unsigned counts[warps][digits], sums[warps];
  __shared__ std::conditional_t<(sizeof(V) > sizeof(U)), V, U> s_tile[tile_size];
  U* const s_keys = reinterpret_cast<U*>(s_tile);
  const unsigned first_index = Tile<U, threads, rows>::first_index();
  Tile<U, threads, rows> tile;
  V value[has_values ? rows : 1];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned i = first_index + r * 32;
    tile.key[r] = i < n ? order.to(all_keys.in[i]) : static_cast<U>(~U{0});
    if constexpr (has_values) value[r] = i < n ? all_values.in[i] : V{};
  }
  for (int p = 0; first + p * bits < last; ++p) {
    const Digit digit = digit_of_pass(p, first, last);
    unsigned all;
    const unsigned count = tile.count(counts, digit);
    tile.make_places(counts, scan::block_scan<threads>(count, sums, &all));
    unsigned place[rows];
    tile.place_keys(counts, digit,
                    [&](int r, unsigned to) { s_keys[place[r] = to] = tile.key[r]; });
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; ++r) tile.key[r] = s_keys[first_index + r * 32];
    if constexpr (has_values) {  // in the same shared memory, now that the keys have left it
      V* const s_values = reinterpret_cast<V*>(s_tile);
      __syncthreads();
#pragma unroll
      for (int r = 0; r < rows; ++r) s_values[place[r]] = value[r];
      __syncthreads();
#pragma unroll
      for (int r = 0; r < rows; ++r) value[r] = s_values[first_index + r * 32];
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const unsigned i = first_index + r * 32;
    if (i >= n) continue;
    all_keys.out[i] = order.back(tile.key[r]);
    if constexpr (has_values) all_values.out[i] = value[r];
  }
}

/// The launches for tiles of `rows`.
template <int threads, int rows, class U, class V>
cudaError_t sort_portions(const Buffers<U>& all_keys, const Buffers<V>& all_values, void* workspace,
                          std::size_t& workspace_bytes, std::int64_t n, const keys::Order<U>& order,
                          int first, int last, cudaStream_t stream) {
  constexpr int passes = sizeof(U) * 8 / bits;
  constexpr bool has_values = !std::is_same_v<V, Nothing>;
  constexpr std::int64_t tile_size = Tile<U, threads, rows>::size;
  const std::int64_t portions = (n + portion - 1) / portion;
  const std::int64_t tiles = (std::min(n, portion) + tile_size - 1) / tile_size;
  const std::int64_t words = tiles * digits + 1;  // per launch, with the number of its next tile
  workspace::Parts parts(workspace);
  Shared<passes>* const shared = parts.take<Shared<passes>>(1);
  unsigned* const of_launches = parts.take<unsigned>(words * passes);
  const std::size_t zeroed = parts.bytes();
  Buffers<U> key_buffers = all_keys;
  Buffers<V> value_buffers = all_values;
  key_buffers.spare = parts.take<U>(n);
  if (has_values) value_buffers.spare = parts.take<V>(n);
  if (workspace == nullptr) {
    workspace_bytes = parts.bytes();
    return cudaSuccess;
  }
  if (workspace_bytes < parts.bytes()) return cudaErrorInvalidValue;
  if (workspace::misaligned(shared)) return cudaErrorInvalidValue;
  if (cudaError_t error = cudaMemsetAsync(workspace, 0, zeroed, stream)) return error;

  const int used = (last - first + bits - 1) / bits;
  const auto count = count_digits<U, passes>;
  constexpr int bytes = passes * digits * copies<passes> * static_cast<int>(sizeof(unsigned));
  int device, sms;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  if (cudaError_t error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device)) {
    return error;
  }
  if (cudaError_t error =
          cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)) {
    return error;
  }
  const auto move = move_keys<U, V, threads, rows, passes>;
  constexpr int tile_bytes = tile_size * (sizeof(U) + (has_values ? sizeof(V) : 0));
  if (cudaError_t error =
          cudaFuncSetAttribute(move, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes)) {
    return error;
  }
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(3 * sms, (n + 8191) / 8192));
  count<<<blocks, count_threads, bytes, stream>>>(all_keys.in, shared, n, order.to, first, last);
  plan_passes<passes><<<1, digits, 0, stream>>>(shared, n, used);
  for (int p = 0; p < used; ++p) {
    for (std::int64_t k = 0; k < portions; ++k) {
      const auto m = static_cast<unsigned>(std::min(portion, n - k * portion));
      unsigned* const next = of_launches + p * words;
      if (k > 0) {
        if (cudaError_t error = cudaMemsetAsync(next, 0, words * sizeof(unsigned), stream)) {
          return error;
        }
      }
      const Large* const starts = k == 0 ? shared->counts[p] : shared->starts[k % 2][p];
      move<<<static_cast<unsigned>((m + tile_size - 1) / tile_size), threads, tile_bytes, stream>>>(
          key_buffers, value_buffers, shared, p, starts, shared->starts[(k + 1) % 2][p], next,
          next + 1, k * portion, m, order, digit_of_pass(p, first, last));
    }
  }
  return cudaGetLastError();
}

/// Sorts n keys by bits first to last - 1 of the integers that `kind` makes of them, with a value
/// each unless V is Nothing.
template <class U, class V>
cudaError_t sort_bits(void* workspace, std::size_t& workspace_bytes, const void* keys_in,
                      const V* values_in, void* keys_out, V* values_out, std::int64_t n, Kind kind,
                      bool descending, int first, int last, cudaStream_t stream) {
  constexpr bool has_values = !std::is_same_v<V, Nothing>;
  if (n < 0 || n > most_keys || first < 0 || last < first || last > static_cast<int>(sizeof(U) * 8))
    return cudaErrorInvalidValue;
  const Buffers<U> all_keys = {static_cast<const U*>(keys_in), static_cast<U*>(keys_out), nullptr};
  const Buffers<V> all_values = {values_in, values_out, nullptr};
  if (workspace != nullptr &&
      workspace::misaligned(all_keys.in, all_keys.out, values_in, values_out)) {
    return cudaErrorInvalidValue;
  }
  const auto order = keys::order_of<U>(kind, descending);
  if (n <= one_block || first == last) {
    if (workspace == nullptr) {
      workspace_bytes = 1;  // not 0, so that callers can allocate it
      return cudaSuccess;
    }
    if (workspace_bytes < 1) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    const auto m = static_cast<unsigned>(n);
    if (first == last) {
      const auto copy = [&](auto* to, const auto* from) {
        return cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof *to,
                               cudaMemcpyDeviceToDevice, stream);
      };
      if (cudaError_t error = copy(all_keys.out, all_keys.in)) return error;
      if (has_values) return copy(values_out, values_in);
      return cudaSuccess;
    }
    constexpr int threads = 256;
    constexpr int rows = one_block / threads;
    const auto sort = n <= one_block / 4   ? sort_tile<U, V, threads, rows / 4>
                      : n <= one_block / 2 ? sort_tile<U, V, threads, rows / 2>
                                           : sort_tile<U, V, threads, rows>;
    sort<<<1, threads, 0, stream>>>(all_keys, all_values, m, order, first, last);
    return cudaGetLastError();
  }
  constexpr Shape of_many = long_tile<U, V>;
  const auto portions = n < few ? sort_portions<short_tile.threads, short_tile.rows, U, V>
                                : sort_portions<of_many.threads, of_many.rows, U, V>;
  return portions(all_keys, all_values, workspace, workspace_bytes, n, order, first, last, stream);
}

template <class K>
constexpr Kind kind_of = std::is_floating_point_v<K> || std::is_same_v<K, __half> ? Kind::of_float
                         : std::is_signed_v<K>                                    ? Kind::of_signed
                                               : Kind::of_unsigned;

template <class K>
cudaError_t sort_keys(void* workspace, std::size_t& workspace_bytes, const K* in, K* out,
                      std::int64_t n, bool descending, cudaStream_t stream) {
  const Nothing* const none = nullptr;
  return sort_bits<keys::Bits<K>>(workspace, workspace_bytes, in, none, out,
                                  static_cast<Nothing*>(nullptr), n, kind_of<K>, descending, 0,
                                  sizeof(K) * 8, stream);
}

template <class K, class V>
cudaError_t sort_both(void* workspace, std::size_t& workspace_bytes, const K* keys_in,
                      const V* values_in, K* keys_out, V* values_out, std::int64_t n,
                      cudaStream_t stream) {
  return sort_bits<keys::Bits<K>>(workspace, workspace_bytes, keys_in, values_in, keys_out,
                                  values_out, n, kind_of<K>, false, 0, sizeof(K) * 8, stream);
}

/// out = the n keys of in, in ascending order: numbers by value, floating-point ones in totalOrder
/// of IEEE 754 (keys.cuh). Stable. Device pointers; in is not changed and is not out. With
/// workspace == nullptr: only writes the bytes of scratch memory that it needs. \returns
/// cudaErrorInvalidValue for n < 0 or above 2^36, a misaligned pointer or too little scratch
/// memory, or the error of a launch.
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::uint8_t* in,
                 std::uint8_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::uint16_t* in,
                 std::uint16_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const unsigned* in, unsigned* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const int* in, int* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::int64_t* in,
                 std::int64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const std::uint64_t* in,
                 std::uint64_t* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const __half* in, __half* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const float* in, float* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}
cudaError_t sort(void* workspace, std::size_t& workspace_bytes, const double* in, double* out,
                 std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, false, stream);
}

/// The same in descending order; equal keys keep their order.
cudaError_t sort_descending(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                            unsigned* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, true, stream);
}
cudaError_t sort_descending(void* workspace, std::size_t& workspace_bytes, const float* in,
                            float* out, std::int64_t n, cudaStream_t stream) {
  return sort_keys(workspace, workspace_bytes, in, out, n, true, stream);
}

/// By bits first to last - 1 only, 0 <= first <= last <= 32. Keys that are equal in these bits keep
/// their order.
cudaError_t sort_by_bits(void* workspace, std::size_t& workspace_bytes, const unsigned* in,
                         unsigned* out, std::int64_t n, int first, int last, cudaStream_t stream) {
  const Nothing* const none = nullptr;
  return sort_bits<std::uint32_t>(workspace, workspace_bytes, in, none, out,
                                  static_cast<Nothing*>(nullptr), n, Kind::of_unsigned, false,
                                  first, last, stream);
}

/// With a value for each key, which moves with it.
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const unsigned* values_in, unsigned* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const unsigned* keys_in,
                       const std::int64_t* values_in, unsigned* keys_out, std::int64_t* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}
cudaError_t sort_pairs(void* workspace, std::size_t& workspace_bytes, const std::int64_t* keys_in,
                       const unsigned* values_in, std::int64_t* keys_out, unsigned* values_out,
                       std::int64_t n, cudaStream_t stream) {
  return sort_both(workspace, workspace_bytes, keys_in, values_in, keys_out, values_out, n, stream);
}

}  // namespace radix_limit
