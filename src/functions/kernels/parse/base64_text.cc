#include "functions/kernels/parse/base64_text.h"

#include <algorithm>
#include <array>

#include "data/charged.h"

namespace penstock {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Values = std::array<int8_t, 256>;

constexpr Values kWeb = [] {
  Values out{};
  out.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    out[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return out;
}();

constexpr Values kAny = [] {
  Values out = kWeb;
  out['+'] = 62;
  out['/'] = 63;
  return out;
}();

int64_t decode(std::string_view text, const Values& values, ChargedString* out) {
  if (text.size() % 4 == 1) return static_cast<int64_t>(text.size());
  if (text.size() % 4 == 0) {  // a whole last group may be padded
    if (text.ends_with("==")) {
      text.remove_suffix(2);
    } else if (text.ends_with('=')) {
      text.remove_suffix(1);
    }
  }
  for (size_t at = 0; at < text.size(); at += 4) {
    const size_t n = std::min<size_t>(4, text.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int value = i < n ? values[static_cast<unsigned char>(text[at + i])] : 0;
      if (value < 0) return static_cast<int64_t>(at + i);
      bits = bits << 6 | static_cast<uint32_t>(value);
    }
    for (size_t i = 0; i + 1 < n; ++i) out->push_back(static_cast<char>(bits >> (16 - 8 * i)));
  }
  return -1;
}

}  // namespace

void encode_web_base64(std::string_view bytes, bool pad, ChargedString* out) {
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < n ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i <= n; ++i) out->push_back(kAlphabet[bits >> (18 - 6 * i) & 63]);
    if (pad) out->append(3 - n, '=');
  }
}

int64_t decode_web_base64(std::string_view text, ChargedString* out) {
  return decode(text, kWeb, out);
}

bool decode_any_base64(std::string_view text, ChargedString* out) {
  return decode(text, kAny, out) < 0;
}

}  // namespace penstock
