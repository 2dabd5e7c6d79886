// Tests of chapter 06's program `simulate`: options, snapshots, the invariants of a simulation.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "06_nbody_test.hpp"
#include "chapter_test.hpp"

namespace {

using course_test::sanitized;

namespace fs = std::filesystem;

struct Ran {
  int code = -1;
  std::string out, err;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// 06_nbody_simulate, run as a program, in a folder of its own.
class Simulate : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "nbody_XXXXXX").string();
    ASSERT_NE(mkdtemp(&pattern[0]), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static fs::path program() {
    return fs::read_symlink("/proc/self/exe").parent_path() / "06_nbody_simulate";
  }

  Ran run(const std::vector<std::string>& arguments) const {
    std::string command;
    for (const std::string& word : arguments) command += " '" + word + "'";
    SCOPED_TRACE(command);
    EXPECT_TRUE(fs::exists(program())) << "not built: " << program();
    command = "cd '" + folder_.string() + "' && '" + program().string() + "'" + command +
              " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder_ / ".out"),
            contents(folder_ / ".err")};
    return ran;
  }
  /// Ends with 0 and an empty stderr, without a line from the program or the CPU backend's checks.
  std::string good(const std::vector<std::string>& arguments) const {
    const Ran ran = run(arguments);
    std::string all;
    for (const std::string& word : arguments) all += word + " ";
    EXPECT_EQ(ran.code, 0) << all << "\n" << ran.out << ran.err;
    EXPECT_EQ(ran.err, "") << all;
    return ran.out;
  }
  /// Ends with 2 and one line that has these words, before any of its work.
  void bad(const std::vector<std::string>& arguments, const std::string& words) const {
    const Ran ran = run(arguments);
    std::string all;
    for (const std::string& word : arguments) all += word + " ";
    SCOPED_TRACE(all);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.rfind("06_nbody_simulate: ", 0), 0u) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(words), std::string::npos) << "'" << words << "' is not in " << ran.err;
  }
  /// Names and contents of the files in a folder.
  std::map<std::string, std::string> files(const std::string& name) const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      found[entry.path().filename().string()] = contents(entry.path());
    }
    return found;
  }

  /// What --drift prints: of each line energy, momentum, angular momentum.
  std::vector<std::array<double, 3>> drift(std::vector<std::string> arguments) const {
    arguments.push_back("--drift");
    std::istringstream lines(good(arguments));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "step,energy_drift,momentum_drift,angular_momentum_drift");
    std::vector<std::array<double, 3>> rows;
    while (std::getline(lines, line)) {
      long long step = -1;
      std::array<double, 3> row{};
      EXPECT_EQ(std::sscanf(line.c_str(), "%lld,%lf,%lf,%lf", &step, &row[0], &row[1], &row[2]), 4)
          << line;
      rows.push_back(row);
    }
    return rows;
  }

  fs::path folder_;
};

/// A sanitizer checks only the first program, or slows down all of them.
#define SIMULATE_NEEDS_GPU() \
  COURSE_NEEDS_GPU(gpu);     \
  if (sanitized()) GTEST_SKIP() << "programs of their own are too slow for a sanitizer"

using Words = std::vector<std::string>;

TEST_F(Simulate, HelpNamesEveryOption) {
  if (sanitized()) GTEST_SKIP() << "programs of their own are too slow for a sanitizer";
  const std::string help = good({"--help"});
  EXPECT_EQ(good({"-h"}), help);
  for (const char* option :
       {"--model", "--n", "--steps", "--dt", "--softening", "--double", "--seed", "--every",
        "--out", "--csv", "--force", "--drift", "--accuracy", "--help"}) {
    const std::size_t at = help.find(std::string("\n  ") + option);
    ASSERT_NE(at, std::string::npos) << option;
    EXPECT_TRUE(std::isspace(static_cast<unsigned char>(help[at + 3 + std::strlen(option)])));
  }
}

