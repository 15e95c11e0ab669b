#include "datasets/fields.h"

#include <algorithm>

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

Field field_of(const std::string& name, const Attr& attr, const std::string& param, bool shaped) {
  Field out;
  out.name = name;
  if (attr.kind() == Attr::Kind::dtype) {
    out.dtype = attr.as_dtype();
    return out;
  }
  const auto part = [&](std::string_view key) -> const Attr& {
    static const Attr none;
    const auto at = std::ranges::find(attr.keys(), key);
    return at == attr.keys().end() ? none
                                   : attr.items()[static_cast<size_t>(at - attr.keys().begin())];
  };
  if (attr.kind() != Attr::Kind::dict || part("dtype").kind() != Attr::Kind::dtype)
    NodeDraft::fail(param, "`" + name + "` must be a dtype or feature(dtype, ...)");
  if (!part("kind").is_none() && part("kind").as_string() != "fixed")
    NodeDraft::fail(param,
                    "`" + name + "`: only the kind \"fixed\" is read here; use shape=[none]");
  out.dtype = part("dtype").as_dtype();
  out.shape = shape_of(part("shape"));
  if (!shaped && !out.shape.is_scalar()) NodeDraft::fail(param, "`" + name + "` must be a scalar");
  out.required = part("default").is_none();
  if (!out.required) out.fallback = fallback_of(out, part("default"), param);
  return out;
}

}  // namespace

std::vector<Field> fields_of(const Attr& fields, const std::string& param, bool shaped) {
  if (fields.kind() != Attr::Kind::dict || fields.items().empty())
    NodeDraft::fail(param, "expected a dict of dtypes: {text: bytes}");
  std::vector<Field> out;
  for (size_t i = 0; i < fields.items().size(); ++i)
    out.push_back(field_of(fields.keys()[i], fields.items()[i], param, shaped));
  return out;
}

Spec spec_of(const std::vector<Field>& fields) {
  std::vector<std::string> keys;
  std::vector<Spec> items;
  for (const Field& f : fields) {
    keys.push_back(f.name);
    items.push_back(Spec::tensor(f.dtype, f.shape));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

}  // namespace penstock
