// Addresses that a kernel, or the host, may not use.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine.hpp"
#include "errors.hpp"
#include "trace.hpp"

namespace simt {

namespace {

/// Has the system mapped memory at this address?
bool is_mapped(std::uintptr_t address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), 1, MS_ASYNC) == 0;
}

bool is_my_window(const Thread& thread, std::uintptr_t address) {
  return address - reinterpret_cast<std::uintptr_t>(thread.block->memory) < window_bytes;
}

/// The other block of the same gang whose shared memory holds the address, as text; or "".
std::string of_other_block(const Thread& thread, std::uintptr_t address) {
  for (const auto& block : thread.block->gang->blocks) {
    if (address - reinterpret_cast<std::uintptr_t>(block->memory) >= window_bytes) continue;
    const std::string name = "shared memory of " + block_name(*block);
    if (block->cluster != thread.block->cluster) return name + ", of another cluster";
    return block->meeting.members > 0
               ? name + ": " + describe_shared(*block, address)
               : name + ", which has left: let all blocks meet (cluster.sync()) before one leaves";
  }
  return "";
}

/// The offset of an address from each array that the kernel was given: the nearest allocation need
/// not be the one with the wrong index. Empty if the address lies close to one of them.
std::string from_arguments(const Body& body, std::uintptr_t address) {
  constexpr std::intptr_t next_to = 32, far_away = std::intptr_t{1} << 35;
  if (body.pointers == nullptr) return "";
  std::vector<const void*> pointers(body.pointer_count);
  body.pointers(body.arguments, pointers.data());
  std::string text;
  for (std::size_t k = 0; k < pointers.size(); ++k) {
    void* base = nullptr;
    std::size_t bytes = 0;
    if (!allocation_of(pointers[k], &base, &bytes)) continue;
    const auto start = reinterpret_cast<std::uintptr_t>(pointers[k]);
    bytes -= start - reinterpret_cast<std::uintptr_t>(base);
    const auto offset = static_cast<std::intptr_t>(address - start);
    const auto past = offset - static_cast<std::intptr_t>(bytes);
    if (offset >= -next_to && past < next_to) return "";
    if (offset < -far_away || offset > far_away) continue;  // no index leads there
    text += (text.empty() ? "; that is byte " : ", byte ") + std::to_string(offset) +
            " of argument " + std::to_string(k + 1) + ", which has " + std::to_string(bytes);
  }
  return text;
}

}  // namespace

const char* does(Access kind) {
  return kind == Access::load ? "reads" : kind == Access::store ? "writes" : "updates";
}

void bad_address(const Thread& thread, const char* finding, std::uintptr_t address,
                 std::size_t bytes, Access kind, ProgramCounter pc) {
  const Unobserved unobserved;
  char around[300];
  if (describe_address(address, around, sizeof around) && std::string(finding) == "bounds") {
    finding = "lifetime";
  }
  std::string place = is_my_window(thread, address) ? describe_shared(*thread.block, address)
                                                    : of_other_block(thread, address);
  const std::uintptr_t below =
      reinterpret_cast<std::uintptr_t>(thread.block->memory) - address;  // huge for what lies above
  if (below - 1 < 4096) {
    finding = "bounds";
    place = std::to_string(below) + " byte(s) before the block's shared memory: an index below 0";
  }
  if (place.empty()) place = around;
  if (place == around &&
      (address - ranges.heap < ranges.heap_bytes || std::strstr(around, "index") != nullptr)) {
    place += from_arguments(thread.block->grid->body, address);
  }
  note_culprit(finding, address, bytes, kind);
  find(finding, *thread.block->grid,
       name_of(thread) + " " + does(kind) + " " + std::to_string(bytes) + " byte(s) at " +
           source_line(pc).text() + ": " + place,
       pc, 0);
  abandon(*thread.block->grid, error_illegal_address);
}

void check_elsewhere(const Thread& thread, std::uintptr_t address, std::size_t bytes, Access kind,
                     ProgramCounter pc) {
  if (kind == Access::load &&
      (is_constant(address, bytes) || address - ranges.tables < ranges.tables_bytes)) {
    return;
  }
  if (host_may_use(reinterpret_cast<void*>(address))) return;  // cudaHostRegister()
  const Body& body = thread.block->grid->body;
  if (address - reinterpret_cast<std::uintptr_t>(body.arguments) < body.bytes) return;
  const auto self = reinterpret_cast<std::uintptr_t>(&current_thread);  // other thread-locals
  if (address - (self - 65536) < 131072) return;
  const bool constant = address - ranges.constants < ranges.constants_bytes;
  const bool host = address >= 4096 && !constant && is_mapped(address);
  bad_address(thread, host ? "host memory" : "bounds", address, bytes, kind, pc);
}

bool in_my_cluster(const Thread& thread, std::uintptr_t address) {
  for (const auto& block : thread.block->gang->blocks) {
    if (block->cluster == thread.block->cluster &&
        address - reinterpret_cast<std::uintptr_t>(block->memory) < window_bytes) {
      return block->meeting.members > 0;  // all its threads returned: its memory is gone
    }
  }
  return false;
}

void check_host_access(std::uintptr_t address, std::size_t bytes, Access kind, ProgramCounter pc) {
  if (!checking || current_thread != nullptr) return;
  if (host_may_use(reinterpret_cast<void*>(address))) {
    const Unwaited first = unwaited();
    if (first.serial == 0) return;
    const bool written = written_since(address, first.serial);
    if (!written && (kind == Access::load || !read_since(address, first.serial))) return;
    find("order", "the host",
         std::string(does(kind)) + " at " + source_line(pc).text() + " memory that " +
             first.kernel + ", launched at " + source_line(first.caller).text() +
             ", or a later kernel " + (written ? "has written" : "reads") +
             "; nobody has waited for it: cudaDeviceSynchronize() before",
         pc, 0);
    return;
  }
  void* base = nullptr;
  std::size_t size = 0;
  std::string what = "a variable of the device; use cudaMemcpyToSymbol() or cudaMemcpyFromSymbol()";
  if (allocation_of(reinterpret_cast<void*>(address), &base, &size)) {
    what = "byte " + std::to_string(address - reinterpret_cast<std::uintptr_t>(base)) +
           " of an allocation of " + std::to_string(size) +
           " bytes on the device; use cudaMemcpy(), a GPU's host ends here";
  } else if (address - ranges.heap < ranges.heap_bytes) {
    what = "device memory that is not allocated";
  }
  find("host access", "the host",
       std::string(does(kind)) + " " + std::to_string(bytes) + " byte(s) at " +
           source_line(pc).text() + ": " + what,
       pc, 0);
}

}  // namespace simt
