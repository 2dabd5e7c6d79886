// The peer: what a user would call instead. cublasLtMatmul with the first algorithm that its
//   heuristic names, found once per shape; and the best of those it names, found by trying each.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "operands.hpp"

namespace cublas_lt {

using operands::Product;

constexpr std::size_t workspace_bytes = 32 << 20;  // what cuBLAS recommends for Hopper
constexpr int most_algorithms = 16;

/// The handle of the current GPU and the workspace of a stream, for all calls on one host thread:
/// two streams that run at once need one each.
struct Context {
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
};
cudaError_t context(Context* made, int* device, cudaStream_t stream) {
  static thread_local std::map<std::pair<int, cudaStream_t>, Context> kept;
  if (cudaError_t error = cudaGetDevice(device)) return error;
  Context& own = kept[{*device, stream}];
  if (own.handle == nullptr && cublasLtCreate(&own.handle) != CUBLAS_STATUS_SUCCESS) {
    return cudaErrorUnknown;
  }
  if (own.workspace == nullptr) {
    // Allowed while the stream is captured, too: the capture does not depend on it.
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    if (cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode)) return error;
    const cudaError_t error = cudaMalloc(&own.workspace, workspace_bytes);
    if (cudaError_t other = cudaThreadExchangeStreamCaptureMode(&mode)) return other;
    if (error != cudaSuccess) return error;
  }
  *made = own;
  return cudaSuccess;
}

/// What cuBLAS must know of a shape, made once.
struct Plan {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;
  int best = -1;  // of the algorithms, once they were tried
};

template <class T>
bool make(Plan* plan, cublasLtHandle_t handle, const Product<T>& of) {
  constexpr cudaDataType_t type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16BF;
  constexpr cublasComputeType_t compute =
      std::is_same_v<T, float> ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const auto u = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  // cuBLAS stores matrices column by column: it sees our C as C^T = B A^T, our B as k x n to be
  // transposed, and our A as k x m.
  const cublasOperation_t transposed = CUBLAS_OP_T;
  cublasLtMatmulPreference_t preference = nullptr;
  plan->algorithms.resize(most_algorithms);
  int found = 0;
  const bool made =
      cublasLtMatmulDescCreate(&plan->operation, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS &&
      cublasLtMatmulDescSetAttribute(plan->operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                     sizeof transposed) == CUBLAS_STATUS_SUCCESS &&
      cublasLtMatrixLayoutCreate(&plan->a, type, u(of.k), u(of.n), of.ldb) ==
          CUBLAS_STATUS_SUCCESS &&
      cublasLtMatrixLayoutCreate(&plan->b, type, u(of.k), u(of.m), of.lda) ==
          CUBLAS_STATUS_SUCCESS &&
      cublasLtMatrixLayoutCreate(&plan->c, type, u(of.n), u(of.m), of.ldc) ==
          CUBLAS_STATUS_SUCCESS &&
      cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS &&
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &workspace_bytes,
                                           sizeof workspace_bytes) == CUBLAS_STATUS_SUCCESS &&
      cublasLtMatmulAlgoGetHeuristic(handle, plan->operation, plan->a, plan->b, plan->c, plan->c,
                                     preference, most_algorithms, plan->algorithms.data(),
                                     &found) == CUBLAS_STATUS_SUCCESS;
  if (preference != nullptr) cublasLtMatmulPreferenceDestroy(preference);
  plan->algorithms.resize(static_cast<std::size_t>(found));
  return made && found > 0;
}

template <class T>
cudaError_t call(const Context& with, const Plan& plan, int algorithm, const Product<T>& of,
                 cudaStream_t stream) {
  const cublasStatus_t status = cublasLtMatmul(
      with.handle, plan.operation, &of.alpha, of.b, plan.a, of.a, plan.b, &of.beta, of.c, plan.c,
      of.c, plan.c, &plan.algorithms[static_cast<std::size_t>(algorithm)].algo, with.workspace,
      workspace_bytes, stream);
  return status == CUBLAS_STATUS_SUCCESS ? cudaGetLastError() : cudaErrorUnknown;
}

