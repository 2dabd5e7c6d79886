#pragma once
/// \file
/// Copies of boxes of an array, as a tensor map describes it, between global and shared memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "async.hpp"

namespace simt {

/// A piece of a box: contiguous bytes on both sides.
struct TensorPiece {
  char* shared;
  char* global;  ///< nullptr: outside of the array
  std::size_t bytes;
  std::uint16_t fill;  ///< the value written there repeatedly
};

/// The pieces of the box at these coordinates. Ends the kernel with a finding where the hardware
/// would fail (as seen on an H200): a place in shared memory that is no multiple of 128 bytes, no
/// tensor map, a map of another rank, a box that does not begin at a multiple of 16 bytes; a box to
/// be stored that begins before the array.
std::vector<TensorPiece> tensor_pieces(const void* map, const std::int32_t* coordinates, int rank,
                                       void* shared, bool store, const void* pc);

/// From global to shared memory; the barrier counts all bytes of the box. `again`: to one more
/// block of a multicast.
void tensor_load(std::uint64_t* barrier, void* shared, const void* map,
                 const std::int32_t* coordinates, int rank, bool again = false);
/// From shared to global memory, in the thread's next group.
void tensor_store(const void* map, const std::int32_t* coordinates, int rank, const void* shared);
/// The same, but each element of the array is combined atomically with that of the box.
void tensor_reduce(const void* map, const std::int32_t* coordinates, int rank, const void* shared,
                   Reduction op);
/// Into the L2 cache, which the CPU backend does not have: only checks its arguments.
void tensor_prefetch(const void* map, const std::int32_t* coordinates, int rank);

/// Reduces one element of the map's type; ends the kernel with a finding if CUDA has no such
/// reduction.
struct TensorReduction {
  std::size_t element;  ///< bytes
  void (*combine)(void* to, const void* from);
};
/// The reduction `op` for the map's type; `pc`: of the copy.
TensorReduction tensor_reduction(const void* map, Reduction op, const void* pc);

}  // namespace simt
