// Kernels that launch kernels.
//
// A child starts as late as CUDA allows: when all blocks of the grid that launches it have ended.
// So nothing that a parent reads can come from a child. Launches that may start then wait in
// queues, one per stream; SIMT_ORDER decides which queue continues. Nothing here calls itself,
// however deep the launches nest.
#include "dynamic.hpp"

#include <algorithm>
#include <cstdio>

#include "errors.hpp"

namespace simt {

namespace {

constexpr unsigned largest_depth = 24;  // of nested launches, as CUDA has it

// ---- Which grid is next ----

void drop(std::list<Waiting>& launches) {
  for (Waiting& waiting : launches) waiting.body.destroy(waiting.body.arguments);
  launches.clear();
}

/// A grid and all its descendants have ended: its tail launches are next in its queue; without any
/// the queue may end, and with it the grid that launched it.
void ended(Family& family, Member* member) {
  for (; member != nullptr; member = member->parent) {
    Queue& queue = *member->queue;
    queue.waiting.splice(queue.waiting.begin(), member->tail);
    if (!queue.waiting.empty()) {
      family.ready.push_back(&queue);
      return;
    }
    if (member->parent != nullptr && --member->parent->open > 0) return;
  }
}

/// After the blocks of a grid.
void start_children(Family& family, Member& member) {
  for (const auto& queue : member.queues) family.ready.push_back(queue.get());
  member.open = static_cast<unsigned>(member.queues.size());
  if (member.open == 0) ended(family, &member);
}

void start_next(Family& family) {
  const std::size_t k = choose(family.ready.size(), family.members.size());
  Queue& queue = *family.ready[k];
  family.ready.erase(family.ready.begin() + static_cast<std::ptrdiff_t>(k));
  Waiting next = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  family.members.push_back(std::make_unique<Member>());
  Member& member = *family.members.back();
  member.queue = &queue;
  member.parent = queue.owner;
  member.previous = queue.last;
  member.depth = queue.owner == nullptr ? 0 : queue.owner->depth + 1;
  member.knew = std::move(next.knew);
  queue.last = &member;
  --family.pending;
  run_grid(family, member, next.launch, next.body);
  start_children(family, member);
}

}  // namespace

void run_family(const Launch& launch, Body body) {
  Family family;
  family.root.queue = &family.host;
  family.host.last = &family.root;
  run_grid(family, family.root, launch, body);
  if (family.pending > 0) start_children(family, family.root);
  while (!family.ready.empty() && sticky_error() == 0) start_next(family);
  if (family.pending == 0) return;  // otherwise a kernel failed: the rest never starts
  const auto drop_all = [](Member& member) {
    for (const auto& queue : member.queues) drop(queue->waiting);
    drop(member.tail);
  };
  drop_all(family.root);
  drop(family.host.waiting);
  for (const auto& member : family.members) drop_all(*member);
}

const Member* Family::find(std::uint32_t serial) const {
  const auto has = [serial](const Member& m) { return serial - m.first_serial < m.blocks; };
  if (has(root)) return &root;
  const auto after = std::upper_bound(
      members.begin(), members.end(), serial,
      [](std::uint32_t s, const std::unique_ptr<Member>& m) { return s < m->first_serial; });
  if (after == members.begin()) return nullptr;
  const Member& member = **std::prev(after);
  return has(member) ? &member : nullptr;
}

// ---- Launches by kernels ----

namespace {

std::string in_words(const Launch& launch) {
  return std::string(launch.kernel) + " at " + source_line(counter_of(launch.caller)).text();
}

/// A child must not get pointers to memory that ends with the block or the thread.
void check_pointers(const Thread& thread, const Launch& launch, const Body& body) {
  if (!checking || body.pointers == nullptr) return;
  std::vector<const void*> pointers(body.pointer_count);
  body.pointers(body.arguments, pointers.data());
  for (const void* pointer : pointers) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const bool shared = is_window(address);
    if (!shared && !is_local(address)) continue;
    find("launch", *thread.block->grid,
         name_of(thread) + " gives a pointer to its " + (shared ? "shared" : "local") +
             " memory to " + in_words(launch) +
             ": the kernel that is launched has none of it; give it global memory",
         counter_of(launch.caller), shared ? 1 : 2);
  }
}

/// A number for a stream: of the block itself, of its grid, or for this launch alone. 0: this
/// kernel may not use the stream.
std::uint64_t stream_of(const Thread& thread, cudaStream_t stream, Family& family) {
  constexpr std::uint64_t named = std::uint64_t{1} << 40, alone = named << 1, threads = named << 2;
  const Block& block = *thread.block;
  switch (reinterpret_cast<std::uintptr_t>(stream)) {
    case 0:  // of the block
    case 1:
      return block.serial;
    case 2:  // cudaStreamPerThread
      return threads + (std::uint64_t{block.serial} << 10) + thread.rank;
    case 4:  // cudaStreamFireAndForget
      return alone + family.separate++;
    default:
      const StreamOf made = find_stream(stream);
      return made.grid == block.grid->number + 1 ? named + made.number : 0;
  }
}

Queue& queue_of(Member& member, std::uint64_t stream) {
  Queue*& queue = member.streams[stream];
  if (queue == nullptr) {
    member.queues.push_back(std::make_unique<Queue>());
    queue = member.queues.back().get();
    queue->owner = &member;
  }
  return *queue;
}

constexpr std::uintptr_t tail_launch = 3;  // cudaStreamTailLaunch

/// Queues a launch, or returns why not.
Refusal take(Thread& thread, const Launch& launch, Body body) {
  Grid& grid = *thread.block->grid;
  Family& family = *grid.family;
  Member& member = *grid.member;
  const bool tail = reinterpret_cast<std::uintptr_t>(launch.stream) == tail_launch;
  if (!tail && member.depth >= largest_depth) {
    return {error_launch_depth, "kernels launch kernels " + std::to_string(largest_depth) +
                                    " levels deep, no deeper: end the recursion before, or go on "
                                    "in cudaStreamTailLaunch"};
  }
  const std::lock_guard<std::mutex> lock(family.mutex);
  if (family.pending >= pending_launch_limit()) {
    return {error_pending_launches,
            std::to_string(family.pending) +
                " launches wait already: allow more on the host, by "
                "cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, n)"};
  }
  const std::uint64_t stream = tail ? 1 : stream_of(thread, launch.stream, family);
  if (stream == 0) {
    return {error_invalid_handle,
            "its stream is not one that the launching kernel made: "
            "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)"};
  }
  ++family.pending;
  auto& list = tail ? member.tail : queue_of(member, stream).waiting;
  list.push_back({launch, body, knowledge_of(thread)});
  return {};
}

}  // namespace

