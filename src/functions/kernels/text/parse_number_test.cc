#include "functions/kernels/text/parse_number.h"

#include <doctest/doctest.h>

#include <random>

using namespace penstock;

namespace {

// What std::from_chars makes of all of a text; nothing where it makes less of it.
template <typename T>
bool reference(std::string_view text, T* out) {
  const auto [at, code] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return code == std::errc() && at == text.data() + text.size();
}

// The text at the very end of its memory, so that the sanitizer sees a read behind it.
template <typename T>
void check(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());
  const std::string_view view(exact.data(), exact.size());
  T got{}, expected{};
  bool plain, right = reference(view, &expected);
  if constexpr (std::is_floating_point_v<T>) {
    plain = plain_decimal(view, &got);
  } else {
    plain = plain_integer(view, &got);
  }
  if (!plain) return;
  // A point may stand at either end; nothing else that is plain is refused by the library.
  INFO(text);
  REQUIRE(right);
  CHECK(got == expected);
  if constexpr (std::is_floating_point_v<T>) CHECK(std::signbit(got) == std::signbit(expected));
}

}  // namespace

TEST_CASE("plain numbers are those of the standard library, bit for bit") {
  const uint32_t seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  int plain_ones = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    if (random() % 4 == 0) text = "-";
    const size_t size = random() % 20;
    for (size_t i = 0; i < size; ++i) {
      const size_t kind = random() % 64;
      text +=
          kind == 0 ? static_cast<char>(random() % 256) : static_cast<char>('0' + random() % 10);
    }
    if (random() % 3 == 0 && size > 0) text.insert(text.size() - random() % size, ".");
    check<float>(text);
    check<double>(text);
    check<int8_t>(text);
    check<uint8_t>(text);
    check<int32_t>(text);
    check<uint32_t>(text);
    check<int64_t>(text);
    check<uint64_t>(text);
    double value;
    plain_ones += plain_decimal(std::string_view(text), &value);
  }
  CHECK(plain_ones > 50'000);
}

TEST_CASE("numbers of one to eight digits, and what is none") {
  for (const char* text : {"0", "7", "10", "99", "100", "999", "1000", "65535", "123456", "9999999",
                           "99999999", "00000000", "00000012"}) {
    uint64_t value = 0;
    REQUIRE(few_digits(text, std::strlen(text), &value));
    CHECK(value == std::stoull(text));
  }
  for (const char* text : {"a", "/", ":", "1a", "a1", "12:", "/23", "1234567:", "/2345678", "12 45",
                           "1.5", "+1", "\xb0"}) {
    uint64_t value = 0;
    CHECK_FALSE(few_digits(text, std::strlen(text), &value));
  }
  uint8_t small;
  CHECK_FALSE(plain_integer("256", &small));
  CHECK_FALSE(plain_integer("-0", &small));
  CHECK_FALSE(plain_integer("", &small));
  uint64_t large;
  CHECK_FALSE(plain_integer("-5", &large));
  float zero = 1;
  CHECK(plain_decimal("-0", &zero));
  CHECK(std::signbit(zero));
}
