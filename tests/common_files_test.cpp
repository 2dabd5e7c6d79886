// The host half of common/: sizes and names, the command line, JSON, files.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "chapter/error.hpp"
#include "chapter/input.hpp"
#include "chapter/problem.hpp"
#include "chapter/selection.hpp"
#include "chapter/write_file.hpp"
#include "common_test.hpp"
#include "error_of.hpp"
#include "program/json.hpp"
#include "program/options.hpp"

namespace {

namespace fs = std::filesystem;

using course::Input;
using course::Json;
using course::Size;
using course::Type;
using course_test::families;
using course_test::infinity;
using course_test::not_a_number;

/// The words of a text, for lists of arguments.
std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Bad usage: exit code 2 and one line that names the argument.
template <class F>
void expect_bad_usage(F call, const std::string& argument) {
  const course::Error error = error_of(call);
  EXPECT_EQ(error.exit_code, 2) << error.what();
  EXPECT_TRUE(has(error.what(), argument)) << "'" << error.what() << "' does not say " << argument;
  EXPECT_FALSE(has(error.what(), "\n")) << "more than one line: " << error.what();
}

// Sizes, types and names

TEST(Sizes, Dimensions) {
  Size size{{{"rows", 64}, {"cols", 1 << 20}}};
  EXPECT_EQ(size["rows"], 64);
  EXPECT_EQ(size["cols"], 1 << 20);
  EXPECT_THROW(size["n"], std::out_of_range);
  EXPECT_EQ(size.text(), "rows=64 cols=2^20");
  const Size before = size;
  EXPECT_TRUE(size == before);
  size.set("rows", 48);
  EXPECT_FALSE(size == before);
  size.set("depth", 3);
  EXPECT_EQ(size.text(), "rows=48 cols=2^20 depth=3") << "in reading order";
}

TEST(Sizes, Text) {
  EXPECT_EQ(course::size_text(0), "0");
  EXPECT_EQ(course::size_text(1), "1");
  EXPECT_EQ(course::size_text(512), "512");
  EXPECT_EQ(course::size_text(1023), "1023");
  EXPECT_EQ(course::size_text(1024), "2^10");
  EXPECT_EQ(course::size_text(1025), "1025");
  EXPECT_EQ(course::size_text(3 << 10), "3072");
  EXPECT_EQ(course::size_text(std::int64_t{1} << 32), "2^32");
  EXPECT_EQ(course::size_text(std::int64_t{1} << 62), "2^62");
}

TEST(Sizes, Types) {
  const std::map<Type, std::pair<std::string, std::size_t>> types = {{Type::f32, {"f32", 4}},
                                                                     {Type::f64, {"f64", 8}},
                                                                     {Type::i32, {"i32", 4}},
                                                                     {Type::u32, {"u32", 4}},
                                                                     {Type::i64, {"i64", 8}}};
  for (const auto& [type, facts] : types) {
    EXPECT_EQ(name_of(type), facts.first);
    EXPECT_EQ(course::bytes_of(type), facts.second);
    course::Array array;
    array.count = 3;
    array.type = type;
    EXPECT_EQ(array.bytes(), static_cast<std::int64_t>(3 * facts.second));
  }
  std::set<std::string> names;
  for (const Input input : families) names.insert(name_of(input));
  EXPECT_EQ(names.size(), std::size(families));
  EXPECT_EQ(names.count("?"), 0u);
}

// The command line

TEST(ParseSize, Good) {
  using Dimensions = std::vector<std::int64_t>;
  EXPECT_EQ(course::parse_size("1000003"), Dimensions{1000003});
  EXPECT_EQ(course::parse_size("0"), Dimensions{0});
  EXPECT_EQ(course::parse_size("64K"), Dimensions{64 << 10});
  EXPECT_EQ(course::parse_size("16M"), Dimensions{16 << 20});
  EXPECT_EQ(course::parse_size("16m"), Dimensions{16 << 20});
  EXPECT_EQ(course::parse_size("2G"), Dimensions{std::int64_t{2} << 30});
  EXPECT_EQ(course::parse_size("2^0"), Dimensions{1});
  EXPECT_EQ(course::parse_size("2^28"), Dimensions{1 << 28});
  EXPECT_EQ(course::parse_size("2^62"), Dimensions{std::int64_t{1} << 62});
  EXPECT_EQ(course::parse_size("8192x8192"), (Dimensions{8192, 8192}));
  EXPECT_EQ(course::parse_size("2^10x3Kx5"), (Dimensions{1024, 3072, 5}));
}

TEST(ParseSize, Bad) {
  auto bad = words(
      "x 8x x8 8xx8 -1 +1 1.5 1e6 12Q K 2^ ^2 2^-1 2^63 2^64 2^9999999999999999999 3^4 2^4K "
      "8,8 many 9223372036854775808 99999999999999999999 8589934592G 9007199254740992K");
  for (const char* text : {"", " 8", "8 "}) bad.emplace_back(text);
  for (const std::string& text : bad) {
    SCOPED_TRACE(text);
    expect_bad_usage([&] { course::parse_size(text); }, "--size");
    expect_bad_usage([&] { course::parse_size(text); }, "'" + text + "'");
  }
}

TEST(ParseSelection, Good) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(course::parse_selection("3,5-7"), (Parts{"3", "5", "6", "7"}));
  EXPECT_EQ(course::parse_selection("3"), Parts{"3"});
  EXPECT_EQ(course::parse_selection("0"), Parts{"0"});
  EXPECT_EQ(course::parse_selection("03"), Parts{"3"});
  EXPECT_EQ(course::parse_selection("03-05"), (Parts{"3", "4", "5"}));
  EXPECT_EQ(course::parse_selection("7-7"), Parts{"7"});
  EXPECT_EQ(course::parse_selection("grid_stride,90_cub"), (Parts{"grid_stride", "90_cub"}));
}

