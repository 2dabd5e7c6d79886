// A chapter's program on a device, from its command line to its result file. Tests with "Expects"
// in the name cause errors that compute-sanitizer would report.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "common_device_test.hpp"
#include "program/run.hpp"

namespace {

/// How many times launchers were called.
int launches = 0;

/// A right copy, and one that leaves its last float unwritten, at n = 2^16.
Chapter tiny() {
  const auto counted = [](const Problem&, const Arguments&) {
    ++launches;
    return cudaSuccess;
  };
  Study sequence;
  sequence.name = "sequence";
  sequence.title = "Tiny copies";
  sequence.make = course::make_problem<CopyProblem>();
  sequence.versions = {copy_but("01_right", 0, counted), copy_but("02_wrong", 1, counted)};
  sequence.sizes = {size_n(1 << 16)};
  Study side = sequence;
  side.name = "side";
  side.title = "A side study";
  return {"99_tiny", "a chapter of its own", {sequence, side}};
}

struct Ran {
  int code = -1;
  std::string out, err;
  std::string all() const { return out + err; }
};

Ran run(const std::vector<std::string>& arguments, const Chapter& chapter = tiny()) {
  std::vector<std::string> words = {"99_tiny"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  Ran ran;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    ran.code = course::run(static_cast<int>(argv.size()), argv.data(), chapter);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uncaught: %s\n", error.what());
  }
  ran.err = testing::internal::GetCapturedStderr();
  ran.out = testing::internal::GetCapturedStdout();
  return ran;
}

/// The line of a table that starts with a word.
std::string line_of(const std::string& text, const std::string& word) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(word, 0) == 0) return line;
  }
  return "";
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The section of a result file about one version, with single spaces between tokens.
std::string row_of(const std::string& json, const std::string& version) {
  const auto first = json.find("\"version\": \"" + version + "\"");
  if (first == std::string::npos) return "";
  std::string row = json.substr(first, json.find("\"study\":", first) - first);
  row.erase(std::remove(row.begin(), row.end(), '\n'), row.end());
  for (auto at = row.find("  "); at != std::string::npos; at = row.find("  ")) row.erase(at, 1);
  return row;
}

/// Brackets match, no NaN or infinity: the rest of the syntax is tested in test_json.py.
void expect_json(const std::string& text) {
  std::string open;
  bool quoted = false, escaped = false;
  std::string bare;
  for (const char c : text) {
    if (quoted) {
      quoted = escaped || c != '"';
      escaped = !escaped && c == '\\';
      continue;
    }
    bare += c;
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') open += c;
    if (c == '}' || c == ']') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), c == '}' ? '{' : '[');
      open.pop_back();
    }
  }
  EXPECT_FALSE(quoted);
  EXPECT_EQ(open, "");
  EXPECT_FALSE(has(bare, "nan") || has(bare, "inf")) << bare;
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text[0], '{');
  EXPECT_EQ(text.substr(text.size() - 2), "}\n");
}

/// A file of its own for each process.
std::string json_path(const std::string& name) {
  return testing::TempDir() + "course_" + name + "_" + std::to_string(getpid()) + ".json";
}