template <class T>
__global__ void scale_elements(T* c, std::int64_t ldc, std::int64_t m, std::int64_t n, float beta) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < m * n; i += std::int64_t{gridDim.x} * blockDim.x) {
    T& element = c[i / n * ldc + i % n];
    element = beta == 0 ? T(0) : static_cast<T>(beta * static_cast<float>(element));
  }
}
/// C = beta C, by a kernel of ours: cublasLt multiplies no matrix without columns.
template <class T>
cudaError_t scale(const Product<T>& of, cudaStream_t stream) {
  scale_elements<<<1024, 256, 0, stream>>>(of.c, of.ldc, of.m, of.n, of.beta);
  return cudaGetLastError();
}

/// Tries each algorithm a few times, and keeps the fastest. Changes C, so `of` has a C of its own.
template <class T>
cudaError_t try_all(const Context& with, Plan* plan, Product<T> of) {
  cudaStream_t stream = nullptr;
  cudaEvent_t events[2] = {};
  T* scratch = nullptr;
  cudaError_t error = cudaMalloc(&scratch, static_cast<std::size_t>(of.m * of.ldc) * sizeof(T));
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (cudaEvent_t& event : events) {
    if (error == cudaSuccess) error = cudaEventCreate(&event);
  }
  of.c = scratch, of.beta = 0;
  constexpr int rounds = 3, times = 5;
  float least = 0;
  for (int i = 0; i < static_cast<int>(plan->algorithms.size()) && error == cudaSuccess; ++i) {
    if (call(with, *plan, i, of, stream) != cudaSuccess) continue;  // does not take this shape
    for (int round = 0; round < rounds && error == cudaSuccess; ++round) {
      float took = 0;
      cudaEventRecord(events[0], stream);
      for (int t = 0; t < times; ++t) call(with, *plan, i, of, stream);
      cudaEventRecord(events[1], stream);
      error = cudaEventSynchronize(events[1]);
      if (error == cudaSuccess) error = cudaEventElapsedTime(&took, events[0], events[1]);
      if (error == cudaSuccess && (plan->best < 0 || took < least)) plan->best = i, least = took;
    }
  }
  for (cudaEvent_t event : events) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  if (stream != nullptr) cudaStreamDestroy(stream);
  cudaFree(scratch);
  if (error == cudaSuccess && plan->best < 0) error = cudaErrorUnknown;
  return error;
}

template <bool search, class T>
cudaError_t run(Product<T> of, cudaStream_t stream) {
  if (!operands::valid(of)) return cudaErrorInvalidValue;
  if (of.m == 0 || of.n == 0) return cudaSuccess;
  of = operands::needed(of);
  if (of.k == 0) return scale(of, stream);
  Context with;
  int device = 0;
  if (cudaError_t error = context(&with, &device, stream)) return error;
  using Key = std::array<std::int64_t, 7>;
  static thread_local std::map<Key, Plan> plans;
  Plan& plan = plans[Key{device, of.m, of.n, of.k, of.lda, of.ldb, of.ldc}];
  if (plan.algorithms.empty() && !make(&plan, with.handle, of)) return cudaErrorUnknown;
  if (search && plan.best < 0) {
    if (cudaError_t error = try_all(with, &plan, of)) return error;
  }
  return call(with, plan, search ? plan.best : 0, of, stream);
}

/// C = alpha A B^T + beta C, by the first algorithm of the heuristic. \returns
/// cudaErrorInvalidValue for what operands::valid() refuses, cudaErrorUnknown if cuBLAS fails; or
/// an error of CUDA.
cudaError_t multiply(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run<false>(of, stream);
}
cudaError_t multiply(const Product<float>& of, cudaStream_t stream) {
  return run<false>(of, stream);
}
/// The same by the fastest algorithm of those that the heuristic names. The first call with a shape
/// tries them, on a stream of its own, and waits.
cudaError_t multiply_by_search(const Product<__nv_bfloat16>& of, cudaStream_t stream) {
  return run<true>(of, stream);
}
cudaError_t multiply_by_search(const Product<float>& of, cudaStream_t stream) {
  return run<true>(of, stream);
}

}  // namespace cublas_lt
