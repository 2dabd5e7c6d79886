// Keeps findings, prints them, and sums them up at exit.
#include "findings.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "engine.hpp"
#include "errors.hpp"
#include "trace.hpp"

namespace simt {
namespace {

bool findings_expected = false;
std::mutex mutex;
std::vector<Finding> findings;
std::uint64_t findings_made = 0, about_order = 0;
constexpr unsigned enough = 8;             // of one kind in one kernel are shown
std::map<std::string, unsigned> found_in;  // "race|kernel"
std::set<std::tuple<std::string, ProgramCounter, ProgramCounter>> known;
std::set<std::tuple<std::string, std::string, std::string>> known_lines;

void end_with_66() {
  report_unexamined();
  for (const auto& [name, count] : found_in) {
    if (count <= enough) continue;
    const std::size_t bar = name.find('|');
    std::fprintf(stderr, "simt: and %u more of the kind %s in %s: mend these first\n",
                 count - enough, name.substr(0, bar).c_str(), name.substr(bar + 1).c_str());
  }
  if (about_order > 0) {
    std::fprintf(stderr,
                 "simt: %llu finding(s) about order; the exit code stays; SIMT_STRICT=1 "
                 "would change it\n",
                 static_cast<unsigned long long>(about_order));
  }
  if (findings_made == 0) return;
  std::fflush(nullptr);
  std::fprintf(stderr, "simt: %llu finding(s); exit code 66\n",
               static_cast<unsigned long long>(findings_made));
  std::_Exit(66);
}

bool setting(const char* name, bool otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::string(text) != "0";
}

bool check_wanted = setting("SIMT_CHECK", true);
bool strict_wanted = setting("SIMT_STRICT", false);

}  // namespace

bool is_about_order(const std::string& kind) {
  return kind == "order" || kind == "unwritten" || kind == "undefined";
}
bool strict() { return strict_wanted; }
void set_strict(bool on) { strict_wanted = on; }
bool checks_wanted() { return check_wanted; }
void want_checks(bool on) { check_wanted = on; }
bool counts_wanted() { return setting("SIMT_COUNT", false); }
bool silent() { return findings_expected || !check_wanted; }

void report_at_exit() {
  std::atexit(end_with_66);
  if (counts_wanted()) {
    std::atexit([] {
      const std::vector<KernelCount> counts = take_counts();
      if (counts.empty()) return;
      std::fputs((table(counts) + "\n" + legend(shown_by(counts))).c_str(), stderr);
    });
  }
}

void find_at_exit(const std::string& text) {
  ++findings_made;
  std::fprintf(stderr, "simt: %s\n", text.c_str());
}

namespace {

/// Two lines that race in either order are reported once.
bool is_new_pair(const std::string& name, ProgramCounter first, ProgramCounter second) {
  if (first == 0) return true;
  std::string one = source_line(first).text(),
              other = second == 0 ? "" : source_line(second).text();
  if (other < one) one.swap(other);
  return known_lines.insert({name, one, other}).second;
}

void keep(const char* kind, const std::string& kernel, const Grid* grid, const std::string& text,
          ProgramCounter first, ProgramCounter second) {
  const Unobserved unobserved;
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string name = std::string(kind) + "|" + kernel;
  if (first != 0 && !known.insert({name, first, second}).second) return;
  findings.push_back({kind, kernel, kernel + ", " + text});
  if (tracing && grid != nullptr) trace_finding(kind, *grid, text, first, second);
  if (findings_expected || !is_new_pair(name, first, second)) return;
  ++(strict_wanted || !is_about_order(kind) ? findings_made : about_order);
  if (++found_in[name] > enough) return;
  std::fprintf(stderr, "simt: %s: %s\n", kind, findings.back().text.c_str());
}

}  // namespace

void find(const char* kind, Grid& grid, const std::string& text, ProgramCounter first,
          ProgramCounter second) {
  keep(kind, grid.launch.kernel, &grid, text, first, second);
}
void find(const char* kind, const std::string& kernel, const std::string& text,
          ProgramCounter first, ProgramCounter second) {
  keep(kind, kernel, nullptr, text, first, second);
}

std::vector<Finding> take_findings() {
  const std::lock_guard<std::mutex> lock(mutex);
  known.clear();
  known_lines.clear();
  return std::exchange(findings, {});
}
std::uint64_t finding_count() { return findings_made; }
void expect_findings(bool expected) { findings_expected = expected; }

}  // namespace simt
