#pragma once
/// \file
/// Products of small matrices by a warp (nvcuda::wmma): half, bf16, tf32 and bytes.
///
/// The lanes share a matrix: its element e, in the order of memory, is lane e % 32's. (Which lane
/// has which is not for programs to know.) The last lane to come computes the product of all.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_functions.h"
#include "driver_types.h"

namespace nvcuda::wmma {

struct row_major;
struct col_major;
struct matrix_a;     ///< m x k
struct matrix_b;     ///< k x n
struct accumulator;  ///< m x n

namespace precision {
struct tf32;  ///< a float of which 10 bits of the fraction count
}

enum layout_t { mem_row_major, mem_col_major };

}  // namespace nvcuda::wmma

namespace simt {

/// What a fragment of T stores.
template <class T>
struct WmmaStored {
  using type = T;
};
template <>
struct WmmaStored<nvcuda::wmma::precision::tf32> {
  using type = float;
};

template <class T, class... Types>
inline constexpr bool wmma_one_of = (std::is_same_v<T, Types> || ...);

template <class Use, int m, int n, int k>
struct WmmaShape {
  static constexpr unsigned rows = std::is_same_v<Use, nvcuda::wmma::matrix_b> ? k : m;
  static constexpr unsigned columns = std::is_same_v<Use, nvcuda::wmma::matrix_a> ? k : n;
  static constexpr unsigned own = rows * columns / 32;  ///< elements of a lane
};

template <class Use, int m, int n, int k, class T, class Layout>
constexpr bool wmma_exists() {
  using namespace nvcuda::wmma;
  const bool of_16 =
      k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
  const bool of_8 = m == 16 && n == 16 && k == 8;
  if (std::is_same_v<Use, accumulator>) {
    return std::is_void_v<Layout> &&
           ((of_16 && wmma_one_of<T, __half, float, int>) || (of_8 && std::is_same_v<T, float>));
  }
  return wmma_one_of<Use, matrix_a, matrix_b> && wmma_one_of<Layout, row_major, col_major> &&
         ((of_16 && wmma_one_of<T, __half, __nv_bfloat16, signed char, unsigned char>) ||
          (of_8 && std::is_same_v<T, precision::tf32>));
}

/// May these types be multiplied and added to a C that becomes D?
template <class T, class C, class D>
inline constexpr bool wmma_fit =
    std::is_same_v<T, __half> ? wmma_one_of<C, __half, float>&& wmma_one_of<D, __half, float>
    : wmma_one_of<T, signed char, unsigned char>
        ? std::is_same_v<C, int>&& std::is_same_v<D, int>
        : std::is_same_v<C, float>&& std::is_same_v<D, float>;

}  // namespace simt

namespace nvcuda::wmma {

/// A lane's part of a matrix. Every element of x may be changed by itself.
template <class Use, int m, int n, int k, class T, class Layout = void>
class alignas(8) fragment {
  static_assert(simt::wmma_exists<Use, m, n, k, T, Layout>(),
                "the CPU backend has no such fragment: m, n, k are 16, 16, 16 or 32, 8, 16 or 8, "
                "32, 16, with precision::tf32 16, 16, 8");

