#pragma once
/// \file
/// The channel to `chapters/run --grade`, which believes nothing that is printed on stdout.

#include <string>

namespace course {

/// A teacher's process waits for the verdict at a pipe. It gave this process a word through another
/// pipe, which is read and closed before the submission's code runs; the verdict begins with it.
/// In an ordinary run there is no such process, and nothing is sent.
class Teacher {
 public:
  Teacher();  ///< takes the pipes that COURSE_TEACHER ("7,8") names, and the word
  void tell(const std::string& verdict) const;

 private:
  int to_ = -1;
  std::string word_;
};

}  // namespace course
