#include "program/json.hpp"

#include <cmath>
#include <cstdio>

namespace course {
namespace {

/// The outer levels get lines of their own, so that a changed row is a few changed lines.
constexpr std::size_t outer_levels = 4;

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

}  // namespace course
