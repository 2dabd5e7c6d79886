// How a sort unfolds: which SM parts or sorts which keys when, for ./unfold to draw.
// Runs 02 (a block per segment) or 05 (work queue) with a note of each step, and writes the notes
// as CSV. The kernels are those of the versions, but for the notes; what they call is the
// versions'.
#include <cuda_runtime.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "chapter/input.hpp"

// The versions' functions under names of this program: it is linked with the versions, too.
#define block_per_segment unfolded_02
#include "02_block.cu"
#undef block_per_segment
#define work_queue unfolded_05
#include "05_work_queue.cu"
#undef work_queue

namespace {

/// A block parted or sorted keys [first, first + count).
struct Note {
  std::int64_t first, count;
  std::uint64_t begin, end;  // nanoseconds
  int sm, level, is_leaf;
};

/// Where blocks write their notes. *used counts those that there would be room for, too.
struct Notes {
  Note* notes;
  unsigned* used;
  unsigned room;
};

__device__ std::uint64_t nanoseconds() {
#ifdef SIMT
  return static_cast<std::uint64_t>(clock64());
#else
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

__device__ int number_of_sm() {
#ifdef SIMT
  return 0;
#else
  unsigned number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return static_cast<int>(number);
#endif
}

/// One thread of a block calls, after all are done.
__device__ void write_note(const Notes& to, std::int64_t first, std::int64_t count, int level,
                           bool is_leaf, std::uint64_t begin) {
  const unsigned mine = atomicAdd(to.used, 1u);
  if (mine < to.room)
    to.notes[mine] = {first, count, begin, nanoseconds(), number_of_sm(), level, is_leaf ? 1 : 0};
}

namespace of_02 {

using namespace unfolded_02;
using Keys = Arrays<unsigned>;

/// unfolded_02::sort_segment with notes. Parts that cannot be launched are done here.
__global__ void __launch_bounds__(block_size)
    sort_segment(Keys arrays, Segment<unsigned> given, int level, Notes notes) {
  __shared__ Segment<unsigned> stack[64];
  __shared__ int height;
  if (thread_index() == 0) height = 0;
  Segment<unsigned> segment = given;
  while (true) {
    const std::uint64_t begin = nanoseconds();
    const unsigned* const from = arrays.from(segment.place);
    __syncthreads();
    const bool is_leaf = segment.count <= tile;
    if (is_leaf) {
      sort_leaf(from + segment.first, arrays.out + segment.first, static_cast<int>(segment.count));
    } else {
      const unsigned last = last_of_left(from, segment, arrays.most_parted);
      const std::int64_t lefts =
          partition(from, arrays.to(segment.place), segment.first, segment.count, last);
      if (thread_index() == 0) {
        const int place = next_place(segment.place), parted = segment.level + 1;
        const Segment<unsigned> parts[2] = {
            {segment.first, lefts, segment.low, last, place, parted},
            {segment.first + lefts, segment.count - lefts, last + 1, segment.high, place, parted}};
        const int larger = parts[0].count < parts[1].count ? 1 : 0;
        for (const int k : {larger, 1 - larger}) {
          if (parts[k].count == 0 || is_sorted(parts[k])) continue;
          if (level + 1 < most_levels) {
            sort_segment<<<1, block_size, 0, cudaStreamFireAndForget>>>(arrays, parts[k], level + 1,
                                                                        notes);
            if (cudaGetLastError() == cudaSuccess) continue;
          }
          stack[height++] = parts[k];
        }
      }
    }
    __syncthreads();
    if (thread_index() == 0)
      write_note(notes, segment.first, segment.count, segment.level, is_leaf, begin);
    if (height == 0) return;
    segment = stack[height - 1];
    __syncthreads();
    if (thread_index() == 0) --height;
  }
}

void run(const unsigned* in, unsigned* scratch, unsigned* out, std::int64_t n, unsigned* zeros,
         const Notes& notes) {
  const Keys arrays{in, scratch, out, levels_by_pivots(n),
                    reinterpret_cast<unsigned long long*>(zeros)};
  sort_segment<<<1, block_size>>>(arrays, Segment<unsigned>{0, n, 0, ~0u, 0, 0}, 0, notes);
}

}  // namespace of_02

namespace of_05 {

using namespace unfolded_05;
using Keys = Arrays<unsigned>;

/// unfolded_05::work with notes.
__global__ void __launch_bounds__(block_size)
    work_noted(Keys arrays, Queue<unsigned> queue, std::int64_t n, Notes notes) {
  __shared__ Word task;
  __shared__ std::int64_t left, right;
  __shared__ Segment<unsigned> parted;
  while (true) {
    if (thread_index() == 0) task = take(queue, n);
    __syncthreads();
    if (task == 0) return;
    std::uint64_t begin = nanoseconds();
    const Word number = (task >> 32) - 1;
    Segment<unsigned>& segment = queue.segments[number];
    const std::int64_t start = static_cast<std::int64_t>(task & 0xffffffffu) * tile;
    const int here = static_cast<int>(min(segment.count - start, std::int64_t{tile}));
    const std::int64_t first = segment.first, end = segment.first + segment.count;
    const int level = segment.level;
    unsigned* const to = arrays.to(segment.place);
    const Tile<unsigned> t =
        read_tile(arrays.from(segment.place) + first + start, here, segment.last);
    if (thread_index() == 0) {
      const auto lefts = static_cast<Word>(t.lefts), rights = static_cast<Word>(here - t.lefts);
      left = first + static_cast<std::int64_t>(atomicAdd(&segment.lefts, lefts));
      right = end - static_cast<std::int64_t>(atomicAdd(&segment.rights, rights));
    }
    __syncthreads();
    write_tile(t, to, here, left, right);
    __syncthreads();
    if (thread_index() == 0) {
      write_note(notes, first + start, here, level, false, begin);
      const unsigned tiles =
          Atomic<unsigned>(segment.tiles).fetch_sub(1, cuda::memory_order_acq_rel);
      parted.count = -1;
      if (tiles == 1) parted = segment;
    }
    __syncthreads();
    if (parted.count < 0) continue;
    const Segment<unsigned> mine = parted;
    begin = nanoseconds();
    go_on(arrays, queue, number, mine);
    __syncthreads();
    if (thread_index() != 0) continue;
    Segment<unsigned> parts[2];
    get_parts(mine, static_cast<std::int64_t>(mine.lefts), parts);
    for (const Segment<unsigned>& part : parts) {
      if (part.count > 0 && part.count <= tile)
        write_note(notes, part.first, part.count, part.level, true, begin);
    }
  }
}

void run(const unsigned* in, unsigned* scratch, unsigned* out, std::int64_t n, char* zeros,
         Segment<unsigned>* segments, unsigned blocks, const Notes& notes) {
  const Layout<unsigned> layout(n);
  const Keys arrays{in, scratch, out, levels_by_pivots(n), 1};
  const Queue<unsigned> queue{segments, reinterpret_cast<Word*>(zeros + layout.tasks),
                              reinterpret_cast<Counts*>(zeros),
                              static_cast<Word>(layout.most_tasks)};
  put_input<<<1, block_size>>>(arrays, queue, n);
  work_noted<<<blocks, block_size>>>(arrays, queue, n, notes);
}

}  // namespace of_05

/// Ends the program: 1 an error, 2 bad usage, 3 no GPU.
[[noreturn]] void fail(int code, const char* what, const char* why) {
  std::fprintf(stderr, "unfold: %s%s\n", what, why);
  std::exit(code);
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const bool no_gpu = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  std::fprintf(stderr, "unfold: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(no_gpu ? 3 : 1);
}

template <class T>
T* device_memory(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
  check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
  return memory;
}

constexpr unsigned room = 1 << 20;  // notes

/// Sorts n random keys and writes the notes, of the second run of two.
void unfold(int version, std::int64_t n) {
  std::vector<unsigned> keys(static_cast<std::size_t>(n)), sorted(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<unsigned>(course::mix(1, i) >> 32);
  const std::size_t bytes = keys.size() * sizeof(unsigned);
  const unfolded_05::Layout<unsigned> layout(n);
  auto* const in = device_memory<unsigned>(keys.size());
  auto* const scratch = device_memory<unsigned>(keys.size());
  auto* const out = device_memory<unsigned>(keys.size());
  auto* const zeros = device_memory<char>(layout.scratch);
  auto* const segments =
      device_memory<unfolded_05::Segment<unsigned>>(static_cast<std::size_t>(layout.most_segments));
  const Notes notes{device_memory<Note>(room), device_memory<unsigned>(1), room};
  check(cudaMemcpy(in, keys.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  unsigned blocks = 0;
  check(unfolded_05::blocks_to_fill_gpu<unsigned>(&blocks), "the GPU's size");
  for (int run = 0; run < 2; ++run) {
    check(cudaMemset(zeros, 0, layout.scratch), "cudaMemset");
    check(cudaMemset(notes.used, 0, sizeof(unsigned)), "cudaMemset");
    if (version == 2)
      of_02::run(in, scratch, out, n, reinterpret_cast<unsigned*>(zeros), notes);
    else
      of_05::run(in, scratch, out, n, zeros, segments, blocks, notes);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "sort");
  }
  unsigned used = 0;
  check(cudaMemcpy(sorted.data(), out, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemcpy(&used, notes.used, sizeof used, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::sort(keys.begin(), keys.end());
  if (sorted != keys) fail(1, "the keys are not sorted", "");
  if (used > room) fail(1, "too many notes: ", "give a smaller --size");
  std::vector<Note> list(used);
  check(cudaMemcpy(list.data(), notes.notes, used * sizeof(Note), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  std::uint64_t start = ~std::uint64_t{0};
  for (const Note& note : list) start = std::min(start, note.begin);
  std::printf("# unfold version=%02d n=%lld\n", version, static_cast<long long>(n));
  std::printf("sm,level,first,count,leaf,begin_ns,end_ns\n");
  for (const Note& note : list) {
    std::printf("%d,%d,%lld,%lld,%d,%llu,%llu\n", note.sm, note.level,
                static_cast<long long>(note.first), static_cast<long long>(note.count),
                note.is_leaf, static_cast<unsigned long long>(note.begin - start),
                static_cast<unsigned long long>(note.end - start));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const usage = "; usage: unfold 02|05 N   (CSV to standard output; N up to 2^26)";
  if (argc != 3) fail(2, "two arguments are needed", usage);
  const int version = std::strcmp(argv[1], "02") == 0 ? 2 : std::strcmp(argv[1], "05") == 0 ? 5 : 0;
  char* end = nullptr;
  errno = 0;
  const long long n = std::strtoll(argv[2], &end, 10);
  if (version == 0) fail(2, "no such version", usage);
  if (errno != 0 || end == argv[2] || *end != '\0' || n <= unfolded_05::tile || n > 1 << 26)
    fail(2, "N is no number of keys above 2048", usage);
  unfold(version, n);
  return 0;
}
