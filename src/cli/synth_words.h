// Words and numbers of synthetic text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"

namespace penstock {

inline constexpr uint64_t kSynthWords = 20'000;

// Returns a word by its number; the same for every seed.
std::string word_of(uint64_t number);
// Returns a number below kSynthWords; small numbers are the most frequent.
uint64_t common_number(RandomStream& random);
std::string common_word(RandomStream& random);
// Returns `count` words separated by blanks.
std::string common_words(RandomStream& random, uint64_t count);
// Returns the words of the numbers 1 to `most`, each once, in that order.
std::vector<std::string> distinct_words(uint64_t most);

void append_fixed(std::string& out, double value, int digits);

}  // namespace penstock
