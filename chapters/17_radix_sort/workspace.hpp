#pragma once
/// \file
/// The parts of a workspace, one after the other, for every sort of this chapter.

#include <cstddef>
#include <cstdint>

namespace workspace {

/// True unless each array begins at an address that its elements may have.
template <class... T>
bool misaligned(const T*... arrays) {
  return ((reinterpret_cast<std::uintptr_t>(arrays) % alignof(T) != 0) || ...);
}

/// Each part begins at a multiple of 256 bytes of the workspace. Without a workspace, only the
/// bytes are counted.
class Parts {
 public:
  explicit Parts(void* workspace) : begin_(static_cast<char*>(workspace)) {}

  /// The next `count` elements.
  template <class T>
  T* take(std::int64_t count) {
    char* const part = begin_ == nullptr ? nullptr : begin_ + bytes_;
    const std::size_t needed = static_cast<std::size_t>(count) * sizeof(T);
    bytes_ += (needed + 255) / 256 * 256;
    return reinterpret_cast<T*>(part);
  }
  /// Of all parts so far.
  std::size_t bytes() const { return bytes_; }

 private:
  char* begin_;
  std::size_t bytes_ = 0;
};

}  // namespace workspace
