// Volatile loads that came too early. Volatile accesses of two warps may race, because flags are
// passed that way: a thread that waits for a flag polls. A thread that loaded once, before the
// other warp stored, has worked with an old value.
#include <algorithm>
#include <cstring>

#include "engine.hpp"
#include "errors.hpp"

namespace simt {

namespace {

std::uint32_t value_of(std::uintptr_t word) {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
  return value;
}

}  // namespace

void note_early_load(Thread& thread, std::uintptr_t word, unsigned rank, ProgramCounter loaded_at,
                     ProgramCounter pc) {
  const Unobserved unobserved;
  Block& block = *thread.block;
  const auto same = [&](const EarlyLoad& e) { return e.word == word && e.rank == rank; };
  if (std::any_of(block.early_loads.begin(), block.early_loads.end(), same)) return;
  block.early_loads.push_back({word, value_of(word), thread.rank, rank, loaded_at, pc});
}

void look_again(Thread& thread, std::uintptr_t word, ProgramCounter pc) {
  Block& block = *thread.block;
  Thread::Load& before = thread.volatile_loads[pc >> 2 & 3];
  if (before.address == word && before.pc == pc) {
    const auto known = std::find(block.polls.begin(), block.polls.end(), pc);
    if (known == block.polls.end()) {
      const Unobserved unobserved;
      block.polls.push_back(pc);
    }
  }
  before = {word, pc};
  if (block.early_loads.empty()) return;
  const auto mine = [&](const EarlyLoad& e) { return e.word == word && e.rank == thread.rank; };
  const auto first = std::remove_if(block.early_loads.begin(), block.early_loads.end(), mine);
  block.early_loads.erase(first, block.early_loads.end());
}

void report_early_loads(Block& block) {
  for (const EarlyLoad& e : block.early_loads) {
    const bool polled = std::any_of(block.polls.begin(), block.polls.end(), [&](ProgramCounter pc) {
      return (pc & ((1u << 25) - 1)) == e.loaded_at;
    });
    if (polled || value_of(e.word) == e.value) continue;
    const Grid& grid = *block.grid;
    find("order", *block.grid,
         place_of(block, e.word) + ": " + name_of(grid, block.serial, e.rank) + " read it at " +
             source_line(e.loaded_at).text() + " before " + name_of(grid, block.serial, e.writer) +
             " wrote it at " + source_line(e.pc).text() +
             ", and never looked again: volatile makes nobody wait; __syncthreads() between them",
         e.loaded_at, e.pc);
  }
  block.early_loads.clear();
  block.polls.clear();
}

}  // namespace simt
