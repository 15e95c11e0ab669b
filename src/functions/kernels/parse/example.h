// Reads tf.train.Example from its serialized bytes, without copying them.
//
// The bytes must outlive the views. All functions are thread-safe; errors are INVALID_ARGUMENT.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

enum class FeatureKind : uint8_t { missing, bytes_list, float_list, int64_list };

// "a list of bytes" and the like, for messages.
std::string_view feature_kind_name(FeatureKind kind);

// A parsed feature; values stay in the serialized bytes.
struct FeatureView {
  FeatureKind kind = FeatureKind::missing;
  // The map entry's value holds several lists of this kind, to be joined (protobuf's merge; no
  // writer that we know makes it): `list` is then the whole map entry.
  bool joined = false;
  std::string_view list;  // the XxxList message
};

// Means what protobuf means: entries in any order, the last of repeated keys counts, value before
// key, a missing value is an empty Feature, unknown fields are skipped. Keys need not be UTF-8.
class ExampleParser {
 public:
  // The keys wanted, in output order; each once.
  explicit ExampleParser(std::vector<std::string> keys);

  const std::vector<std::string>& keys() const {
    return keys_;
  }  // bounded: written in the pipeline

  // out.size() == keys().size(). Throws, with the byte position, when `serialized` is not an
  // Example. What is inside of features that are not wanted, and inside of lists, is not looked at.
  void parse(std::string_view serialized, std::span<FeatureView> out) const;

 private:
  int find(std::string_view key) const;  // -1: not wanted
  void parse_features(std::string_view message, const char* start,
                      std::span<FeatureView> out) const;
  void parse_entry(std::string_view entry, const char* start, std::span<FeatureView> out) const;

  std::vector<std::string> keys_;  // bounded: written in the pipeline
  std::vector<int> table_;  // bounded: written in the pipeline; open addressing by hash, -1 is free
  int shift_;
};

// A Feature message by itself: the last kind counts. `start` is where positions in errors count
// from. Of several lists of one kind the last counts.
FeatureView parse_feature(std::string_view message, const char* start);

// Values of the list, packed or not; 0 for a missing feature. Throws when it is malformed.
int64_t count_values(const FeatureView& feature);

// A list of one value in the form that writers make: true, and the value. False sends the caller to
// the functions below, whatever the list holds. REQUIRES that the feature is of that kind.
bool read_single(const FeatureView& feature, int64_t* out);
bool read_single(const FeatureView& feature, float* out);
bool read_single(const FeatureView& feature, std::string_view* out);

// The values of a feature of that kind. Throw when the list holds other than `n` values or is
// malformed; `out` is then partly written.
void read_int64s(const FeatureView& feature, int64_t* out, int64_t n);
void read_floats(const FeatureView& feature, float* out, int64_t n);
void read_bytes(const FeatureView& feature, std::string_view* out, int64_t n);

// The keys of a serialized record's features; with `field` 2 those of a SequenceExample's lists.
// Where the record is cut, those before.
std::vector<std::string_view> record_keys(std::string_view serialized, int field = 1);

}  // namespace penstock
