#pragma once
/// \file
/// Writing a file as a whole or not at all. Needs nothing to be linked.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "chapter/error.hpp"

namespace course {
namespace whole_file {

/// What to do where a file cannot be written.
constexpr const char* elsewhere = "name a file in a folder that exists and has room";

/// The name of the temporary file of this process, in the folder of `path`.
inline std::string temporary_name(const std::string& path) {
  return path + ".part" + std::to_string(getpid());
}

/// The file that a write to `path` replaces; of a link, its target. \throws Error for anything but
/// a regular file, because a rename would replace it.
inline std::string replaceable(const std::string& path) {
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

}  // namespace whole_file

/// Finds out before a long run whether write_file() could write there. \throws Error as
/// write_file() does.
inline void check_writable(const std::string& path) {
  const std::string temporary = whole_file::temporary_name(whole_file::replaceable(path));
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) {
    throw Error("cannot write " + path + ": " + std::strerror(errno) + "; " + whole_file::elsewhere,
                4);
  }
  std::fclose(file);
  std::remove(temporary.c_str());
}

/// Writes a file so that a reader sees the old contents or the new, never a mixture: to a temporary
/// file in the same folder, then renamed. Of a link, its target is written. \throws Error with exit
/// code 4 and one line that ends with the advice. After an error an existing file is as it was;
/// what is no regular file is never replaced.
inline void write_file(const std::string& path, const std::string& contents,
                       const std::string& advice = whole_file::elsewhere) {
  const std::string target = whole_file::replaceable(path);
  const std::string temporary = whole_file::temporary_name(target);
  const auto fail = [&](const std::string& what) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error("cannot " + what + " " + path + ": " + why + "; " + advice, 4);
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
