// The peer: what a user would call instead. cublasSgeam, which adds two scaled matrices and
//   transposes either on the way: 1 * in^T + 0 * nothing.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <map>

namespace cublas_geam {

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

/// Transposes rows x cols floats. Device pointers; in and out may not overlap. cuBLAS counts in 32
/// bits. \returns cudaErrorInvalidValue for larger or negative sizes, cudaErrorUnknown if cuBLAS
/// fails.
cudaError_t transpose(const float* in, float* out, std::int64_t rows, std::int64_t cols,
                      cudaStream_t stream) {
  if (rows < 0 || cols < 0 || rows > INT32_MAX || cols > INT32_MAX) return cudaErrorInvalidValue;
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
