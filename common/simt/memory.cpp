#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "access.hpp"
#include "errors.hpp"
#include "findings.hpp"

#if defined(__ELF__)
#include <link.h>
extern "C" {
__attribute__((weak)) extern char __start_simt_device, __stop_simt_device;
__attribute__((weak)) extern char __start_simt_constant, __stop_simt_constant;
}
#endif

namespace simt {

Ranges ranges;

namespace {

constexpr std::size_t gap = 256;  // between allocations, never touchable
constexpr std::uint8_t touchable_word = 0x0F, written_word = 0xFF;

std::mutex mutex;
std::map<std::uintptr_t, std::size_t> allocations;  // start, bytes asked for
std::map<std::uintptr_t, std::size_t> freed;        // the most recent ones, for reports
std::uintptr_t next_place = 0;
std::size_t in_use = 0;

std::size_t room_of(std::size_t bytes) { return (bytes + gap + gap - 1) / gap * gap; }

/// A gap of `room` bytes in the heap, searched from where the last one was found, so that freed
/// memory is reused as late as possible.
std::uintptr_t find_room(std::size_t room) {
  const std::uintptr_t end = ranges.heap + ranges.heap_bytes;
  for (int round = 0; round < 2; ++round) {
    std::uintptr_t place = round == 0 ? next_place : ranges.heap + gap;
    auto next = allocations.lower_bound(place);
    if (next != allocations.begin()) {
      const auto before = std::prev(next);
      place = std::max(place, before->first + room_of(before->second));
    }
    while (next != allocations.end() && next->first - place < room) {
      place = next->first + room_of(next->second);
      ++next;
    }
    if (place <= end && end - place >= room) return place;
  }
  return 0;
}

/// Gives the pages that lie wholly inside back to the system.
void drop_pages(std::uintptr_t address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (address + page - 1) / page * page;
  const std::uintptr_t last = (address + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

bool inside(std::uintptr_t a, std::size_t bytes, std::uintptr_t start, std::uintptr_t length) {
  return a >= start && a - start <= length && bytes <= length - (a - start);
}

/// The bytes of one word as bits: those of [address, address + bytes).
unsigned bytes_in_word(std::uintptr_t word, std::uintptr_t address, std::size_t bytes) {
  unsigned mask = 0;
  for (unsigned k = 0; k < 4; ++k) {
    if (word + k >= address && word + k < address + bytes) mask |= 1u << k;
  }
  return mask;
}

void find_image() {
#if defined(__ELF__)
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        std::uintptr_t low = UINTPTR_MAX, writable = UINTPTR_MAX, constant_end = 0;
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          const auto& part = info->dlpi_phdr[k];
          const std::uintptr_t start = info->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD) {
            low = std::min(low, start);
            if (part.p_flags & PF_W) writable = std::min(writable, start);
          }
          if (part.p_type == PT_GNU_RELRO) constant_end = start + part.p_memsz;
        }
        ranges.image = ranges.tables = low;
        ranges.tables_bytes = std::max(writable, constant_end) - low;
        return 1;  // the first one is the program
      },
      nullptr);
  if (&__start_simt_device != nullptr) {
    const auto start = reinterpret_cast<std::uintptr_t>(&__start_simt_device) & ~std::uintptr_t{3};
    ranges.variables = start;
    ranges.variables_bytes = reinterpret_cast<std::uintptr_t>(&__stop_simt_device) - start;
  }
  if (&__start_simt_constant != nullptr) {
    ranges.constants = reinterpret_cast<std::uintptr_t>(&__start_simt_constant);
    ranges.constants_bytes =
        reinterpret_cast<std::uintptr_t>(&__stop_simt_constant) - ranges.constants;
  }
#endif
}

/// Before each variable of the device and each constant: host_defines.h.
struct Gap {
  std::uintptr_t address;
  bool managed;  ///< the variable that follows it
  /// Where that variable begins.
  std::uintptr_t end() const { return (address + 256 + 63) / 64 * 64 + 64; }
};
std::vector<Gap> variable_gaps, constant_gaps;  // ascending

