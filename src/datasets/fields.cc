#include "datasets/fields.h"

#include <algorithm>
#include <cstring>

#include "data/optional.h"

namespace penstock {
namespace {

Shape shape_of(const Attr& attr) {
  if (attr.is_none()) return {};
  return Shape(attr.as_ints());
}

// The default as a tensor of the field's dtype and shape.
Tensor fallback_of(const Field& field, const Attr& attr, const std::string& param) {
  if (!attr.is_tensor() || attr.tensor().dtype() != field.dtype ||
      !field.shape.admits(attr.tensor().dims())) {
    NodeDraft::fail(param, "the default of `" + field.name + "` must be " +
                               LeafSpec::tensor(field.dtype, field.shape).text());
  }
  return attr.tensor();
}

const Attr& part_of(const Attr& feature, std::string_view key) {
  static const Attr none;
  const auto at = std::ranges::find(feature.keys(), key);
  return at == feature.keys().end()
             ? none
             : feature.items()[static_cast<size_t>(at - feature.keys().begin())];
}

// Sizes that are not known are 0.
Tensor zeros(DType dtype, const Shape& shape) {
  Dims dims;
  for (const int64_t size : shape.sizes()) dims.push_back(std::max<int64_t>(size, 0));
  Tensor out = Tensor::make(dtype, dims);
  if (out.data_bytes() > 0)
    std::memset(out.mutable_data(), 0, static_cast<size_t>(out.data_bytes()));
  return out;
}

Field field_of(const std::string& name, const Attr& attr, const std::string& param,
               const FieldRules& rules) {
  Field out;
  out.name = name;
  if (attr.kind() == Attr::Kind::dtype) {
    out.dtype = attr.as_dtype();
    return out;
  }
  const auto part = [&](std::string_view key) -> const Attr& { return part_of(attr, key); };
  if (attr.kind() != Attr::Kind::dict || part("dtype").kind() != Attr::Kind::dtype)
    NodeDraft::fail(param, "`" + name + "` must be a dtype or feature(dtype, ...)");
  const std::string kind = part("kind").is_none() ? "fixed" : part("kind").as_string();
  out.is_optional = rules.optionals && kind == "optional";
  if (kind != "fixed" && !out.is_optional) {
    NodeDraft::fail(param, "`" + name + "`: only the kind \"fixed\" " +
                               (rules.optionals ? "or \"optional\" " : "") +
                               "is read here; use shape=[none]");
  }
  out.dtype = part("dtype").as_dtype();
  out.shape = shape_of(part("shape"));
  if (!rules.shapes && !out.shape.is_scalar())
    NodeDraft::fail(param, "`" + name + "` must be a scalar");
  out.required = part("default").is_none();
  if (!out.required) out.fallback = fallback_of(out, part("default"), param);
  if (!out.is_optional) return out;
  if (!out.required)
    NodeDraft::fail(param, "`" + name + "`: an optional value has no default; use get_value");
  out.required = false;
  out.fallback = zeros(out.dtype, out.shape);
  return out;
}

}  // namespace

LeafSpec Field::leaf() const {
  return is_optional ? optional_leaf(dtype, shape) : LeafSpec::tensor(dtype, shape);
}

std::optional<DType> optional_scalar(const Attr& feature) {
  if (feature.kind() != Attr::Kind::dict || part_of(feature, "dtype").kind() != Attr::Kind::dtype)
    return std::nullopt;
  const Field field = field_of("column", feature, "columns", {.optionals = true});
  if (!field.is_optional) return std::nullopt;
  return field.dtype;
}

std::vector<Field> fields_of(const Attr& fields, const std::string& param,
                             const FieldRules& rules) {
  if (fields.kind() != Attr::Kind::dict || fields.items().empty())
    NodeDraft::fail(param, "expected a dict of dtypes: {text: bytes}");
  std::vector<Field> out;
  for (size_t i = 0; i < fields.items().size(); ++i)
    out.push_back(field_of(fields.keys()[i], fields.items()[i], param, rules));
  return out;
}

Spec spec_of(const std::vector<Field>& fields) {
  std::vector<std::string> keys;
  std::vector<Spec> items;
  for (const Field& f : fields) {
    keys.push_back(f.name);
    items.push_back(Spec::of(f.leaf()));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

}  // namespace penstock
