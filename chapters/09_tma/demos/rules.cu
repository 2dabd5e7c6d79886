// The rules of tensor maps, broken one by one: what the driver says.
//
// The driver has one word for all of them, CUDA_ERROR_INVALID_VALUE (1), and for some none at all
// (0): a null address, rows that overlap, an element stride that the TMA will ignore.
//
//   nvcc -O3 -arch=sm_90 rules.cu -o rules
//   ./rules

#include <cstdio>
#include <cstdlib>

#include "../tensor_map.hpp"

/// Ends the program if a CUDA call failed: one line names the call and its error, or says what this
/// machine lacks. Exit code 3: no usable GPU; 1: any other error.
void check(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  int driver = 0;  // the newest CUDA that the driver supports (13000 is 13.0), 0 without a driver
  cudaDriverGetVersion(&driver);
  if (status == cudaErrorNoDevice) {
    std::fprintf(stderr, "no NVIDIA GPU found: its driver sees none (CUDA_VISIBLE_DEVICES set?)\n");
  } else if (status == cudaErrorInsufficientDriver && driver == 0) {
    std::fprintf(stderr, "no NVIDIA driver found: CUDA needs an NVIDIA GPU and its driver\n");
  } else if (status == cudaErrorInsufficientDriver) {
    std::fprintf(stderr, "NVIDIA driver too old: it serves CUDA %d.%d, not %d.%d; update it\n",
                 driver / 1000, driver % 100 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 100 / 10);
  } else {
    std::fprintf(stderr, "%s:%d: %s failed: %s: %s\n", __FILE__, line, call,
                 cudaGetErrorName(status), cudaGetErrorString(status));
    std::exit(1);
  }
  std::exit(3);
}
#define CHECK(call) check((call), #call, __LINE__)

/// What the driver says of a description, without anybody looking at it first.
int driver_says(const tensor_map::Description& d) {
  tensor_map::Encode* const encode = tensor_map::find_encode();
  if (encode == nullptr) return -1;
  CUtensorMap map;
  cuuint64_t size[5], stride[5];
  for (int a = 0; a < 5; ++a) size[a] = d.size[a], stride[a] = a < 4 ? d.stride[a] : 0;
  return static_cast<int>(encode(&map, d.type, static_cast<cuuint32_t>(d.axes),
                                 const_cast<void*>(d.address), size, stride, d.box, d.every,
                                 d.interleave, d.swizzle, d.promotion, d.fill));
}

int failures = 0;

/// Prints a rule with the answers; a broken rule that nobody names is a failure of this program.
void show(const char* what, const tensor_map::Description& d, bool broken = true) {
  const std::string rule = tensor_map::broken_rule(d);
  std::printf("%-32s driver %d   %s\n", what, driver_says(d), rule.empty() ? "fine" : rule.c_str());
  if (rule.empty() == broken) ++failures;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::fprintf(stderr, "rules: bad argument '%s'; usage: rules\n", argv[1]);
    return 2;
  }
  float* in = nullptr;
  CHECK(cudaMalloc(&in, 1 << 20));
  const tensor_map::Description good = tensor_map::matrix(in, 64, 64, 8, 16);
  const auto with = [&](auto change) {
    tensor_map::Description d = good;
    change(d);
    return d;
  };
  using Map = tensor_map::Description;
  show("nothing broken", good, false);
  show("six axes", with([](Map& d) { d.axes = 6; }));
  show("no axis", with([](Map& d) { d.axes = 0; }));
#if CUDA_VERSION >= 12080  // older headers do not have the names
  show("packed type", with([](Map& d) { d.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B; }));
#endif
  show("null address", with([](Map& d) { d.address = nullptr; }));
  show("address + 4 bytes", with([&](Map& d) { d.address = in + 1; }));
  show("a size of 0", with([](Map& d) { d.size[1] = 0; }));
  show("a size above 2^32", with([](Map& d) { d.size[1] = (1ull << 32) + 1; }));
  show("rows of 65 floats", with([](Map& d) { d.size[0] = 65, d.stride[0] = 260; }));
  show("stride in elements", with([](Map& d) { d.stride[0] = 64; }));
  show("stride of 2^40", with([](Map& d) { d.stride[0] = 1ull << 40; }));
  show("a box of 0", with([](Map& d) { d.box[1] = 0; }));
  show("a box of 257", with([](Map& d) { d.box[1] = 257; }));
  show("a box of 6 floats a row", with([](Map& d) { d.box[0] = 6; }));
  show("a box of 256 x 256", with([](Map& d) { d.box[0] = d.box[1] = 256; }));
  show("element stride 0", with([](Map& d) { d.every[1] = 0; }));
  show("element stride 9", with([](Map& d) { d.every[1] = 9; }));
  show("element stride 2 along a row", with([](Map& d) { d.every[0] = 2; }));
  show("swizzle 32B, 64 bytes a row", with([](Map& d) { d.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; }));
#if CUDA_VERSION >= 12080
  show("swizzle of Blackwell",
       with([](Map& d) { d.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B; }));
#endif
  show("NaN in whole numbers", with([](Map& d) {
         d.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
         d.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
       }));
  show("interleave of two axes", with([](Map& d) { d.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }));
  show("interleave 32B, no swizzle", with([](Map& d) {
         d.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
         d.axes = 3, d.stride[1] = 64 * d.stride[0];
       }));
  CHECK(cudaFree(in));
  std::printf("%d rule(s) unnoticed\n", failures);
  return failures == 0 ? 0 : 1;
}