void launch_in_kernel(Thread& thread, const Launch& launch, Body body) {
  if (thread.unsettled) settle(thread);
  check_pointers(thread, launch, body);
  Refusal why = refusal(launch);
  if (why.error == 0) why = take(thread, launch, body);
  if (why.error == 0) return;
  body.destroy(body.arguments);
  set_error_in_kernel(why.error);
  Family& family = *thread.block->grid->family;
  const std::lock_guard<std::mutex> lock(family.mutex);
  family.errors[{thread.block->serial, thread.rank}].unasked.push_back(
      {"the launch of " + in_words(launch) + " was refused: " + why.why + " (" +
           error_name(why.error) + ")",
       counter_of(launch.caller)});
}

void set_error_in_kernel(int cuda_error) {
  const Unobserved unobserved;
  const Block& block = *current_thread->block;
  Family& family = *block.grid->family;
  const std::lock_guard<std::mutex> lock(family.mutex);
  family.errors[{block.serial, current_thread->rank}].last = cuda_error;
}

int error_in_kernel(bool forget) {
  const Unobserved unobserved;
  const Block& block = *current_thread->block;
  Family& family = *block.grid->family;
  const std::lock_guard<std::mutex> lock(family.mutex);
  const auto found = family.errors.find({block.serial, current_thread->rank});
  if (found == family.errors.end()) return 0;
  const int last = found->second.last;
  found->second.unasked.clear();
  if (forget) family.errors.erase(found);
  return last;
}

