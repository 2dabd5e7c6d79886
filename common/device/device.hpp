#pragma once
/// \file
/// Facts about the GPU. What the driver does not tell is empty, never zero.

#include <cstdint>
#include <optional>
#include <string>

namespace course {

struct Device {
  int index = 0;
  std::string name;
  int capability = 0;  ///< major * 10 + minor: 90 for 9.0
  int sm_count = 0;
  double clock_mhz = 0;  ///< the highest SM clock; 0 if the driver does not tell
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes = 0;        ///< most shared memory that a block can ask for
  std::optional<double> peak_dram_gbs;  ///< 2 x memory clock x bus width, both by attribute
  bool simulated = false;               ///< the CPU backend
  bool display_timeout = false;         ///< the system stops a kernel that runs for seconds
  std::string driver, runtime;          ///< "13.0"

  std::string capability_text() const;  ///< "9.0"
  /// "h200" for "NVIDIA H200", "rtx4090" for "NVIDIA GeForce RTX 4090": names result files.
  std::string short_name() const;
};

/// Makes a device current and reads its facts.
/// \throws Error with exit code 3 and one line if there is no driver, no GPU or no such device.
Device open_device(int index);

/// Free memory of the current device, in bytes.
std::int64_t free_device_bytes();

/// True if the power supply of a laptop is unplugged; empty where the system does not say.
std::optional<bool> on_battery();

}  // namespace course
