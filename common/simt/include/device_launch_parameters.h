#pragma once
/// \file
/// threadIdx, blockIdx, blockDim, gridDim and warpSize.

#include "../simt.hpp"