TEST(ParseSelection, Bad) {
  for (const char* text :
       {"", ",", "3,", ",3", "3,,4", "7-5", "a-b", "3-", "-3", "-", "1-2-3", "1-9999", "1 - 3"}) {
    SCOPED_TRACE(text);
    expect_bad_usage([&] { course::parse_selection(text); }, "--only");
  }
}

TEST(Selects, ByNumberOrName) {
  const auto selects = [](const char* text, const char* id) {
    return course::selects(course::parse_selection(text), id);
  };
  for (const char* asked : {"3", "03", "03_grid_stride", "grid_stride", "1-4", "9,3"}) {
    EXPECT_TRUE(selects(asked, "03_grid_stride")) << asked;
  }
  for (const char* asked : {"30", "0", "1", "4-9", "grid", "stride", "03_grid", "3_grid_stride2"}) {
    EXPECT_FALSE(selects(asked, "03_grid_stride")) << asked;
  }
  EXPECT_TRUE(selects("80-99", "90_cub"));
  EXPECT_TRUE(selects("cudaMemcpy", "cudaMemcpy")) << "a name without a number";
  EXPECT_TRUE(selects("bulk_copy", "bulk_copy"));
  EXPECT_FALSE(selects("0", "bulk_copy"));
  EXPECT_FALSE(course::selects({}, "03_grid_stride"));
}

/// The options of a command line without the program's name.
course::Options parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"01_vector_add"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return course::parse_options(static_cast<int>(argv.size()), argv.data());
}

TEST(ParseOptions, Nothing) {
  const course::Options options = parse({});
  EXPECT_FALSE(options.help || options.list || options.check_only || options.record);
  EXPECT_TRUE(options.only.empty() && options.studies.empty() && options.sizes.empty());
  EXPECT_TRUE(options.json.empty() && options.label.empty() && options.commit.empty());
  EXPECT_EQ(options.profile, 0);
  EXPECT_EQ(options.seed, 1u);
  EXPECT_EQ(options.device, 0);
}

TEST(ParseOptions, Everything) {
  const course::Options options =
      parse(words("--list --check --record --only 3,5-6 --only=90_cub --study offset,stride "
                  "--size 2^20,16M --json a.json --label team07 --commit abc1234 --source-hash=ff "
                  "--profile 3 --seed 999999999999999999 --device 1 --help"));
  EXPECT_TRUE(options.help && options.list && options.check_only && options.record);
  EXPECT_EQ(options.only, (std::vector<std::string>{"3", "5", "6", "90_cub"}));
  EXPECT_EQ(options.studies, (std::vector<std::string>{"offset", "stride"}));
  EXPECT_EQ(options.sizes, (std::vector<std::vector<std::int64_t>>{{1 << 20}, {16 << 20}}));
  EXPECT_EQ(options.json, "a.json");
  EXPECT_EQ(options.label, "team07");
  EXPECT_EQ(options.commit, "abc1234");
  EXPECT_EQ(options.source_hash, "ff");
  EXPECT_EQ(options.profile, 3);
  EXPECT_EQ(options.seed, 999999999999999999u);
  EXPECT_EQ(options.device, 1);
  EXPECT_TRUE(parse({"-h"}).help);
}