std::uint64_t running_grid() {
  return current_thread == nullptr ? 0 : current_thread->block->grid->number + 1;
}

void report_refused_launches(Grid& grid) {
  for (const auto& [who, error] : grid.family->errors) {
    for (const Family::Error::Refused& refused : error.unasked) {
      find("unchecked", grid,
           name_of(grid, who.first, who.second) + ": " + refused.why +
               ", and the thread never asked cudaGetLastError()",
           refused.at, 0);
    }
  }
  grid.family->errors.clear();
}

// ---- Order between grids ----
//
// It follows from the tree of launches. Two grids have ancestors (or are themselves grids) that one
// grid launched: if these share a queue, one ended with all its descendants before the other began.
// An ancestor of a grid is ordered before it as far as the thread that launched the grid knew, or
// the thread that launched an earlier grid of the queue.

void keep_learned(Gang& gang) {
  Member* const member = gang.grid->member;
  for (const auto& block : gang.blocks) {
    if (block->knows.empty() && !block->knows_all) continue;
    const std::lock_guard<std::mutex> lock(gang.grid->family->mutex);
    for (Member* m = member; m != nullptr; m = m->parent) {
      for (const auto& [serial, known] : block->knows) m->learned[serial].join(known);
      m->learned_all = m->learned_all || block->knows_all;
    }
  }
}

namespace {

/// The two grids, or their nearest ancestors, that the same grid launched.
std::pair<const Member*, const Member*> up_to_siblings(const Member* a, const Member* b) {
  while (a->depth > b->depth) a = a->parent;
  while (b->depth > a->depth) b = b->parent;
  while (a->parent != b->parent) {
    a = a->parent;
    b = b->parent;
  }
  return {a, b};
}

bool is_ancestor(const Member* of, const Member* member) {
  while (member != nullptr && member != of) member = member->parent;
  return member != nullptr;
}

}  // namespace

Ordered order_in_family(const Grid& grid, std::uint32_t serial, std::uint32_t time, unsigned rank,
                        ProgramCounter* loaded_at) {
  const Member* theirs = grid.family->find(serial);
  if (theirs == nullptr) return Ordered::yes;
  if (!is_ancestor(theirs, grid.member)) {
    const auto [a, b] = up_to_siblings(theirs, grid.member);
    if (a->queue == b->queue) return Ordered::yes;
  }
  Ordered best = Ordered::no;
  const auto knows = [&](Ordered order) {
    best = std::max(best, order);
    return best == Ordered::yes;
  };
  for (const Member* m = grid.member; m != nullptr; m = m->parent) {
    if (m->parent != theirs && !grid.flags->any) continue;
    for (const Member* n = m; n != nullptr; n = n->previous) {
      if (n->knew && knows(known_to(*n->knew, serial, time, rank, loaded_at))) return best;
      if (n == m) continue;  // its own blocks know what it learns
      if (n->learned_all || knows(known_of_block(n->learned, serial, time, loaded_at))) {
        return Ordered::yes;
      }
    }
  }
  return best;
}

std::string what_orders(const Grid& grid, std::uint32_t serial) {
  const Member* theirs = grid.family->find(serial);
  if (theirs == nullptr || theirs == grid.member) return "";
  if (is_ancestor(theirs, grid.member)) {
    return ": a kernel comes after what the thread that launches it did, or had waited for, before "
           "the launch; what a kernel launches is over for its tail launches "
           "(cudaStreamTailLaunch), "
           "not for itself";
  }
  return ": launches come one after the other in one stream of one block, and in "
         "cudaStreamTailLaunch; all others run at the same time";
}

}  // namespace simt
