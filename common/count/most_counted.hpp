#pragma once
/// \file
/// The limits of an exercise on the CPU backend, which judges by counts because it has no times.

#include <cstdint>
#include <string>

#include "count/model.hpp"

namespace course {

/// The most that may be counted in one launch of a version: averages over its requests, its blocks
/// or its elements. 0: not judged.
struct MostCounted {
  static constexpr double none = 1e-9;  ///< as a limit: there may be none at all

  /// Sectors per request to global memory, for a lane's access of 4 bytes. Accesses of 8 and 16
  /// bytes may take two and four times as many: they move as many bytes more.
  double load_sectors = 0, store_sectors = 0;
  /// Wavefronts per request to shared memory, for a lane's access of 4 bytes, as above. Atomics are
  /// neither reads nor writes here.
  double read_wavefronts = 0, write_wavefronts = 0, atomic_wavefronts = 0;
  /// Loads and atomics of global memory and reads of shared memory by a warp, per 32 elements of
  /// the first input.
  double load_requests = 0, atomic_requests = 0, read_requests = 0;
  /// Wavefronts of shared-memory reads, for each multiplication and addition of a warp: per 64
  /// floating-point operations of the problem.
  double read_wavefronts_per_multiply = 0;
  /// Bytes that loads and stores of global memory move, 32 for each sector, per element of the
  /// first input.
  double bytes_per_element = 0;
  /// Bytes that bulk copies read from global memory, per element of the first input. A multicast to
  /// several blocks counts as one read.
  double bulk_bytes_per_element = 0;
  double bulk_bytes_per_block = 0;  ///< of the block that reads most
  double barriers_per_block = 0;    ///< in the kernel that has most of them
  double shared_bytes = 0;          ///< of the block that has most
  double launches = 0;

  bool any() const;
};

/// What one launch of a version takes as a whole.
struct Totals {
  double sectors = 0;     ///< of global memory, with those of bulk copies
  double wavefronts = 0;  ///< of shared memory
  /// Requests to memory that follow one another; those of 8 and 16 bytes per lane count twice and
  /// four times. The count of the busiest warp or, if that is more, a 512th of all, because the
  /// device of the CPU backend holds 512 warps.
  double in_turn = 0;
};
/// The totals of one launch. Polls count only as wavefronts of shared memory.
Totals totals_of(const Model& counts);

/// How many times the solution's totals an answer may take.
struct Room {
  double sectors = 1.5, wavefronts = 1.5, in_turn = 4;
};

/// Empty, or that too little happens at the same time: "one after the other: 786432 requests to
/// memory in turn, 48 would do; 1 of 32 lanes at work, 1 block, 1 launch".
std::string too_few_at_work(const Totals& solution, const Room& room, const Model& counts);

/// Empty, or the total that is too large compared with the solution's; of two, the one that exceeds
/// it by more: "it moves 786432 sectors in all, 98304 would do". Wavefronts up to the number of the
/// solution's sectors cost no time, and each sector that is saved pays for four.
std::string too_much(const Totals& solution, const Room& room, const Model& counts);

/// Empty, or the first finding with the count and what would do: "uncoalesced: 32 sectors per load
/// request, 4 would do". An excess of a thousandth comes from the edge of an array and is no
/// finding. Asynchronous copies of 4 to 16 bytes are not counted. elements: of the first input.
/// flops: of the problem.
std::string too_many(const MostCounted& most, const Model& counts, std::int64_t elements,
                     double flops = 0);

}  // namespace course
