#include "report/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace penstock {
namespace {

// Formats three significant digits without an exponent, for values in [0.001, 1000).
std::string three_digits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  // Whole numbers are counts more often than measurements.
  if (const double whole = std::round(value); std::abs(value - whole) <= 1e-9 * size) {
    std::snprintf(text, sizeof text, "%.0f", whole);
  }
  return text;
}

struct Unit {
  double size;
  const char* name;
};

// Formats in the largest unit that leaves at least 1 after rounding to three digits.
template <size_t n>
std::string in_units(double value, const std::array<Unit, n>& units, const char* space) {
  if (std::isnan(value)) return "?";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const Unit* unit = &units.back();
  for (const Unit& u : units) {
    if (std::abs(value) >= u.size * 0.9995) {
      unit = &u;
      break;
    }
  }
  return three_digits(value / unit->size) + (*unit->name ? space : "") + unit->name;
}

}  // namespace

std::string human_number(double value) {
  constexpr std::array<Unit, 5> units{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  if (value != 0 && std::abs(value) < 0.001) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", value);
    return text;
  }
  return in_units(value, units, "");
}

std::string human_rate(double per_second) {
  return std::isfinite(per_second) ? human_number(per_second) + "/s" : "unlimited";
}

std::string human_bytes(double bytes) {
  constexpr std::array<Unit, 6> units{
      {{1e15, "PB"}, {1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}};
  return in_units(bytes, units, " ");
}

std::string human_seconds(double seconds) {
  constexpr std::array<Unit, 6> units{
      {{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  if (seconds == 0) return "0 s";
  return in_units(seconds, units, " ");
}

std::string human_percent(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.05) return "<0.1 %";
  char text[32];
  std::snprintf(text, sizeof text, percent != 0 && std::abs(percent) < 9.95 ? "%.1f %%" : "%.0f %%",
                percent);
  return text;
}

std::string human_ratio(double ratio) {
  return ratio < 999.5 ? three_digits(ratio) + "x" : ">1000x";
}

std::string human_cores(double cores) {
  char text[32];
  std::snprintf(text, sizeof text, cores < 99.95 ? "%.2f" : "%.0f", cores);
  return text;
}

size_t text_width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view text, size_t width) {
  if (text_width(text) <= width) return std::string(text);
  size_t end = 0, seen = 0;
  while (end < text.size()) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && seen++ == (width > 0 ? width - 1 : 0)) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + (width > 0 ? "…" : "");
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t wide = text_width(word);
    if (used > 0 && used + 1 + wide > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += wide;
  }
  return out;
}

std::string TextTable::text(size_t indent) const {
  std::vector<std::vector<std::string>> lines;
  if (std::ranges::any_of(columns_, [](const Column& c) { return !c.title.empty(); })) {
    lines.emplace_back();
    for (const Column& c : columns_) lines.back().push_back(c.title);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<size_t> widths(columns_.size(), 0);
  for (std::vector<std::string>& line : lines) {
    line.resize(columns_.size());
    for (size_t i = 0; i < line.size(); ++i) {
      if (columns_[i].most > 0) line[i] = shortened(line[i], columns_[i].most);
      widths[i] = std::max(widths[i], text_width(line[i]));
    }
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    std::string row(indent, ' ');
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string space(widths[i] - text_width(line[i]), ' ');
      if (i > 0) row += ' ';
      row += columns_[i].align == Align::right ? space + line[i] : line[i] + space;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

}  // namespace penstock
