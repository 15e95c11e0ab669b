#include "functions/kernels/parse/example.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "data/charged.h"
#include "functions/kernels/parse/wire.h"

namespace penstock {
namespace {

// Example{1: Features}, Features{1: entries}, entry{1: key, 2: Feature}, Feature{1 to 3: lists},
// a list {1: values}.
constexpr uint32_t kFirst = 1 << 3 | WireReader::length;
constexpr uint32_t kSecond = 2 << 3 | WireReader::length;

// Keys of 8 bytes and more by their ends and length; shorter ones whole.
uint64_t hash_of(std::string_view key) {
  uint64_t first = 0, last = 0;
  const size_t size = key.size();
  if (size >= 8) {
    std::memcpy(&first, key.data(), 8);
    std::memcpy(&last, key.data() + size - 8, 8);
  } else if (size >= 4) {
    uint32_t low, high;
    std::memcpy(&low, key.data(), 4);
    std::memcpy(&high, key.data() + size - 4, 4);
    first = low;
    last = high;
  } else if (size > 0) {
    first = static_cast<uint8_t>(key[0]);
    last = static_cast<uint64_t>(static_cast<uint8_t>(key[size / 2])) << 8 |
           static_cast<uint8_t>(key[size - 1]);
  }
  const uint64_t joined = (first + size) * 0x9e3779b97f4a7c15ull ^ std::rotl(last, 32);
  return (joined ^ joined >> 29) * 0xbf58476d1ce4e5b9ull;
}

FeatureKind kind_of(uint32_t tag) {
  if ((tag & 7) != WireReader::length || tag >> 3 > 3) return FeatureKind::missing;
  return static_cast<FeatureKind>(tag >> 3);
}

// Merges a Feature message of `entry` into `out`, as oneof does: the last kind counts.
void parse_feature(std::string_view message, const char* start, std::string_view entry,
                   FeatureView& out) {
  WireReader reader(message, start);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    const FeatureKind kind = kind_of(tag);
    if (kind == FeatureKind::missing) {
      reader.skip(tag);
    } else if (const std::string_view list = reader.bytes(); out.kind == kind) {
      out = {kind, true, entry};
    } else {
      out = {kind, false, list};
    }
  }
}

// The lists to be joined: those of the feature's kind since the last of another.
ChargedVector<std::string_view> lists_of(const FeatureView& feature) {
  if (!feature.joined) return {feature.list};
  ChargedVector<std::string_view> out;
  WireReader entry(feature.list, feature.list.data());
  while (!entry.done()) {
    const uint32_t entry_tag = entry.tag();
    if (entry_tag != kSecond) {
      entry.skip(entry_tag);
      continue;
    }
    WireReader value(entry.bytes(), feature.list.data());
    while (!value.done()) {
      const uint32_t tag = value.tag();
      const FeatureKind kind = kind_of(tag);
      if (kind == FeatureKind::missing) {
        value.skip(tag);
      } else if (kind == feature.kind) {
        out.push_back(value.bytes());
      } else {
        value.skip(tag);
        out.clear();
      }
    }
  }
  return out;
}

// Calls one(reader) at each unpacked value and many(bytes) for each packed run.
template <class One, class Many>
void visit_list(std::string_view list, uint32_t one_tag, One&& one, Many&& many) {
  WireReader reader(list, list.data());
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      many(reader, reader.bytes());
    } else if (tag == one_tag) {
      one(reader);
    } else {
      reader.skip(tag);
    }
  }
}

template <class One, class Many>
void visit_lists(const FeatureView& feature, uint32_t one_tag, One&& one, Many&& many) {
  if (!feature.joined) return visit_list(feature.list, one_tag, one, many);
  for (const std::string_view list : lists_of(feature)) visit_list(list, one_tag, one, many);
}

constexpr uint32_t kNeverUnpacked = 0;
constexpr uint32_t kOneInt64 = 1 << 3 | WireReader::varint;
constexpr uint32_t kOneFloat = 1 << 3 | WireReader::fixed32;

int64_t floats_in(const WireReader& reader, std::string_view packed) {
  if (packed.size() % sizeof(float) != 0) reader.fail("a run of floats that is cut");
  return static_cast<int64_t>(packed.size() / sizeof(float));
}

// Counts the last bytes of varints.
int64_t varints_in(std::string_view packed) {
  return std::ranges::count_if(packed, [](char c) { return static_cast<int8_t>(c) >= 0; });
}

