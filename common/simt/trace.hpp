#pragma once
/// \file
/// Single requests of a run, kept for drawing. Off unless SIMT_TRACE names a file; course/draw
/// makes a page of it. trace.cpp says what the file holds.

#include <cstdint>
#include <vector>

#include "engine.hpp"

namespace simt {

struct KernelCount;

extern const bool tracing;  ///< SIMT_TRACE names a file

/// What one warp did; only of blocks that are traced.
struct WarpTrace;
/// Null unless this warp's block is traced.
WarpTrace* trace_of(const Warp& warp);

// ---- What a launch goes through ----

void begin_launch_trace(Grid& grid);
void begin_block_traces(Gang& gang);
/// Keeps those of the gang's blocks that will be shown, while their memory still exists.
void end_block_traces(Gang& gang);

// ---- What a warp does ----

struct TracedRequest {
  ProgramCounter pc;
  std::uint8_t kind;  ///< Event::Kind
  bool shared;
  std::uint32_t mask;
  unsigned bytes, units, ideal;
  std::vector<std::uintptr_t> addresses;  ///< of the active lanes, in order
};
void trace_request(WarpTrace& warp, TracedRequest request);
void trace_step(WarpTrace& warp, std::uint32_t mask);
void trace_barrier(const Block& block);
/// A copy that one thread issues and the copy engine makes.
void trace_copy(const void* to, const void* from, std::size_t bytes, ProgramCounter site);

// ---- What the checks found ----

/// The access that is about to be reported as such a finding. `other`: the thread of the earlier
/// access, as rank in its block, with the block's number in the grid; -1 if there is none or it
/// belongs to another grid.
void note_culprit(const char* finding, std::uintptr_t address, std::size_t bytes, Access kind,
                  int other_block = -1, unsigned other = 0);
void trace_finding(const char* kind, const Grid& grid, const std::string& text,
                   ProgramCounter first, ProgramCounter second);

// ---- The file ----

/// The figures of one place in the code, which may share its line with others.
struct TracedPlace {
  std::size_t row;  ///< of the kernel's table
  ProgramCounter pc;
  std::uint8_t kind;
  bool shared;
  std::uint64_t requests, lanes, units, ideal;
};
/// Writes what was kept of a kernel, and forgets it.
void write_trace(const KernelCount& count, std::vector<TracedPlace> places);

}  // namespace simt
