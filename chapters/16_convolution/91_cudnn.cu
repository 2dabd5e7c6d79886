// The library for neural networks: cuDNN's convolution of one image with one channel, in fp32, with
//   the border that it has, zeros. Of its algorithms the one that is the fastest on a small image.
#include <cuda_runtime.h>
#include <cudnn.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "filter.hpp"

namespace cudnn {

/// A handle, descriptors and the algorithm for one size on one GPU.
struct Plan {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t image = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  std::size_t workspace_bytes = 0;
};

// Bytes that an algorithm may ask for: when it is measured, and at the size that is convolved.
constexpr std::size_t sample_workspace = std::size_t{1} << 28,
                      most_workspace = std::size_t{1} << 30;

/// Makes a plan and lets cuDNN measure its algorithms. Not while a stream is captured.
cudnnStatus_t make(Plan* plan, int rows, int cols, int width) {
  cudnnStatus_t status = cudnnCreate(&plan->handle);
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnCreateTensorDescriptor(&plan->image);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnSetTensor4dDescriptor(plan->image, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1,
                                        rows, cols);
  }
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnCreateFilterDescriptor(&plan->filter);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnSetFilter4dDescriptor(plan->filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1,
                                        width, width);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnCreateConvolutionDescriptor(&plan->convolution);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnSetConvolution2dDescriptor(plan->convolution, width / 2, width / 2, 1, 1, 1, 1,
                                             CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  }
  if (status == CUDNN_STATUS_SUCCESS) {  // no tensor cores, which would round to TF32
    status = cudnnSetConvolutionMathType(plan->convolution, CUDNN_FMA_MATH);
  }
  if (status != CUDNN_STATUS_SUCCESS) return status;
  // All its algorithms together take seconds for a large image: it measures them on a small one.
  const int few_rows = std::min(rows, 1024), few_cols = std::min(cols, 1024);
  const std::size_t image_bytes = sizeof(float) * 1024 * 1024, filter_bytes = 4096;
  const std::size_t scratch_bytes = 2 * image_bytes + filter_bytes + sample_workspace;
  char* scratch = nullptr;  // an image, a result, a filter, a workspace
  if (cudaMalloc(&scratch, scratch_bytes) != cudaSuccess) {
    cudaGetLastError();
    return CUDNN_STATUS_ALLOC_FAILED;
  }
  cudaMemset(scratch, 0, scratch_bytes);
  cudnnTensorDescriptor_t sample = nullptr;
  status = cudnnCreateTensorDescriptor(&sample);
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnSetTensor4dDescriptor(sample, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, few_rows,
                                        few_cols);
  }
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  if (status == CUDNN_STATUS_SUCCESS) {
    status = cudnnFindConvolutionForwardAlgorithmEx(
        plan->handle, sample, scratch, plan->filter, scratch + 2 * image_bytes, plan->convolution,
        sample, scratch + image_bytes, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found,
        scratch + 2 * image_bytes + filter_bytes, sample_workspace);
  }
  cudnnDestroyTensorDescriptor(sample);
  cudaFree(scratch);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  for (int k = 0; k < count; ++k) {  // fastest first
    if (found[k].status != CUDNN_STATUS_SUCCESS || found[k].mathType != CUDNN_FMA_MATH) continue;
    std::size_t bytes = 0;
    if (cudnnGetConvolutionForwardWorkspaceSize(plan->handle, plan->image, plan->filter,
                                                plan->convolution, plan->image, found[k].algo,
                                                &bytes) == CUDNN_STATUS_SUCCESS &&
        bytes <= most_workspace) {
      plan->algorithm = found[k].algo;
      plan->workspace_bytes = bytes;
      return CUDNN_STATUS_SUCCESS;
    }
  }
  return CUDNN_STATUS_NOT_SUPPORTED;
}

/// out[y][x] = the sum of filter[i][j] image[y + i - radius][x + j - radius], zeros outside. Device
/// pointers. With workspace == nullptr: only writes the bytes of scratch memory that it needs, and
/// chooses the algorithm, for this thread. \returns cudaErrorInvalidValue for other sizes or a
/// workspace that does not begin at a multiple of 256 bytes, cudaErrorUnknown if cuDNN fails.
cudaError_t convolve(void* workspace, std::size_t& workspace_bytes, const float* image,
                     const float* filter, float* out, std::int64_t rows, std::int64_t cols,
                     std::int64_t width, cudaStream_t stream) {
  if (rows < 0 || cols < 0 || (cols > 0 && rows > INT32_MAX / cols) || width < 1 ||
      width > largest_width || width % 2 == 0) {
    return cudaErrorInvalidValue;
  }
  if (rows == 0 || cols == 0) {
    if (workspace == nullptr) workspace_bytes = 1;
    return cudaSuccess;
  }
  static thread_local std::map<std::tuple<int, int, int, int>, Plan> plans;
  int device = 0;
  if (cudaError_t error = cudaGetDevice(&device)) return error;
  const auto r = static_cast<int>(rows), c = static_cast<int>(cols), w = static_cast<int>(width);
  const auto key = std::make_tuple(device, r, c, w);
  if (plans.count(key) == 0) {
    Plan plan;
    if (make(&plan, r, c, w) != CUDNN_STATUS_SUCCESS) return cudaErrorUnknown;
    plans[key] = plan;
  }
  const Plan& plan = plans[key];
  if (workspace == nullptr) {
    workspace_bytes = plan.workspace_bytes > 0 ? plan.workspace_bytes : 1;
    return cudaSuccess;
  }
  if (workspace_bytes < plan.workspace_bytes ||
      reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0) {
    return cudaErrorInvalidValue;
  }
  const float one = 1, zero = 0;
  if (cudnnSetStream(plan.handle, stream) != CUDNN_STATUS_SUCCESS ||
      cudnnConvolutionForward(plan.handle, &one, plan.image, image, plan.filter, filter,
                              plan.convolution, plan.algorithm, workspace, plan.workspace_bytes,
                              &zero, plan.image, out) != CUDNN_STATUS_SUCCESS) {
    return cudaErrorUnknown;
  }
  return cudaGetLastError();
}

}  // namespace cudnn