 public:
  using element_type = T;
  using storage_element_type = typename simt::WmmaStored<T>::type;
  /// As on a GPU: factors of half always have 16, of which some are there several times.
  static constexpr int num_elements = std::is_same_v<T, __half> && !std::is_same_v<Use, accumulator>
                                          ? 16
                                          : static_cast<int>(simt::WmmaShape<Use, m, n, k>::own);
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

}  // namespace nvcuda::wmma

namespace simt {

/// Why the lanes of a warp cannot do it together.
enum WmmaFault : std::uint64_t {
  wmma_right,
  wmma_lanes_missing,
  wmma_other_line,
  wmma_other_place
};

/// Tells all lanes what is wrong; true if nothing is. The lanes bring their lines as arguments.
SIMT_RAW inline bool wmma_together(WarpCall& call, bool same_values) {
  WmmaFault fault = call.mask == ~0u ? wmma_right : wmma_lanes_missing;
  for (int lane = 1; fault == wmma_right && lane < 32; ++lane) {
    if (call.argument[lane] != call.argument[0]) {
      fault = wmma_other_line;
    } else if (same_values &&
               (call.value[lane] != call.value[0] || call.width[lane] != call.width[0])) {
      fault = wmma_other_place;
    }
  }
  for (int lane = 0; lane < 32; ++lane) call.result[lane] = fault;
  return fault == wmma_right;
}
SIMT_RAW inline void wmma_same_place(WarpCall& call) { wmma_together(call, true); }

/// Ends the kernel if something is wrong. `line` keeps calls of two lines apart.
SIMT_RAW inline void wmma_settle(std::uint64_t fault, const char* name, int line) {
  if (fault == wmma_right) return;
  char text[160];
  std::snprintf(text, sizeof text, "calls %s %s", name,
                fault == wmma_lanes_missing ? "without all 32 lanes of its warp,"
                : fault == wmma_other_line  ? "while lanes of its warp call it on another line,"
                                            : "with another address or ldm than other lanes,");
  static_cast<void>(line);
  fail_kernel("mask", cudaErrorLaunchFailure, text, __builtin_return_address(0));
}

/// Ends the kernel at a matrix in memory that CUDA cannot read. `bytes`: of an element; rows (or
/// columns) of `length` elements begin at multiples of 16 bytes, or of their own size.
SIMT_RAW inline void wmma_check_place(const void* p, unsigned ldm, unsigned bytes, unsigned length,
                                      const char* name, int line) {
  const unsigned multiple = length * bytes < 16 ? length : 16 / bytes;
  char text[160];
  if (reinterpret_cast<std::uintptr_t>(p) % 32 != 0) {
    std::snprintf(text, sizeof text, "calls %s with an address that is no multiple of 32 bytes,",
                  name);
  } else if (ldm % multiple != 0) {
    std::snprintf(text, sizeof text, "calls %s with an ldm of %u, which is no multiple of %u,",
                  name, ldm, multiple);
  } else {
    return;
  }
  static_cast<void>(line);
  fail_kernel("misaligned", cudaErrorMisalignedAddress, text, __builtin_return_address(0));
}

/// Before loads and stores: the lanes meet. Orders no memory, as on a GPU.
template <unsigned length, class T>
SIMT_INLINE void wmma_begin(const T* p, unsigned ldm, const char* name, int line) {
  wmma_check_place(p, ldm, sizeof(T), length, name, line);
  wmma_settle(warp_call(~0u, to_bits(p), line, static_cast<int>(ldm), wmma_same_place, name), name,
              line);
}

/// Where element e of an accumulator of n columns lies.
SIMT_INLINE std::size_t wmma_place(unsigned e, unsigned n, unsigned ldm,
                                   nvcuda::wmma::layout_t layout) {
  const std::size_t row = e / n, col = e % n;
  return layout == nvcuda::wmma::mem_row_major ? row * ldm + col : col * ldm + row;
}

/// What a lane brings to a product.
struct WmmaOperands {
  void* d;
  const void *a, *b, *c;
};

/// Puts a factor together, row below row. Of a tf32 the hardware reads the upper 19 bits.
template <class Use, int m, int n, int k, class T, class Layout, class Value>
SIMT_RAW void wmma_gather(const nvcuda::wmma::fragment<Use, m, n, k, T, Layout>& f, unsigned lane,
                          Value* to) {
  using Shape = WmmaShape<Use, m, n, k>;
  for (unsigned i = 0; i < Shape::own; ++i) {
    const unsigned e = 32 * i + lane;
    const unsigned place = std::is_same_v<Layout, nvcuda::wmma::row_major>
                               ? e
                               : e % Shape::rows * Shape::columns + e / Shape::rows;
    if constexpr (std::is_same_v<T, nvcuda::wmma::precision::tf32>) {
      std::uint32_t bits;
      std::memcpy(&bits, &f.x[i], sizeof bits);
      bits &= ~0x1fffu;
      float x;
      std::memcpy(&x, &bits, sizeof x);
      to[place] = x;
    } else if constexpr (std::is_integral_v<T>) {
      to[place] = f.x[i];
    } else {
      to[place] = static_cast<float>(f.x[i]);
    }
  }
}

/// The product of the fragments of all lanes: exact, or in double, and rounded once.
template <class D, class C, class T, class A, class B, int m, int n, int k, bool saturate>
SIMT_RAW void wmma_multiply(WarpCall& call) {
  using namespace nvcuda::wmma;
  if (!wmma_together(call, false)) return;
  using Sum = std::conditional_t<std::is_same_v<D, int>, std::int64_t, double>;
  constexpr unsigned own = m * n / 32;
  Sum a[m * k], b[k * n], sums[m * n];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto& of = *reinterpret_cast<const WmmaOperands*>(call.value[lane]);
    wmma_gather(*static_cast<const fragment<matrix_a, m, n, k, T, A>*>(of.a), lane, a);
    wmma_gather(*static_cast<const fragment<matrix_b, m, n, k, T, B>*>(of.b), lane, b);
    const auto& c = *static_cast<const fragment<accumulator, m, n, k, C>*>(of.c);
    for (unsigned i = 0; i < own; ++i) {
      if constexpr (std::is_same_v<C, int>) {
        sums[32 * i + lane] = c.x[i];
      } else {
        sums[32 * i + lane] = static_cast<float>(c.x[i]);
      }
    }
  }
  for (int row = 0; row < m; ++row) {
    for (int l = 0; l < k; ++l) {
      const Sum factor = a[row * k + l];
      for (int col = 0; col < n; ++col) sums[row * n + col] += factor * b[l * n + col];
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto& of = *reinterpret_cast<const WmmaOperands*>(call.value[lane]);
    auto& d = *static_cast<fragment<accumulator, m, n, k, D>*>(of.d);
    for (unsigned i = 0; i < own; ++i) {
      Sum sum = sums[32 * i + lane];
      if constexpr (std::is_same_v<D, int>) {
        using Limits = std::numeric_limits<int>;
        if (saturate && sum > Limits::max()) sum = Limits::max();
        if (saturate && sum < Limits::min()) sum = Limits::min();
        d.x[i] = static_cast<int>(static_cast<std::uint32_t>(sum));
      } else {
        d.x[i] = static_cast<D>(sum);
      }
    }
  }
}

/// All lanes of the warp multiply. Of an int's sum too large, the lower 32 bits remain, or the
/// nearest int if `saturate`.
template <bool saturate, class D, class C, class T, class A, class B, int m, int n, int k>
SIMT_INLINE void wmma_call(nvcuda::wmma::fragment<nvcuda::wmma::accumulator, m, n, k, D>& d,
                           const nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, m, n, k, T, A>& a,
                           const nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, m, n, k, T, B>& b,
                           const nvcuda::wmma::fragment<nvcuda::wmma::accumulator, m, n, k, C>& c,
                           int line) {
  static_assert(
      wmma_fit<T, C, D>,
      "mma_sync adds products of half to half or float, of bytes to int, others to float");
  const WmmaOperands mine = {&d, &a, &b, &c};
  wmma_settle(warp_call(~0u, to_bits(&mine), line, 32,
                        wmma_multiply<D, C, T, A, B, m, n, k, saturate>, "wmma::mma_sync"),
              "wmma::mma_sync", line);
}

}  // namespace simt

namespace nvcuda::wmma {

/// The nearest tf32; half-way away from zero. As cvt.rna.tf32.f32: a NaN is 0x7fffffff.
SIMT_INLINE float __float_to_tf32(float x) {
  const auto bits = static_cast<std::uint32_t>(simt::to_bits(x));
  if ((bits & 0x7fffffffu) > 0x7f800000u) return simt::from_bits<float>(0x7fffffffu);
  return simt::from_bits<float>((bits + 0x1000u) & ~0x1fffu);
}

template <class Use, int m, int n, int k, class T, class Layout>
SIMT_INLINE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                               typename simt::WmmaStored<T>::type value) {
  for (auto& x : f.x) x = value;
}

/// Loads a factor. p: a multiple of 32 bytes. ldm: from one row (or column) to the next, a multiple
/// of 16 bytes. Both are the same in all lanes.
template <class Use, int m, int n, int k, class T, class Layout>
SIMT_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                  const typename simt::WmmaStored<T>::type* p, unsigned ldm,
                                  const char* = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(!std::is_same_v<Use, accumulator>, "for an accumulator, name its layout in memory");
  using Shape = simt::WmmaShape<Use, m, n, k>;
  constexpr unsigned length = std::is_same_v<Layout, row_major> ? Shape::columns : Shape::rows;
  simt::wmma_begin<length>(p, ldm, "wmma::load_matrix_sync", line);
  const unsigned lane = simt::lane();
  for (unsigned i = 0; i < Shape::own; ++i) {
    const unsigned e = 32 * i + lane;
    f.x[i] = p[std::size_t{e / length} * ldm + e % length];
  }
  for (unsigned i = Shape::own; i < f.num_elements; ++i) f.x[i] = f.x[i - Shape::own];
}
/// Loads an accumulator.
template <int m, int n, int k, class T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const simt::SameAs<T>* p,
                                  unsigned ldm, layout_t layout, const char* = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  simt::wmma_begin<16>(p, ldm, "wmma::load_matrix_sync", line);
  const unsigned lane = simt::lane();
  for (unsigned i = 0; i < f.num_elements; ++i) {
    f.x[i] = p[simt::wmma_place(32 * i + lane, n, ldm, layout)];
  }
}
template <int m, int n, int k, class T>
SIMT_INLINE void store_matrix_sync(simt::SameAs<T>* p, const fragment<accumulator, m, n, k, T>& f,
                                   unsigned ldm, layout_t layout, const char* = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  simt::wmma_begin<16>(p, ldm, "wmma::store_matrix_sync", line);
  const unsigned lane = simt::lane();
  for (unsigned i = 0; i < f.num_elements; ++i) {
    p[simt::wmma_place(32 * i + lane, n, ldm, layout)] = f.x[i];
  }
}

/// d = a b + c. d may be c.
template <int m, int n, int k, class D, class C, class T, class A, class B>
SIMT_INLINE void mma_sync(fragment<accumulator, m, n, k, D>& d,
                          const fragment<matrix_a, m, n, k, T, A>& a,
                          const fragment<matrix_b, m, n, k, T, B>& b,
                          const fragment<accumulator, m, n, k, C>& c,
                          const char* = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::wmma_call<false>(d, a, b, c, line);
}
/// The same of bytes; if `saturate`, sums too large become the nearest int.
template <int m, int n, int k, class T, class A, class B>
SIMT_INLINE void mma_sync(fragment<accumulator, m, n, k, int>& d,
                          const fragment<matrix_a, m, n, k, T, A>& a,
                          const fragment<matrix_b, m, n, k, T, B>& b,
                          const fragment<accumulator, m, n, k, int>& c, bool saturate,
                          const char* = __builtin_FILE(), int line = __builtin_LINE()) {
  if (saturate) {
    simt::wmma_call<true>(d, a, b, c, line);
  } else {
    simt::wmma_call<false>(d, a, b, c, line);
  }
}

}  // namespace nvcuda::wmma
