#include "chapter/selection.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "chapter/error.hpp"

namespace course {
namespace {

std::string without_zeros(std::string number) {
  while (number.size() > 1 && number.front() == '0') number.erase(0, 1);
  return number;
}

}  // namespace

void bad(const std::string& line) { throw Error(line + "; --help lists the options", 2); }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (text.empty() || text.back() == separator) parts.emplace_back();
  return parts;
}

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> parse_selection(const std::string& text) {
  std::vector<std::string> selection;
  for (const std::string& part : split(text, ',')) {
    const auto dash = part.find('-');
    const std::string from = part.substr(0, dash);
    if (part.empty()) bad("--only '" + text + "' has an empty part");
    if (dash == std::string::npos) {
      selection.push_back(all_digits(part) ? without_zeros(part) : part);
      continue;
    }
    const std::string to = part.substr(dash + 1);
    if (!all_digits(from) || !all_digits(to) || from.size() > 3 || to.size() > 3 ||
        std::stoi(from) > std::stoi(to)) {
      bad("--only '" + part + "' is not a range such as 5-7");
    }
    for (int k = std::stoi(from); k <= std::stoi(to); ++k) selection.push_back(std::to_string(k));
  }
  return selection;
}

bool selects(const std::vector<std::string>& selection, const std::string& id) {
  const auto underscore = id.find('_');
  const std::string number = id.substr(0, underscore);
  const std::string name = underscore == std::string::npos ? id : id.substr(underscore + 1);
  return std::any_of(selection.begin(), selection.end(), [&](const std::string& asked) {
    return asked == id || asked == name ||
           (all_digits(number) && without_zeros(asked) == without_zeros(number));
  });
}

}  // namespace course