TEST_F(Simulate, BadOptionsGetOneLine) {
  if (sanitized()) GTEST_SKIP() << "programs of their own are too slow for a sanitizer";
  for (const char* option : {"--n", "--accuracy", "--steps", "--every", "--seed"}) {
    bad({option}, std::string(option) + " needs a value");
    for (const char* value : {"", "x", "1.5", "3x", "-1", "99999999999999999999", "1e3"}) {
      bad({option, value}, std::string(option) + " '" + value + "': a whole number from ");
    }
  }
  bad({"--n", "0"}, "from 1 to 67108864");
  bad({"--n", "67108865"}, "from 1 to 67108864");
  bad({"--accuracy", "0"}, "from 1 to");
  bad({"--every", "0"}, "from 1 to");
  for (const char* option : {"--dt", "--softening"}) {
    bad({option}, std::string(option) + " needs a value");
    for (const char* value : {"", "x", "0", "-0.5", "nan", "inf", "1e999", "0.1s", "1/128"}) {
      bad({option, value}, std::string(option) + " '" + value + "': a number above zero");
    }
  }
  bad({"--model"}, "--model needs a value");
  bad({"--model", "spiral"}, "--model 'spiral' is neither plummer nor galaxies");
  bad({"--out"}, "--out needs a value");
  bad({"--out", ""}, "--out needs the name");
  bad({"--what"}, "no option '--what'");
  bad({"8"}, "no option '8'");
  bad({"--csv"}, "--out FOLDER");
  bad({"--force"}, "--out FOLDER");
  for (const std::vector<std::string>& unfit :
       std::vector<std::vector<std::string>>{{"--drift"},
                                             {"--out", "there"},
                                             {"--double"},
                                             {"--model", "galaxies"},
                                             {"--n", "9"},
                                             {"--steps", "9"},
                                             {"--every", "9"},
                                             {"--dt", "1"}}) {
    std::vector<std::string> options = {"--accuracy", "8"};
    options.insert(options.end(), unfit.begin(), unfit.end());
    bad(options, "not with " + unfit[0]);
  }
  bad({"--drift", "--out", "there"}, "--drift");
  EXPECT_FALSE(fs::exists(folder_ / "there")) << "made before the options were read";
}