/// Exit code 2 and one line on stderr that names the argument.
void expect_bad_usage(const Ran& ran, const std::string& argument) {
  EXPECT_EQ(ran.code, 2) << ran.all();
  EXPECT_TRUE(has(ran.err, argument)) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

TEST(Program, HelpAndListNeedNoGpu) {
  const Ran help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(has(help.out, "usage: 99_tiny")) << help.out;
  const Ran list = run({"--list"});
  EXPECT_EQ(list.code, 0);
  for (const char* part : {"99_tiny", "sequence", "side", "01_right", "02_wrong"}) {
    EXPECT_TRUE(has(list.out, part)) << list.out;
  }
}

TEST(Program, BadUsageNeedsNoGpu) {
  expect_bad_usage(run({"--frobnicate"}), "--frobnicate");
  expect_bad_usage(run({"--only", "9"}), "--only '9'");
  EXPECT_TRUE(has(run({"--only", "9"}).err, "01_right 02_wrong")) << "says what there is";
  expect_bad_usage(run({"--study", "nope"}), "--study 'nope'");
  EXPECT_TRUE(has(run({"--study", "nope"}).err, "sequence side"));
  expect_bad_usage(run({"--size", "2x3"}), "--size");
  expect_bad_usage(run({"--size", "many"}), "--size 'many'");
}

TEST(Program, AMissingDeviceIsBadUsage) {
  COURSE_NEEDS_GPU(gpu);
  expect_bad_usage(run({"--device", "1023"}), "--device 1023");
}

TEST(Program, MeasuresRightVersionsAndFailsWrongOnes) {
  COURSE_NEEDS_GPU(gpu);
  if (gpu->simulated) GTEST_SKIP() << "the CPU backend measures nothing";
  if (sanitized()) GTEST_SKIP() << "a sanitizer changes times";
  const std::string path = json_path("measure");
  const Ran ran = run({"--json", path, "--label", "team07", "--commit", "abc1234"});
  EXPECT_EQ(ran.code, 1) << ran.all();
  EXPECT_TRUE(has(ran.out, gpu->name)) << ran.out;
  EXPECT_TRUE(has(ran.out, "n=2^16")) << ran.out;
  const std::string right = line_of(ran.out, "01_right"), wrong = line_of(ran.out, "02_wrong");
  EXPECT_TRUE(has(right, " us") && has(right, "ok") && has(right, "%")) << right;
  EXPECT_TRUE(has(wrong, "FAILED")) << wrong;
  EXPECT_TRUE(has(ran.out, "1 of 65536 wrong in out, first at 65535")) << ran.out;
  EXPECT_FALSE(has(wrong, " us")) << wrong;
  EXPECT_TRUE(has(ran.err, "FAILED")) << ran.err;
  EXPECT_TRUE(has(ran.out, "--study") && has(ran.out, "side")) << "names the side studies";

  const std::string json = read(path);
  std::remove(path.c_str());
  expect_json(json);
  for (const char* part :
       {"\"schema\": 1", "\"chapter\": \"99_tiny\"", "\"commit\": \"abc1234\"",
        "\"label\": \"team07\"", "\"source_hash\": null", "\"interrupted\": false",
        "\"backend\": \"cuda\"", "\"name\": \"sequence\""}) {
    EXPECT_TRUE(has(json, part)) << part << " is not in\n" << json;
  }
  const std::string good = row_of(json, "01_right"), bad = row_of(json, "02_wrong");
  for (const char* part : {"\"verified\": true", "\"n\": 65536", "\"unit\": \"GB/s\"",
                           "\"bytes\": 524288", "\"mode\": \"graph\"", "\"l2\": \"cold\"",
                           "\"skipped\": null", "\"role\": \"version\"", "\"type\": \"f32\""}) {
    EXPECT_TRUE(has(good, part)) << part << " is not in\n" << good;
  }
  EXPECT_FALSE(has(good, "\"median_s\": null") || has(good, "\"seconds\": []")) << good;
  for (const char* part : {"\"verified\": false", "\"seconds\": []", "\"median_s\": null",
                           "\"min_s\": null", "\"of_limit\": null", "1 of 65536 wrong"}) {
    EXPECT_TRUE(has(bad, part)) << part << " is not in\n" << bad;
  }
}

TEST(Program, CheckMeasuresNothing) {
  COURSE_NEEDS_GPU(gpu);
  const std::string path = json_path("check");
  const Ran ran = run({"--check", "--json", path});
  EXPECT_EQ(ran.code, 1) << ran.all();
  EXPECT_TRUE(has(line_of(ran.out, "01_right"), "ok")) << ran.out;
  EXPECT_TRUE(has(line_of(ran.out, "02_wrong"), "FAILED")) << ran.out;
  EXPECT_FALSE(has(ran.out, " us")) << ran.out;
  const std::string json = read(path);
  std::remove(path.c_str());
  expect_json(json);
  EXPECT_TRUE(has(json, "\"copy_gbs\": null")) << json;
  EXPECT_TRUE(has(row_of(json, "01_right"), "\"verified\": true")) << json;
  EXPECT_TRUE(has(row_of(json, "01_right"), "\"seconds\": []")) << json;
  EXPECT_TRUE(has(row_of(json, "02_wrong"), "\"verified\": false")) << json;
}

TEST(Program, OnlyTheChosenVersions) {
  COURSE_NEEDS_GPU(gpu);
  for (const char* only : {"1", "01_right", "right"}) {
    const Ran ran = run({"--check", "--only", only});
    EXPECT_EQ(ran.code, 0) << ran.all();
    EXPECT_EQ(line_of(ran.out, "02_wrong"), "") << ran.out;
  }
  EXPECT_EQ(run({"--check", "--study", "all", "--only", "1"}).code, 0);
}

TEST(Program, SeveralSizes) {
  COURSE_NEEDS_GPU(gpu);
  const std::string path = json_path("sizes");
  const Ran ran = run({"--check", "--only", "1", "--size", "2^12,1000003", "--json", path});
  EXPECT_EQ(ran.code, 0) << ran.all();
  EXPECT_TRUE(has(ran.out, "2^12") && has(ran.out, "1000003")) << "rows name their size\n"
                                                               << ran.out;
  const std::string json = read(path);
  std::remove(path.c_str());
  EXPECT_TRUE(has(json, "\"n\": 4096") && has(json, "\"n\": 1000003")) << json;
}

TEST(Program, EmptyAndOddSizes) {
  COURSE_NEEDS_GPU(gpu);
  for (const char* size : {"0", "1", "2", "1000003"}) {
    const std::string path = json_path("odd");
    const Ran ran = run({"--check", "--only", "1", "--size", size, "--json", path});
    EXPECT_EQ(ran.code, 0) << size << ": " << ran.all();
    expect_json(read(path));
    std::remove(path.c_str());
  }
}

TEST(Program, ExpectsASizeThatFits) {
  COURSE_NEEDS_GPU(gpu);
  for (const char* size : {"2^40", "2^61", "2^62"}) {
    const Ran ran = run({"--check", "--size", size});
    expect_bad_usage(ran, "--size");
  }
  const Ran ran = run({"--check", "--size", "2^40"});
  EXPECT_TRUE(has(ran.err, "n=2^40") && has(ran.err, "does")) << "says what fits: " << ran.err;
}

TEST(Program, ProfileLaunchesAndDoesNothingElse) {
  COURSE_NEEDS_GPU(gpu);
  launches = 0;
  const Ran ran = run({"--profile", "2"});
  EXPECT_EQ(ran.code, 0) << ran.all();
  EXPECT_EQ(launches, 4) << "two of each version";
  EXPECT_TRUE(has(ran.out, "01_right x 2")) << ran.out;
  EXPECT_TRUE(has(ran.out, "02_wrong x 2")) << ran.out;
  launches = 0;
  EXPECT_EQ(run({"--profile", "3", "--only", "1", "--size", "2^12"}).code, 0);
  EXPECT_EQ(launches, 3);
}

TEST(Program, AFileThatCannotBeWritten) {
  COURSE_NEEDS_GPU(gpu);
  const std::string path = testing::TempDir() + "course_no_such_folder/result.json";
  const Ran ran = run({"--check", "--only", "1", "--json", path});
  EXPECT_EQ(ran.code, 4) << ran.all();
  EXPECT_TRUE(has(ran.err, path)) << ran.err;
}

TEST(Program, SkippedAndUnwrittenVersions) {
  COURSE_NEEDS_GPU(gpu);
  Chapter chapter = tiny();
  chapter.studies.resize(1);
  auto& versions = chapter.studies[0].versions;
  versions = {copy_but("01_future", 0), Version{}, copy_but("03_right", 0)};
  versions[0].needs.capability = 999;
  versions[1].id = "02_broken";
  const std::string path = json_path("skipped");
  const Ran skipped = run({"--check", "--json", path}, chapter);
  EXPECT_EQ(skipped.code, 0) << "skipped is not failed: " << skipped.all();
  EXPECT_TRUE(has(line_of(skipped.out, "01_future"), "99.9")) << skipped.out;
  EXPECT_TRUE(has(line_of(skipped.out, "02_broken"), "did not compile")) << skipped.out;
  const std::string json = read(path);
  std::remove(path.c_str());
  expect_json(json);
  EXPECT_TRUE(has(row_of(json, "01_future"), "\"skipped\": \"needs compute capability 99.9"));
  EXPECT_TRUE(has(row_of(json, "01_future"), "\"verified\": null"));

  versions.push_back(copy_but("04_starter", 0, [](const Problem&, const Arguments&) {
    return cudaErrorNotYetImplemented;
  }));
  const Ran unwritten = run({"--check"}, chapter);
  EXPECT_EQ(unwritten.code, 1) << unwritten.all();
  EXPECT_TRUE(has(line_of(unwritten.out, "04_starter"), "FAILED")) << unwritten.out;
  EXPECT_TRUE(has(unwritten.out, "not written yet")) << unwritten.out;

  versions.push_back(copy_but("05_short", 1));
  const Ran wrong = run({"--check", "--json", path}, chapter);
  EXPECT_EQ(wrong.code, 1) << wrong.all();
  EXPECT_TRUE(has(row_of(read(path), "05_short"), "\"skipped\": \"1 of ")) << read(path);
  std::remove(path.c_str());
}

TEST(Program, OtherSeedsAreOtherInputs) {
  COURSE_NEEDS_GPU(gpu);
  std::vector<float> first;
  Chapter chapter = tiny();
  chapter.studies[0].versions = {copy_but("01_right", 0, [&](const Problem& p, const Arguments&) {
    first.push_back(course::value<float>(p.input(), p.inputs()[0].seed, 0));
    return cudaSuccess;
  })};
  EXPECT_EQ(run({"--check", "--seed", "3"}, chapter).code, 0);
  EXPECT_EQ(run({"--check", "--seed", "4"}, chapter).code, 0);
  ASSERT_GE(first.size(), 2u);
  EXPECT_NE(first.front(), first.back());
}

/// Checks a chapter whose second version is interrupted by Ctrl-C, and ends the process.
[[noreturn]] void interrupt_and_exit(std::string path) {
  Chapter chapter = tiny();
  const auto interrupt = [](const Problem&, const Arguments&) {
    std::raise(SIGINT);
    return cudaSuccess;
  };
  chapter.studies[0].versions = {copy_but("01_right", 0), copy_but("02_interrupted", 0, interrupt),
                                 copy_but("03_never_reached", 0)};
  std::string name = "99_tiny", check = "--check", json = "--json";
  char* argv[] = {name.data(), check.data(), json.data(), path.data()};
  std::exit(course::run(4, argv, chapter));
}

/// In a process of its own, because an interrupt cannot be undone.
TEST(ProgramDeathTest, AnInterruptSavesWhatIsThere) {
  COURSE_NEEDS_GPU(gpu);
  if (sanitized()) GTEST_SKIP() << "starts a second process";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const std::string path = testing::TempDir() + "course_interrupted.json";
  EXPECT_EXIT(interrupt_and_exit(path), testing::ExitedWithCode(130), "interrupted");
  const std::string json = read(path);
  std::remove(path.c_str());
  expect_json(json);
  EXPECT_TRUE(has(json, "\"interrupted\": true")) << json;
  EXPECT_TRUE(has(row_of(json, "01_right"), "\"verified\": true")) << json;
  EXPECT_FALSE(has(json, "03_never_reached")) << json;
}

}  // namespace
