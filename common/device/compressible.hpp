#pragma once
/// \file
/// Device memory that the GPU may keep compressed: the driver's functions for virtual memory.

#include <cstddef>

namespace course {

/// Maps at least *bytes of compressible memory of the current device, and sets *bytes to what was
/// mapped. The CPU backend: ordinary memory. \throws Error when the device has none, or not enough.
void* map_compressible(std::size_t* bytes);
/// Gives back what map_compressible() returned.
void unmap_compressible(void* memory, std::size_t bytes);

}  // namespace course
