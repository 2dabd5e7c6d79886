#include "program/options.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include "chapter/selection.hpp"

namespace course {
namespace {

constexpr const char* label_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/// \returns false unless the text is a whole number that fits.
bool parse_number(const std::string& text, std::int64_t* number) {
  if (!all_digits(text) || text.size() > 18) return false;
  *number = std::stoll(text);
  return true;
}

std::int64_t number_for(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t most) {
  std::int64_t number = 0;
  if (!parse_number(text, &number) || number < least || number > most) {
    bad(option + " '" + text + "' is not a whole number from " + std::to_string(least) + " to " +
        std::to_string(most));
  }
  return number;
}

/// One dimension: digits, digits with K, M or G, or 2^k.
bool parse_dimension(std::string text, std::int64_t* value) {
  std::int64_t exponent = 0;
  if (text.rfind("2^", 0) == 0) {
    if (!parse_number(text.substr(2), &exponent) || exponent > 62) return false;
    *value = std::int64_t{1} << exponent;
    return true;
  }
  int shift = 0;
  if (!text.empty()) {
    const auto at = std::string("KMG").find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(text.back()))));
    if (at != std::string::npos) {
      shift = 10 * (static_cast<int>(at) + 1);
      text.pop_back();
    }
  }
  if (!parse_number(text, value) || *value > std::numeric_limits<std::int64_t>::max() >> shift)
    return false;
  *value <<= shift;
  return true;
}

}  // namespace

std::vector<std::int64_t> parse_size(const std::string& text) {
  std::vector<std::int64_t> dimensions;
  for (const std::string& part : split(text, 'x')) {
    std::int64_t value = 0;
    if (!parse_dimension(part, &value)) {
      bad("--size '" + text + "' is not a size: write 1000003, 16M, 2^28 or 8192x8192");
    }
    dimensions.push_back(value);
  }
  return dimensions;
}

Options parse_options(int argc, const char* const* argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    std::string name = argv[k];
    std::string inline_value;
    bool has_inline = false;
    if (const auto equals = name.find('=');
        name.rfind("--", 0) == 0 && equals != std::string::npos) {
      inline_value = name.substr(equals + 1);
      name.erase(equals);
      has_inline = true;
    }
    const auto value = [&]() -> std::string {
      if (has_inline) return inline_value;
      if (k + 1 >= argc) bad(name + " needs a value");
      return argv[++k];
    };
    const bool is_switch = name == "--help" || name == "--list" || name == "--check" ||
                           name == "--record" || name == "--model" || name == "--strict" ||
                           name == "--hide-recorded";
    if (is_switch && has_inline) bad(name + " takes no value");
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--check") {
      options.check_only = true;
    } else if (name == "--record") {
      options.record = true;
    } else if (name == "--only") {
      for (auto& part : parse_selection(value())) options.only.push_back(part);
    } else if (name == "--study") {
      for (auto& part : split(value(), ',')) options.studies.push_back(part);
    } else if (name == "--size") {
      for (auto& part : split(value(), ',')) options.sizes.push_back(parse_size(part));
    } else if (name == "--json") {
      options.json = value();
      if (options.json.empty()) bad("--json needs the name of a file");
    } else if (name == "--label") {
      options.label = value();
      if (options.label.find_first_not_of(label_characters) != std::string::npos) {
        bad("--label '" + options.label + "' may hold letters, digits, '.', '-' and '_'");
      }
    } else if (name == "--commit") {
      options.commit = value();
    } else if (name == "--source-hash") {
      options.source_hash = value();
    } else if (name == "--code") {
      for (const std::string& part : split(value(), ',')) {
        const auto colon = part.find(':');
        if (colon == std::string::npos) bad("--code '" + part + "' is not FILE:HASH");
        options.code[part.substr(0, colon)] = part.substr(colon + 1);
      }
    } else if (name == "--profile") {
      options.profile = number_for(name, value(), 1, 1000);
    } else if (name == "--seed") {
      options.seed = static_cast<std::uint64_t>(number_for(name, value(), 0, 999999999999999999));
    } else if (name == "--device") {
      options.device = static_cast<int>(number_for(name, value(), 0, 1023));
    } else if (name == "--model") {
      options.model = true;
    } else if (name == "--strict") {
      options.strict = true;
    } else if (name == "--hide-recorded") {
      options.hide_recorded = true;
    } else if (name == "--draw") {
      bad("--draw is an option of chapters/run, which makes the page");
    } else if (name == "--break") {
      bad("--break is an option of chapters/run, which builds the broken version");
    } else {
      bad("unknown argument '" + name + "'");
    }
  }
  return options;
}

std::string usage(const std::string& program) {
  return "usage: " + program +
         " [options]\n"
         "  --list            the studies and versions of this chapter\n"
         "  --only 3,5-7      versions by number or name\n"
         "  --study NAME      a side study instead of 'sequence'; several with commas, or 'all'\n"
         "  --size N          2^28, 16M, 1000003, 8192x8192; several with commas (K, M, G: powers "
         "of two)\n"
         "  --check           check results only, do not measure\n"
         "  --model           CPU backend: the counts of every source line\n"
         "  --strict          CPU backend: findings about order fail a version, too\n"
         "  --hide-recorded   CPU backend: '?' for the recorded rates, to guess them first\n"
         "  --json FILE       write the results there\n"
         "  --label NAME      a name for this run, kept in the file\n"
         "  --profile N       launch each version N times and do nothing else: run this under a "
         "profiler\n"
         "  --seed S          other random inputs\n"
         "  --device D        which GPU, from 0\n"
         "  --record          all studies, measured the long way\n"
         "  --help            this text\n"
         "Exit code: 0 all right, 1 a version failed, 2 bad usage, 3 no usable GPU, 4 file not "
         "written.\n";
}

}  // namespace course
