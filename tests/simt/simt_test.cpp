#include "simt_test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace simt_test {
namespace {

std::string program;

std::map<std::string, Child>& children() {
  static std::map<std::string, Child> map;
  return map;
}

std::string listed(const std::vector<simt::Finding>& findings) {
  std::string text;
  for (const auto& f : findings) text += "  [" + f.kind + "] " + f.kernel + " | " + f.text + "\n";
  return text.empty() ? "  none\n" : text;
}

/// True if `text` has `part` and no digit follows: "a.cu:12" is not in "a.cu:123".
bool has(const std::string& text, const std::string& part) {
  for (auto i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) {
    const auto end = i + part.size();
    if (end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end]))) return true;
  }
  return false;
}

bool one_of(const std::string& kinds, const std::string& kind) {
  std::istringstream stream(kinds);
  for (std::string k; std::getline(stream, k, '|');) {
    if (k == kind) return true;
  }
  return false;
}

/// The name as written at the launch, without spaces and namespaces.
std::string plain(std::string name) {
  name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
  const auto colons = name.rfind("::", name.find('<'));
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string in_quotes(const std::string& word) { return "'" + word + "'"; }

}  // namespace

std::string here(const std::string& file, const std::string& name) {
  std::ifstream stream(std::string(SIMT_TEST_FOLDER) + "/" + file);
  const std::string mark = "// HERE " + name;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.size() >= mark.size() &&
        line.compare(line.size() - mark.size(), mark.size(), mark) == 0) {
      return file + ":" + std::to_string(number);
    }
  }
  ADD_FAILURE() << "no line of " << file << " ends in " << mark;
  return file + ":0";
}

void Device::SetUp() {
  if (simt::sticky_error() != 0) {
    cudaDeviceReset();
    if (simt::sticky_error() != 0)
      GTEST_SKIP() << "an earlier test of this process ended the device";
  }
  simt::expect_findings(true);
  simt::take_findings();
}

void Device::TearDown() {
  const auto findings = simt::take_findings();
  EXPECT_TRUE(findings.empty()) << "findings that nobody expected:\n" << listed(findings);
}

void Device::expect_finding(const std::string& kinds, const std::string& kernel,
                            const std::vector<std::string>& parts) {
  cudaDeviceSynchronize();
  const auto findings = simt::take_findings();
  bool found = false;
  for (const auto& f : findings) {
    EXPECT_TRUE(one_of(kinds, f.kind)) << "also found: [" << f.kind << "] " << f.text;
    EXPECT_EQ(plain(f.kernel), plain(kernel)) << f.text;
    EXPECT_EQ(f.text.find('\n'), std::string::npos) << f.text;
    found = found || (one_of(kinds, f.kind) &&
                      std::all_of(parts.begin(), parts.end(),
                                  [&](const std::string& part) { return has(f.text, part); }));
  }
  std::string wanted;
  for (const auto& part : parts) wanted += " '" + part + "'";
  EXPECT_TRUE(found) << "no [" << kinds << "] with" << wanted << " among:\n" << listed(findings);
}

void Device::expect_clean() {
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto findings = simt::take_findings();
  EXPECT_TRUE(findings.empty()) << "reported, but right:\n" << listed(findings);
}

const simt::KernelCount& kernel_count(const std::vector<simt::KernelCount>& counts,
                                      const std::string& name) {
  static const simt::KernelCount none;
  for (const auto& count : counts) {
    if (plain(count.kernel) == plain(name)) return count;
  }
  ADD_FAILURE() << "kernel " << name << " was not counted:\n" << simt::table(counts);
  return none;
}

simt::LineCount line_count(const std::vector<simt::KernelCount>& counts, const std::string& kernel,
                           const std::string& where, const std::string& access, simt::Space space) {
  const auto& count = kernel_count(counts, kernel);
  for (const auto& line : count.lines) {
    const auto slash = line.file.rfind('/');
    const auto file = slash == std::string::npos ? line.file : line.file.substr(slash + 1);
    if (file + ":" + std::to_string(line.line) == where && line.access == access &&
        line.space == space) {
      return line;
    }
  }
  ADD_FAILURE() << kernel << " has no " << access << " at " << where << ":\n"
                << simt::table(counts);
  return {};
}

RegisterChild::RegisterChild(const char* name, Child child) { children()[name] = child; }

Ended run_self(const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment) {
  std::string command = "env";
  for (const auto& e : environment) command += " " + in_quotes(e);
  command += " " + in_quotes(program);
  for (const auto& a : arguments) command += " " + in_quotes(a);
  command += " 2>&1";
  std::fflush(nullptr);
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {-1, "popen failed"};
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.append(buffer, n);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output};
}

}  // namespace simt_test

/// Arguments besides GoogleTest's: --env=NAME=VALUE restarts the program with it, because the
/// engine may read its environment before main(); --child=NAME runs only a registered child.
int main(int argc, char** argv) {
  simt_test::program = argv[0];
  bool again = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--env=", 0) != 0) continue;
    const auto equals = argument.find('=', 6);
    const auto name = argument.substr(6, equals - 6), value = argument.substr(equals + 1);
    const char* now = std::getenv(name.c_str());
    again = again || now == nullptr || now != value;
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (again) {
    execv("/proc/self/exe", argv);
    execvp(argv[0], argv);
    std::perror("exec");
    return 1;
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--child=", 0) == 0) return simt_test::children().at(argument.substr(8))();
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
