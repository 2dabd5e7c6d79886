#include "device/buffer.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include "device/compressible.hpp"
#include "device/cuda_check.hpp"
#ifdef SIMT
#include "simt/memory.hpp"
#endif

namespace course {

Buffer::Buffer(std::size_t bytes, std::size_t offset) : bytes_(bytes) {
  const std::size_t asked = bytes + offset;
  COURSE_CHECK(cudaMalloc(&base_, asked == 0 ? 1 : asked));
  data_ = static_cast<char*>(base_) + offset;
}

Buffer Buffer::compressible(std::size_t bytes) {
  Buffer buffer;
  buffer.mapped_ = bytes;
  buffer.base_ = map_compressible(&buffer.mapped_);
  buffer.data_ = buffer.base_;
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer::~Buffer() {
  if (mapped_ > 0) {
    unmap_compressible(base_, mapped_);
  } else {
    cudaFree(base_);
  }
}

Buffer::Buffer(Buffer&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

void Buffer::poison(cudaStream_t stream) {
  if (bytes_ == 0 || under_initcheck()) return;
  COURSE_CHECK(cudaMemsetAsync(data_, 0xFF, bytes_, stream));
#ifdef SIMT  // unwritten from now on: every read of it is a finding, even one without effect
  simt::set_state(reinterpret_cast<std::uintptr_t>(data_), bytes_, true);
#endif
}

bool under_sanitizer(const char* tool) {
  const char* running = std::getenv("COURSE_SANITIZE");
  return running != nullptr && std::string(running) == tool;
}

}  // namespace course
