#include "functions/kernels/parse/example_feature.h"

#include <algorithm>
#include <string_view>

#include "data/checked_product.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/op.h"

namespace penstock {
namespace {

using Kind = ExampleFeature::Kind;

// Reads one table; errors name its attribute and the key.
class FeatureReader {
 public:
  explicit FeatureReader(const std::string& attr) : attr_(attr) {}
  ExampleFeature read(const std::string& key, const Attr& attr);

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw TypeError{-1, attr_, "key \"" + key_ + "\" " + what};
  }
  const Attr& entry(const Attr& dict, std::string_view name) const;
  void collect_scalars(const Attr& attr, std::vector<Tensor>* out) const;
  Tensor read_fallback(const ExampleFeature& feature, const Dims& dims, const Attr& attr) const;
  Dims read_dims(const Attr& attr) const;
  Kind read_kind(const Attr& attr) const;
  std::vector<Partition> read_partitions(const Attr& attr) const;
  void read_sparse(const Attr& attr, ExampleFeature* feature) const;

  const std::string& attr_;
  std::string key_;  // bounded: written in the pipeline
};

const Attr& FeatureReader::entry(const Attr& dict, std::string_view name) const {
  static const Attr none;
  for (size_t i = 0; i < dict.keys().size(); ++i) {
    if (dict.keys()[i] == name) return dict.items()[i];
  }
  return none;
}

// The scalars of a tensor or of nested lists, in order.
void FeatureReader::collect_scalars(const Attr& attr, std::vector<Tensor>* out) const {
  if (attr.is_tensor()) {
    const Tensor flat = attr.tensor().reshaped({attr.tensor().entries_count()});
    for (int64_t i = 0; i < flat.entries_count(); ++i) out->push_back(flat.item(i));
  } else if (attr.kind() == Attr::Kind::list || attr.kind() == Attr::Kind::tuple) {
    for (const Attr& item : attr.items()) collect_scalars(item, out);
  } else {
    refuse("has a default that is no constant");
  }
}

Tensor FeatureReader::read_fallback(const ExampleFeature& feature, const Dims& dims,
                                    const Attr& attr) const {
  std::vector<Tensor> scalars;
  collect_scalars(attr, &scalars);
  if (static_cast<int64_t>(scalars.size()) != dims.entries()) {
    refuse("has a default of " + std::to_string(scalars.size()) + " values, expected shape " +
           dims.text());
  }
  auto expect = [&](const Tensor& scalar, bool good) {
    if (good) return;
    refuse("has a default of dtype " + std::string(dtype_name(scalar.dtype())) + ", expected " +
           std::string(dtype_name(feature.dtype)));
  };
  if (feature.dtype == DType::bytes) {
    std::vector<std::string_view> strings;  // bounded: written in the pipeline
    for (const Tensor& scalar : scalars) {
      expect(scalar, scalar.dtype() == DType::bytes);
      strings.push_back(bytes_at(scalar));
    }
    return Tensor::of_strings(strings).reshaped(dims);
  }
  Tensor out = Tensor::make(feature.dtype, dims);
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

Dims FeatureReader::read_dims(const Attr& attr) const {
  if (attr.is_none()) return {};
  std::vector<int64_t> sizes;
  try {
    sizes = attr_ints(attr);
  } catch (const Error&) {
    refuse("has a shape that is no list of sizes");
  }
  if (sizes.size() >= static_cast<size_t>(kMaxRank))
    refuse("has a shape of rank " + std::to_string(sizes.size()));
  for (const int64_t size : sizes) {
    if (size < 0) {
      refuse("has a shape with an unknown size; say feature(dtype, kind=\"sequence\") for "
             "lists of any length");
    }
  }
  if (!are_shape_sizes(sizes) || checked_product(sizes) > int64_t{1} << 40)
    refuse("has a shape that is too large");
  return Dims(sizes);
}

Kind FeatureReader::read_kind(const Attr& attr) const {
  const Attr& kind = entry(attr, "kind");
  if (!kind.is_tensor() || kind.tensor().dtype() != DType::bytes) return Kind::fixed;
  const std::string name = kind.as_string();
  const std::string known[] = {"fixed", "sequence", "var", "ragged", "sparse"};
  const auto* found = std::ranges::find(known, name);
  if (found == std::end(known))
    refuse("has the unknown kind \"" + name + "\"" + did_you_mean(name, known));
  return static_cast<Kind>(found - known);
}

std::vector<Partition> FeatureReader::read_partitions(const Attr& attr) const {
  std::vector<Partition> out;
  const std::string known[] = {"row_splits", "row_lengths",  "row_starts",
                               "row_limits", "value_rowids", "uniform_row_length"};
  for (const Attr& item : attr.items()) {
    const bool pair = item.items().size() == 2 && item.items()[0].is_tensor() &&
                      item.items()[0].tensor().dtype() == DType::bytes;
    if (!pair) refuse("has partitions that are no tuples like (\"row_splits\", \"key\")");
    const std::string name = item.items()[0].as_string();
    const auto* found = std::ranges::find(known, name);
    if (found == std::end(known))
      refuse("has the unknown partition \"" + name + "\"" + did_you_mean(name, known));
    Partition partition;
    partition.kind = static_cast<Partition::Kind>(found - known);
    if (partition.kind != Partition::Kind::uniform) {
      partition.key = item.items()[1].as_string();
    } else if ((partition.length = item.items()[1].as_int()) < 1) {
      refuse("has a row length that is not positive: " + std::to_string(partition.length));
    }
    out.push_back(std::move(partition));
  }
  return out;
}

void FeatureReader::read_sparse(const Attr& attr, ExampleFeature* feature) const {
  const Attr& keys = entry(attr, "index_key");
  if (keys.is_tensor()) {
    for (int64_t i = 0; i < keys.tensor().entries_count(); ++i)
      feature->index_keys.emplace_back(bytes_at(keys.tensor(), i));
  } else {
    for (const Attr& key : keys.items()) feature->index_keys.push_back(key.as_string());
  }
  feature->dims = read_dims(entry(attr, "size"));
  if (feature->index_keys.empty() ||
      static_cast<int>(feature->index_keys.size()) != feature->dims.rank()) {
    refuse("is sparse: index_key must name a list for each size in size");
  }
}

ExampleFeature FeatureReader::read(const std::string& key, const Attr& attr) {
  key_ = key;
  ExampleFeature feature;
  feature.key = feature.value_key = key;
  const bool detailed = attr.kind() == Attr::Kind::dict;
  const Attr& dtype = detailed ? entry(attr, "dtype") : attr;
  if (dtype.kind() != Attr::Kind::dtype) refuse("must be a dtype or feature(dtype, ...)");
  feature.dtype = dtype.as_dtype();
  if (feature.dtype != DType::int64 && feature.dtype != DType::float32 &&
      feature.dtype != DType::bytes) {
    const std::string name(dtype_name(feature.dtype));
    const char* wide = is_float(feature.dtype) ? "float32" : "int64";
    refuse("is " + name + ", expected int64, float32 or bytes; read " + wide +
           " and cast it: " + name + "(x)");
  }
  if (!detailed) return feature;
  feature.kind = read_kind(attr);
  feature.dims = read_dims(entry(attr, "shape"));
  const bool shaped = feature.kind == Kind::fixed || feature.kind == Kind::sequence;
  if (!shaped && feature.dims.rank() != 0)
    refuse("has a shape, but kind " + entry(attr, "kind").as_string());
  if (const Attr& value_key = entry(attr, "value_key"); !value_key.is_none())
    feature.value_key = value_key.as_string();
  if (feature.kind == Kind::sparse) read_sparse(attr, &feature);
  if (feature.kind == Kind::ragged) feature.partitions = read_partitions(entry(attr, "partitions"));
  if (const Attr& missing = entry(attr, "allow_missing"); !missing.is_none())
    feature.allow_missing = missing.as_bool();
  if (shaped) feature.count = feature.dims.entries();
  if (const Attr& fallback = entry(attr, "default"); !fallback.is_none()) {
    if (!shaped) refuse("is empty when absent: a default is for kinds fixed and sequence");
    feature.has_fallback = true;
    feature.fallback =
        read_fallback(feature, feature.kind == Kind::sequence ? Dims() : feature.dims, fallback);
  }
  return feature;
}

}  // namespace

bool ExampleFeature::is_uniform() const {
  return std::ranges::all_of(partitions,
                             [](const Partition& p) { return p.kind == Partition::Kind::uniform; });
}

std::vector<ExampleFeature> read_features(const Attr& features, const std::string& attr) {
  if (features.kind() != Attr::Kind::dict)
    throw TypeError{-1, attr, "must be a dict from keys to dtypes or feature(...)"};
  std::vector<ExampleFeature> out;
  FeatureReader reader(attr);
  for (size_t i = 0; i < features.keys().size(); ++i)
    out.push_back(reader.read(features.keys()[i], features.items()[i]));
  return out;
}

}  // namespace penstock
