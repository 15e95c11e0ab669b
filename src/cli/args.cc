#include "cli/args.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/terminal.h"
#include "functions/op.h"

namespace penstock::cli {
namespace {

const Flag kHelp{"--help", "", "this text; -h too"};
const Flag kColor{"--color", "auto|always|never", "auto: on a terminal, unless NO_COLOR is set"};

// Splits a number from the unit after it; returns false without a number.
bool split_number(const std::string& text, double* number, std::string* unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc() || !(*number >= 0) || std::isinf(*number)) return false;
  *unit = std::string(end, text.data() + text.size());
  return true;
}

}  // namespace

Args::Args(const std::vector<std::string>& words, const std::vector<Flag>& own) {
  std::vector<Flag> flags = own;
  flags.insert(flags.end(), {kHelp, kColor});
  bool only_positional = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_positional || word == "-" || !word.starts_with("-")) {
      positional_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_positional = true;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word == "-o"   ? "-o"
                             : word == "-h" ? kHelp.name
                                            : word.substr(0, equals);
    const auto flag = std::ranges::find(flags, name, &Flag::name);
    if (flag == flags.end()) {
      std::vector<std::string> known;
      for (const Flag& f : flags) known.push_back(f.name);
      throw UsageError{"unknown flag " + name + did_you_mean(name, known)};
    }
    if (flag->value.empty()) {
      if (equals != std::string::npos) throw UsageError{name + " takes no value"};
      flags_[name].emplace_back();
    } else if (equals != std::string::npos && word != "-o") {
      flags_[name].push_back(word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      flags_[name].push_back(words[++i]);
    } else {
      throw UsageError{name + " needs a value: " + flag->value};
    }
  }
}

std::optional<std::string> Args::get(std::string_view flag) const {
  const auto it = flags_.find(std::string(flag));
  if (it == flags_.end()) return std::nullopt;
  return it->second.back();
}

std::vector<std::string> Args::all(std::string_view flag) const {
  const auto it = flags_.find(std::string(flag));
  return it == flags_.end() ? std::vector<std::string>() : it->second;
}

int64_t Args::get_int(std::string_view flag, int64_t fallback, int64_t least) const {
  const auto text = get(flag);
  if (!text) return fallback;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least) {
    throw UsageError{std::string(flag) + " must be an integer of at least " +
                     std::to_string(least) + ": " + *text};
  }
  return value;
}

double Args::get_seconds(std::string_view flag, double fallback) const {
  const auto text = get(flag);
  if (!text) return fallback;
  double value = 0;
  std::string unit;
  if (split_number(*text, &value, &unit)) {
    if (unit.empty() || unit == "s") return value;
    if (unit == "ms") return value * 1e-3;
    if (unit == "us") return value * 1e-6;
    if (unit == "min") return value * 60;
    if (unit == "h") return value * 3600;
  }
  throw UsageError{std::string(flag) + " must be a time such as 10s or 250ms: " + *text};
}

int64_t Args::get_bytes(std::string_view flag, int64_t fallback) const {
  const auto text = get(flag);
  if (!text) return fallback;
  double value = 0;
  std::string unit;
  static const std::pair<std::string_view, double> units[] = {{"", 1},
                                                              {"B", 1},
                                                              {"kB", 1e3},
                                                              {"KB", 1e3},
                                                              {"MB", 1e6},
                                                              {"GB", 1e9},
                                                              {"TB", 1e12},
                                                              {"KiB", 1024.0},
                                                              {"MiB", 1048576.0},
                                                              {"GiB", 1073741824.0},
                                                              {"TiB", 1099511627776.0}};
  if (split_number(*text, &value, &unit)) {
    if (unit.ends_with("/s")) unit.resize(unit.size() - 2);
    for (const auto& [name, factor] : units) {
      if (unit == name && value * factor < 9e18) return static_cast<int64_t>(value * factor);
    }
  }
  throw UsageError{std::string(flag) + " must be a size such as 64MB or 2GiB: " + *text};
}

double Args::get_rate(std::string_view flag) const {
  const std::string text = get(flag).value_or("");
  double value = 0;
  std::string unit;
  if (split_number(text, &value, &unit)) {
    if (unit.starts_with('k')) value *= 1e3, unit.erase(0, 1);
    if (unit.starts_with('M')) value *= 1e6, unit.erase(0, 1);
    if (unit.empty() || unit == "/s") return value;
    if (unit == "/min") return value / 60;
    if (unit == "/h") return value / 3600;
  }
  throw UsageError{std::string(flag) + " must be a rate such as 30/s or 1.5k/s: " + text};
}

std::string wrap(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = indent;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find_first_of(" \n", at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(at, end - at);
    if (column > indent && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (end < text.size() && text[end] == '\n') {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    at = end + 1;
  }
  return out;
}

std::vector<Flag> flags_of(const Command& command) {
  std::vector<Flag> out = command.flags;
  out.insert(out.end(), {kColor, kHelp});
  return out;
}

std::string help_of(const Command& command) {
  std::string out = paint(Stream::out, Style::bold, "penstock " + command.name) + " " +
                    command.usage + "\n\n" + wrap(command.about, 80, 0) + "\n";
  const std::vector<Flag> flags = flags_of(command);
  size_t width = 0;
  for (const Flag& f : flags)
    width = std::max(width, f.name.size() + (f.value.empty() ? 0 : f.value.size() + 1));
  out += "\n" + paint(Stream::out, Style::bold, "Flags") + "\n";
  for (const Flag& f : flags) {
    std::string left = "  " + f.name + (f.value.empty() ? "" : " " + f.value);
    left.resize(width + 4, ' ');
    out += left + wrap(f.help, 80, width + 4) + "\n";
  }
  return out;
}

}  // namespace penstock::cli
