// The peer: what a user would call instead. cublasSgemm with its default arithmetic, which is fp32:
//   tensor cores (TF32) are used only by who asks for them.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <map>

#include "operands.hpp"

namespace cublas_gemm {

/// The handle of the current GPU for all calls on one host thread; made at the first call, so
/// before anything is timed. A handle belongs to the GPU that was current when it was made.
cublasStatus_t handle(cublasHandle_t* made) {
  static thread_local std::map<int, cublasHandle_t> kept;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasHandle_t& own = kept[device];
  const cublasStatus_t status = own == nullptr ? cublasCreate(&own) : CUBLAS_STATUS_SUCCESS;
  *made = own;
  return status;
}

/// C = alpha A B + beta C, row major: A is m x k, B k x n, C m x n; lda, ldb and ldc elements lie
/// between the beginnings of two rows. Device pointers. \returns cudaErrorInvalidValue for what
/// operands::valid() refuses, cudaErrorUnknown if cuBLAS fails; or the error of the launch.
cudaError_t multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n,
                     std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                     float alpha, float beta, cudaStream_t stream) {
  if (!operands::valid(a, b, c, m, n, k, lda, ldb, ldc)) return cudaErrorInvalidValue;
  if (m == 0 || n == 0) return cudaSuccess;
  cublasHandle_t cublas = nullptr;
  if (handle(&cublas) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  if (cublasSetStream(cublas, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  // cuBLAS stores matrices column by column: it sees our C as its transpose, which is B^T A^T. A
  // leading dimension is at least 1 there, also if k = 0.
  const cublasStatus_t status =
      cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(n), static_cast<int>(m),
                  static_cast<int>(k), &alpha, b, static_cast<int>(ldb), a,
                  static_cast<int>(lda > 0 ? lda : 1), &beta, c, static_cast<int>(ldc));
  return status == CUBLAS_STATUS_SUCCESS ? cudaGetLastError() : cudaErrorUnknown;
}

}  // namespace cublas_gemm
