#include "functions/kernels/parse/sequence_example.h"

#include <algorithm>

#include "functions/kernels/parse/wire.h"

namespace penstock {
namespace {

constexpr const char* kWhat = "tf.train.SequenceExample";
constexpr uint32_t kFirst = 1 << 3 | WireReader::length;
constexpr uint32_t kSecond = 2 << 3 | WireReader::length;

// FeatureList{1: Features}, appended: a repeated value merges.
void parse_list(std::string_view message, const char* start, FeatureListView* out) {
  WireReader reader(message, start, kWhat);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      out->steps.push_back(parse_feature(reader.bytes(), start));
    } else {
      reader.skip(tag);
    }
  }
}

void parse_entry(std::string_view entry, const char* start, std::span<const std::string> keys,
                 std::span<FeatureListView> out) {
  std::string_view key;
  FeatureListView list{true, {}};
  WireReader reader(entry, start, kWhat);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      key = reader.bytes();
    } else if (tag == kSecond) {
      parse_list(reader.bytes(), start, &list);
    } else {
      reader.skip(tag);
    }
  }
  const auto it = std::ranges::find(keys, key);
  if (it != keys.end()) out[static_cast<size_t>(it - keys.begin())] = std::move(list);
}

}  // namespace

void parse_feature_lists(std::string_view record, std::span<const std::string> keys,
                         std::span<FeatureListView> out) {
  for (FeatureListView& list : out) list = {};
  WireReader reader(record, record.data(), kWhat);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag != kSecond) {
      reader.skip(tag);
      continue;
    }
    WireReader lists(reader.bytes(), record.data(), kWhat);
    while (!lists.done()) {
      const uint32_t inner = lists.tag();
      if (inner == kFirst) {
        parse_entry(lists.bytes(), record.data(), keys, out);
      } else {
        lists.skip(inner);
      }
    }
  }
}

}  // namespace penstock
