// Pictures: what read_pnm() and write_pnm() accept, and their messages for bad files and images.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "error_of.hpp"
#include "image/pnm.hpp"

namespace {

namespace fs = std::filesystem;

using course::Image;
using course::PnmData;
using Samples = std::vector<std::uint16_t>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Random samples up to maxval, with both ends.
Image random_image(int width, int height, int channels, int maxval, unsigned seed) {
  Image image{width, height, channels, maxval, {}};
  std::mt19937 random(seed);
  for (int i = 0; i < width * height * channels; ++i) {
    image.samples.push_back(static_cast<std::uint16_t>(random() % (maxval + 1u)));
  }
  image.samples.front() = 0;
  image.samples.back() = static_cast<std::uint16_t>(maxval);
  return image;
}

/// A folder of its own for each test.
class Pictures : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "course_image_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// A file of these bytes.
  std::string file(const std::string& bytes) const {
    fs::remove(path("picture"));  // a file that is truncated may be flushed to the disk
    std::ofstream(path("picture"), std::ios::binary) << bytes;
    return path("picture");
  }

  Image image(const std::string& bytes) const { return course::read_pnm(file(bytes)); }

  static std::string bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Reading must fail with exit code 2 and one line: the file, what is wrong, what to do.
  static void expect_unread(const std::string& path, const std::string& why,
                            const std::string& advice = "convert or copy it anew") {
    const course::Error error = error_of([&] { course::read_pnm(path); });
    EXPECT_EQ(error.exit_code, 2);
    EXPECT_EQ(error.what(), "cannot read " + path + ": " + why + "; " + advice);
  }

  void expect_bad(const std::string& bytes, const std::string& why) const {
    SCOPED_TRACE(bytes.substr(0, 40));
    expect_unread(file(bytes), why);
  }

  fs::path folder_;
};

TEST_F(Pictures, RoundTrips) {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 7}, {7, 1}, {3, 5}, {31, 33}, {257, 3}};
  for (const auto& [width, height] : sizes) {
    for (const int channels : {1, 3}) {
      for (const int maxval : {1, 100, 255, 256, 1023, 65535}) {
        for (const PnmData data : {PnmData::binary, PnmData::ascii}) {
          const Image written = random_image(width, height, channels, maxval, 1);
          course::write_pnm(path("a"), written, data);
          const Image read = course::read_pnm(path("a"));
          EXPECT_EQ(read.width, width);
          EXPECT_EQ(read.height, height);
          EXPECT_EQ(read.channels, channels);
          EXPECT_EQ(read.maxval, maxval);
          EXPECT_EQ(read.samples, written.samples);
        }
      }
    }
  }
}

TEST_F(Pictures, Bytes) {
  EXPECT_EQ((Image{3, 1, 1, 100, {0, 50, 100}}.bytes()), (std::vector<std::uint8_t>{0, 50, 100}));
  EXPECT_EQ((Image{4, 1, 1, 65535, {0, 128, 129, 65535}}.bytes()),
            (std::vector<std::uint8_t>{0, 0, 1, 255}))
      << "rounded to the nearest";
  const std::vector<std::uint8_t> gray = {1, 2, 255};
  const Image image{3, 1, 1, 255, {gray.begin(), gray.end()}};
  EXPECT_EQ(image.bytes(), gray);
}

TEST_F(Pictures, Luminance) {
  EXPECT_EQ((Image{2, 1, 1, 255, {7, 255}}.luminance()), (std::vector<std::uint8_t>{7, 255}));
  EXPECT_EQ((Image{2, 2, 3, 255, {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255}}.luminance()),
            (std::vector<std::uint8_t>{76, 150, 29, 255}));
}