[[noreturn]] void wrong_count(int64_t found, int64_t wanted) {
  throw Error(Code::invalid_argument, "a feature holds " + std::to_string(found) +
                                          " values where " + std::to_string(wanted) +
                                          " are wanted");
}

void check_count(const FeatureView& feature, int64_t got, int64_t wanted) {
  if (got != wanted) wrong_count(count_values(feature), wanted);
}

void check_kind(const FeatureView& feature, FeatureKind wanted) {
  if (feature.kind == wanted || feature.kind == FeatureKind::missing) return;
  throw Error(Code::invalid_argument, "a feature is " +
                                          std::string(feature_kind_name(feature.kind)) + ", not " +
                                          std::string(feature_kind_name(wanted)));
}

}  // namespace

std::string_view feature_kind_name(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::missing: return "missing";
    case FeatureKind::bytes_list: return "a list of bytes";
    case FeatureKind::float_list: return "a list of floats";
    case FeatureKind::int64_list: return "a list of int64";
  }
  return "missing";
}

ExampleParser::ExampleParser(std::vector<std::string> keys) : keys_(std::move(keys)) {
  const size_t slots = std::bit_ceil(std::max<size_t>(16, keys_.size() * 4));
  shift_ = 64 - std::countr_zero(slots);
  table_.assign(slots, -1);
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (find(keys_[i]) >= 0) {
      throw Error(Code::invalid_argument, "a feature is named twice: " + keys_[i]);
    }
    size_t slot = hash_of(keys_[i]) >> shift_;
    while (table_[slot] >= 0) slot = (slot + 1) % slots;
    table_[slot] = static_cast<int>(i);
  }
}

int ExampleParser::find(std::string_view key) const {
  const size_t mask = table_.size() - 1;
  for (size_t slot = hash_of(key) >> shift_;; slot = (slot + 1) & mask) {
    const int index = table_[slot];
    if (index < 0 || keys_[static_cast<size_t>(index)] == key) return index;
  }
}

void ExampleParser::parse(std::string_view serialized, std::span<FeatureView> out) const {
  PENSTOCK_CHECK(out.size() == keys_.size());
  std::ranges::fill(out, FeatureView{});
  WireReader reader(serialized, serialized.data());
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      parse_features(reader.bytes(), serialized.data(), out);
    } else {
      reader.skip(tag);
    }
  }
}

void ExampleParser::parse_features(std::string_view message, const char* start,
                                   std::span<FeatureView> out) const {
  WireReader reader(message, start);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      parse_entry(reader.bytes(), start, out);
    } else {
      reader.skip(tag);
    }
  }
}

void ExampleParser::parse_entry(std::string_view entry, const char* start,
                                std::span<FeatureView> out) const {
  WireReader reader(entry, start);
  std::string_view key, value;
  bool several_values = false;
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag == kFirst) {
      key = reader.bytes();
    } else if (tag == kSecond) {
      several_values |= value.data() != nullptr;
      value = reader.bytes();
    } else {
      reader.skip(tag);
    }
  }
  const int index = find(key);
  if (index < 0) return;
  FeatureView& feature = out[static_cast<size_t>(index)];
  feature = FeatureView{};
  if (!several_values) return parse_feature(value, start, entry, feature);
  for (WireReader again(entry, start); !again.done();) {
    const uint32_t tag = again.tag();
    if (tag == kSecond) {
      parse_feature(again.bytes(), start, entry, feature);
    } else {
      again.skip(tag);
    }
  }
}

FeatureView parse_feature(std::string_view message, const char* start) {
  FeatureView out;
  WireReader reader(message, start);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (const FeatureKind kind = kind_of(tag); kind != FeatureKind::missing) {
      out = {kind, false, reader.bytes()};
    } else {
      reader.skip(tag);
    }
  }
  return out;
}

int64_t count_values(const FeatureView& feature) {
  int64_t count = 0;
  switch (feature.kind) {
    case FeatureKind::missing: break;
    case FeatureKind::bytes_list:
      visit_lists(
          feature, kNeverUnpacked, [](WireReader&) {},
          [&](WireReader&, std::string_view) { ++count; });
      break;
    case FeatureKind::float_list:
      visit_lists(
          feature, kOneFloat,
          [&](WireReader& r) {
            r.fixed<float>();
            ++count;
          },
          [&](WireReader& r, std::string_view packed) { count += floats_in(r, packed); });
      break;
    case FeatureKind::int64_list:
      visit_lists(
          feature, kOneInt64,
          [&](WireReader& r) {
            r.varint64();
            ++count;
          },
          [&](WireReader&, std::string_view packed) { count += varints_in(packed); });
      break;
  }
  return count;
}