TEST(ParseOptions, UnknownArguments) {
  for (const char* argument : {"--frobnicate", "--sizes", "-s", "2^20", "", "--", "-"}) {
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, argument);
  }
  expect_bad_usage([] { parse({"--frobnicate=3"}); }, "--frobnicate");
}

TEST(ParseOptions, ValuesThatAreMissing) {
  for (const std::string& option : words("--only --study --size --json --label --commit "
                                         "--source-hash --profile --seed --device")) {
    SCOPED_TRACE(option);
    expect_bad_usage([&] { parse({"--check", option}); }, option);
  }
}

TEST(ParseOptions, ValuesThatAreBad) {
  const auto bad = words(
      "--seed=x --seed=-1 --seed=1e3 --seed=1000000000000000000000 --device=first --device=-1 "
      "--device=1e9 --device=0x1 --device=4294967296 --profile=0 --profile=1001 --profile= "
      "--size=big --size=2^20, --size= --only=7-5 "
      "--only= --json=");
  for (const std::string& argument : bad) {
    const auto equals = argument.find('=');
    const std::string option = argument.substr(0, equals), value = argument.substr(equals + 1);
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, option);
    expect_bad_usage([&] { parse({option, value}); }, option);
  }
}

TEST(ParseOptions, AFlagTakesNoValue) {
  for (const std::string& argument : words("--check=no --list=1 --record=false --help=yes")) {
    SCOPED_TRACE(argument);
    expect_bad_usage([&] { parse({argument}); }, argument.substr(0, argument.find('=')));
  }
}

TEST(ParseOptions, TheHelpNamesWhatLearnersUse) {
  const std::string help = course::usage("01_vector_add");
  EXPECT_EQ(help.rfind("usage: 01_vector_add", 0), 0u);
  for (const std::string& option : words("--list --only --study --size --check --json --label "
                                         "--profile --seed --device --record --help")) {
    EXPECT_TRUE(has(help, option)) << option;
  }
}

// JSON

/// A document without the white space between its tokens; the texts in it must have none.
std::string squeezed(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  return text;
}

TEST(Json, Escapes) {
  EXPECT_EQ(Json().value("plain").text(), R"("plain")");
  EXPECT_EQ(Json().value("").text(), R"("")");
  EXPECT_EQ(Json().value(R"(a"b\c/d)").text(), R"("a\"b\\c/d")");
  EXPECT_EQ(Json().value("\x01\x1f").text(), R"("\u0001\u001f")");
  const std::string lines = Json().value("one\ntwo\tthree\r").text();
  EXPECT_TRUE(std::none_of(lines.begin(), lines.end(), [](char c) { return c >= 0 && c < 0x20; }));
  EXPECT_EQ(squeezed(Json().begin_object().key("a\"\\").value(1).end_object().text()),
            R"({"a\"\\":1})");
  EXPECT_EQ(Json().value(std::string("a\0b", 3)).text(), R"("a\u0000b")");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  for (const double number : {not_a_number, infinity, -infinity}) {
    EXPECT_EQ(Json().value(number).text(), "null");
  }
  EXPECT_EQ(squeezed(Json().value(std::vector<double>{1, not_a_number, infinity}).text()),
            "[1,null,null]");
  EXPECT_EQ(Json().value(std::optional<double>()).text(), "null");
  EXPECT_EQ(Json().value(std::optional<double>(infinity)).text(), "null");
  EXPECT_EQ(Json().value(std::optional<double>(2)).text(), "2");
  EXPECT_EQ(Json().value_or_null("").text(), "null");
  EXPECT_EQ(Json().value_or_null("x").text(), R"("x")");
}

