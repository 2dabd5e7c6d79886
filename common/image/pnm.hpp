#pragma once
/// \file
/// Reads and writes pictures as PGM (gray) and PPM (color), formats that every image program knows:
/// https://netpbm.sourceforge.net/doc/pnm.html. Needs nothing to be linked: a demo may include it.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "chapter/error.hpp"
#include "chapter/write_file.hpp"

namespace course {

/// Rows from top to bottom, pixels from left to right: channel c of the pixel (x, y) is
/// samples[(std::size_t(y) * width + x) * channels + c].
struct Image {
  int width = 0, height = 0;
  int channels = 1;  // 1: gray (PGM); 3: red, green, blue (PPM)
  int maxval = 255;  // the sample that means white, 1 to 65535
  std::vector<std::uint16_t> samples;

  /// The samples in 8 bits: unchanged if maxval is at most 255, else scaled to 0..255 and rounded.
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> all;
    for (const int s : samples) all.push_back(maxval > 255 ? (s * 255 + maxval / 2) / maxval : s);
    return all;
  }

  /// Brightness in 8 bits, one byte per pixel; of color 0.299 red + 0.587 green + 0.114 blue.
  std::vector<std::uint8_t> luminance() const {
    std::vector<std::uint8_t> all = bytes();
    if (channels == 1) return all;
    for (std::size_t i = 0; i < all.size() / 3; ++i) {
      const std::uint8_t* const p = &all[3 * i];
      all[i] = static_cast<std::uint8_t>((299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000);
    }
    all.resize(all.size() / 3);
    return all;
  }
};

/// The folder of a file: "." for a name alone.
inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

/// The photograph that lies in this folder. photo.txt names its source and licence.
inline std::string photo_path() { return folder_of(__FILE__) + "/photo.pgm"; }

enum class PnmData { binary, ascii };    // P5 and P6; P2 and P3, which you can read
constexpr int pnm_largest = 0x7fffffff;  // width, height, number of samples

/// Reads from front to back, so that the file may be a pipe. Programs call read_pnm().
class PnmReader {
 public:
  explicit PnmReader(const std::string& path) : path_(path) {}

  Image read() {
    Image image;
    const char format = magic();
    image.channels = format == '3' || format == '6' ? 3 : 1;
    image.width = number("width", 1, pnm_largest);
    image.height = number("height", 1, pnm_largest);
    image.maxval = number("maxval", 1, 65535);
    count_ = std::uint64_t{1} * image.width * image.height * image.channels;
    if (count_ > pnm_largest) fail("more than 2^31 - 1 are not read", "make it smaller");
    const std::size_t bytes = format < '4' ? 0 : image.maxval > 255 ? 2 : 1;
    for (; read_ < count_; ++read_) {  // allocates as it reads, because a header may lie
      const int sample = bytes ? binary(bytes) : number("value", 0, 65535);
      if (sample > image.maxval) fail("its value " + std::to_string(sample) + " is above maxval");
      image.samples.push_back(static_cast<std::uint16_t>(sample));
    }
    return image;
  }

 private:
  [[noreturn]] void fail(std::string why, std::string advice = "convert or copy it anew") const {
    if (!file_ || std::ferror(file_.get())) {
      why = std::strerror(errno), advice = "name a file that can be read";
    } else if (count_ > 0) {
      why = "sample " + std::to_string(read_ + 1) + " of " + std::to_string(count_) + ": " + why;
    }
    throw Error("cannot read " + path_ + ": " + why + "; " + advice, 2);
  }

