#include "functions/kernels/parse/example.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <random>

#include "base/error.h"
#include "functions/kernels/parse/example_writer.h"
#ifdef PENSTOCK_HAVE_PROTOBUF
#include <google/protobuf/stubs/logging.h>

#include "example.pb.h"
#endif

namespace penstock {
namespace {

std::vector<int64_t> int64s_of(const FeatureView& feature) {
  std::vector<int64_t> out(static_cast<size_t>(count_values(feature)));
  read_int64s(feature, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

std::vector<float> floats_of(const FeatureView& feature) {
  std::vector<float> out(static_cast<size_t>(count_values(feature)));
  read_floats(feature, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

std::vector<std::string_view> bytes_of(const FeatureView& feature) {
  std::vector<std::string_view> out(static_cast<size_t>(count_values(feature)));
  read_bytes(feature, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

TEST_CASE("an example is read as it was written") {
  ExampleWriter writer;
  const std::vector<std::string_view> words = {"a", "", "ccc"};
  const std::vector<float> floats = {1.5f, -2, 0};
  const std::vector<int64_t> numbers = {0, 1, 127, 128, -1, INT64_MIN, INT64_MAX};
  writer.set_bytes("words", words);
  writer.set_floats("floats", floats);
  writer.set_int64s("numbers", numbers);
  writer.set_int64s("none", {});
  const std::string bytes = writer.serialize();
  const ExampleParser parser({"numbers", "missing", "words", "none", "floats"});
  std::vector<FeatureView> out(5);
  parser.parse(bytes, out);
  CHECK(int64s_of(out[0]) == numbers);
  CHECK(out[1].kind == FeatureKind::missing);
  CHECK(count_values(out[1]) == 0);
  CHECK(bytes_of(out[2]) == words);
  CHECK(out[3].kind == FeatureKind::int64_list);
  CHECK(count_values(out[3]) == 0);
  CHECK(floats_of(out[4]) == floats);
  CHECK(bytes_of(out[2])[2].data() > bytes.data());
  CHECK(bytes_of(out[2])[2].data() < bytes.data() + bytes.size());
}

TEST_CASE("reading checks kind and count") {
  ExampleWriter writer;
  writer.set_int64s("n", std::vector<int64_t>{1, 2});
  const std::string bytes = writer.serialize();
  FeatureView view;
  ExampleParser({"n"}).parse(bytes, {&view, 1});
  int64_t numbers[3];
  float floats[2];
  CHECK_THROWS_WITH_AS(read_int64s(view, numbers, 3), "a feature holds 2 values where 3 are wanted",
                       Error);
  CHECK_THROWS_AS(read_int64s(view, numbers, 1), Error);
  CHECK_THROWS_AS(read_floats(view, floats, 2), Error);
  CHECK_THROWS_AS(ExampleParser({"n", "n"}), Error);
}

TEST_CASE("what is no example is refused with the position") {
  const ExampleParser parser({"a"});
  FeatureView view;
  CHECK_NOTHROW(parser.parse("", {&view, 1}));
  CHECK_THROWS_WITH_AS(parser.parse("\x0a\x05", {&view, 1}),
                       "not a tf.train.Example: byte 2: a length beyond the end of the message",
                       Error);
  CHECK_THROWS_AS(parser.parse("this is text", {&view, 1}), Error);
  CHECK_THROWS_AS(parser.parse(std::string(1, '\0'), {&view, 1}), Error);
  // Groups without end must not exhaust the stack.
  CHECK_THROWS_AS(parser.parse(std::string(1 << 20, '\x0b'), {&view, 1}), Error);
}

TEST_CASE("keys of all lengths are told apart") {
  std::vector<std::string> keys = {""};
  for (int size = 1; size < 30; ++size) {
    for (int at = 0; at < size; ++at) {
      std::string key(static_cast<size_t>(size), 'x');
      key[static_cast<size_t>(at)] = 'y';
      keys.push_back(key);
    }
  }
  ExampleWriter writer;
  for (size_t i = 0; i < keys.size(); ++i) writer.set_int64(keys[i], static_cast<int64_t>(i));
  const std::string bytes = writer.serialize();
  std::vector<FeatureView> out(keys.size());
  ExampleParser(keys).parse(bytes, out);
  for (size_t i = 0; i < keys.size(); ++i) {
    CHECK(int64s_of(out[i]) == std::vector{static_cast<int64_t>(i)});
  }
}

#ifdef PENSTOCK_HAVE_PROTOBUF

// Makes examples as no writer does, yet as protobuf reads them.
class OddWriter {
 public:
  explicit OddWriter(uint64_t seed) : random_(seed) {}

  std::string example() {
    std::string out;
    for (int i = below(3); i >= 0; --i) {
      maybe_unknown(out);
      field(out, 1, features());
    }
    return out;
  }
  int below(int bound) { return static_cast<int>(random_() % static_cast<uint64_t>(bound)); }

 private:
  static void varint(std::string& out, uint64_t value) {
    for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
    out += static_cast<char>(value);
  }
  void tag(std::string& out, int number, int type) {
    const auto value = static_cast<uint64_t>(number << 3 | type);
    if (value < 128 && below(20) == 0) {  // longer than it must be
      out += static_cast<char>(value | 128);
      out += '\0';
    } else {
      varint(out, value);
    }
  }
  void field(std::string& out, int number, const std::string& bytes) {
    tag(out, number, 2);
    varint(out, bytes.size());
    out += bytes;
  }
  uint64_t number() { return random_() >> below(64); }

  // An unknown field, or a known one of a wrong type.
  void maybe_unknown(std::string& out) {
    if (below(6) != 0) return;
    const int number = below(2) ? 4 + below(3000) : 1 + below(3);
    switch (below(4)) {
      case 0: field(out, 4 + number, std::string(static_cast<size_t>(below(5)), 'u')); break;
      case 1:
        tag(out, 4 + number, 0);
        varint(out, this->number());
        break;
      case 2:
        tag(out, number, 1);
        out.append(8, 'x');
        break;
      default:
        tag(out, number, 3);
        if (below(2)) maybe_unknown(out);
        tag(out, number, 4);
    }
  }

  std::string features() {
    std::string out;
    for (int i = below(6); i > 0; --i) {
      maybe_unknown(out);
      field(out, 1, entry());
    }
    return out;
  }

  std::string entry() {
    std::string out;
    auto key = [&] { field(out, 1, std::string(static_cast<size_t>(below(3)), 'k')); };
    auto value = [&] { field(out, 2, feature()); };
    const bool value_first = below(4) == 0;
    if (!value_first && below(8)) key();
    maybe_unknown(out);
    for (int i = below(8) ? 1 : below(4); i > 0; --i) value();
    if (value_first || below(20) == 0) key();
    return out;
  }

  std::string feature() {
    std::string out;
    maybe_unknown(out);
    for (int i = below(6) ? 1 : below(4); i > 0; --i) field(out, 1 + below(3), list());
    maybe_unknown(out);
    return out;
  }

  // Good as any of the three kinds now and then: wrong ones must be refused by both.
  std::string list() {
    std::string out;
    for (int i = below(5); i > 0; --i) {
      maybe_unknown(out);
      switch (below(4)) {
        case 0:
          tag(out, 1, 0);
          varint(out, number());
          break;
        case 1:
          tag(out, 1, 5);
          out.append(4, static_cast<char>(below(256)));
          break;
        default: {
          std::string packed;
          for (int n = below(4); n > 0; --n) {
            if (below(2)) {
              packed.append(4, static_cast<char>(below(128)));
            } else {
              varint(packed, number());
              if (below(2)) packed.resize(packed.size() / 4 * 4);
            }
          }
          field(out, 1, packed);
        }
      }
    }
    return out;
  }

  std::mt19937_64 random_;
};

const std::vector<std::string> kKeys = {"", "k", "kk", "kkk"};

// Everything that was read, as protobuf has it; false when it is refused.
bool parse_and_compare(const std::string& bytes, const tensorflow::Example* wanted) {
  std::vector<FeatureView> views(kKeys.size());
  static const ExampleParser parser(kKeys);
  try {
    parser.parse(bytes, views);
    for (size_t i = 0; i < kKeys.size(); ++i) {
      const FeatureView& view = views[i];
      std::vector<std::string_view> words;
      std::vector<float> floats;
      std::vector<int64_t> numbers;
      if (view.kind == FeatureKind::bytes_list) words = bytes_of(view);
      if (view.kind == FeatureKind::float_list) floats = floats_of(view);
      if (view.kind == FeatureKind::int64_list) numbers = int64s_of(view);
      if (!wanted) continue;
      const auto& map = wanted->features().feature();
      const auto found = map.find(kKeys[i]);
      const auto feature = found == map.end() ? tensorflow::Feature() : found->second;
      REQUIRE(static_cast<int>(view.kind) == static_cast<int>(feature.kind_case()));
      const auto& w = feature.bytes_list().value();
      const auto& f = feature.float_list().value();
      const auto& n = feature.int64_list().value();
      REQUIRE(words == std::vector<std::string_view>(w.begin(), w.end()));
      REQUIRE(numbers == std::vector<int64_t>(n.begin(), n.end()));
      REQUIRE(floats.size() == static_cast<size_t>(f.size()));
      REQUIRE(std::equal(floats.begin(), floats.end(), f.begin(), [](float a, float b) {
        return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
      }));
    }
  } catch (const Error& e) {
    CHECK(e.code() == Code::invalid_argument);
    return false;
  }
  return true;
}

TEST_CASE("odd examples mean what protobuf says") {
  google::protobuf::SetLogHandler(nullptr);  // it speaks about every odd key
  const uint64_t seed = std::random_device()();
  MESSAGE("seed " << seed);
  OddWriter writer(seed);
  int good = 0, bad = 0, lenient = 0;
  for (int i = 0; i < 40'000; ++i) {
    std::string bytes = writer.example();
    const bool mutated = writer.below(4) == 0 && !bytes.empty();
    if (mutated) {
      const auto at = static_cast<size_t>(writer.below(static_cast<int>(bytes.size())));
      if (writer.below(2)) {
        bytes[at] = static_cast<char>(writer.below(256));
      } else {
        bytes.resize(at);
      }
    }
    CAPTURE(i);
    tensorflow::Example oracle;
    if (oracle.ParseFromString(bytes)) {
      REQUIRE(parse_and_compare(bytes, &oracle));
      ++good;
    } else if (parse_and_compare(bytes, nullptr)) {
      // Ours looks neither into replaced entries nor into features that are not wanted.
      ++lenient;
    } else {
      ++bad;
    }
  }
  MESSAGE(good << " good, " << bad << " refused, " << lenient << " refused by protobuf only");
  CHECK(good > 3000);
  CHECK(bad > 3000);
  CHECK(lenient < bad);
}

#endif  // PENSTOCK_HAVE_PROTOBUF

// Run by hand: penstock_tests -ns -tc="*speed of example parsing*"
TEST_CASE("speed of example parsing" * doctest::skip()) {
  ExampleWriter image, small;
  const std::string pixels(110'000, 'p');
  image.set_bytes("image/encoded", pixels);
  std::vector<std::string> keys;
  for (int i = 0; i < 40; ++i) {
    const std::string key = "feature_number_" + std::to_string(i);
    keys.push_back(key);
    if (i % 3 == 0) small.set_int64(key, i * 1000);
    if (i % 3 == 1) small.set_floats(key, std::vector<float>{1.f, 2.f});
    if (i % 3 == 2) small.set_bytes(key, "a short text");
  }
  for (const char* key : {"image/class/label", "image/height", "image/width"}) {
    image.set_int64(key, 7);
  }
  image.set_bytes("image/format", "JPEG");
  image.set_bytes("image/filename", "n01440764_10026.JPEG");
  auto time = [](const char* name, const std::string& bytes, const ExampleParser& parser) {
    std::vector<FeatureView> out(parser.keys().size());
    constexpr int kRounds = 300'000;
    int64_t sum = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
      parser.parse(bytes, out);
      for (const FeatureView& view : out) sum += static_cast<int64_t>(view.list.size());
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    MESSAGE(std::string(name) << ": " << spent.count() / kRounds << " ns, " << sum);
  };
  time("image, 2 of 6 keys", image.serialize(),
       ExampleParser({"image/encoded", "image/class/label"}));
  time("40 small features", small.serialize(), ExampleParser(keys));
}

}  // namespace
}  // namespace penstock
