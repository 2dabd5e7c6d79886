// Writes what was kept for drawing: one line of JSON per kernel, when its counts are taken, with
// the totals of the table of counts. The course's scripts read it; draw/trace.py describes it.
#include "trace_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "findings.hpp"

namespace simt {
namespace {

std::string label;

/// Opened, and emptied, when the first kernel's trace is written.
FILE* file() {
  static FILE* const opened = [] {
    FILE* f = std::fopen(trace_path().c_str(), "w");
    if (f == nullptr) {
      std::fprintf(stderr, "simt: cannot write SIMT_TRACE=%s\n", trace_path().c_str());
      std::_Exit(4);
    }
    return f;
  }();
  return opened;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return result + "\"";
}

template <class T>
std::string number(T n) {
  return std::to_string(n);
}

/// "[a,b,c]"
template <class C, class F>
std::string list(const C& values, F text_of) {
  std::string text = "[";
  for (const auto& value : values) text += (text.size() > 1 ? "," : "") + text_of(value);
  return text + "]";
}

std::string triple(unsigned x, unsigned y, unsigned z) {
  return "[" + number(x) + "," + number(y) + "," + number(z) + "]";
}
std::string triple(const uint3& v) { return triple(v.x, v.y, v.z); }
std::string triple(const dim3& v) { return triple(v.x, v.y, v.z); }

std::string place(const SourceLine& line) {
  return "\"file\":" + quoted(line.file) + ",\"line\":" + number(line.line);
}

std::string row_text(const LineCount& l) {
  return "{" + place({l.file, l.line}) +
         ",\"space\":" + (l.space == Space::shared ? "\"shared\"" : "\"global\"") +
         ",\"access\":" + quoted(l.access) + ",\"bytes\":" + number(l.bytes) +
         ",\"requests\":" + number(l.requests) + ",\"lanes\":" + number(l.lanes) +
         ",\"units\":" + number(l.units) + ",\"ideal\":" + number(l.ideal) +
         ",\"bytes_asked\":" + number(l.bytes_asked) + ",\"bytes_moved\":" + number(l.bytes_moved) +
         ",\"exact\":" + (l.exact ? "true" : "false") + ",\"hint\":" + quoted(l.hint) + "}";
}

/// The program's __device__ variables, by nm, which comes with every compiler: [name, byte, bytes].
std::string variables_text(const TracedMemory& memory) {
  char path[4096], command[4400], line[4096];
  std::snprintf(path, sizeof path, "/proc/%d/exe", static_cast<int>(getpid()));
  std::snprintf(command, sizeof command, "nm -CS --defined-only '%s' 2>/dev/null", path);
  std::vector<std::string> found;
  FILE* pipe = popen(command, "r");
  while (pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr) {
    unsigned long address = 0, bytes = 0;
    int name = 0;  // lines without a size have no second number of 16 digits
    if (std::sscanf(line, "%16lx%*1[ ]%16lx%*1[ ]%*c %n", &address, &bytes, &name) < 2) continue;
    if (name < 36 || ranges.image + address - ranges.variables >= ranges.variables_bytes) continue;
    const std::uintptr_t at = ranges.image + address - memory.base;
    std::string text = line + name;
    text.erase(text.find_last_not_of('\n') + 1);
    found.push_back("[" + quoted(text) + "," + number(at) + "," + number(bytes) + "]");
  }
  if (pipe != nullptr) pclose(pipe);
  return list(found, [](const std::string& text) { return text; });
}

std::string memory_text(const TracedMemory& memory) {
  const bool variables = memory.base == (ranges.variables & ~std::uintptr_t{127});
  return "{\"bytes\":" + number(memory.bytes) + ",\"arguments\":" +
         list(memory.arguments,
              [](const auto& a) { return "[" + number(a.first) + "," + number(a.second) + "]"; }) +
         (variables ? ",\"variables\":" + variables_text(memory) : "") + "}";
}

/// The places of a kernel, in the order of the code, and which one an item belongs to.
class Places {
 public:
  explicit Places(std::vector<TracedPlace> places) : places_(std::move(places)) {
    std::sort(places_.begin(), places_.end(), [](const TracedPlace& a, const TracedPlace& b) {
      return std::tie(a.row, a.pc, a.kind) < std::tie(b.row, b.pc, b.kind);
    });
  }

  std::size_t of(const TracedRequest& r) const {
    const auto at = std::find_if(places_.begin(), places_.end(), [&](const TracedPlace& p) {
      return p.pc == r.pc && p.kind == r.kind && p.shared == r.shared;
    });
    return static_cast<std::size_t>(at - places_.begin());
  }

  std::string text() const {
    return list(places_, [](const TracedPlace& p) {
      return "{\"row\":" + number(p.row) + ",\"requests\":" + number(p.requests) +
             ",\"lanes\":" + number(p.lanes) + ",\"units\":" + number(p.units) +
             ",\"ideal\":" + number(p.ideal) +
             ",\"turns\":" + (p.shared && p.kind == Event::atomic_loop ? "2" : "1") + "}";
    });
  }