  /// The digit of P2, P3, P5 or P6.
  char magic() {
    char begin[4] = {};
    const std::size_t n = file_ ? std::fread(begin, 1, 3, file_.get()) : 0;
    std::string kind = "no PGM or PPM, which begins with P2, P3, P5 or P6";
    if (n == 0) fail("it is empty");
    if (begin[0] == 'P') {
      if (n == 3) std::ungetc(static_cast<unsigned char>(begin[2]), file_.get());
      if (std::memchr("2356", begin[1], 4)) return begin[1];
      if (std::memchr("147", begin[1], 3)) kind = std::string(begin, 2) + ", a bitmap or PAM";
    }
    if (std::strcmp(begin, "\x89PN") == 0) kind = "a PNG";
    if (std::strcmp(begin, "\xff\xd8\xff") == 0) kind = "a JPEG";
    fail("it is " + kind, "convert it: magick " + path_ + " picture.ppm (gray: picture.pgm)");
  }

  /// A number in ASCII, read with the one character that ends it; a comment is the end of its line.
  int number(const std::string& what, int least, int most) {
    std::string text;
    bool comment = false;
    for (int c; (c = std::getc(file_.get())) != EOF;) {
      comment = c == '#' || (comment && c != '\n' && c != '\r');
      const bool space = c == ' ' || (c >= '\t' && c <= '\r');
      if (!comment && space && !text.empty()) break;
      if (comment || space) continue;
      if (text == "0") text.clear();  // leading zeros
      if (text.size() < 18) text += c > ' ' && c <= '~' ? static_cast<char>(c) : '?';
    }
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    const long long value = digits ? std::stoll(text) : -1;
    if (value >= least && value <= most) return static_cast<int>(value);
    fail("its " + what + " is " + (text.empty() ? "missing" : "'" + text + "'") + " and must be " +
         std::to_string(least) + " to " + std::to_string(most));
  }

  /// A sample of one or two bytes, the higher one first.
  int binary(std::size_t bytes) {
    unsigned char read[2] = {};
    const std::size_t n = std::fread(read + 2 - bytes, 1, bytes, file_.get());
    if (n == bytes) return read[0] * 256 + read[1];
    fail("the file ends after " + std::to_string(read_ * bytes + n) + " of " +
         std::to_string(count_ * bytes) + " bytes");
  }

  std::string path_;
  std::unique_ptr<FILE, int (*)(FILE*)> file_{std::fopen(path_.c_str(), "rb"), std::fclose};
  std::uint64_t count_ = 0, read_ = 0;  // samples; 0 in the header
};

/// Reads P2, P3, P5 or P6: the first image of the file; what follows its last sample is ignored.
/// \throws Error with exit code 2 and one line that names the file, what is wrong and what to do.
inline Image read_pnm(const std::string& path) { return PnmReader(path).read(); }

/// Writes a PGM (1 channel) or PPM (3 channels), whole or not at all: see write_file().
/// \throws Error with exit code 4 and one line, including for an image without size or samples.
inline void write_pnm(const std::string& path, const Image& image, PnmData data = PnmData::binary) {
  using std::to_string;
  const auto& [width, height, channels, maxval, samples] = image;
  const bool ascii = data == PnmData::ascii;
  const std::uint64_t row = std::uint64_t{1} * width * channels;
  const int most = samples.empty() ? 0 : *std::max_element(samples.begin(), samples.end());
  const std::string size = to_string(width) + " " + to_string(height) + " " + to_string(maxval);
  if (width < 1 || height < 1 || (channels != 1 && channels != 3) || maxval < most || maxval < 1 ||
      maxval > 65535 || samples.size() != row * height || samples.size() > pnm_largest) {
    throw Error("cannot write " + path + ": " + to_string(samples.size()) + " samples up to " +
                    to_string(most) + " in " + to_string(channels) +
                    " channels do not fit width, height and maxval: " + size,
                4);
  }
  std::string text = "P" + to_string((ascii ? 2 : 5) + (channels == 3)) + " " + size + "\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {  // lines of ASCII: at most 54 characters
    if (ascii) text += to_string(samples[i]) + ((i + 1) % row % 9 == 0 ? "\n" : " ");
    if (!ascii && maxval > 255) text += static_cast<char>(samples[i] >> 8);
    if (!ascii) text += static_cast<char>(samples[i]);
  }
  write_file(path, text);
}

}  // namespace course