std::vector<Gap> gaps_in(std::uintptr_t start, std::size_t bytes) {
  constexpr char text[] = SIMT_GAP_TEXT, managed[] = SIMT_MANAGED_GAP_TEXT;
  std::vector<Gap> gaps;
  const std::string_view all(reinterpret_cast<const char*>(start), bytes);
  for (const bool is_managed : {false, true}) {
    const std::string_view mark = is_managed ? std::string_view(managed, sizeof managed)
                                             : std::string_view(text, sizeof text);
    for (std::size_t at = 0; (at = all.find(mark, at)) != all.npos; at += mark.size())
      gaps.push_back({start + at, is_managed});
  }
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.address < b.address; });
  return gaps;
}
/// The last gap that starts at the address or before it; nullptr if there is none.
const Gap* gap_before(const std::vector<Gap>& gaps, std::uintptr_t a) {
  const Gap* before = nullptr;
  for (const Gap& gap : gaps) {
    if (gap.address <= a) before = &gap;
  }
  return before;
}

/// The system's name of the mapping that holds an address: a file, "[stack]", "[heap]", or nothing
/// for most memory from malloc.
std::string mapping_of(std::uintptr_t a) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long start = 0, end = 0;
    int name = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &start, &end, &name) < 2)
      continue;
    if (a >= start && a < end) return line.substr(std::min<std::size_t>(name, line.size()));
  }
  return "";
}

std::string kind_of_host_memory(std::uintptr_t a) {
  constexpr std::uintptr_t near = 4096;
  const bool after = a - ranges.variables - ranges.variables_bytes < near;
  if (ranges.variables_bytes != 0 && (after || ranges.variables - a <= near)) {
    return "host memory beside the __device__ variables: an index outside of one of them, or a "
           "variable of the host, which a kernel may not use";
  }
  const std::string mapping = mapping_of(a);
  if (mapping == "[stack]") {
    return "host memory, a local variable of the host: copy it with cudaMemcpy(), or pass it by "
           "value";
  }
  const bool in_image = a >= ranges.image && a - ranges.image < std::uintptr_t{1} << 31;
  if (mapping != "[heap]" && (in_image || mapping.find('/') == 0)) {
    return "host memory, a global or static variable of the host: declare it __device__ or "
           "__constant__ (which does not help a variable template, here), or pass it to the kernel";
  }
  return "host memory, as from malloc, new or std::vector: a kernel needs memory of cudaMalloc(). "
         "If the pointer is the device's, the index lies far outside";
}

}  // namespace

void* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr,
                 "simt: cannot reserve %zu MiB of address space; lower SIMT_MEMORY (bytes of "
                 "device memory) or raise `ulimit -v`\n",
                 bytes >> 20);
    std::exit(4);
  }
  return p;
}

std::size_t word_count() {
  return (ranges.heap_bytes + ranges.windows_bytes + ranges.variables_bytes) / 4 + 16;
}

void set_up_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    Ranges& r = ranges;
    r.heap_bytes = (limits().memory_bytes + window_bytes - 1) / window_bytes * window_bytes;
    r.windows_bytes = std::size_t{window_count} * window_bytes;
    r.heap = reinterpret_cast<std::uintptr_t>(reserve(r.heap_bytes + r.windows_bytes));
    r.windows = r.heap + r.heap_bytes;
    next_place = r.heap + gap;
    find_image();
    r.state = static_cast<std::uint8_t*>(reserve(word_count()));
    std::memset(r.state + (r.heap_bytes + r.windows_bytes) / 4, written_word,
                r.variables_bytes / 4 + 16);
    variable_gaps = gaps_in(r.variables, r.variables_bytes);
    constant_gaps = gaps_in(r.constants, r.constants_bytes);
    for (const Gap& gap : variable_gaps) {
      for (std::uintptr_t a = gap.address; a < gap.end(); ++a) {
        std::size_t word = 0;
        if (word_of(a, &word)) r.state[word] &= static_cast<std::uint8_t>(~(0x11u << (a & 3)));
      }
    }
  });
}

bool is_constant(std::uintptr_t a, std::size_t bytes) {
  if (!inside(a, bytes, ranges.constants, ranges.constants_bytes)) return false;
  const Gap* gap = gap_before(constant_gaps, a + bytes - 1);
  return gap == nullptr || a >= gap->end();
}

