// From a place in the program to file and line, by addr2line, which comes with every compiler.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "engine.hpp"
#include "findings.hpp"

namespace simt {
namespace {

/// Where the engine's own sources stand. Under ccache with a base folder the compiler knows a path
/// relative to the build folder: "../../common/simt/", of which "/common/simt/" stays.
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

/// addr2line prints the innermost inlined function first; the first frame of the user's code is the
/// line that the reader knows.
SourceLine look_up(ProgramCounter pc) {
  SourceLine found;
  char command[4400];
  std::snprintf(command, sizeof command, "addr2line -i -e '%s' %#x 2>/dev/null",
                program_path().c_str(), pc - 1);
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return found;
  char text[4096];
  while (std::fgets(text, sizeof text, pipe) != nullptr) {
    char* colon = std::strrchr(text, ':');
    if (colon == nullptr) continue;
    *colon = '\0';
    const bool better = found.file.empty() || (!is_users(found.file) && is_users(text));
    if (better) {
      found.file = text;
      found.line = std::atoi(colon + 1);
    }
  }
  pclose(pipe);
  return found;
}

}  // namespace

std::string SourceLine::text() const {
  if (file.empty() || file == "??") return "a place without line information";
  const auto slash = file.rfind('/');
  return (slash == std::string::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

SourceLine source_line(ProgramCounter pc) {
  static std::mutex mutex;
  static auto& cache = *new std::map<ProgramCounter, SourceLine>;  // lasts: used at exit, too
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = cache.find(pc);
  if (found != cache.end()) return found->second;
  return cache[pc] = look_up(pc);
}

}  // namespace simt
