#include "device/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>

#include "device/cuda_check.hpp"

namespace course {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  COURSE_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// cudaDeviceProp lost its clock fields in CUDA 13; the attributes stayed. They are 0 on some
/// virtual GPUs.
std::optional<double> peak_dram_gbs(int device) {
  const double kilohertz = attribute(cudaDevAttrMemoryClockRate, device);
  const double bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
  if (kilohertz <= 0 || bits <= 0) return std::nullopt;
  return 2 * kilohertz * 1e3 * bits / 8 * 1e-9;
}

[[noreturn]] void no_device(cudaError_t error, int driver) {
  if (driver == 0) throw Error("no NVIDIA driver found: this program needs an NVIDIA GPU", 3);
  throw Error("no usable NVIDIA GPU: " + describe(error), 3);
}

}  // namespace

std::string Device::capability_text() const {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string Device::short_name() const {
  // Words that not every name of the family contains, and sizes of memory.
  static const std::regex left_out("NVIDIA|GeForce|Tesla|Quadro|[0-9]+GB|HBM[0-9]*e?");
  const std::string text = std::regex_replace(name, left_out, "");
  std::string result;
  for (const unsigned char c : text) {
    if (std::isalnum(c)) result += static_cast<char>(std::tolower(c));
  }
  return result.empty() ? "gpu" : result;
}

Device open_device(int index) {
  int driver = 0, runtime = 0, count = 0;
  cudaDriverGetVersion(&driver);
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess) no_device(found, driver);
  if (index < 0 || index >= count) {
    throw Error("--device " + std::to_string(index) + ": this machine has " +
                    std::to_string(count) + " GPU(s), counted from 0",
                2);
  }
  COURSE_CHECK(cudaSetDevice(index));
  COURSE_CHECK(cudaRuntimeGetVersion(&runtime));
  cudaDeviceProp properties{};
  COURSE_CHECK(cudaGetDeviceProperties(&properties, index));

  Device device;
  device.index = index;
  device.name = properties.name;
  device.capability = properties.major * 10 + properties.minor;
  device.sm_count = properties.multiProcessorCount;
  device.clock_mhz = attribute(cudaDevAttrClockRate, index) * 1e-3;
  device.l2_bytes = properties.l2CacheSize;
  device.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index);
  device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  device.peak_dram_gbs = peak_dram_gbs(index);
  device.display_timeout = attribute(cudaDevAttrKernelExecTimeout, index) != 0;
#ifdef SIMT
  device.simulated = true;
  device.clock_mhz = 0;  // the CPU backend has neither clock nor L2 cache
  device.l2_bytes = 0;
#endif
  device.driver = version_text(driver);
  device.runtime = version_text(runtime);
  return device;
}

std::int64_t free_device_bytes() {
  std::size_t free = 0, total = 0;
  COURSE_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

std::optional<bool> on_battery() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::optional<bool> result;
  for (const auto& supply : fs::directory_iterator("/sys/class/power_supply", ignored)) {
    std::string type, status;
    std::ifstream(supply.path() / "type") >> type;
    if (type != "Battery") continue;
    std::ifstream(supply.path() / "status") >> status;
    result = status == "Discharging";
    if (*result) return result;
  }
  return result;
}

}  // namespace course
