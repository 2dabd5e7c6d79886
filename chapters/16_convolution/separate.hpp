#pragma once
/// \file
/// Whether a filter is a product of a column and a row, so that two passes of `width`
/// multiplications per pixel do for one of width x width. Host C++ only; no version includes it.
///
/// The singular value decomposition writes a filter as a sum of such products, the weightiest
/// first. Its rank is how many of them are not zero: that many pairs of passes are enough.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "filter.hpp"

/// One product of a column and a row. Its singular value is the length of its coefficients taken
/// as one vector.
struct Term {
  double singular_value;
  SeparableFilter passes;  ///< the first `width` of each array; column and row are equally long
};

/// A singular value of at most this share of the largest one counts as zero. Rounding to float, by
/// half a unit in the last place, changes a singular value of a product by at most 2^-24 of the
/// largest; the rest is for coefficients that were computed in float.
constexpr double rank_tolerance = 0x1p-20;

/// The `width` terms whose sum is the filter, singular values in descending order.
///
/// One-sided Jacobi: rotates pairs of the filter's columns until each is orthogonal to all others.
/// Their lengths are then the singular values, each with an error of about 1e-15 of the largest.
/// M. R. Hestenes, Inversion of matrices by biorthogonalization and related results, J. SIAM 6
/// (1958). The angle: H. Rutishauser, The Jacobi method for real symmetric matrices, Numer. Math. 9
/// (1966).
/// \returns no terms for a width that is even or not 1 to 31, and if a coefficient is not finite.
inline std::vector<Term> decompose(const Filter& filter, std::int64_t width) {
  if (width < 1 || width > largest_width || width % 2 == 0) return {};
  using Vector = std::vector<double>;
  const auto n = static_cast<std::size_t>(width);
  const auto dot = [n](const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
  };
  // columns = filter * rotation, column by column, after each step.
  std::vector<Vector> columns(n, Vector(n)), rotation(n, Vector(n));
  double all = 0;
  for (std::size_t j = 0; j < n; ++j) {
    rotation[j][j] = 1;
    for (std::size_t i = 0; i < n; ++i) columns[j][i] = filter.at[i * n + j];
    all += dot(columns[j], columns[j]);
  }
  if (!std::isfinite(all)) return {};

  bool turned = true;
  for (int sweep = 0; turned && sweep < 60; ++sweep) {  // five or six are usual
    turned = false;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double pp = dot(columns[p], columns[p]), qq = dot(columns[q], columns[q]);
        const double pq = dot(columns[p], columns[q]);
        // Enough: the share of one in the direction of the longer is rounding of the whole filter.
        if (std::abs(pq) <= 1e-15 * std::sqrt(std::max(pp, qq) * all)) continue;
        turned = true;
        const double zeta = (qq - pp) / (2 * pq);
        const double tan = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double cos = 1 / std::hypot(1, tan), sin = cos * tan;
        for (auto* of : {&columns, &rotation}) {
          for (std::size_t i = 0; i < n; ++i) {
            const double a = (*of)[p][i], b = (*of)[q][i];
            (*of)[p][i] = cos * a - sin * b;
            (*of)[q][i] = sin * a + cos * b;
          }
        }
      }
    }
  }

  std::vector<Term> terms;
  for (std::size_t k = 0; k < n; ++k) {
    Term term = {std::sqrt(dot(columns[k], columns[k])), {}};
    // The rotation's columns have length 1. The middle of a row is positive where it is not zero.
    const double row = std::copysign(std::sqrt(term.singular_value), rotation[k][n / 2]);
    for (std::size_t i = 0; i < n && term.singular_value > 0; ++i) {
      term.passes.column[i] = static_cast<float>(columns[k][i] / row);
      term.passes.row[i] = static_cast<float>(rotation[k][i] * row);
    }
    terms.push_back(term);
  }
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.singular_value > b.singular_value;
  });
  return terms;
}

/// How many singular values are above `rank_tolerance` of the largest. 0: no terms, or only zeros.
inline int rank(const std::vector<Term>& terms) {
  return static_cast<int>(std::count_if(terms.begin(), terms.end(), [&](const Term& term) {
    return term.singular_value > rank_tolerance * terms[0].singular_value;
  }));
}

/// Whether the filter of width x width coefficients, row by row, is a product of a column and a
/// row: its rank is 1, or 0 (zeros). Then stores them in the first `width` elements of
/// separable->column and separable->row. Their product differs from the filter by what
/// `rank_tolerance` says; no product is closer (C. Eckart and G. Young, Psychometrika 1, 1936).
/// \returns false, and stores nothing, if it is none, if decompose() gives no terms, or if
/// `separable` is null.
inline bool separate(const Filter& filter, std::int64_t width, SeparableFilter* separable) {
  const std::vector<Term> terms = decompose(filter, width);
  if (terms.empty() || rank(terms) > 1 || separable == nullptr) return false;
  *separable = terms[0].passes;
  return true;
}
