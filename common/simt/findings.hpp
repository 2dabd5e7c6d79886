#pragma once
/// \file
/// What the CPU backend found and counted, for programs that print it or test it.

#include <cstdint>
#include <string>
#include <vector>

namespace simt {

/// A mistake that CUDA itself would not report (a race, an uninitialised read, a wrong mask, ...)
/// or would report in less detail (out of bounds, deadlock).
struct Finding {
  /// "race", "bounds", "uninitialised", "barrier", "mask", "deadlock", "spin", "lifetime",
  /// "misaligned", "host memory", "stack", "division", "assert", "trap", "order",
  /// "host access", "launch", "unchecked", "unwritten", "undefined"
  std::string kind;
  std::string kernel;
  std::string text;  ///< one line: kernel, block, thread and source line of both sides
};
/// Findings since the last call. Each was also printed to stderr when it was made.
std::vector<Finding> take_findings();
/// How many there were in this process; a program with findings exits with 66 instead of 0.
std::uint64_t finding_count();
/// An acquire or a proxy fence that CUDA's memory model requires is missing, or unwritten bytes are
/// copied to the host. Much existing code does so: such findings are shown, but change no exit code
/// unless strict() holds.
bool is_about_order(const std::string& kind);
bool strict();  ///< at the start: SIMT_STRICT=1
void set_strict(bool on);
/// Findings are not printed and do not change the exit code; for tests that plant them.
void expect_findings(bool expected);

enum class Space : std::uint8_t { global, shared };

/// All accesses of one kind on one source line.
struct LineCount {
  std::string file;  ///< as the compiler names it
  int line = 0;
  Space space = Space::global;
  const char* access = "load";  ///< "load", "store" or "atomic"
  unsigned bytes = 0;           ///< of one lane's access; the widest on this line
  std::uint64_t requests = 0;   ///< warp instructions
  std::uint64_t lanes = 0;      ///< active lanes, summed over the requests
  /// Global: sectors of 32 bytes. Shared: wavefronts.
  std::uint64_t units = 0;
  std::uint64_t ideal = 0;        ///< units if the same bytes lay side by side
  std::uint64_t bytes_asked = 0;  ///< lanes x bytes
  std::uint64_t bytes_moved = 0;  ///< global: units x 32; shared: units x 128
  bool exact = true;              ///< false: lanes could not be grouped with certainty
  std::string hint;               ///< "uncoalesced", "8-way bank conflict" or empty
};

/// One kernel: all its launches since the last call of take_counts().
struct KernelCount {
  std::string kernel;
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  std::uint64_t by_kernels = 0;  ///< launches by kernels
  std::uint64_t barriers = 0;    ///< __syncthreads and its kin, counted per warp
  std::uint64_t warp_steps = 0;  ///< basic blocks that warps executed
  std::uint64_t lane_steps = 0;  ///< the same, times the lanes active in each
  /// Memory requests of the warp that makes most, each times the 4-byte words per lane; summed over
  /// launches.
  std::uint64_t busiest = 0;
  std::uint64_t shared_bytes = 0;  ///< of the block that has most
  /// The share of polling warps, which ask again where they asked last, in requests and in sectors.
  std::uint64_t polled_words = 0, polled_sectors = 0;
  std::vector<LineCount> lines;  ///< by file and line

  /// Sums over lines.
  std::uint64_t requests(Space space, const std::string& access) const;
  std::uint64_t units(Space space, const std::string& access) const;
};
/// The counts of all kernels since the last call.
std::vector<KernelCount> take_counts();

/// Bytes of global memory that bulk copies read and wrote since the last call.
struct EngineBytes {
  std::uint64_t read = 0, written = 0;
  std::uint64_t read_most = 0;  ///< by the block that read most
};
EngineBytes take_engine_bytes();

/// Further counts of launches since the last call.
struct Besides {
  std::uint64_t products = 0;  ///< matrix products of tensor cores, one per warp and call
  std::uint64_t to_host = 0;   ///< bytes copied from the device to the host
  std::uint64_t copied = 0;    ///< bytes that asynchronous copies of 4 to 16 bytes read
};
Besides take_besides();

bool instrumented();         ///< was the kernels' code built with the checks and counters in?
void set_checking(bool on);  ///< on at the start, unless SIMT_CHECK=0
void set_counting(bool on);  ///< on at the start if SIMT_COUNT=1
std::string order();         ///< "forward", "reverse" or "random:SEED", as SIMT_ORDER asked
/// From now on, a thread that has told a barrier how many bytes to expect is delayed: other threads
/// run before it continues. Off at the start.
void set_late_orders(bool late);
bool late_orders_matter();  ///< has any thread told a barrier so since the program began?
/// The name of the traces that SIMT_TRACE asks for, from now on: "05_shared_tile 2^20".
void label_trace(const std::string& label);

/// A table of the counts, one line each, as --model prints it: in 80 columns, unless a file's name
/// has more than 22 characters or counts are huge. Kernels have their short names.
std::string table(const std::vector<KernelCount>& counts);
/// Names that are short and differ where the given ones do: no namespace, template arguments only
/// to distinguish equal names, a long end cut off.
std::vector<std::string> short_names(const std::vector<std::string>& kernels);
/// Which columns tables have.
struct TableShows {
  bool global = false, shared = false;  ///< rows of global and of shared memory
  bool exact = true;                    ///< no row is marked as not exact
};
/// The columns that the table of these counts has.
TableShows shown_by(const std::vector<KernelCount>& counts);
/// The meaning of each column that is shown, a line each.
std::string legend(const TableShows& shows);

}  // namespace simt
