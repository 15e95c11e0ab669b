#include "plan/throttle_text.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "plan/literal.h"

namespace penstock {
namespace {

[[noreturn]] void fail(std::string_view part, const std::string& what) {
  throw Error(Code::invalid_argument, "throttle: " + what + ": " + std::string(part) +
                                          "; write it like bandwidth=10MB/s,open=20ms,read=1ms");
}

// Parses the quantity after the '='. Its unit is one of `classes`.
double quantity(std::string_view part, std::string_view value, std::string_view unit_class,
                std::string_view other_class, const char* expected) {
  if (value.empty() || value[0] < '0' || value[0] > '9') fail(part, expected);
  const NumberLiteral n = read_number(value);
  const bool fits = n.kind == NumberLiteral::Kind::quantity &&
                    (n.unit_class == unit_class || n.unit_class == other_class);
  if (!n.error.empty() || n.length != value.size() || !fits) fail(part, expected);
  return n.number;
}

int64_t delay_ns(std::string_view part, std::string_view value) {
  constexpr double kMostSeconds = 3600;
  const double seconds =
      quantity(part, value, "seconds", "seconds", "a delay is a time such as 20ms");
  if (seconds > kMostSeconds) fail(part, "a delay is at most one hour");
  return static_cast<int64_t>(seconds * 1e9);
}

}  // namespace

ThrottleOptions parse_throttle(std::string_view text) {
  ThrottleOptions out;
  if (text == "none") return out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (key == "bandwidth") {
      out.bytes_per_second =
          quantity(part, value, "bytes/s", "bytes", "bandwidth is a rate such as 10MB/s");
      if (out.bytes_per_second < 1) fail(part, "bandwidth is at least 1B/s");
    } else if (key == "open") {
      out.open_ns = delay_ns(part, value);
    } else if (key == "read") {
      out.read_ns = delay_ns(part, value);
    } else {
      fail(part, "expected bandwidth, open or read");
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace penstock
