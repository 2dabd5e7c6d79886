#include "program/json.hpp"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "chapter/error.hpp"

namespace course {
namespace {

/// The outer levels stand on lines of their own, so that a changed row is a few changed lines.
constexpr std::size_t outer_levels = 4;

std::string temporary_name(const std::string& path) {
  return path + ".part" + std::to_string(getpid());
}

/// The file that a write to `path` replaces: behind a link, what it points to.
/// \throws Error if something is there that is no regular file: a rename would take its place.
std::string replaceable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::is_directory(path, none)) {
    throw Error("cannot write " + path + ": it is a folder; name a file in it", 4);
  }
  if (fs::exists(path, none) && !fs::is_regular_file(path, none)) {
    throw Error("cannot write " + path + ": it is no regular file, but a device, a pipe or a " +
                    "socket; name a file",
                4);
  }
  fs::path target = path;
  for (int links = 0; links < 40 && fs::is_symlink(target, none); ++links) {
    const fs::path next = fs::read_symlink(target, none);
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

}  // namespace

Json& Json::key(const std::string& name) {
  value(name);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

Json& Json::value(const std::string& text) {
  std::string token = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      token += '\\';
      token += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      token += escape;
    } else {
      token += c;
    }
  }
  return raw(token + '"');
}

Json& Json::value(double number) {
  if (!std::isfinite(number)) return null();
  char token[32];
  std::snprintf(token, sizeof token, "%.9g", number);
  return raw(token);
}

Json& Json::value(const std::vector<double>& numbers) {
  begin_array();
  for (const double number : numbers) value(number);
  return end_array();
}

Json& Json::value(const std::vector<std::string>& texts) {
  begin_array();
  for (const std::string& text : texts) value(text);
  return end_array();
}

Json& Json::open(char bracket) {
  separate();
  text_ += bracket;
  empty_.push_back(true);
  return *this;
}

Json& Json::close(char bracket) {
  const bool broken = !empty_.back() && empty_.size() <= outer_levels;
  empty_.pop_back();
  if (broken) break_line();
  text_ += bracket;
  return *this;
}

Json& Json::raw(const std::string& token) {
  separate();
  text_ += token;
  return *this;
}

void Json::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (empty_.size() > 1) {
    if (!empty_.back()) text_ += ',';
    if (!break_line() && !empty_.back()) text_ += ' ';
  }
  empty_.back() = false;
}

bool Json::break_line() {
  if (empty_.size() > outer_levels) return false;
  text_ += '\n' + std::string(empty_.size() - 1, ' ');
  return true;
}

void check_writable(const std::string& path) {
  const std::string temporary = temporary_name(replaceable(path));
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    throw Error("cannot write " + path + ": " + std::strerror(errno) +
                    "; name a file in a folder that exists and has room",
                4);
  }
  std::fclose(file);
  std::remove(temporary.c_str());
}

void write_file(const std::string& path, const std::string& contents) {
  const std::string target = replaceable(path), temporary = temporary_name(target);
  const auto fail = [&](const std::string& what) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(
        "cannot " + what + " " + path + ": " + why + "; the results are in the table above only",
        4);
  };
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail("write");
  const bool written = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size() &&
                       std::fflush(file) == 0 && fsync(fileno(file)) == 0;
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    if (!written) errno = error;
    fail("write");
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) fail("replace");
}

}  // namespace course