 private:
  std::vector<TracedPlace> places_;
};

std::string item_text(const TracedItem& item, const Places& places) {
  const TracedRequest& r = item.what;
  const auto plain = [](std::int64_t n) { return std::to_string(n); };
  switch (item.kind) {
    case TracedItem::step:
      return "[\"step\"," + number(item.value) + "," + number(item.count) + "]";
    case TracedItem::barrier:
      return "[\"barrier\"," + number(source_line(item.value).line) + "]";
    case TracedItem::left_out:
      return "[\"left out\"," + number(item.value) + "]";
    case TracedItem::copy: {
      const SourceLine where = source_line(r.pc);
      return "[\"copy\"," + quoted(where.file) + "," + number(where.line) + "," +
             number(item.value) + "," + number(item.memory) + "," + number(item.offsets[0]) + "," +
             number(item.from) + "," + number(item.offsets[1]) + ",[[" + number(r.bytes) + "]]]";
    }
    case TracedItem::request:
      break;
  }
  return "[\"request\"," + number(places.of(r)) + "," + number(r.mask) + "," + number(r.bytes) +
         "," + number(r.units) + "," + number(r.ideal) + "," + number(item.memory) + "," +
         list(item.offsets, plain) + "]";
}

std::string block_text(const TracedBlock& block, const char* why, const Places& places) {
  return "{\"why\":" + quoted(why) + ",\"launch\":" + number(block.launch) +
         ",\"block\":" + triple(block.index) + ",\"rank\":" + number(block.rank) +
         ",\"grid\":" + triple(block.shape.grid) + ",\"shape\":" + triple(block.shape.block) +
         ",\"cluster\":" + triple(block.shape.cluster) + ",\"shared\":" +
         list(block.variables,
              [](const TracedVariable& v) {
                return "[" + quoted(v.name) + "," + number(v.offset) + "," + number(v.bytes) + "]";
              }) +
         ",\"warps\":" +
         list(block.warps,
              [&](const std::vector<TracedItem>& items) {
                return list(items, [&](const TracedItem& i) { return item_text(i, places); });
              }) +
         "}";
}

std::string finding_text(const TracedFinding& f) {
  std::string text = "{\"kind\":" + quoted(f.kind) + ",\"text\":" + quoted(f.text) +
                     ",\"launch\":" + number(f.launch);
  if (f.has_place) {
    const char* does = f.access == Access::load    ? "reads"
                       : f.access == Access::store ? "writes"
                                                   : "updates";
    text += ",\"block\":" + triple(f.block) + ",\"thread\":" + number(f.thread) + "," +
            place(f.line) + ",\"does\":" + quoted(does) + ",\"memory\":" + number(f.memory) +
            ",\"offset\":" + number(f.offset) + ",\"bytes\":" + number(f.bytes) +
            ",\"lanes\":" + list(f.lanes, [](const auto& l) {
              return "[" + number(l.first) + "," + number(l.second) + "]";
            });
  }
  if (f.has_other) {
    text += ",\"other\":{\"block\":" + triple(f.other_block) +
            ",\"thread\":" + number(f.other_thread) + "," + place(f.other_line) + "}";
  }
  return text + "}";
}

}  // namespace

std::string trace_path() {
  const char* text = std::getenv("SIMT_TRACE");
  return text == nullptr ? "" : text;
}

void label_trace(const std::string& text) { label = text; }

void write_trace(const KernelCount& count, std::vector<TracedPlace> traced) {
  const KernelTrace trace = take_kernel_trace(count.kernel);
  std::vector<ProgramCounter> pcs;
  for (const TracedBlock* block : {&trace.first, &trace.worst.block, &trace.found}) {
    for (const auto& items : block->warps) {
      for (const TracedItem& item : items) {
        if (item.kind == TracedItem::barrier)
          pcs.push_back(static_cast<ProgramCounter>(item.value));
        if (item.kind == TracedItem::copy) pcs.push_back(item.what.pc);
      }
    }
  }
  find_source_lines(pcs);
  const Places places(std::move(traced));
  std::string blocks;
  const auto add = [&](const TracedBlock& block, const char* why) {
    if (block.launch > 0) blocks += (blocks.empty() ? "" : ",") + block_text(block, why, places);
  };
  add(trace.first, "first");
  add(trace.worst.block, "worst");
  if (trace.found_at != std::make_pair(1u, 0u)) add(trace.found, "finding");
  const std::string text =
      "{\"format\":1,\"label\":" + quoted(label) + ",\"kernel\":" + quoted(count.kernel) +
      ",\"launches\":" + number(count.launches) + ",\"blocks\":" + number(count.blocks) +
      ",\"threads\":" + number(count.threads) + ",\"barriers\":" + number(count.barriers) +
      ",\"warp_steps\":" + number(count.warp_steps) +
      ",\"lane_steps\":" + number(count.lane_steps) + ",\"window\":" + number(window_bytes) +
      ",\"lines\":" + list(count.lines, row_text) + ",\"places\":" + places.text() +
      ",\"memories\":" + list(trace.memories, memory_text) +
      ",\"findings\":" + list(trace.findings, finding_text) + ",\"sample\":[" + blocks + "]}\n";
  if (std::fputs(text.c_str(), file()) < 0 || std::fflush(file()) != 0) {
    std::fprintf(stderr, "simt: cannot write SIMT_TRACE=%s\n", trace_path().c_str());
    std::_Exit(4);
  }
}

}  // namespace simt
