#pragma once
/// \file
/// Writing JSON, as much of it as a result file needs. Reading is left to Python's json module.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace course {

/// Builds a JSON document in order. Numbers that are not finite become null; keys and strings are
/// escaped.
///
///     Json json;
///     json.begin_object().key("n").value(3).key("times").value(std::vector<double>{1,
///     2}).end_object(); json.text();
class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(const std::string& name);

  Json& value(const std::string& text);
  Json& value(const char* text) { return value(std::string(text)); }
  Json& value(double number);
  Json& value(std::int64_t number) { return raw(std::to_string(number)); }
  Json& value(int number) { return raw(std::to_string(number)); }
  Json& value(bool truth) { return raw(truth ? "true" : "false"); }
  Json& value(const std::vector<double>& numbers);
  Json& value(const std::vector<std::string>& texts);
  Json& null() { return raw("null"); }
  template <class T>
  Json& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  /// null for an empty text.
  Json& value_or_null(const std::string& text) { return text.empty() ? null() : value(text); }

  const std::string& text() const { return text_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& raw(const std::string& token);
  void separate();
  bool break_line();

  std::string text_;
  std::vector<bool> empty_{true};  // one per nesting level
  bool after_key_ = false;
};

}  // namespace course