namespace {

// The varint that ends where the run does.
bool whole_varint(const char* at, const char* end, uint64_t* out) {
  uint64_t value = 0;
  for (int shift = 0; at < end && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte >= 128) continue;
    *out = value;
    return at == end;
  }
  return false;
}

}  // namespace

bool read_single(const FeatureView& feature, int64_t* out) {
  const char* at = feature.list.data();
  const char* const end = at + feature.list.size();
  if (feature.joined || end - at < 2) return false;
  if (at[0] == kFirst) {
    if (at[1] != end - at - 2) return false;
    at += 2;
  } else if (at[0] == kOneInt64) {
    ++at;
  } else {
    return false;
  }
  uint64_t value = 0;
  if (!whole_varint(at, end, &value)) return false;
  *out = static_cast<int64_t>(value);
  return true;
}

bool read_single(const FeatureView& feature, float* out) {
  const std::string_view list = feature.list;
  const bool packed = list.size() == 6 && list[0] == kFirst && list[1] == sizeof(float);
  const bool one = list.size() == 5 && list[0] == kOneFloat;
  if (feature.joined || (!packed && !one)) return false;
  std::memcpy(out, list.data() + list.size() - sizeof(float), sizeof(float));
  return true;
}

bool read_single(const FeatureView& feature, std::string_view* out) {
  const std::string_view list = feature.list;
  if (feature.joined || list.size() < 2 || list[0] != kFirst) return false;
  size_t head = 1;
  while (head < list.size() && static_cast<int8_t>(list[head]) < 0) ++head;
  uint64_t size = 0;
  if (head == list.size() || !whole_varint(list.data() + 1, list.data() + head + 1, &size) ||
      size != list.size() - head - 1)
    return false;
  *out = list.substr(head + 1);
  return true;
}

void read_int64s(const FeatureView& feature, int64_t* out, int64_t n) {
  check_kind(feature, FeatureKind::int64_list);
  int64_t got = 0;
  auto take = [&](WireReader& reader) {
    const auto value = static_cast<int64_t>(reader.varint64());
    if (got < n) out[got] = value;
    ++got;
  };
  visit_lists(feature, kOneInt64, take, [&](WireReader&, std::string_view packed) {
    for (WireReader values(packed, feature.list.data()); !values.done();) take(values);
  });
  check_count(feature, got, n);
}

void read_floats(const FeatureView& feature, float* out, int64_t n) {
  check_kind(feature, FeatureKind::float_list);
  int64_t got = 0;
  visit_lists(
      feature, kOneFloat,
      [&](WireReader& reader) {
        const auto value = reader.fixed<float>();
        if (got < n) out[got] = value;
        ++got;
      },
      [&](WireReader& reader, std::string_view packed) {
        const int64_t more = floats_in(reader, packed);
        const int64_t room = std::clamp<int64_t>(n - got, 0, more);
        if (room > 0) {
          std::memcpy(out + got, packed.data(), static_cast<size_t>(room) * sizeof *out);
        }
        got += more;
      });
  check_count(feature, got, n);
}

void read_bytes(const FeatureView& feature, std::string_view* out, int64_t n) {
  check_kind(feature, FeatureKind::bytes_list);
  int64_t got = 0;
  visit_lists(
      feature, kNeverUnpacked, [](WireReader&) {},
      [&](WireReader&, std::string_view value) {
        if (got < n) out[got] = value;
        ++got;
      });
  check_count(feature, got, n);
}

std::vector<std::string_view> record_keys(std::string_view serialized, int field) {
  std::vector<std::string_view> out;  // bounded: the features of a record, for a message
  const auto visit = [](std::string_view message, uint32_t wanted, auto&& f) {
    for (WireReader reader(message, message.data()); !reader.done();) {
      const uint32_t tag = reader.tag();
      if (tag == wanted) {
        f(reader.bytes());
      } else {
        reader.skip(tag);
      }
    }
  };
  try {
    visit(serialized, field == 1 ? kFirst : kSecond, [&](std::string_view features) {
      visit(features, kFirst, [&](std::string_view entry) {
        std::string_view key;
        visit(entry, kFirst, [&](std::string_view text) { key = text; });
        out.push_back(key);
      });
    });
  } catch (const Error&) {
    return out;
  }
  return out;
}

}  // namespace penstock