bool is_managed_variable(std::uintptr_t a) {
  if (!inside(a, 1, ranges.variables, ranges.variables_bytes)) return false;
  const Gap* gap = gap_before(variable_gaps, a);
  return gap != nullptr && gap->managed;
}

void set_state(std::uintptr_t address, std::size_t bytes, bool touchable) {
  if (!instrumented() || bytes == 0) return;
  std::size_t word = 0;
  if (!word_of(address, &word)) return;
  const auto some_bytes = [&](std::uintptr_t start) {  // of the word that begins there
    const unsigned mask = bytes_in_word(start, address, bytes);
    const unsigned others = ranges.state[word] & ~(mask | mask << 4);
    ranges.state[word] = static_cast<std::uint8_t>(others | (touchable ? mask : 0));
  };
  const std::uintptr_t end = address + bytes;
  std::uintptr_t first = address & ~std::uintptr_t{3};
  if (first < address) {
    some_bytes(first);
    first += 4;
    ++word;
  }
  const std::size_t whole = end > first ? (end - first) / 4 : 0;
  std::memset(ranges.state + word, touchable ? touchable_word : 0, whole);
  word += whole;
  if (first + 4 * whole < end) some_bytes(first + 4 * whole);
}

void* device_allocate(std::size_t bytes, bool host_accessible) {
  set_up_memory();
  if (bytes > ranges.heap_bytes) return nullptr;
  const std::size_t wanted = bytes == 0 ? 1 : bytes;
  std::uintptr_t place = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    place = find_room(room_of(wanted));
    if (place == 0 || in_use + wanted > ranges.heap_bytes) return nullptr;
    allocations[place] = wanted;
    in_use += wanted;
    next_place = place + room_of(wanted);
  }
  set_state(place, wanted, true);
  auto* p = reinterpret_cast<void*>(place);
  constexpr std::size_t largest_poisoned = 1 << 28;
  if (host_accessible) {
    std::memset(p, 0, wanted);
    mark_written(p, wanted);
  } else if (instrumented() && wanted <= largest_poisoned) {
    std::memset(p, 0xCB, wanted);  // an arbitrary value: CUDA promises nothing
  }
  return p;
}

bool device_free(void* address) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(a);
  if (found == allocations.end()) return false;
  set_state(a, found->second, false);
  drop_pages(a, found->second);
  in_use -= found->second;
  if (freed.size() > 1000) freed.clear();
  freed[a] = found->second;
  allocations.erase(found);
  return true;
}

std::size_t device_bytes_in_use() {
  const std::lock_guard<std::mutex> lock(mutex);
  return in_use;
}

bool allocation_of(const void* address, void** base, std::size_t* bytes) {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex);
  auto after = allocations.upper_bound(a);
  if (after == allocations.begin()) return false;
  --after;
  if (a - after->first >= after->second) return false;
  *base = reinterpret_cast<void*>(after->first);
  *bytes = after->second;
  return true;
}

bool is_device(const void* address, std::size_t bytes) {
  set_up_memory();
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  void* base = nullptr;
  std::size_t length = 0;
  if (allocation_of(address, &base, &length)) {
    return inside(a, bytes, reinterpret_cast<std::uintptr_t>(base), length);
  }
  return inside(a, bytes, ranges.variables, ranges.variables_bytes) ||
         inside(a, bytes, ranges.constants, ranges.constants_bytes);
}

void mark_written(void* address, std::size_t bytes) {
  if (!instrumented() || bytes == 0) return;
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  std::size_t word = 0, last = 0;
  if (!word_of(a, &word) || !word_of(a + bytes - 1, &last)) return;
  ranges.state[word] |= bytes_in_word(a & ~std::uintptr_t{3}, a, bytes) << 4;
  if (last > word) {
    for (std::size_t k = word + 1; k < last; ++k) ranges.state[k] |= 0xF0;
    ranges.state[last] |= bytes_in_word((a + bytes - 1) & ~std::uintptr_t{3}, a, bytes) << 4;
  }
}