TEST_F(Pictures, WhatIsWritten) {
  const Image gray{2, 1, 1, 255, {7, 200}}, color{1, 2, 3, 256, {0, 1, 2, 3, 4, 256}};
  course::write_pnm(path("a"), gray);
  EXPECT_EQ(bytes(path("a")), "P5 2 1 255\n\x07\xc8");
  course::write_pnm(path("a"), gray, PnmData::ascii);
  EXPECT_EQ(bytes(path("a")), "P2 2 1 255\n7 200\n");
  course::write_pnm(path("a"), color);
  EXPECT_EQ(bytes(path("a")), std::string("P6 1 2 256\n\0\0\0\1\0\2\0\3\0\4\1\0", 23));
  course::write_pnm(path("a"), color, PnmData::ascii);
  EXPECT_EQ(bytes(path("a")), "P3 1 2 256\n0 1 2\n3 4 256\n");
}

TEST_F(Pictures, LinesOfAsciiAreShort) {
  for (const int width : {1, 9, 10, 100}) {
    Image image{width, 2, 3, 65535, Samples(static_cast<std::size_t>(width) * 6, 65535)};
    course::write_pnm(path("a"), image, PnmData::ascii);
    std::istringstream text(bytes(path("a")));
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 70u) << line;
  }
}

// Valid files

TEST_F(Pictures, SpaceAndComments) {
  const Samples two = {1, 2};
  for (const char* text :
       {"P2 2 1 9 1 2", "P2\n2\n1\n9\n1\n2\n", "P2\t2\v1\f9\r1\r\n2 \n", "P2#\n2 1 9 1 2",
        "P2 # 7 8\n# P5\n 2# width\r1 #\n9#\n#\n1#\n2#", "P2 002 1 00009 0001 00000000000000000002",
        "P2 2 1 9 1 2 3 and more", "P2 2 1 9\n1 2\nP2 1 1 9\n5"}) {
    SCOPED_TRACE(text);
    const Image read = image(text);
    EXPECT_EQ(read.width, 2);
    EXPECT_EQ(read.height, 1);
    EXPECT_EQ(read.maxval, 9);
    EXPECT_EQ(read.samples, two);
  }
}

/// One character ends a binary header: the bytes after it are samples, whatever they look like.
TEST_F(Pictures, BinarySamplesBeginAtOnce) {
  EXPECT_EQ(image("P5 2 1 255\n\n#").samples, (Samples{'\n', '#'}));
  EXPECT_EQ(image("P5 2 1 255# comment\n\t ").samples, (Samples{'\t', ' '}));
  EXPECT_EQ(image("P5 1 1 65535\r\n ").samples, (Samples{'\n' * 256 + ' '}));
  EXPECT_EQ(image("P5 1 1 255 aP5 1 1 255 b").samples, (Samples{'a'})) << "the first image";
}

TEST_F(Pictures, Pipe) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path("pipe")) << "P5 3 1 255\nabc"; });
  const course::Error error = error_of([&] {
    EXPECT_EQ(course::read_pnm(path("pipe")).samples, (Samples{'a', 'b', 'c'}));
  });
  writer.join();
  EXPECT_EQ(error.exit_code, 0) << error.what();
}

// Bad files

TEST_F(Pictures, NoFile) {
  const std::string advice = "name a file that can be read";
  expect_unread(path("missing"), std::strerror(ENOENT), advice);
  expect_unread("", std::strerror(ENOENT), advice);
  expect_unread(folder_.string(), std::strerror(EISDIR), advice);
  expect_unread(file("") + "/a", std::strerror(ENOTDIR), advice);
  expect_unread("/proc/self/mem", std::strerror(EIO), advice);
  expect_bad("", "it is empty");
}

TEST_F(Pictures, OtherFormats) {
  const std::pair<std::string, std::string> others[] = {
      {"\x89PNG\r\n\x1a\n", "a PNG"},
      {"\xff\xd8\xff\xe0", "a JPEG"},
      {"P1 1 1 1", "P1, a bitmap or PAM"},
      {"P4\n1 1\n1", "P4, a bitmap or PAM"},
      {"P7\nWIDTH 1", "P7, a bitmap or PAM"},
      {"P", "no PGM or PPM, which begins with P2, P3, P5 or P6"},
      {"P8 1 1", "no PGM or PPM, which begins with P2, P3, P5 or P6"},
      {std::string("P\0 1", 4), "no PGM or PPM, which begins with P2, P3, P5 or P6"},
      {"p5 1 1 1", "no PGM or PPM, which begins with P2, P3, P5 or P6"},
      {"\xff", "no PGM or PPM, which begins with P2, P3, P5 or P6"},
      {std::string(4, '\0'), "no PGM or PPM, which begins with P2, P3, P5 or P6"}};
  for (const auto& [bytes, kind] : others) {
    const std::string name = file(bytes);
    expect_unread(name, "it is " + kind,
                  "convert it: magick " + name + " picture.ppm (gray: picture.pgm)");
  }
}