TEST(Json, Numbers) {
  EXPECT_EQ(Json().value(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(Json().value(std::numeric_limits<std::int64_t>::max()).text(), "9223372036854775807");
  EXPECT_EQ(Json().value(-7).text(), "-7");
  EXPECT_EQ(Json().value(true).text(), "true");
  EXPECT_EQ(Json().value(false).text(), "false");
  for (const double number : {0.0, 0.1, -1.0 / 3, 1e-9, 12345678.9, 1.7976931348623157e308,
                              2.3e-308, 4917.123456789, 3221225472.0}) {
    const double again = std::strtod(Json().value(number).text().c_str(), nullptr);
    EXPECT_NEAR(again, number, 1e-8 * std::abs(number));
  }
}

TEST(Json, NestsAndSeparates) {
  Json json;
  json.begin_object();
  json.key("a").begin_array().end_array();
  json.key("b").begin_object().end_object();
  json.key("c").begin_array().begin_array().value(1).value(2).end_array();
  json.begin_array().end_array().null().end_array();
  json.key("d").begin_object().key("e").begin_array().begin_object();
  json.key("f").null().key("g").begin_array().begin_array().value(3).begin_object().end_object();
  json.end_array().end_array().end_object().end_array().end_object();
  json.key("h").value(std::vector<std::string>{"x", "y"});
  json.key("i").value(std::vector<double>{}).end_object();
  EXPECT_EQ(squeezed(json.text()),
            R"({"a":[],"b":{},"c":[[1,2],[],null],"d":{"e":[{"f":null,"g":[[3,{}]]}]},)"
            R"("h":["x","y"],"i":[]})");
}

/// tests/python/test_json.py reads this document with Python's json module.
TEST(Json, WritesSampleFile) {
  const char* path = std::getenv("COURSE_JSON_OUT");
  if (path == nullptr) GTEST_SKIP() << "COURSE_JSON_OUT names no file: test_json.py sets it";
  std::string controls;
  for (char c = 1; c < 0x20; ++c) controls += c;
  Json json;
  json.begin_object();
  json.key("schema").value(1);
  json.key("plain").value("vector add");
  json.key("quotes").value(R"("a" \ 'b' / </script>)");
  json.key("controls").value(controls + "\x7f");
  json.key("unicode").value("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x80 \xe2\x80\xa8");
  json.key("k\xc3\xa9y \"\n").value("");
  json.key("true").value(true).key("false").value(false).key("null").null();
  json.key("least").value(std::numeric_limits<std::int64_t>::min());
  json.key("largest").value(std::numeric_limits<std::int64_t>::max());
  json.key("not_finite").value(std::vector<double>{not_a_number, infinity, -infinity, 1});
  json.key("numbers").value(std::vector<double>{0, -0.0, 0.1, -1.0 / 3, 6.02214076e23,
                                                1.2345678912e-5, 1e300, 2.5e-300, 3221225472.0,
                                                1e22, 123456789});
  json.key("maybe").value(std::optional<double>(0.5)).key("nothing").value(std::optional<double>());
  json.key("no_text").value_or_null("").key("a_text").value_or_null("text");
  json.key("empty").begin_object().key("array").begin_array().end_array();
  json.key("object").begin_object().end_object();
  json.key("texts").value(std::vector<std::string>{}).end_object();
  json.key("deep");
  for (int level = 0; level < 8; ++level) json.begin_array().value(level);
  for (int level = 0; level < 8; ++level) json.end_array();
  json.key("rows").begin_array();
  for (int row = 0; row < 3; ++row) {
    json.begin_object().key("size").begin_object().key("n").value(row).end_object();
    json.key("seconds").value(std::vector<double>(static_cast<std::size_t>(row), 0.25));
    json.key("flags").value(std::vector<std::string>{"noisy", "few_samples"}).end_object();
  }
  json.end_array().end_object();
  course::write_file(path, json.text() + "\n");
}

// Files

/// A folder of its own for each test.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "course_files_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }

  /// write_file must fail with exit code 4 and one line that names the path.
  static void expect_not_written(const std::string& path) {
    const course::Error error = error_of([&] { course::write_file(path, "new"); });
    EXPECT_EQ(error.exit_code, 4) << error.what();
    EXPECT_TRUE(has(error.what(), path)) << error.what();
    EXPECT_FALSE(has(error.what(), "\n")) << error.what();
  }

  fs::path folder_;
};

using Names = std::set<std::string>;

TEST_F(Files, New) {
  course::write_file(path("a.json"), "contents\n");
  EXPECT_EQ(read(path("a.json")), "contents\n");
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
}

TEST_F(Files, EmptyBinaryAndLarge) {
  course::write_file(path("empty"), "");
  EXPECT_EQ(read(path("empty")), "");
  const std::string binary("\0\n\xff\r\n", 5);
  course::write_file(path("binary"), binary);
  EXPECT_EQ(read(path("binary")), binary);
  const std::string large(5000000, 'x');
  course::write_file(path("large"), large);
  EXPECT_EQ(read(path("large")), large);
}

TEST_F(Files, ReplacedAsAWhole) {
  course::write_file(path("a.json"), "the old and longer contents");
  std::ifstream reader(path("a.json"));
  course::write_file(path("a.json"), "new");
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "the old and longer contents") << "who has it open keeps the old file";
  EXPECT_EQ(read(path("a.json")), "new");
  EXPECT_EQ(names(), Names{"a.json"});
}

