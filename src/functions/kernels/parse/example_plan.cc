#include "functions/kernels/parse/example_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "data/charged.h"

namespace penstock {
namespace {

// The lists that the features need, each once; `slots` says which are whose.
std::vector<std::string> keys_of(const std::vector<ExampleFeature>& features,
                                 std::vector<ChargedVector<size_t>>* slots) {
  std::vector<std::string> keys;  // bounded: written in the pipeline
  auto slot_of = [&keys](const std::string& key) {
    const auto it = std::ranges::find(keys, key);
    if (it != keys.end()) return static_cast<size_t>(it - keys.begin());
    keys.push_back(key);
    return keys.size() - 1;
  };
  for (const ExampleFeature& feature : features) {
    ChargedVector<size_t>& own = slots->emplace_back();
    own.push_back(slot_of(feature.value_key));
    for (const std::string& key : feature.index_keys) own.push_back(slot_of(key));
    for (const Partition& p : feature.partitions)
      own.push_back(p.kind == Partition::Kind::uniform ? own[0] : slot_of(p.key));
  }
  return keys;
}

FeatureKind kind_of(DType dtype) {
  if (dtype == DType::int64) return FeatureKind::int64_list;
  return dtype == DType::float32 ? FeatureKind::float_list : FeatureKind::bytes_list;
}

const char* kind_text(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::int64_list: return "integers";
    case FeatureKind::float_list: return "floats";
    default: return "bytes";
  }
}

void read_strings(const FeatureView& view, int64_t count, BytesView* out) {
  if (count == 1) {
    std::string_view one;
    read_bytes(view, &one, 1);
    *out = {one.data(), static_cast<int64_t>(one.size())};
    return;
  }
  ChargedVector<std::string_view> strings(static_cast<size_t>(count));
  read_bytes(view, strings.data(), count);
  for (const std::string_view s : strings) *out++ = {s.data(), static_cast<int64_t>(s.size())};
}

// A list of one value in its usual form; false for all others.
bool read_single_entry(DType dtype, const FeatureView& view, std::byte* out) {
  if (dtype == DType::int64) return read_single(view, reinterpret_cast<int64_t*>(out));
  if (dtype == DType::float32) return read_single(view, reinterpret_cast<float*>(out));
  std::string_view text;
  if (!read_single(view, &text)) return false;
  *reinterpret_cast<BytesView*>(out) = {text.data(), static_cast<int64_t>(text.size())};
  return true;
}

}  // namespace

ExamplePlan::ExamplePlan(std::vector<ExampleFeature> features)
    : features_(std::move(features)), parser_(keys_of(features_, &slots_)) {}

std::span<const FeatureView> ExamplePlan::parse(std::string_view record) const {
  thread_local std::vector<FeatureView> views;  // bounded: the features asked for
  views.assign(parser_.keys().size(), FeatureView{});
  parser_.parse(record, views);
  return views;
}

int64_t checked_count(const ExampleFeature& feature, const FeatureView& view) {
  if (view.kind == FeatureKind::missing) {
    if (feature.kind != ExampleFeature::Kind::fixed) return 0;
    if (feature.has_fallback) return -1;
    throw MissingFeature(feature, "is missing and has no default");
  }
  if (view.kind != kind_of(feature.dtype)) {
    fail_feature(feature, std::string("holds ") + kind_text(view.kind) + ", expected " +
                              std::string(dtype_name(feature.dtype)));
  }
  const int64_t count = count_values(view);
  if (feature.kind != ExampleFeature::Kind::fixed) {
    if (feature.count == 1 || count == 0) return count;
    if (feature.count == 0 || count % feature.count != 0) {
      fail_feature(feature, "holds " + std::to_string(count) + " values, expected rows of shape " +
                                feature.dims.text());
    }
  } else if (count != feature.count) {
    fail_feature(feature, "holds " + std::to_string(count) + " value" + (count == 1 ? "" : "s") +
                              ", expected shape " + feature.dims.text());
  }
  return count;
}

void read_values(const ExampleFeature& feature, const FeatureView& view, int64_t count,
                 std::byte* out) {
  if (count == 0) return;
  if (feature.dtype == DType::int64) {
    read_int64s(view, reinterpret_cast<int64_t*>(out), count);
  } else if (feature.dtype == DType::float32) {
    read_floats(view, reinterpret_cast<float*>(out), count);
  } else {
    read_strings(view, count, reinterpret_cast<BytesView*>(out));
  }
}

void read_fixed(const ExampleFeature& feature, const FeatureView& view, std::byte* out) {
  if (feature.count == 1 && view.kind == kind_of(feature.dtype) &&
      read_single_entry(feature.dtype, view, out))
    return;
  const int64_t count = checked_count(feature, view);
  if (count >= 0) return read_values(feature, view, count, out);
  const int64_t bytes = feature.fallback.data_bytes();
  if (bytes > 0) std::memcpy(out, feature.fallback.data(), static_cast<size_t>(bytes));
}

ChargedVector<int64_t> read_beside(const ExampleFeature& feature, const std::string& key,
                                   const FeatureView& view) {
  if (view.kind == FeatureKind::missing) return {};
  if (view.kind != FeatureKind::int64_list) {
    fail_feature(feature, std::string("needs integers in \"") + key + "\", which holds " +
                              kind_text(view.kind));
  }
  ChargedVector<int64_t> out(static_cast<size_t>(count_values(view)));
  read_int64s(view, out.data(), static_cast<int64_t>(out.size()));
  return out;
}

namespace {

std::string feature_message(const ExampleFeature& feature, const std::string& what) {
  return "parse_example: key \"" + feature.key + "\" " + what;
}

}  // namespace

MissingFeature::MissingFeature(const ExampleFeature& feature, const std::string& what)
    : Error(Code::invalid_argument, feature_message(feature, what)) {}

void fail_feature(const ExampleFeature& feature, const std::string& what) {
  throw Error(Code::invalid_argument, feature_message(feature, what));
}

}  // namespace penstock