Unwritten unwritten_in(const void* address, std::size_t bytes) {
  Unwritten run;
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  std::size_t word = 0, last = 0;
  if (!instrumented() || bytes == 0 || !word_of(a, &word) || !word_of(a + bytes - 1, &last))
    return run;
  for (std::uintptr_t at = a; at < a + bytes; ++at) {
    if ((at & 3) == 0) {  // whole words that were written, at once
      const std::size_t first = word;
      while (ranges.state[word] >> 4 == 15 && at + 4 <= a + bytes) at += 4, ++word;
      if (word != first && run.bytes >= 16) return run;
      if (word != first) run.bytes = 0;
      if (at >= a + bytes) break;
    }
    const bool written = ranges.state[word] >> (4 + (at & 3)) & 1;
    if (written && run.bytes >= 16) return run;
    if (run.bytes == 0) run.start = at - a;
    run.bytes = written ? 0 : run.bytes + 1;
    if ((at & 3) == 3) ++word;
  }
  return run.bytes >= 16 ? run : Unwritten{};
}

void copy_written_state(void* to, const void* from, std::size_t bytes) {
  if (!instrumented() || bytes == 0) return;
  const auto a = reinterpret_cast<std::uintptr_t>(to), b = reinterpret_cast<std::uintptr_t>(from);
  std::size_t word = 0, source = 0;
  if (!word_of(a, &word)) return;
  if (!word_of(b, &source))
    return mark_written(to, bytes);          // memory of the host that was registered
  for (std::size_t k = 0; k < bytes; ++k) {  // byte by byte: the two may be aligned differently
    word_of(a + k, &word);
    word_of(b + k, &source);
    const bool written = ranges.state[source] >> (4 + (b + k) % 4) & 1;
    const auto bit = static_cast<std::uint8_t>(1u << (4 + (a + k) % 4));
    ranges.state[word] =
        static_cast<std::uint8_t>(written ? ranges.state[word] | bit : ranges.state[word] & ~bit);
  }
}

bool describe_address(std::uintptr_t a, char* text, std::size_t size) {
  const auto say = [&](const char* where, std::size_t distance, const char* what,
                       std::size_t bytes) {
    std::snprintf(text, size, "%zu byte%s %s %s of %zu bytes", distance, distance == 1 ? "" : "s",
                  where, what, bytes);
  };
  if (a < 4096) {
    std::snprintf(text, size, "a null pointer");
    return false;
  }
  if (is_window(a)) {
    std::snprintf(text, size, "byte %zu of shared memory, which belongs to no variable",
                  static_cast<std::size_t>((a - ranges.windows) % window_bytes));
    return false;
  }
  const bool constant = inside(a, 1, ranges.constants, ranges.constants_bytes);
  if (constant && is_constant(a, 1)) {
    std::snprintf(text, size, "a __constant__ variable");
    return false;
  }
  if (constant || inside(a, 1, ranges.variables, ranges.variables_bytes)) {
    std::snprintf(text, size, "beside a %s variable: an index outside of it",
                  constant ? "__constant__" : "__device__");
    return false;
  }
  if (a - ranges.heap >= ranges.heap_bytes) {
    std::snprintf(text, size, "%s", kind_of_host_memory(a).c_str());
    return false;
  }
  const std::lock_guard<std::mutex> lock(mutex);
  const auto old = freed.upper_bound(a);
  if (old != freed.begin() && a - std::prev(old)->first < std::prev(old)->second) {
    say("into", a - std::prev(old)->first, "a freed allocation", std::prev(old)->second);
    return true;
  }
  const auto after = allocations.upper_bound(a);
  if (after != allocations.begin()) {
    const auto before = std::prev(after);
    const std::size_t past = a - before->first - before->second;
    if (after == allocations.end() || past <= after->first - a) {
      say("behind the end of", past, "the nearest allocation,", before->second);
      return false;
    }
  }
  if (after != allocations.end()) {
    say("before", after->first - a, "the nearest allocation,", after->second);
  } else {
    std::snprintf(text, size, "device memory that was never allocated");
  }
  return false;
}

}  // namespace simt
