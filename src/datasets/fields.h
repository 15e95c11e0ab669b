// The `fields` argument of sources whose elements are dicts: {name: dtype or feature(...)}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/node.h"

namespace penstock {

struct Field {
  std::string name;
  DType dtype = DType::bytes;
  Shape shape{};
  bool required = true;
  bool is_optional = false;  // elements hold optional values; what is missing is one of zeros
  Tensor fallback{};         // for what is missing

  LeafSpec leaf() const;
};

struct FieldRules {
  bool shapes = false;     // shapes other than scalars
  bool optionals = false;  // feature(dtype, kind="optional"): sources that can miss a value
};
// Throws ArgumentError about `param`.
std::vector<Field> fields_of(const Attr& fields, const std::string& param, const FieldRules& rules);
// The dtype of a feature(dtype, kind="optional"); nothing for anything else.
std::optional<DType> optional_scalar(const Attr& feature);
// A dict with an item for each.
Spec spec_of(const std::vector<Field>& fields);

}  // namespace penstock
