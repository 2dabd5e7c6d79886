#pragma once
/// \file
/// Coefficients of a stencil, as an argument of a kernel: the arguments lie in constant memory.

constexpr int largest_radius = 8;

/// A star: a point, and its neighbours along the axes. Both that are k points away along x have the
/// coefficient x[k]; x[0], y[0] and z[0] are not used. A plane has no z.
struct Star {
  float centre;
  float x[largest_radius + 1], y[largest_radius + 1], z[largest_radius + 1];
};
