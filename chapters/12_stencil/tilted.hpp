#pragma once
/// \file
/// Coefficients of a wave whose speed depends on the direction, and whose directions are tilted
/// against the axes (in seismic processing "TTI": tilted, transversely isotropic).

#include "star.hpp"

/// next = 2 now - before + star(now) + xy Dx Dy now + xz Dx Dz now + yz Dy Dz now, where Dx, Dy and
/// Dz are first derivatives: Dx u is the sum over k of slope[k] (u[x + k] - u[x - k]). slope[0] is
/// not used. The radius is at most 4.
struct Tilted {
  Star star;
  float slope[largest_radius + 1];
  float xy, xz, yz;
};
