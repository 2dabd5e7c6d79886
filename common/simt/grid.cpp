// Runs grids, gang by gang: one block, or all blocks of a cluster or of a cooperative grid, which
// are alive at once on one worker.
#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dynamic.hpp"
#include "engine.hpp"
#include "errors.hpp"
#include "findings.hpp"
#include "trace.hpp"

namespace simt {
namespace {

// ---- SIMT_ORDER ----

struct Order {
  enum { forward, reverse, random } kind = forward;
  std::uint64_t seed = 0;
  std::string text = "forward";
};

Order read_order() {
  Order order;
  const char* asked = std::getenv("SIMT_ORDER");
  if (asked == nullptr || *asked == '\0') return order;
  order.text = asked;
  char* end = nullptr;
  if (order.text == "forward") return order;
  if (order.text == "reverse") {
    order.kind = Order::reverse;
    return order;
  }
  if (order.text.rfind("random:", 0) == 0 && order.text.size() > 7) {
    order.kind = Order::random;
    order.seed = std::strtoull(asked + 7, &end, 10);
    if (*end == '\0') return order;
  }
  std::fprintf(stderr, "simt: SIMT_ORDER is '%s': it can be forward, reverse or random:SEED\n",
               asked);
  std::exit(2);
}

const Order& the_order() {
  static const Order order = read_order();
  return order;
}

// ---- Gangs ----

/// Between the variables of shared memory: as wide as all banks, so every byte keeps its bank.
constexpr std::size_t gap = 128;

std::size_t up_to(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Puts the threads of a gang into the order they run in.
void put_in_order(Gang& gang, std::uint64_t salt) {
  const Order& order = the_order();
  gang.order.clear();
  for (const auto& block : gang.blocks) {
    block->first_in_order = gang.order.size();
    for (Warp& warp : block->warps) {
      for (Thread* lane : warp.lanes) {
        if (lane != nullptr) gang.order.push_back(lane);
      }
    }
  }
  if (order.kind == Order::reverse) {
    std::reverse(gang.order.begin(), gang.order.end());
    for (const auto& block : gang.blocks) {
      block->first_in_order = gang.order.size() - block->first_in_order - gang.grid->threads;
    }
  } else if (order.kind == Order::random) {
    std::mt19937_64 random(salt);
    std::shuffle(gang.order.begin(), gang.order.end(), random);
    for (const auto& block : gang.blocks) block->first_in_order = 0;
  }
  gang.cursor = 0;
  for (unsigned k = 0; k < Gang::look_ahead; ++k) gang.order.push_back(gang.order[k]);
}

unsigned take_window(Worker& worker, unsigned blocks) {
  static std::atomic<unsigned> next{0};
  const std::size_t wanted = blocks + 8;  // reused late, so that the checks notice stale pointers
  while (worker.windows.size() < wanted) {
    const unsigned window = next++;
    if (window >= window_count) {
      std::fprintf(stderr, "simt: more than %u blocks alive at once\n", window_count);
      std::exit(4);
    }
    worker.windows.push_back(window);
  }
  worker.next_window = (worker.next_window + 1) % worker.windows.size();
  return worker.windows[worker.next_window];
}

void open_shared_memory(Worker& worker, Block& block, unsigned blocks) {
  const std::size_t window = take_window(worker, blocks);
  const std::uintptr_t address = ranges.windows + window * window_bytes;
  block.memory = reinterpret_cast<char*>(address);
  block.variables.clear();
  block.used = up_to(block.grid->launch.shared_bytes, gap);
  block.padding = 0;
  if (checking) std::memset(block.memory, 0xCB, block.grid->launch.shared_bytes);
  set_state(address, block.grid->launch.shared_bytes, true);
}

/// Makes the gang's blocks and threads; false if those of the previous gang can be reused.
bool set_up(Worker& worker, Grid& grid, unsigned blocks) {
  Gang& gang = worker.gang;
  gang.worker = &worker;
  const bool same_shape = gang.blocks.size() == blocks && gang.grid == &grid;
  gang.grid = &grid;
  if (same_shape) return false;
  gang.blocks.clear();
  if (gang.threads.size() < std::size_t{blocks} * grid.threads) {
    gang.threads = std::vector<Thread>(std::size_t{blocks} * grid.threads);
  }
  const unsigned warps = (grid.threads + 31) / 32;
  const dim3& c = grid.launch.cluster;
  const unsigned cluster_blocks = c.x * c.y * c.z;
  gang.clusters.clear();
  for (unsigned b = 0; b < blocks; ++b) {
    gang.blocks.push_back(std::make_unique<Block>());
    Block& block = *gang.blocks.back();
    block.gang = &gang;
    block.grid = &grid;
    block.rank = b % cluster_blocks;
    if (block.rank == 0) gang.clusters.push_back(std::make_unique<Meeting>());
    block.cluster = gang.clusters.back().get();
    block.warps.resize(warps);
    for (unsigned t = 0; t < grid.threads; ++t) {
      Thread& thread = gang.threads[std::size_t{b} * grid.threads + t];
      thread.block = &block;
      thread.rank = static_cast<std::uint16_t>(t);
      thread.lane = t % 32;
      thread.warp = static_cast<std::uint8_t>(t / 32);
      thread.index = position(t, grid.launch.block);
      block.warps[t / 32].lanes[t % 32] = &thread;
      block.warps[t / 32].all |= 1u << t % 32;
    }
  }
  return true;
}

/// `numbers`: the blocks of the grid to run now.
void prepare(Worker& worker, Grid& grid, const unsigned* numbers, unsigned blocks) {
  const bool is_new = set_up(worker, grid, blocks);
  Gang& gang = worker.gang;
  gang.live = blocks * grid.threads;
  gang.wide = grid.launch.cooperative || worker.gang.clusters.size() < blocks;
  gang.meeting = {};
  gang.meeting.members = gang.live;
  gang.knows.clear();
  gang.knew.clear();
  for (const auto& cluster : gang.clusters) *cluster = {};
  for (unsigned b = 0; b < blocks; ++b) {
    Block& block = *gang.blocks[b];
    block.index = position(numbers[b], grid.launch.grid);
    block.serial = grid.first_serial + numbers[b];
    block.engine_read = 0;
    block.meeting = {};
    block.meeting.members = grid.threads;
    block.cluster->members += grid.threads;
    forget_order(block);
    open_shared_memory(worker, block, blocks);
    for (Warp& warp : block.warps) {
      warp.live = warp.all;
      warp.words = warp.asked = warp.asked_at = 0;
      for (OpenCall& open : warp.calls) open.wanted = open.arrived = 0;
      for (Thread* thread : warp.lanes) {
        if (thread == nullptr) break;
        thread->state = Thread::fresh;
        thread->at_cluster = false;
        forget_order(*thread);
      }
    }
  }
  if (!is_new && the_order().kind != Order::random) {
    gang.cursor = 0;
    return;
  }
  put_in_order(gang, the_order().seed * 0x9E3779B97F4A7C15u + grid.number * 1000003u + numbers[0]);
}

void close_shared_memory(Gang& gang) {
  for (const auto& block : gang.blocks) {
    set_state(reinterpret_cast<std::uintptr_t>(block->memory), block->used, false);
  }
}

void run_gang(Worker& worker, Grid& grid, const unsigned* numbers, unsigned blocks) {
  prepare(worker, grid, numbers, blocks);
  Gang& gang = worker.gang;
  if (grid.trace) begin_block_traces(gang);
  run_threads_of(gang);
  if (grid.trace) end_block_traces(gang);
  if (grid.member->knew && checking) keep_learned(gang);
  for (const auto& block : gang.blocks) report_early_loads(*block);
  close_shared_memory(gang);
  if (grid.failed) drop_fibers(worker);
}

// ---- Grids ----

}  // namespace

Refusal refusal(const Launch& l) {
  const auto volume = [](const dim3& d) { return std::uint64_t{d.x} * d.y * d.z; };
  const auto bad = [](std::string why) { return Refusal{error_invalid_configuration, why}; };
  if (volume(l.grid) == 0) return bad("it has no blocks");
  if (volume(l.block) == 0) return bad("its blocks have no threads");
  if (volume(l.block) > 1024) {
    return bad(std::to_string(volume(l.block)) + " threads per block, at most 1024");
  }
  if (l.most_threads != 0 && volume(l.block) > l.most_threads) {
    return {error_invalid_value, std::to_string(volume(l.block)) +
                                     " threads per block, its __launch_bounds__ says " +
                                     std::to_string(l.most_threads)};
  }
  if (l.block.z > 64) return bad("blocks of more than 64 threads in z");
  if (l.grid.x > 0x7FFFFFFF || l.grid.y > 65535 || l.grid.z > 65535) {
    return bad("more than 65535 blocks in y or z");
  }
  use_settings(l);
  const std::size_t allowed = shared_allowed(l.kernel);
  if (l.shared_bytes > allowed) {
    return {error_invalid_value,
            std::to_string(l.shared_bytes) + " bytes of dynamic shared memory, at most " +
                std::to_string(allowed) + " (cudaFuncSetAttribute() allows more)"};
  }
  if (volume(l.cluster) > 16 || volume(l.cluster) == 0) return bad("clusters of a wrong size");
  if (l.grid.x % l.cluster.x != 0 || l.grid.y % l.cluster.y != 0 || l.grid.z % l.cluster.z != 0) {
    return bad("the grid is no multiple of its clusters");
  }
  return {};
}

namespace {

/// The text at exit for a refused launch whose error was never read.
std::string refused_text(const Launch& l, const std::string& why) {
  const std::string where =
      l.caller == nullptr ? "" : " at " + source_line(counter_of(l.caller)).text();
  return "the launch of " + std::string(l.kernel) + where + " was refused: " + why;
}

/// The grid's blocks in the order they start: the blocks of a cluster are consecutive.
std::vector<unsigned> block_order(const Grid& grid) {
  const dim3 &g = grid.launch.grid, &c = grid.launch.cluster;
  std::vector<unsigned> order;
  order.reserve(grid.blocks);
  for (unsigned z = 0; z < g.z; z += c.z) {
    for (unsigned y = 0; y < g.y; y += c.y) {
      for (unsigned x = 0; x < g.x; x += c.x) {
        for (unsigned k = 0; k < c.x * c.y * c.z; ++k) {
          const uint3 in = position(k, c);
          order.push_back(x + in.x + g.x * (y + in.y + g.y * (z + in.z)));
        }
      }
    }
  }
  return order;
}

void run_blocks(Grid& grid) {
  const unsigned cluster = grid.launch.cluster.x * grid.launch.cluster.y * grid.launch.cluster.z;
  const Order& order = the_order();
  unsigned gang = grid.launch.cooperative ? grid.blocks : cluster;
  if (order.kind == Order::random && !grid.launch.cooperative && cluster == 1) {
    gang = std::min(4u, grid.blocks);  // several blocks at once, interleaved
  }
  const unsigned gangs = (grid.blocks + gang - 1) / gang;
  std::vector<unsigned> numbers;  // empty: 0, 1, 2, ...
  if (cluster > 1 || grid.launch.cooperative || order.kind == Order::random) {
    numbers = block_order(grid);
  }
  std::vector<unsigned> gang_order;
  if (order.kind == Order::random) {
    gang_order.resize(gangs);
    std::iota(gang_order.begin(), gang_order.end(), 0u);
    std::mt19937_64 random(order.seed + grid.number);
    if (cluster == 1) std::shuffle(numbers.begin(), numbers.end(), random);
    std::shuffle(gang_order.begin(), gang_order.end(), random);
  }
  std::atomic<unsigned> next{0};
  const std::function<void(Worker&)> work = [&](Worker& worker) {
    for (unsigned k; !grid.failed && (k = next++) < gangs;) {
      if (order.kind == Order::reverse) k = gangs - 1 - k;
      if (!gang_order.empty()) k = gang_order[k];
      const unsigned first = k * gang, count = std::min(gang, grid.blocks - first);
      run_gang(worker, grid, numbers.empty() ? &first : &numbers[first], count);
    }
    worker.gang.grid = nullptr;
    if (counting) merge_counters(worker, grid);
  };
  const bool small = std::uint64_t{grid.blocks} * grid.threads < 1024;
  const unsigned workers = small ? 1 : std::min(gangs, worker_count());
  several_workers = workers > 1;
  run_on_workers(workers, work);
}

}  // namespace

namespace {
std::mutex unwaited_mutex;
Unwaited first_unwaited;
std::atomic<bool> some_unwaited{false};  // the host asks at each access to managed memory
}  // namespace
Unwaited unwaited() {
  if (!some_unwaited) return {};
  const std::lock_guard<std::mutex> lock(unwaited_mutex);
  return first_unwaited;
}
void all_waited_for() {
  const std::lock_guard<std::mutex> lock(unwaited_mutex);
  first_unwaited.serial = 0;
  some_unwaited = false;
}

void run_grid(Family& family, Member& member, const Launch& launch, Body body) {
  static std::atomic<std::uint32_t> next_serial{1};
  static std::atomic<std::uint64_t> next_number{0};
  Grid grid;
  grid.launch = launch;
  grid.body = body;
  grid.family = &family;
  grid.member = &member;
  grid.flags = &family.flags;
  grid.shared_most = shared_in_all(launch.kernel);
  grid.blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  grid.threads = launch.block.x * launch.block.y * launch.block.z;
  grid.first_serial = next_serial.fetch_add(grid.blocks);
  grid.number = next_number++;
  grid.tag = launch_tag(grid.number);
  if (const std::lock_guard<std::mutex> lock(unwaited_mutex); first_unwaited.serial == 0) {
    first_unwaited = {grid.first_serial, launch.kernel, counter_of(launch.caller)};
    some_unwaited = true;
  }
  member.kernel = launch.kernel;
  member.grid = launch.grid;
  member.block = launch.block;
  member.first_serial = grid.first_serial;
  member.blocks = grid.blocks;
  grid.family_serial = family.root.first_serial;
  if (counting) count_launch(grid);
  if (counting && tracing) begin_launch_trace(grid);
  run_blocks(grid);
  if (!family.errors.empty()) report_refused_launches(grid);
  if (!grid.refused.empty()) {
    const std::string why = refused_text(launch, grid.refused);
    if (member.knew) {
      find("unchecked", grid, why + " (cudaErrorInvalidValue)", counter_of(launch.caller), 0);
    } else {
      launch_refused(error_invalid_value, why);
    }
  }
  body.destroy(body.arguments);
}

std::size_t choose(std::size_t n, std::uint64_t salt) {
  const auto& asked = the_order();
  if (asked.kind == asked.forward || n == 1) return 0;
  if (asked.kind == asked.reverse) return n - 1;
  std::mt19937_64 random(asked.seed * 0x9E3779B97F4A7C15u + salt);
  return random() % n;
}

void launch_body(const Launch& launch, Body body) {
  if (Thread* thread = current_thread) {
    launch_in_kernel(*thread, launch, body);
    return;
  }
  static std::mutex one_at_a_time;  // host threads take turns
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  set_up_memory();
  set_up_checks();
  Refusal refused = refusal(launch);
  if (refused.error == 0 && !stream_exists(launch.stream)) {
    refused = {error_invalid_handle, "its stream was destroyed, or never made"};
  }
  if (refused.error == 0 && sticky_error() == 0) {
    run_family(launch, body);
    return;
  }
  if (refused.error != 0) {
    const bool told = sticky_error() == 0;  // false: it follows from another error
    launch_refused(refused.error, told ? refused_text(launch, refused.why) : "");
  }
  body.destroy(body.arguments);
}

std::string order() { return the_order().text; }

// ---- What kernels call: shared memory ----

namespace {

/// Ends a launch as if it had never begun: CUDA would have refused it.
[[noreturn]] void refuse(Grid& grid, std::string why) {
  {
    const std::lock_guard<std::mutex> lock(grid.mutex);
    grid.refused = std::move(why);
    grid.failed = true;
  }
  leave_grid();
}

Block::Variable new_variable(Block& block, const void* key, std::size_t bytes,
                             std::size_t alignment) {
  const Unobserved unobserved;
  Grid& grid = *block.grid;
  const std::size_t place = up_to(block.used - block.padding, alignment);  // without gaps
  const std::size_t dynamic = grid.launch.shared_bytes;
  const std::size_t fixed = place + bytes - up_to(dynamic, gap);
  const std::size_t most = limits().shared_per_block;
  if (fixed > most) {
    refuse(grid, std::to_string(fixed) + " bytes of __shared__ variables, at most " +
                     std::to_string(most) + " (nvcc does not compile more)");
  }
  if (fixed + dynamic > grid.shared_most) {
    refuse(grid, std::to_string(fixed) + " bytes of __shared__ variables and " +
                     std::to_string(dynamic) + " of dynamic shared memory, at most " +
                     std::to_string(grid.shared_most) +
                     (grid.shared_most == most ? " without cudaFuncSetAttribute()" : ""));
  }
  std::size_t padding = block.padding + (block.used > 0 ? gap : 0);
  if (alignment > gap) padding = up_to(place + padding, alignment) - place;
  if (place + padding + bytes + gap > window_bytes) padding = block.padding;
  block.padding = padding;
  block.used = up_to(place + padding + bytes, 4);
  block.variables.push_back({key, place + padding, bytes, padding});
  return block.variables.back();
}

}  // namespace

void* shared_variable(const void* key, std::size_t bytes, std::size_t alignment) {
  Block& block = *current_thread->block;
  for (const Block::Variable& variable : block.variables) {
    if (variable.key == key) return block.memory + variable.offset;
  }
  char* place = block.memory + new_variable(block, key, bytes, alignment).offset;
  if (checking) std::memset(place, 0xCB, bytes);
  set_state(reinterpret_cast<std::uintptr_t>(place), bytes, true);
  return place;
}

std::size_t shared_byte(const Block& block, std::uintptr_t address) {
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(block.memory);
  std::size_t padding = 0;
  for (const Block::Variable& variable : block.variables) {
    if (variable.offset <= offset) padding = std::max(padding, variable.padding);
  }
  return offset - padding;
}

std::string describe_shared(const Block& block, std::uintptr_t address) {
  const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(block.memory);
  const std::size_t dynamic = block.grid->launch.shared_bytes;
  std::size_t end = dynamic, bytes = dynamic;
  const char* what = "the dynamic shared memory";
  for (const Block::Variable& variable : block.variables) {
    if (variable.offset > offset) continue;
    end = variable.offset + variable.bytes;
    bytes = variable.bytes;
    what = "a __shared__ variable";
  }
  if (bytes == 0 && block.variables.empty()) {
    return "shared memory, and the launch gives the block none: the third value of <<<blocks, "
           "threads, bytes>>>";
  }
  if (bytes == 0 || offset < end) return "shared memory that belongs to no variable";
  return std::to_string(offset - end) + " bytes behind the end of " + what + " of " +
         std::to_string(bytes) + " bytes";
}

namespace {

std::string name_of(const std::type_info& pointer) {
  int status = 0;
  char* text = abi::__cxa_demangle(pointer.name(), nullptr, nullptr, &status);
  std::string name = text != nullptr ? text : pointer.name();
  std::free(text);
  return name.substr(0, name.rfind('*'));
}

/// Names of dynamic shared memory that a file has declared with another type before.
__attribute__((noinline)) void check_shared_name(Grid& grid, const SharedName* name) {
  static std::mutex mutex;
  static std::map<std::string, const std::type_info*>& types =
      *new std::map<std::string, const std::type_info*>;  // never destroyed
  const Unobserved unobserved;
  const std::lock_guard<std::mutex> lock(mutex);
  grid.shared_name = name;
  const std::string file = name->file, text = name->name;
  const std::type_info& before = *types.emplace(file + ":" + text, name->type).first->second;
  if (before == *name->type) return;
  find("launch", grid,
       "extern __shared__ " + text + "[] is " + name_of(before) + " and " + name_of(*name->type) +
           " in " + file.substr(file.rfind('/') + 1) +
           ": nvcc takes one type for a name; give each type a name of its own",
       0, 0);
}

}  // namespace

void* dynamic_shared_memory(const SharedName* name) {
  Block& block = *current_thread->block;
  if (checking && block.grid->shared_name.load(std::memory_order_relaxed) != name) {
    check_shared_name(*block.grid, name);
  }
  return block.memory;
}
void* dynamic_shared_memory() { return current_thread->block->memory; }

void* map_shared(const void* address, unsigned rank) {
  Block& mine = *current_thread->block;
  const std::size_t offset = static_cast<const char*>(address) - mine.memory;
  for (const auto& block : mine.gang->blocks) {
    if (block->cluster == mine.cluster && block->rank == rank) return block->memory + offset;
  }
  fail_kernel("bounds", error_illegal_address,
              "calls map_shared_rank() for a block that its cluster does not have,",
              __builtin_return_address(0));
}

}  // namespace simt
