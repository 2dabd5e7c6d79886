// From a place in the program to file and line, by addr2line, which comes with every compiler.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine.hpp"
#include "findings.hpp"

namespace simt {
namespace {

/// The folder of the engine's own sources. Under ccache with a base folder the compiler knows a
/// path relative to the build folder: "../../common/simt/", of which "/common/simt/" is kept.
std::string engine_folder() {
  std::string file = __FILE__;
  while (file.rfind("../", 0) == 0) file.erase(0, file.rfind("../../", 0) == 0 ? 3 : 2);
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash + 1);
}

std::string program_path() {
  char path[4096];
  const auto length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

/// Is this a frame of the reader's own code?
bool is_users(const std::string& file) {
  static const auto& engine = *new std::string(engine_folder());
  return file != "??" && file.rfind("/usr/", 0) != 0 &&
         (engine.empty() || file.find(engine) == std::string::npos);
}

/// For each address addr2line prints the address, then the innermost inlined function first; the
/// first frame of the user's code is the line that the reader knows. One process for all addresses,
/// because each process reads the program's line numbers anew.
std::vector<SourceLine> look_up(const std::vector<ProgramCounter>& pcs) {
  std::vector<SourceLine> found(pcs.size());
  std::string command = "addr2line -a -i -e '" + program_path() + "'";
  for (const ProgramCounter pc : pcs) {
    char address[16];
    std::snprintf(address, sizeof address, " %#x", pc - 1);
    command += address;
  }
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return found;
  char text[4096];
  std::size_t addresses = 0;
  while (std::fgets(text, sizeof text, pipe) != nullptr) {
    char* colon = std::strrchr(text, ':');
    if (colon == nullptr) {  // an address; its frames follow
      ++addresses;
      continue;
    }
    if (addresses == 0 || addresses > pcs.size()) continue;
    *colon = '\0';
    SourceLine& line = found[addresses - 1];
    const bool better = line.file.empty() || (!is_users(line.file) && is_users(text));
    if (better) {
      line.file = text;
      line.line = std::atoi(colon + 1);
    }
  }
  pclose(pipe);
  return found;
}

std::mutex mutex;
using Cache = std::map<ProgramCounter, SourceLine>;
Cache& cache() {
  static auto& lasts = *new Cache;  // never destroyed: used at exit
  return lasts;
}

}  // namespace

std::string SourceLine::text() const {
  if (file.empty() || file == "??") return "a place without line information";
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

void find_source_lines(const std::vector<ProgramCounter>& pcs) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<ProgramCounter> unknown;
  for (const ProgramCounter pc : pcs) {
    if (cache().count(pc) == 0) unknown.push_back(pc);
  }
  constexpr std::size_t at_once = 1000;  // the length of a command is limited
  for (std::size_t first = 0; first < unknown.size(); first += at_once) {
    const auto begin = unknown.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<ProgramCounter> some(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(at_once, unknown.size() - first)));
    const std::vector<SourceLine> lines = look_up(some);
    for (std::size_t k = 0; k < some.size(); ++k) cache()[some[k]] = lines[k];
  }
}

SourceLine source_line(ProgramCounter pc) {
  find_source_lines({pc});
  const std::lock_guard<std::mutex> lock(mutex);
  return cache()[pc];
}

}  // namespace simt
