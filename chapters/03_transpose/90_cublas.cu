// The peer: what a user would call instead. cublasSgeam, which adds two scaled matrices and
//   transposes either on the way: 1 * in^T + 0 * nothing.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace cublas_geam {

/// The handle that all calls on one host thread share; made at the first call, so before anything
/// is timed.
cublasStatus_t handle(cublasHandle_t* made) {
  static thread_local cublasHandle_t kept = nullptr;
  const cublasStatus_t status = kept == nullptr ? cublasCreate(&kept) : CUBLAS_STATUS_SUCCESS;
  *made = kept;
  return status;
}

/// Transposes rows x cols floats. Device pointers; in and out may not overlap. cuBLAS counts in 32
/// bits. \returns cudaErrorInvalidValue for larger sizes, cudaErrorUnknown if cuBLAS fails.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows > INT32_MAX || cols > INT32_MAX) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  cublasHandle_t cublas = nullptr;
  if (handle(&cublas) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  if (cublasSetStream(cublas, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  const float one = 1, zero = 0;
  const int m = static_cast<int>(rows), n = static_cast<int>(cols);
  // cuBLAS stores matrices column by column: our in is its n x m matrix, our out its m x n matrix.
  const cublasStatus_t status =
      cublasSgeam(cublas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, in, n, &zero, out, m, out, m);
  return status == CUBLAS_STATUS_SUCCESS ? cudaGetLastError() : cudaErrorUnknown;
}

}  // namespace cublas_geam
