// Keeps single requests for drawing: which lanes, which addresses, in which order.
//
// All blocks are traced, each within limits, and forgotten at their end, except those to be shown:
// the first block of the kernel's first launch, the block of that launch that was furthest from its
// ideal, and the first in which the checks found something. trace_file.cpp writes them.
#include "trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "errors.hpp"
#include "trace_file.hpp"

namespace simt {
namespace {

constexpr std::size_t most_items = 4096;   // of one warp
constexpr unsigned most_requests = 64;     // of one place by one warp
constexpr std::size_t most_blocks = 64;    // that are alive at once
constexpr std::size_t most_findings = 20;  // of one kernel
constexpr std::uintptr_t far = 1ul << 20;  // from a buffer: a bad address that is not near it

struct Culprit {
  std::string finding;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  Access kind = Access::load;
  int other_block = -1;
  unsigned other = 0;
};
thread_local Culprit culprit;

std::mutex mutex;
std::map<std::string, KernelTrace> kernels;

/// The rank in the cluster and the byte of the block's shared memory: see trace_file.hpp.
std::int64_t shared_offset(const Block& mine, std::uintptr_t address) {
  for (const auto& block : mine.gang->blocks) {
    if (address - reinterpret_cast<std::uintptr_t>(block->memory) >= window_bytes) continue;
    const std::size_t owner = block.get() == &mine ? 0 : block->rank + 1;
    return static_cast<std::int64_t>(owner * window_bytes + shared_byte(*block, address));
  }
  return static_cast<std::int64_t>((address - ranges.windows) % window_bytes);
}

int memory_at(KernelTrace& kernel, std::uintptr_t base, std::size_t bytes) {
  for (std::size_t k = 0; k < kernel.memories.size(); ++k) {
    if (kernel.memories[k].base == base) return static_cast<int>(k);
  }
  kernel.memories.push_back({base, bytes, {}});
  return static_cast<int>(kernel.memories.size() - 1);
}

/// The allocation of an address, or the variables; -1: none.
int memory_of(KernelTrace& kernel, std::uintptr_t address) {
  for (std::size_t k = 0; k < kernel.memories.size(); ++k) {
    if (address - kernel.memories[k].base < kernel.memories[k].bytes) return static_cast<int>(k);
  }
  void* base = nullptr;
  std::size_t bytes = 0;
  if (allocation_of(reinterpret_cast<void*>(address), &base, &bytes)) {
    return memory_at(kernel, reinterpret_cast<std::uintptr_t>(base), bytes);
  }
  if (address - ranges.variables >= ranges.variables_bytes) return -1;
  return memory_at(kernel, ranges.variables & ~std::uintptr_t{127}, ranges.variables_bytes + 127);
}

/// The same for a bad address: the nearest allocation among the kernel's arguments.
int memory_near(KernelTrace& kernel, std::uintptr_t address) {
  const int inside = memory_of(kernel, address);
  if (inside >= 0) return inside;
  int best = -1;
  std::uintptr_t nearest = far;
  for (std::size_t k = 0; k < kernel.memories.size(); ++k) {
    const TracedMemory& m = kernel.memories[k];
    const std::uintptr_t away = address < m.base ? m.base - address : address - (m.base + m.bytes);
    if (away >= nearest) continue;
    nearest = away;
    best = static_cast<int>(k);
  }
  return best;
}

/// Which memory, and which byte of it.
std::pair<int, std::int64_t> placed(KernelTrace& kernel, const Block& block,
                                    std::uintptr_t address) {
  if (is_window(address)) return {TracedItem::shared_memory, shared_offset(block, address)};
  const int memory = memory_near(kernel, address);
  const std::uintptr_t base =
      memory < 0 ? 0 : kernel.memories[static_cast<std::size_t>(memory)].base;
  return {memory, static_cast<std::int64_t>(address - base)};
}

TracedItem placed(KernelTrace& kernel, const Block& block, TracedRequest request) {
  TracedItem item;
  item.kind = TracedItem::request;
  const auto [memory, first] = placed(kernel, block, request.addresses.front());
  item.memory = memory;
  for (const std::uintptr_t address : request.addresses) {
    item.offsets.push_back(request.shared
                               ? shared_offset(block, address)
                               : first + static_cast<std::int64_t>(address) -
                                     static_cast<std::int64_t>(request.addresses.front()));
  }
  request.addresses.clear();
  item.what = std::move(request);
  return item;
}

TracedItem placed(KernelTrace& kernel, const Block& block, const RawItem& raw,
                  const WarpTrace& warp) {
  if (raw.kind == TracedItem::request) return placed(kernel, block, warp.requests[raw.value]);
  TracedItem item;
  item.kind = raw.kind;
  item.value = raw.value;
  item.count = raw.count;
  if (raw.kind == TracedItem::copy) {
    const RawCopy& copy = warp.copies[raw.value];
    item.value = copy.lane;
    item.what.pc = copy.site;
    item.what.bytes = static_cast<unsigned>(copy.bytes);
    for (const std::uintptr_t address : {copy.to, copy.from}) {
      const auto [memory, offset] = placed(kernel, block, address);
      (item.offsets.empty() ? item.memory : item.from) = memory;
      item.offsets.push_back(offset);
    }
  }
  return item;
}

TracedBlock placed(KernelTrace& kernel, const Block& block) {
  TracedBlock result;
  result.launch = block.grid->trace->launch;
  result.index = block.index;
  result.rank = block.rank;
  result.shape = block.grid->launch;
  for (const WarpTrace& warp : block.trace->warps) {
    result.warps.emplace_back();
    for (const RawItem& raw : warp.items) {
      result.warps.back().push_back(placed(kernel, block, raw, warp));
    }
  }
  if (block.grid->launch.shared_bytes > 0) {
    result.variables.push_back({"", 0, block.grid->launch.shared_bytes});
  }
  for (const Block::Variable& variable : block.variables) {
    result.variables.push_back({static_cast<const char*>(variable.key),
                                variable.offset - variable.padding, variable.bytes});
  }
  return result;
}

RawItem* last_of(WarpTrace& warp, TracedItem::Kind kind) {
  return !warp.items.empty() && warp.items.back().kind == kind ? &warp.items.back() : nullptr;
}

void leave_out(WarpTrace& warp, unsigned requests) {
  if (warp.items.size() >= most_items || last_of(warp, TracedItem::left_out) != nullptr) {
    if (last_of(warp, TracedItem::left_out) == nullptr) {
      warp.items.push_back({TracedItem::left_out, 0, 0});
    }
    warp.items.back().value += requests;
  } else {
    warp.items.push_back({TracedItem::left_out, requests, 0});
  }
}

}  // namespace

const bool tracing = !trace_path().empty();

WarpTrace* trace_of(const Warp& warp) {
  if (!tracing) return nullptr;
  const Thread& first = *warp.lanes[0];
  return first.block->trace ? &first.block->trace->warps[first.warp] : nullptr;
}

void begin_launch_trace(Grid& grid) {
  const std::lock_guard<std::mutex> lock(mutex);
  KernelTrace& kernel = kernels[grid.launch.kernel];
  grid.trace = std::make_shared<LaunchTrace>(LaunchTrace{++kernel.launches, &kernel});
  std::vector<const void*> pointers(grid.body.pointer_count);
  if (pointers.empty()) return;
  const std::size_t known = kernel.launches == 1 ? 0 : kernel.memories.size();
  grid.body.pointers(grid.body.arguments, pointers.data());
  for (std::size_t k = 0; k < pointers.size(); ++k) {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (pointers[k] == nullptr || !allocation_of(pointers[k], &base, &bytes)) continue;
    const auto start = reinterpret_cast<std::uintptr_t>(base);
    const auto at = static_cast<std::size_t>(memory_at(kernel, start, bytes));
    if (at < known) continue;  // an earlier launch has named it
    kernel.memories[at].arguments.insert(
        {k, reinterpret_cast<std::uintptr_t>(pointers[k]) - start});
  }
}

void begin_block_traces(Gang& gang) {
  for (std::size_t b = 0; b < gang.blocks.size(); ++b) {
    Block& block = *gang.blocks[b];
    block.trace.reset();
    if (b >= most_blocks) continue;
    block.trace = std::make_shared<BlockTrace>();
    block.trace->warps.resize(block.warps.size());
    for (WarpTrace& warp : block.trace->warps) warp.owner = block.trace.get();
  }
}

void end_block_traces(Gang& gang) {
  for (const auto& block : gang.blocks) {
    if (!block->trace) continue;
    const LaunchTrace& launch = *block->grid->trace;
    const std::uint32_t number = block->serial - block->grid->first_serial;
    const std::lock_guard<std::mutex> lock(mutex);
    KernelTrace& kernel = *launch.kernel;
    if (launch.launch == 1) {
      if (number == 0) kernel.first = placed(kernel, *block);
      KernelTrace::Worst& worst = kernel.worst;
      const std::uint64_t excess = block->trace->excess;
      if (excess > worst.excess || (excess == worst.excess && number < worst.number)) {
        worst = {excess, number, number == 0 ? TracedBlock{} : placed(kernel, *block)};
      }
    }
    const std::pair<unsigned, std::uint32_t> here{launch.launch, number};
    if (block->trace->found && here < kernel.found_at) {
      kernel.found_at = here;
      kernel.found = placed(kernel, *block);
    }
    block->trace.reset();
  }
}

void trace_request(WarpTrace& warp, TracedRequest request) {
  warp.owner->excess += request.units - std::min(request.units, request.ideal);
  unsigned& kept = warp.kept[request.pc | std::uint64_t{request.kind} << 32];
  if (kept >= most_requests || warp.items.size() >= most_items) {
    leave_out(warp, 1);
    return;
  }
  ++kept;
  warp.items.push_back({TracedItem::request, static_cast<std::uint32_t>(warp.requests.size()), 0});
  warp.requests.push_back(std::move(request));
}

void trace_step(WarpTrace& warp, std::uint32_t mask) {
  RawItem* last = last_of(warp, TracedItem::step);
  if (last_of(warp, TracedItem::left_out) != nullptr) return;  // a long loop: left out as well
  if (last != nullptr && last->value == mask) {
    ++last->count;
  } else if (warp.items.size() < most_items) {
    warp.items.push_back({TracedItem::step, mask, 1});
  }
}

void trace_barrier(const Block& block) {
  if (!block.trace) return;
  for (std::size_t w = 0; w < block.warps.size(); ++w) {
    auto& items = block.trace->warps[w].items;
    if (block.warps[w].live == 0 || items.size() >= most_items) continue;
    items.push_back({TracedItem::barrier, block.meeting.site, 0});
  }
}

void trace_copy(const void* to, const void* from, std::size_t bytes, ProgramCounter site) {
  const Thread& thread = *current_thread;
  if (!thread.block->trace) return;
  WarpTrace& warp = thread.block->trace->warps[thread.warp];
  if (warp.items.size() >= most_items || warp.copies.size() >= most_requests) return;
  warp.items.push_back({TracedItem::copy, static_cast<std::uint32_t>(warp.copies.size()), 0});
  warp.copies.push_back({reinterpret_cast<std::uintptr_t>(to),
                         reinterpret_cast<std::uintptr_t>(from), bytes, site, thread.lane});
}

void note_culprit(const char* finding, std::uintptr_t address, std::size_t bytes, Access kind,
                  int other_block, unsigned other) {
  if (tracing) culprit = {finding, address, bytes, kind, other_block, other};
}

void trace_finding(const char* kind, const Grid& grid, const std::string& text,
                   ProgramCounter first, ProgramCounter second) {
  const Culprit here = std::exchange(culprit, {});
  if (!grid.trace) return;
  const std::lock_guard<std::mutex> lock(mutex);
  KernelTrace& kernel = *grid.trace->kernel;
  if (kernel.findings.size() >= most_findings) return;
  TracedFinding found;
  found.kind = kind;
  found.text = text;
  found.launch = grid.trace->launch;
  const Thread* thread = current_thread;
  if (thread != nullptr && here.finding == kind) {  // else noted for an earlier finding
    const Block& block = *thread->block;
    if (block.trace) block.trace->found = true;
    found.has_place = true;
    found.block = block.index;
    found.thread = thread->rank;
    found.bytes = here.bytes;
    found.access = here.kind;
    const ProgramCounter pc = second == 0 ? first : second;
    found.line = source_line(pc);
    std::tie(found.memory, found.offset) = placed(kernel, block, here.address);
    if (here.other_block >= 0) {
      found.has_other = true;
      found.other_block = position(static_cast<unsigned>(here.other_block), grid.launch.grid);
      found.other_thread = here.other;
      found.other_line = source_line(first);
    }
    for (const Thread* lane : block.warps[thread->warp].lanes) {  // the earlier accesses
      if (lane == nullptr || lane == thread) continue;
      const auto event = std::find_if(lane->events.rbegin(), lane->events.rend(),
                                      [&](const Event& e) { return e.pc == pc; });
      if (event == lane->events.rend()) continue;
      found.lanes.push_back({lane->lane, placed(kernel, block, event->address).second});
    }
  }
  kernel.findings.push_back(std::move(found));
}

KernelTrace take_kernel_trace(const std::string& kernel) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) return {};
  KernelTrace trace = std::move(found->second);
  kernels.erase(found);
  return trace;
}

}  // namespace simt