TEST_F(Files, FolderMissing) {
  expect_not_written(path("missing/a.json"));
  EXPECT_TRUE(names().empty());
}

TEST_F(Files, BelowAFile) {  // fails even for root
  course::write_file(path("file"), "old");
  expect_not_written(path("file/a.json"));
  EXPECT_EQ(read(path("file")), "old");
  EXPECT_EQ(names(), Names{"file"});
}

TEST_F(Files, AFolderIsInTheWay) {
  fs::create_directory(folder_ / "a.json");
  expect_not_written(path("a.json"));
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
  EXPECT_TRUE(fs::is_directory(folder_ / "a.json"));
}

/// A device or a pipe is neither replaced by a file nor written to.
TEST_F(Files, OnlyRegularFilesAreReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& special :
       {path("pipe"), std::string("/dev/full"), std::string("/dev/null")}) {
    SCOPED_TRACE(special);
    const fs::file_type before = fs::status(special).type();
    expect_not_written(special);
    const course::Error error = error_of([&] { course::check_writable(special); });
    EXPECT_EQ(error.exit_code, 4);
    EXPECT_TRUE(has(error.what(), special) && has(error.what(), "no regular file")) << error.what();
    EXPECT_EQ(fs::status(special).type(), before);
  }
  EXPECT_EQ(names(), Names{"pipe"}) << "a temporary file stayed behind";
}

TEST_F(Files, ALinkStaysALink) {
  course::write_file(path("file"), "old");
  fs::create_symlink("file", folder_ / "link");
  course::write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(path("file")), "new");
  fs::create_symlink("missing", folder_ / "dangling");
  course::write_file(path("dangling"), "there");
  EXPECT_EQ(read(path("missing")), "there");
  EXPECT_EQ(names(), (Names{"dangling", "file", "link", "missing"}));
}

TEST_F(Files, CheckWritableTellsWhatWriteFileWouldDo) {
  course::write_file(path("file"), "old");
  fs::create_directory(folder_ / "folder");
  for (const char* good : {"new.json", "file"}) {
    EXPECT_EQ(error_of([&] { course::check_writable(path(good)); }).exit_code, 0) << good;
  }
  for (const char* bad : {"missing/a.json", "file/a.json", "folder"}) {
    const course::Error error = error_of([&] { course::check_writable(path(bad)); });
    EXPECT_EQ(error.exit_code, 4) << bad;
    EXPECT_TRUE(has(error.what(), path(bad))) << error.what();
  }
  EXPECT_EQ(read(path("file")), "old");
  EXPECT_EQ(names(), (Names{"file", "folder"})) << "a temporary file stayed behind";
}

/// A full disk, simulated by a limit on the size of files in a child process.
TEST_F(Files, FullDisk) {
  if (std::getenv("COURSE_SANITIZE")) GTEST_SKIP() << "a sanitizer writes files of its own";
  course::write_file(path("a.json"), "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(99);
    const course::Error error =
        error_of([&] { course::write_file(path("a.json"), std::string(1 << 20, 'x')); });
    _exit(error.exit_code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_EQ(read(path("a.json")), "old") << "the old file must stay";
  EXPECT_EQ(names(), Names{"a.json"}) << "a temporary file stayed behind";
}

}  // namespace
