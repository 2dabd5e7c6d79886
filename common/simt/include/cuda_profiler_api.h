#pragma once
/// \file
/// cudaProfilerStart() and cudaProfilerStop().

#include "cuda_runtime_api.h"
