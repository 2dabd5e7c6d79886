// The counts as text: a table of each kernel's lines, and what its columns mean.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

#include "engine.hpp"
#include "findings.hpp"

namespace simt {
namespace {

/// A kernel's name as its launch spells it, split: "ns::sum<4, T>" is base "sum", arguments
/// "<4, T>". Other expressions ("table[k].kernel") are all base.
struct KernelName {
  std::string base, arguments;
};

/// Where the template arguments that begin at `text[at]` end; npos if they do not.
std::size_t end_of_arguments(const std::string& text, std::size_t at) {
  int angles = 0, brackets = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    brackets += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (brackets == 0) angles += (c == '<') - (c == '>');
    if (angles == 0) return at + 1;
  }
  return std::string::npos;
}

KernelName parts_of(const std::string& text) {
  KernelName name;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '<') {
      const std::size_t end = end_of_arguments(text, at);
      if (end == std::string::npos) return {text, ""};
      name.arguments = text.substr(at, end - at);
      at = end;
    } else if (text.compare(at, 2, "::") == 0) {
      name = {};
      at += 2;
    } else if (text[at] == '_' || std::isalnum(static_cast<unsigned char>(text[at])) != 0) {
      if (!name.arguments.empty()) return {text, ""};
      name.base += text[at++];
    } else if (text[at] == ' ') {
      ++at;
    } else {
      return {text, ""};
    }
  }
  return name.base.empty() ? KernelName{text, ""} : name;
}

/// At most `width` characters, the end cut off.
std::string cut(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

constexpr std::size_t name_width = 35;  // leaves room for large counts in 80 columns

/// "1 block", "2 blocks"
std::string counted(std::uint64_t n, const char* what, const char* plural = "s") {
  return std::to_string(n) + " " + what + (n == 1 ? "" : plural);
}

std::string heading(const KernelCount& kernel, const std::string& name) {
  const auto steps = static_cast<double>(std::max<std::uint64_t>(kernel.warp_steps, 1));
  char lanes[40];
  std::snprintf(lanes, sizeof lanes, "  %.1f lanes active per step, ",
                static_cast<double>(kernel.lane_steps) / steps);
  const std::string by_kernels = kernel.by_kernels == 0 ? ""
                                                        : "  " + std::to_string(kernel.by_kernels) +
                                                              " of the launches by kernels\n";
  return name + ": " + counted(kernel.launches, "launch", "es") + ", " +
         counted(kernel.blocks, "block") + ", " + counted(kernel.threads, "thread") + "\n" +
         by_kernels + lanes + counted(kernel.warp_steps, "warp-step") + ", " +
         counted(kernel.barriers, "barrier") + " (per warp)\n";
}

/// A row; below it, with an arrow at "per request", the hint for it.
std::string row(const LineCount& l, const std::string& where, int width) {
  const auto per = [&](std::uint64_t v) {
    return static_cast<double>(v) / static_cast<double>(l.requests);
  };
  const bool shared = l.space == Space::shared;
  char line[400];
  std::snprintf(line, sizeof line, "  %-*s %-6s %-6s %5u %8llu %5.2f %6.2f %s %5.2f\n", width,
                where.c_str(), shared ? "shared" : "global", l.access, l.bytes,
                static_cast<unsigned long long>(l.requests), per(l.lanes), per(l.units),
                shared ? "wavf" : "sect", per(l.ideal));
  const std::string note =
      l.hint + (l.hint.empty() || l.exact ? "" : ", ") + (l.exact ? "" : "not exact");
  if (note.empty()) return line;
  char below[400];
  std::snprintf(below, sizeof below, "%*s ^\n", width + 42, note.c_str());
  return std::string(line) + below;
}

std::string rows(const KernelCount& kernel) {
  std::vector<std::string> places;
  std::size_t width = 4;
  for (const LineCount& l : kernel.lines) {
    places.push_back(SourceLine{l.file, l.line}.text());
    width = std::max(width, places.back().size());
  }
  char line[400];
  std::snprintf(line, sizeof line, "  %-*s %-13s %5s %8s %5s %11s %5s\n", static_cast<int>(width),
                "line", "access", "bytes", "requests", "lanes", "per request", "ideal");
  std::string text = line;
  for (std::size_t k = 0; k < places.size(); ++k) {
    text += row(kernel.lines[k], places[k], static_cast<int>(width));
  }
  return text;
}

/// How often each text occurs.
std::map<std::string, int> tally(const std::vector<std::string>& texts) {
  std::map<std::string, int> found;
  for (const std::string& text : texts) ++found[text];
  return found;
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& kernels) {
  std::vector<std::string> names;
  for (const std::string& kernel : kernels) names.push_back(parts_of(kernel).base);
  for (const bool whole : {false, true}) {
    const std::map<std::string, int> found = tally(names);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (found.at(names[k]) == 1) continue;
      names[k] = whole ? kernels[k] : names[k] + parts_of(kernels[k]).arguments;
    }
  }
  std::vector<std::string> shorter;
  for (const std::string& name : names) shorter.push_back(cut(name, name_width));
  const std::map<std::string, int> found = tally(shorter);
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (found.at(shorter[k]) > 1) shorter[k] = names[k];
  }
  return shorter;
}

std::string table(const std::vector<KernelCount>& counts) {
  std::vector<std::string> names;
  for (const KernelCount& kernel : counts) names.push_back(kernel.kernel);
  names = short_names(names);
  std::string text;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    text += heading(counts[k], names[k]);
    if (!counts[k].lines.empty()) text += rows(counts[k]);
  }
  return text;
}

std::string legend(const TableShows& shows) {
  std::string text =
      "  lanes active  of a warp's 32, on average over its steps\n"
      "  warp-steps    stretches of code without a branch, counted once per warp\n"
      "  barriers      every warp that waits for its block counts one\n";
  if (!shows.global && !shows.shared) return text;
  text +=
      "  line          of your source; one row per kind of access on it\n"
      "  access        what it does: load reads, store writes, atomic does both at once\n"
      "  bytes         of one lane's access\n"
      "  requests      times that a warp executed the access\n"
      "  lanes         of a warp's 32, on average, that took part\n";
  if (shows.global) {
    text += "  sect          sectors: pieces of 32 bytes of global memory, per request\n";
  }
  if (shows.shared) {
    text += "  wavf          wavefronts: rounds that shared memory takes, per request\n";
  }
  text += "  ideal         what would do, if the lanes' bytes lay side by side\n";
  if (!shows.exact) {
    text += "  not exact     the lanes could not be put into requests with certainty\n";
  }
  return text;
}

TableShows shown_by(const std::vector<KernelCount>& counts) {
  TableShows shows;
  for (const KernelCount& kernel : counts) {
    for (const LineCount& line : kernel.lines) {
      (line.space == Space::shared ? shows.shared : shows.global) = true;
      shows.exact = shows.exact && line.exact;
    }
  }
  return shows;
}

}  // namespace simt