TEST_F(Pictures, Header) {
  const std::string size = " and must be 1 to 2147483647", maxval = " and must be 1 to 65535";
  expect_bad("P5", "its width is missing" + size);
  expect_bad("P5 # 1 1 255", "its width is missing" + size);
  expect_bad("P5 0 1 255 ", "its width is '0'" + size);
  expect_bad("P2 -3 1 255 ", "its width is '-3'" + size);
  expect_bad("P2 +3 1 255 ", "its width is '+3'" + size);
  expect_bad("P2x 3 1 255 ", "its width is 'x'" + size);
  expect_bad("P6 3.5 1 255 ", "its width is '3.5'" + size);
  expect_bad("P5 2147483648 1 255 ", "its width is '2147483648'" + size);
  expect_bad("P5 18446744073709551617 1 255 ", "its width is '184467440737095516'" + size);
  expect_bad(
      "P5 1\x01\xff"
      "2 1 255 ",
      "its width is '1?\?2'" + size);
  expect_bad("P5 3", "its height is missing" + size);
  expect_bad("P5 3 000 255 ", "its height is '0'" + size);
  expect_bad("P5 3 1e3 255 ", "its height is '1e3'" + size);
  expect_bad("P5 3 1\n", "its maxval is missing" + maxval);
  expect_bad("P5 3 1 0 ", "its maxval is '0'" + maxval);
  expect_bad("P5 3 1 65536 ", "its maxval is '65536'" + maxval);
}

TEST_F(Pictures, TooLarge) {
  const std::pair<std::string, std::string> sizes[] = {
      {"P5 65536 32768", "2147483648"},
      {"P6 2147483647 1", "6442450941"},
      {"P6 2147483647 2147483647", "13835058042397261827"},
      {"P2 2147483647 2147483647", "4611686014132420609"}};
  for (const auto& [begin, count] : sizes) {
    expect_unread(file(begin + " 255 "),
                  "sample 1 of " + count + ": more than 2^31 - 1 are not read", "make it smaller");
  }
  expect_bad("P5 2147483647 1 65535 ab",  // allocates no memory for missing samples
             "sample 2 of 2147483647: the file ends after 2 of 4294967294 bytes");
}

TEST_F(Pictures, DataEnds) {
  expect_bad("P5 3 2 255 ", "sample 1 of 6: the file ends after 0 of 6 bytes");
  expect_bad("P5 3 2 255", "sample 1 of 6: the file ends after 0 of 6 bytes");
  expect_bad("P6 1 2 255 abcde", "sample 6 of 6: the file ends after 5 of 6 bytes");
  expect_bad("P6 1 2 65535 abab", "sample 3 of 6: the file ends after 4 of 12 bytes");
  expect_bad(std::string("P5 1 2 256 \0\1\1", 14),
             "sample 2 of 2: the file ends after 3 of 4 bytes");
  expect_bad("P2 3 1 9 1 2", "sample 3 of 3: its value is missing and must be 0 to 65535");
}

TEST_F(Pictures, SamplesOutOfRange) {
  expect_bad("P5 3 1 100 abe", "sample 3 of 3: its value 101 is above maxval");
  expect_bad("P5 1 1 256 \1\1", "sample 1 of 1: its value 257 is above maxval");
  expect_bad("P2 2 1 9 1 10", "sample 2 of 2: its value 10 is above maxval");
  for (const char* text : {"65536", "-1", "x", "1.0", "99999999999999999999"}) {
    expect_bad(std::string("P3 1 1 9 1 2 ") + text, "sample 3 of 3: its value is '" +
                                                        std::string(text).substr(0, 18) +
                                                        "' and must be 0 to 65535");
  }
}

