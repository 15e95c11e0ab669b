#include "functions/kernels/parse/example_plan.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "functions/op.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& what) {
  throw TypeError{-1, "features", "key \"" + key + "\" " + what};
}

[[noreturn]] void fail_row(const ExampleFeature& feature, const std::string& what) {
  throw Error(Code::invalid_argument, "parse_example: key \"" + feature.key + "\" " + what);
}

const Attr& entry(const Attr& dict, std::string_view key) {
  static const Attr none;
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    if (dict.keys()[i] == key) return dict.items()[i];
  }
  return none;
}

// The scalars of a tensor or of nested lists, in order.
void collect_scalars(const std::string& key, const Attr& attr, std::vector<Tensor>* out) {
  if (attr.is_tensor()) {
    const Tensor flat = attr.tensor().reshaped({attr.tensor().entries_count()});
    for (int64_t i = 0; i < flat.entries_count(); ++i) out->push_back(flat.item(i));
  } else if (attr.kind() == Attr::Kind::list || attr.kind() == Attr::Kind::tuple) {
    for (const Attr& item : attr.items()) collect_scalars(key, item, out);
  } else {
    refuse(key, "has a default that is no constant");
  }
}

Tensor read_fallback(const ExampleFeature& feature, const Attr& attr) {
  std::vector<Tensor> scalars;
  collect_scalars(feature.key, attr, &scalars);
  if (static_cast<int64_t>(scalars.size()) != feature.count) {
    refuse(feature.key, "has a default of " + std::to_string(scalars.size()) +
                            " values, expected shape " + feature.dims.text());
  }
  auto expect = [&](const Tensor& scalar, bool good) {
    if (good) return;
    refuse(feature.key, "has a default of dtype " + std::string(dtype_name(scalar.dtype())) +
                            ", expected " + std::string(dtype_name(feature.dtype)));
  };
  if (feature.dtype == DType::bytes) {
    std::vector<std::string_view> strings;
    for (const Tensor& scalar : scalars) {
      expect(scalar, scalar.dtype() == DType::bytes);
      strings.push_back(bytes_at(scalar));
    }
    return Tensor::of_strings(strings).reshaped(feature.dims);
  }
  Tensor out = Tensor::make(feature.dtype, feature.dims);
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (feature.dtype == DType::int64) {
      expect(scalars[i], is_integer(scalars[i].dtype()));
      out.mutable_entries<int64_t>()[i] = integer_at(scalars[i]);
    } else {
      expect(scalars[i], is_number(scalars[i].dtype()));
      out.mutable_entries<float>()[i] = static_cast<float>(number_at(scalars[i]));
    }
  }
  return out;
}

Dims read_dims(const std::string& key, const Attr& attr) {
  if (attr.is_none()) return {};
  std::vector<int64_t> sizes;
  try {
    sizes = attr.as_ints();
  } catch (const Error&) {
    refuse(key, "has a shape that is no list of sizes");
  }
  if (sizes.size() >= static_cast<size_t>(kMaxRank)) {
    refuse(key, "has a shape of rank " + std::to_string(sizes.size()));
  }
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size < 0) {
      refuse(key, "has a shape with an unknown size; say feature(dtype, kind=\"sequence\") for "
                  "lists of any length");
    }
    if (size > 0 && count > (int64_t{1} << 40) / size) refuse(key, "has a shape that is too large");
    count *= size;
  }
  return Dims(sizes);
}

// Var and ragged features of a single record are one list of any length: the sequence's form.
void read_kind(const Attr& attr, ExampleFeature* feature) {
  const Attr& kind = entry(attr, "kind");
  std::string name = "fixed";
  if (kind.is_tensor() && kind.tensor().dtype() == DType::bytes) name = kind.as_string();
  if (name == "fixed") return;
  if (name == "sparse") refuse(feature->key, "has kind sparse, which is not supported here yet");
  feature->sequence = true;
  if (name == "sequence") return;
  if (name != "var" && name != "ragged") {
    const std::string known[] = {"fixed", "var", "sequence", "ragged", "sparse"};
    refuse(feature->key, "has the unknown kind \"" + name + "\"" + did_you_mean(name, known));
  }
  if (feature->dims.rank() != 0) refuse(feature->key, "has a shape, but kind " + name);
}

