#pragma once
/// \file
/// What trace.cpp keeps and trace_file.cpp writes.
///
/// Offsets: in global memory, bytes from the start of the allocation. In shared memory, the byte of
/// the block's shared memory as the kernel sees it; for another block of the cluster
/// (1 + its rank) x window_bytes is added.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace.hpp"

namespace simt {

struct BlockTrace;

struct TracedItem {
  /// value: for a step, the lanes; for a barrier, its place; for left_out, the number of requests;
  /// for a copy, the issuing lane.
  enum Kind : std::uint8_t { step, request, left_out, barrier, copy } kind = step;
  static constexpr int shared_memory = -2;
  std::uint32_t value = 0, count = 0;  ///< count: of equal steps
  int memory = -1, from = -1;          ///< index of the allocation; from: of a copy
  TracedRequest what = {};
  std::vector<std::int64_t> offsets = {};  ///< of a copy: to, from
};

/// The same while the block runs.
struct RawItem {
  TracedItem::Kind kind;
  std::uint32_t value, count;
};
struct RawCopy {
  std::uintptr_t to, from;
  std::size_t bytes;
  ProgramCounter site;
  unsigned lane;
};

struct WarpTrace {
  BlockTrace* owner = nullptr;
  std::vector<RawItem> items;
  std::vector<TracedRequest> requests;
  std::vector<RawCopy> copies;
  std::unordered_map<std::uint64_t, unsigned> kept;  ///< requests of each place
};

struct BlockTrace {
  std::vector<WarpTrace> warps;
  std::uint64_t excess = 0;  ///< sectors and wavefronts beyond the ideal
  bool found = false;        ///< the checks found something here
};

struct TracedVariable {
  std::string name;  ///< empty: the dynamic shared memory
  std::size_t offset, bytes;
};

struct TracedBlock {
  unsigned launch = 0;  ///< of the kernel's, from 1; 0: nothing was kept
  uint3 index = {0, 0, 0};
  unsigned rank = 0;
  Launch shape;
  std::vector<std::vector<TracedItem>> warps;
  std::vector<TracedVariable> variables;
};

struct TracedMemory {
  std::uintptr_t base;
  std::size_t bytes;
  std::set<std::pair<std::size_t, std::size_t>> arguments;  ///< argument that points here, and byte
};

struct TracedFinding {
  std::string kind, text;
  unsigned launch = 0;
  bool has_place = false, has_other = false;
  uint3 block = {0, 0, 0}, other_block = {0, 0, 0};
  unsigned thread = 0, other_thread = 0;
  int memory = -1;
  std::int64_t offset = 0;
  std::size_t bytes = 0;
  Access access = Access::load;
  SourceLine line, other_line;
  std::vector<std::pair<unsigned, std::int64_t>> lanes;  ///< of earlier accesses: lane, offset
};

struct KernelTrace {
  struct Worst {
    std::uint64_t excess = 0;
    std::uint32_t number = 0;
    TracedBlock block;
  };
  unsigned launches = 0;
  TracedBlock first, found;
  Worst worst;
  std::pair<unsigned, std::uint32_t> found_at = {~0u, 0};
  std::vector<TracedMemory> memories;
  std::vector<TracedFinding> findings;
};

struct LaunchTrace {
  unsigned launch;
  KernelTrace* kernel;
};

/// The file that SIMT_TRACE names, or "".
std::string trace_path();
/// Returns what was kept of a kernel, and forgets it.
KernelTrace take_kernel_trace(const std::string& kernel);

}  // namespace simt