// Writing

TEST_F(Pictures, NothingIsLost) {
  const Image image{2, 1, 1, 255, {1, 2}};
  std::ofstream(path("a")) << "old";
  fs::create_directory(path("folder"));
  for (const std::string& bad : {path("missing/a"), path("a/b"), path("folder"), path("")}) {
    const course::Error error = error_of([&] { course::write_pnm(bad, image); });
    EXPECT_EQ(error.exit_code, 4);
    EXPECT_TRUE(has(error.what(), "cannot write " + bad + ": ")) << error.what();
    EXPECT_FALSE(has(error.what(), "\n") || has(error.what(), "table")) << error.what();
  }
  EXPECT_EQ(bytes(path("a")), "old");
  course::write_pnm(path("a"), image);
  EXPECT_EQ(course::read_pnm(path("a")).samples, image.samples);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "a temporary file stayed";
}

TEST_F(Pictures, NoImage) {
  const int most = course::pnm_largest;
  const Image bad[] = {{},
                       {0, 1, 1, 255, {}},
                       {1, 0, 1, 255, {}},
                       {-1, -1, 1, 255, {1}},
                       {1, 1, 1, 0, {0}},
                       {1, 1, 1, 65536, {0}},
                       {1, 1, 1, -1, {0}},
                       {1, 1, 1, 255, {256}},
                       {1, 1, 2, 255, {1, 2}},
                       {2, 2, 1, 255, {1, 2, 3}},
                       {2, 2, 1, 255, {1, 2, 3, 4, 5}},
                       {most, most, 3, 255, {1}}};
  for (const Image& image : bad) {
    const course::Error error = error_of([&] { course::write_pnm(path("a"), image); });
    EXPECT_EQ(error.exit_code, 4);
    EXPECT_TRUE(has(error.what(), "cannot write " + path("a") + ": ")) << error.what();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_EQ(
      std::string(error_of([&] {
                    course::write_pnm("a", {2, 2, 1, 255, {1, 300}});
                  }).what()),
      "cannot write a: 2 samples up to 300 in 1 channels do not fit width, height and maxval: "
      "2 2 255");
}

/// Whichever bytes change, vanish or are added: a whole image, or one line. After a change of the
/// reader, also build this file with -fsanitize=address,undefined.
TEST_F(Pictures, BytesThatChange) {
  std::vector<std::string> valid;
  for (const int channels : {1, 3}) {
    for (const int maxval : {9, 255, 65535}) {
      for (const PnmData data : {PnmData::binary, PnmData::ascii}) {
        course::write_pnm(path("a"), random_image(3, 2, channels, maxval, 2), data);
        std::string text = bytes(path("a"));
        if (maxval == 9) text.insert(3, "# a comment\n");
        valid.push_back(text);
      }
    }
  }
  std::mt19937 random(3);
  int read = 0, refused = 0;
  const std::string likely = "0123456789 \n#-P\xff";
  for (int i = 0; i < 5000; ++i) {
    std::string text = valid[random() % valid.size()];
    for (unsigned changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random() % std::min<std::size_t>(text.size(), random() % 2 ? 14 : 99);
      const char c = random() % 2 ? likely[random() % likely.size()] : static_cast<char>(random());
      switch (random() % 4) {
        case 0:
          text[at] = c;
          break;
        case 1:
          text.insert(at, 1, c);
          break;
        case 2:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.resize(at);
          break;
      }
    }
    const std::string name = file(text);
    try {
      const Image image = course::read_pnm(name);
      ++read;
      ASSERT_TRUE(image.channels == 1 || image.channels == 3);
      ASSERT_EQ(image.samples.size(),
                std::uint64_t{1} * image.width * image.height * image.channels);
      for (const int sample : image.samples) ASSERT_LE(sample, image.maxval);
    } catch (const course::Error& error) {
      ++refused;
      ASSERT_EQ(error.exit_code, 2);
      ASSERT_TRUE(has(error.what(), "cannot read " + name + ": ")) << error.what();
      ASSERT_FALSE(has(error.what(), "\n")) << error.what();
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
