#include "functions/kernels/parse/example_writer.h"

#include <utility>

#include "functions/kernels/parse/wire_writer.h"

namespace penstock {
namespace {

// A Feature whose list of `kind` has this message.
std::string feature_of(int kind, std::string_view list) {
  std::string out;  // bounded: its caller counts the example
  append_bytes_field(out, kind, list);
  return out;
}

std::string packed(std::string_view values) {
  std::string out;  // bounded: its caller counts the example
  if (!values.empty()) append_bytes_field(out, 1, values);
  return out;
}

}  // namespace

void ExampleWriter::set_bytes(std::string_view key, std::span<const std::string_view> values) {
  std::string list;  // bounded: its caller counts the example
  for (const std::string_view value : values) append_bytes_field(list, 1, value);
  features_.insert_or_assign(std::string(key), feature_of(1, list));
}

void ExampleWriter::set_floats(std::string_view key, std::span<const float> values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  features_.insert_or_assign(std::string(key), feature_of(2, packed(bytes)));
}

void ExampleWriter::set_int64s(std::string_view key, std::span<const int64_t> values) {
  std::string varints;  // bounded: its caller counts the example
  for (const int64_t value : values) append_varint(varints, static_cast<uint64_t>(value));
  features_.insert_or_assign(std::string(key), feature_of(3, packed(varints)));
}

std::string ExampleWriter::serialize() const {
  std::string features, entry;  // bounded: its caller counts the example
  for (const auto& [key, feature] : features_) {
    entry.clear();
    append_bytes_field(entry, 1, key);
    append_bytes_field(entry, 2, feature);
    append_bytes_field(features, 1, entry);
  }
  std::string out;  // bounded: its caller counts the example
  append_bytes_field(out, 1, features);
  return out;
}

}  // namespace penstock
