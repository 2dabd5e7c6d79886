#pragma once
/// \file
/// Device memory with an owner.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace course {

/// Device memory of exactly `bytes` bytes behind a pointer that lies `offset` bytes past a 256-byte
/// boundary. Nothing is rounded up and nothing is carved from a pool, so compute-sanitizer sees an
/// overrun of one byte.
class Buffer {
 public:
  /// \throws Error when the device is out of memory.
  explicit Buffer(std::size_t bytes, std::size_t offset = 0);
  /// Memory whose lines the GPU may keep compressed between its L2 cache and DRAM, which saves
  /// bandwidth, not capacity. It is rounded up to whole pages. The CPU backend gives ordinary
  /// memory. \throws Error also when the device has no such memory.
  static Buffer compressible(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Fills with 0xFF, which is NaN in every floating-point type, so that an unwritten element is
  /// found. Does nothing when the environment says COURSE_SANITIZE=initcheck: that tool looks for
  /// unwritten memory itself.
  void poison(cudaStream_t stream = nullptr);

 private:
  Buffer() = default;
  void* base_ = nullptr;
  std::size_t mapped_ = 0;  // bytes of compressible memory; 0: ordinary memory
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// True when the tests run under this tool of compute-sanitizer: "racecheck", and so on.
bool under_sanitizer(const char* tool);
inline bool under_initcheck() { return under_sanitizer("initcheck"); }

}  // namespace course
