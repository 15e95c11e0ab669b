#include "cli/synth_words.h"

#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace penstock {

std::string word_of(uint64_t number) {
  static constexpr std::array<const char*, 16> kSyllables = {
      "ba", "cor", "da",  "el", "fin", "go", "har",  "in",
      "ka", "lo",  "mer", "no", "pa",  "ri", "sten", "tu"};
  uint64_t bits = mix(number, 77);
  std::string out;
  for (uint64_t n = 1 + (number > 50) + bits % 2; n > 0; --n) {
    bits = mix(bits, n);
    out += kSyllables[bits % kSyllables.size()];
  }
  return out;
}

uint64_t common_number(RandomStream& random) {
  return static_cast<uint64_t>(std::pow(static_cast<double>(kSynthWords), random.next_double()));
}

std::string common_word(RandomStream& random) { return word_of(common_number(random)); }

std::string common_words(RandomStream& random, uint64_t count) {
  std::string out;
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) out += ' ';
    out += common_word(random);
  }
  return out;
}

std::vector<std::string> distinct_words(uint64_t most) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (uint64_t i = 1; i <= most; ++i) {
    std::string word = word_of(i);
    if (seen.insert(word).second) out.push_back(std::move(word));
  }
  return out;
}

void append_fixed(std::string& out, double value, int digits) {
  std::array<char, 64> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits)
          .ptr;
  out.append(text.data(), end);
}

}  // namespace penstock
