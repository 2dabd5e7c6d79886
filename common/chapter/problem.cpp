#include "chapter/problem.hpp"

#include <stdexcept>

namespace course {

std::int64_t Size::operator[](const std::string& name) const {
  for (const auto& [key, value] : dimensions) {
    if (key == name) return value;
  }
  throw std::out_of_range("a size without the dimension '" + name + "'");
}

void Size::set(const std::string& name, std::int64_t value) {
  for (auto& [key, old] : dimensions) {
    if (key == name) {
      old = value;
      return;
    }
  }
  dimensions.emplace_back(name, value);
}

std::string Size::text() const {
  std::string text;
  for (const auto& [key, value] : dimensions) {
    text += (text.empty() ? "" : " ") + key + "=" + size_text(value);
  }
  return text;
}

double Problem::scalar(int k) const {
  throw std::out_of_range("a problem without the scalar " + std::to_string(k));
}

std::string size_text(std::int64_t value) {
  if (value < 1024 || (value & (value - 1)) != 0) return std::to_string(value);
  int exponent = 0;
  while ((std::int64_t{1} << exponent) < value) ++exponent;
  return "2^" + std::to_string(exponent);
}

std::size_t bytes_of(Type type) {
  switch (type) {
    case Type::u8:
      return 1;
    case Type::u16:
    case Type::bf16:
      return 2;
    case Type::f64:
    case Type::i64:
      return 8;
    default:
      return 4;
  }
}

const char* name_of(Type type) {
  switch (type) {
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    case Type::i32:
      return "i32";
    case Type::u32:
      return "u32";
    case Type::i64:
      return "i64";
    case Type::u8:
      return "u8";
    case Type::u16:
      return "u16";
    case Type::bf16:
      return "bf16";
  }
  return "?";
}

const char* name_of(Input input) {
  switch (input) {
    case Input::random:
      return "random";
    case Input::integers:
      return "integers";
    case Input::equal:
      return "equal";
    case Input::ascending:
      return "ascending";
    case Input::descending:
      return "descending";
    case Input::few_distinct:
      return "few_distinct";
    case Input::denormal:
      return "denormal";
    case Input::large:
      return "large";
    case Input::zeros:
      return "zeros";
  }
  return "?";
}

}  // namespace course
