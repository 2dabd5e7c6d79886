#pragma once
/// \file
/// CUDA C++ for the CPU backend: what nvcc includes by itself, and the CUDA runtime.

#define __CUDA_RUNTIME_H__  // by which other headers know it
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "device_launch_parameters.h"
#include "host_defines.h"
#include "math_functions.h"
#include "simd_functions.h"
#include "simt_libc.h"
#include "vector_functions.h"
