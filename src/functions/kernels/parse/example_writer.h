// Builds the serialized bytes of a tf.train.Example.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

// One list for each key; setting a key again replaces its list. For one thread at a time.
class ExampleWriter {
 public:
  void set_bytes(std::string_view key, std::span<const std::string_view> values);
  void set_bytes(std::string_view key, std::string_view value) { set_bytes(key, {&value, 1}); }
  void set_floats(std::string_view key, std::span<const float> values);
  void set_int64s(std::string_view key, std::span<const int64_t> values);
  void set_int64(std::string_view key, int64_t value) { set_int64s(key, {&value, 1}); }
  void clear() { features_.clear(); }

  // Keys sorted by bytes, lists packed: equal contents give equal bytes.
  std::string serialize() const;  // bounded: its caller counts the example

 private:
  std::map<std::string, std::string, std::less<>>
      features_;  // bounded: its caller counts the example; key -> Feature message
};

}  // namespace penstock