ExampleFeature read_feature(const std::string& key, const Attr& attr) {
  ExampleFeature feature;
  feature.key = key;
  const bool detailed = attr.kind() == Attr::Kind::dict;
  const Attr& dtype = detailed ? entry(attr, "dtype") : attr;
  if (dtype.kind() != Attr::Kind::dtype) refuse(key, "must be a dtype or feature(dtype, ...)");
  feature.dtype = dtype.as_dtype();
  if (feature.dtype != DType::int64 && feature.dtype != DType::float32 &&
      feature.dtype != DType::bytes) {
    const std::string name(dtype_name(feature.dtype));
    const char* wide = is_float(feature.dtype) ? "float32" : "int64";
    refuse(key, "is " + name + ", expected int64, float32 or bytes; read " + wide +
                    " and cast it: " + name + "(x)");
  }
  if (!detailed) return feature;
  feature.dims = read_dims(key, entry(attr, "shape"));
  feature.count = feature.dims.entries();
  read_kind(attr, &feature);
  if (const Attr& fallback = entry(attr, "default"); !fallback.is_none()) {
    if (feature.sequence) refuse(key, "is empty when absent: a default is for kind fixed");
    feature.has_fallback = true;
    feature.fallback = read_fallback(feature, fallback);
  }
  return feature;
}

std::vector<std::string> keys_of(const std::vector<ExampleFeature>& features) {
  std::vector<std::string> keys;
  for (const ExampleFeature& feature : features) keys.push_back(feature.key);
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
  thread_local std::vector<std::string_view> strings;
  strings.resize(static_cast<size_t>(count));
  read_bytes(view, strings.data(), count);
  for (const std::string_view s : strings) *out++ = {s.data(), static_cast<int64_t>(s.size())};
}

}  // namespace

std::vector<ExampleFeature> read_features(const Attr& features) {
  if (features.kind() != Attr::Kind::dict) {
    throw TypeError{-1, "features", "must be a dict from keys to dtypes or feature(...)"};
  }
  std::vector<ExampleFeature> out;
  for (size_t i = 0; i < features.keys().size(); ++i) {
    out.push_back(read_feature(features.keys()[i], features.items()[i]));
  }
  return out;
}

ExamplePlan::ExamplePlan(std::vector<ExampleFeature> features)
    : features_(std::move(features)), parser_(keys_of(features_)) {}

std::span<const FeatureView> ExamplePlan::parse(std::string_view record) const {
  thread_local std::vector<FeatureView> views;
  views.assign(features_.size(), FeatureView{});
  parser_.parse(record, views);
  return views;
}

int64_t checked_count(const ExampleFeature& feature, const FeatureView& view) {
  if (view.kind == FeatureKind::missing) {
    if (feature.sequence) return 0;
    if (feature.has_fallback) return -1;
    fail_row(feature, "is missing and has no default");
  }
  if (view.kind != kind_of(feature.dtype)) {
    fail_row(feature, std::string("holds ") + kind_text(view.kind) + ", expected " +
                          std::string(dtype_name(feature.dtype)));
  }
  const int64_t count = count_values(view);
  if (feature.sequence) {
    if (feature.count == 1 || count == 0) return count;
    if (feature.count == 0 || count % feature.count != 0) {
      fail_row(feature, "holds " + std::to_string(count) + " values, expected rows of shape " +
                            feature.dims.text());
    }
  } else if (count != feature.count) {
    fail_row(feature, "holds " + std::to_string(count) + " value" + (count == 1 ? "" : "s") +
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
  const int64_t count = checked_count(feature, view);
  if (count >= 0) return read_values(feature, view, count, out);
  const int64_t bytes = feature.fallback.data_bytes();
  if (bytes > 0) std::memcpy(out, feature.fallback.data(), static_cast<size_t>(bytes));
}

}  // namespace penstock
