#include "exercise/teacher.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace course {

Teacher::Teacher() {
  const char* pipes = std::getenv("COURSE_TEACHER");
  int from = -1;
  if (pipes == nullptr || std::sscanf(pipes, "%d,%d", &from, &to_) != 2) return;
  unsetenv("COURSE_TEACHER");
  char part[64];
  for (ssize_t got = 0; (got = read(from, part, sizeof part)) > 0;) {
    word_.append(part, static_cast<std::size_t>(got));
  }
  close(from);
}

void Teacher::tell(const std::string& verdict) const {
  const std::string text = word_ + "\n" + verdict;
  for (std::size_t sent = 0; to_ >= 0 && sent < text.size();) {
    const ssize_t more = write(to_, text.data() + sent, text.size() - sent);
    if (more <= 0) return;  // the reader has closed the pipe
    sent += static_cast<std::size_t>(more);
  }
}

}  // namespace course