/// Steps so long that no result is finite end the program with one line, not with a table of NaN.
TEST_F(Simulate, EndsWhereTheEnergyIsNoNumber) {
  SIMULATE_NEEDS_GPU();
  const Ran ran = run({"--n", "32", "--steps", "5", "--every", "1", "--dt", "1e30"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find("the energy is no number any more; take a smaller --dt"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(ran.out.find("nan"), std::string::npos) << ran.out;
}

/// One snapshot every `every` steps and one of the last; a line of text, then four floats per body.
TEST_F(Simulate, Snapshots) {
  SIMULATE_NEEDS_GPU();
  const Words words = {"--n", "77", "--steps", "5", "--every", "2", "--dt", "0.25", "--out"};
  Words plain = words, csv = words;
  plain.push_back("a/b c");
  csv.insert(csv.end(), {"d", "--csv", "--model", "galaxies"});
  EXPECT_NE(good(plain).find("snapshots in a/b c"), std::string::npos);
  const auto binary = files("a/b c");
  ASSERT_EQ(binary.size(), 4u);
  for (const int step : {0, 2, 4, 5}) {
    char name[40], line[120];
    std::snprintf(name, sizeof name, "snapshot_%08d.bin", step);
    std::snprintf(line, sizeof line, "# nbody n=77 step=%d time=%g parts=1 model=plummer float32\n",
                  step, 0.25 * step);
    ASSERT_EQ(binary.count(name), 1u) << name;
    const std::string& held = binary.at(name);
    ASSERT_EQ(held.size(), std::strlen(line) + 77 * 16) << name;
    EXPECT_EQ(held.substr(0, std::strlen(line)), line);
    double mass = 0, middle = 0, middle_scale = 0;
    for (std::size_t i = 0; i < 77; ++i) {
      float body[4];
      std::memcpy(body, &held[std::strlen(line) + 16 * i], sizeof body);
      EXPECT_EQ(body[3], 1.0f / 77);
      mass += body[3], middle += body[3] * body[0], middle_scale += std::fabs(body[3] * body[0]);
    }
    EXPECT_NEAR(mass, 1, 1e-6);
    EXPECT_LE(std::fabs(middle), 1e-5 * middle_scale) << "the centre of mass moved";
  }
  good(csv);
  const auto texts = files("d");
  ASSERT_EQ(texts.size(), 4u);
  std::istringstream lines(texts.at("snapshot_00000005.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "# nbody n=77 step=5 time=1.25 parts=2 model=galaxies csv");
  std::getline(lines, line);
  EXPECT_EQ(line, "x,y,z,m");
  int count = 0;
  double mass = 0;
  while (std::getline(lines, line)) {
    double x = 0, y = 0, z = 0, m = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf", &x, &y, &z, &m), 4) << line;
    mass += m, ++count;
  }
  EXPECT_EQ(count, 77);
  EXPECT_NEAR(mass, 2, 1e-5);
}

/// CSV and binary hold the same numbers: nine digits identify every float.
TEST_F(Simulate, CsvHoldsTheSameNumbers) {
  SIMULATE_NEEDS_GPU();
  good({"--n", "33", "--steps", "3", "--out", "a"});
  good({"--n", "33", "--steps", "3", "--out", "b", "--csv"});
  const std::string binary = files("a").at("snapshot_00000003.bin");
  const std::size_t from = binary.find('\n') + 1;
  std::istringstream lines(files("b").at("snapshot_00000003.csv"));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  for (std::size_t i = 0; std::getline(lines, line); ++i) {
    float want[4], got[4] = {};
    std::memcpy(want, &binary.at(from + 16 * i), sizeof want);
    std::sscanf(line.c_str(), "%f,%f,%f,%f", &got[0], &got[1], &got[2], &got[3]);
    EXPECT_EQ(std::memcmp(got, want, sizeof got), 0) << line;
  }
}

/// Files in the folder stay, unless --force is given; files that are no snapshots stay anyway.
TEST_F(Simulate, SnapshotsAreNotOverwritten) {
  SIMULATE_NEEDS_GPU();
  fs::create_directories(folder_ / "s");
  std::ofstream(folder_ / "s/snapshot_00000000.bin") << "precious";
  std::ofstream(folder_ / "s/snapshot_00000099.csv") << "old";
  std::ofstream(folder_ / "s/notes.txt") << "mine";
  std::ofstream(folder_ / "file") << "no folder";
  const auto before = files("s");
  bad({"--n", "8", "--steps", "1", "--out", "s"}, "has snapshots already");
  bad({"--n", "8", "--steps", "1", "--out", "s", "--csv"}, "has snapshots already");
  EXPECT_EQ(files("s"), before);
  bad({"--n", "8", "--steps", "1", "--out", "file"}, "cannot be made a folder");
  bad({"--n", "8", "--steps", "1", "--out", "file/in"}, "cannot be made a folder");
  EXPECT_EQ(contents(folder_ / "file"), "no folder");
  good({"--n", "8", "--steps", "1", "--out", "s", "--force"});
  const auto after = files("s");
  EXPECT_EQ(after.size(), 3u);
  EXPECT_EQ(after.at("notes.txt"), "mine");
  EXPECT_EQ(after.count("snapshot_00000099.csv"), 0u);
  EXPECT_EQ(after.at("snapshot_00000000.bin").rfind("# nbody n=8 ", 0), 0u);
}

/// The versions that the program uses sum in a fixed order: the same seed gives the same bytes.
TEST_F(Simulate, TheSameSeedTheSameBytes) {
  SIMULATE_NEEDS_GPU();
  for (const Words& kind : {Words{"--model", "galaxies"}, Words{"--double"}}) {
    const auto snapshots = [&](const std::string& folder, const std::string& seed) {
      Words words = {"--n", "150", "--steps", "6", "--every", "3", "--out", folder, "--seed", seed};
      words.insert(words.end(), kind.begin(), kind.end());
      good(words);
      return files(folder);
    };
    const auto one = snapshots(kind[0] + "1", "1"), again = snapshots(kind[0] + "2", "1");
    const auto other = snapshots(kind[0] + "3", "2");
    ASSERT_EQ(one.size(), 3u);
    EXPECT_TRUE(one == again);
    ASSERT_EQ(other.size(), 3u);
    for (const auto& [name, held] : one) EXPECT_NE(other.at(name), held) << name;
  }
}

/// The energy of a Plummer sphere of mass 1 and this scale is -1/4, and its potential energy is
/// minus twice its kinetic energy: up to the random deviation of n bodies.
TEST_F(Simulate, PlummerSphereIsInEquilibrium) {
  SIMULATE_NEEDS_GPU();
  const Ran ran = run({"--n", gpu->simulated ? "1500" : "16384", "--steps", "0", "--double"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  double kinetic = 0, potential = 0, total = 0;
  const std::size_t row = ran.out.rfind('\n', ran.out.size() - 2) + 1;
  ASSERT_EQ(std::sscanf(ran.out.c_str() + row, "%*d %*f %lf %lf %lf", &kinetic, &potential, &total),
            3)
      << ran.out;
  EXPECT_NEAR(total, -0.25, 0.025);
  EXPECT_NEAR(-2 * kinetic / potential, 1, 0.1);
  EXPECT_NEAR(kinetic + potential, total, 2e-6);
}

/// The energy varies; momentum and angular momentum are constant up to rounding.
TEST_F(Simulate, WhatShouldStayDoes) {
  SIMULATE_NEEDS_GPU();
  const std::string n = gpu->simulated ? "200" : "3000", steps = gpu->simulated ? "40" : "400";
  for (const char* model : {"plummer", "galaxies"}) {
    for (const bool use_double : {false, true}) {
      SCOPED_TRACE(std::string(model) + (use_double ? ", double" : ", float"));
      Words words = {"--model", model, "--n", n, "--steps", steps, "--every", "8"};
      if (use_double) words.push_back("--double");
      const auto rows = drift(words);
      EXPECT_EQ(rows.size(), gpu->simulated ? 6u : 51u);
      for (const auto& row : rows) {
        EXPECT_LE(std::fabs(row[0]), 5e-3) << "energy";
        EXPECT_LE(row[1], use_double ? 1e-13 : 1e-5) << "momentum";
        EXPECT_LE(row[2], use_double ? 1e-13 : 1e-5) << "angular momentum";
      }
    }
  }
}

/// Second order: half the step, a quarter of the error. A smooth case, in double: a softening that
/// steps resolve.
TEST_F(Simulate, HalfTheStepIsAQuarterOfTheError) {
  SIMULATE_NEEDS_GPU();
  const auto largest = [&](const std::string& dt, const std::string& steps) {
    double most = 0;
    for (const auto& row : drift({"--n", "64", "--softening", "0.25", "--double", "--every", "1",
                                  "--dt", dt, "--steps", steps})) {
      most = std::max(most, std::fabs(row[0]));
    }
    return most;
  };
  const double whole = largest("0.03125", "32"), half = largest("0.015625", "64");
  EXPECT_GT(whole, 1e-6) << "no error to compare";
  EXPECT_NEAR(whole / half, 4, 0.4) << whole << " and " << half;
}

/// Few bodies, down to a single one, which does not move.
TEST_F(Simulate, FewBodies) {
  SIMULATE_NEEDS_GPU();
  const std::string one = good({"--n", "1", "--steps", "0"});
  EXPECT_NE(one.find("  0.000000   0.000000   0.000000 "), std::string::npos)
      << "one body has no energy, also none against itself:\n"
      << one;
  for (const char* model : {"plummer", "galaxies"}) {
    for (const char* n : {"1", "2", "3", "5", "9"}) {
      const auto rows = drift({"--model", model, "--n", n, "--steps", "2", "--every", "1"});
      ASSERT_EQ(rows.size(), 3u);
      for (const auto& row : rows) {
        EXPECT_TRUE(std::isfinite(row[0] + row[1] + row[2])) << model << " " << n;
        if (*n == '1') {
          EXPECT_EQ(row[0], 0) << model;
        }
      }
    }
  }
}

/// A line for each version of vectors and of double, with errors of the size of the rounding.
TEST_F(Simulate, Accuracy) {
  SIMULATE_NEEDS_GPU();
  std::istringstream lines(good({"--accuracy", gpu->simulated ? "300" : "16384"}));
  std::set<std::string> seen;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind("#", 0) == 0 || line == "version,median,percentile_99,largest") continue;
    const std::string name = line.substr(0, line.find(','));
    seen.insert(name);
    double median = 0, most = 0, largest = 0;
    ASSERT_EQ(std::sscanf(line.c_str() + name.size(), ",%lf,%lf,%lf", &median, &most, &largest), 3)
        << line;
    EXPECT_TRUE(median <= most && most <= largest) << line;
    const bool in_double = name.find("double") != std::string::npos;
    EXPECT_LE(median, in_double ? 1e-13 : 1e-5) << line;
    EXPECT_LE(largest, in_double ? 1e-11 : 1e-3) << line;
  }
  std::set<std::string> want = nbody_test::versions_of_vectors();
  want.insert("fast_root (double)");
  EXPECT_EQ(seen, want);
}

}  // namespace
