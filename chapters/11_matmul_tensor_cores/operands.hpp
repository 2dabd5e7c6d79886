#pragma once
/// \file
/// What every launcher of this chapter checks on the host before it launches.

#include <cstdint>

namespace operands {

/// The largest m, n, k and leading dimension: kernels count rows and columns as int, also those
/// that fill up the last tile.
constexpr std::int64_t most = INT32_MAX - 1024;

/// The bytes from the first to the last element of a matrix.
inline std::uintptr_t extent(std::int64_t rows, std::int64_t cols, std::int64_t pitch,
                             std::int64_t element) {
  if (rows == 0 || cols == 0) return 0;
  return static_cast<std::uintptr_t>(element) *
         static_cast<std::uintptr_t>((rows - 1) * pitch + cols);
}

/// True if what lies between the first and the last element of one matrix reaches into another's.
inline bool overlap(const void* a, std::uintptr_t a_bytes, const void* b, std::uintptr_t b_bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(a),
             b_from = reinterpret_cast<std::uintptr_t>(b);
  if (a_bytes == 0 || b_bytes == 0) return false;
  return from <= b_from ? b_from - from < a_bytes : from - b_from < b_bytes;
}

/// C = alpha A B^T + beta C: A is m x k, B n x k and C m x n, row major; their rows begin every
/// lda, ldb and ldc elements. Device pointers. beta = 0 does not read C; alpha = 0 reads neither A
/// nor B.
template <class T>
struct Product {
  const T* a;
  const T* b;
  T* c;
  std::int64_t m, n, k, lda, ldb, ldc;
  float alpha, beta;
};

/// True if it can be computed: sizes from 0 to `most`, no row longer than its leading dimension;
/// leading dimensions and pointers in multiples of 16 bytes, as the TMA asks for; C overlaps
/// neither A nor B.
template <class T>
bool valid(const Product<T>& of) {
  constexpr std::int64_t element = sizeof(T), group = 16 / element;
  // Arrays with names: nvcc 13.0 does not compile `for (... : {a, b})` in a template.
  const std::int64_t sizes[] = {of.m, of.n, of.k}, pitches[] = {of.lda, of.ldb, of.ldc};
  const void* const matrices[] = {of.a, of.b, of.c};
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > most) return false;
  }
  if (of.lda < of.k || of.ldb < of.k || of.ldc < of.n) return false;
  for (const std::int64_t pitch : pitches) {
    if (pitch > most || pitch % group != 0) return false;
  }
  for (const void* p : matrices) {
    if (reinterpret_cast<std::uintptr_t>(p) % 16 != 0) return false;
  }
  const std::uintptr_t c_bytes = extent(of.m, of.n, of.ldc, element);
  return !overlap(of.a, extent(of.m, of.k, of.lda, element), of.c, c_bytes) &&
         !overlap(of.b, extent(of.n, of.k, of.ldb, element), of.c, c_bytes);
}

/// The same product without columns that count for nothing: with alpha = 0 neither A nor B is read,
/// and without columns alpha may be no number.
template <class T>
Product<T> needed(Product<T> of) {
  if (of.alpha == 0) of.k = 0;
  if (of.k == 0) of.alpha = 0;
  return of;
}

}  // namespace operands
