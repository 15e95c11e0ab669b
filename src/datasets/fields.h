// The `fields` argument of sources whose elements are dicts: {name: dtype or feature(...)}.
#pragma once

#include <string>
#include <vector>

#include "plan/node.h"

namespace penstock {

struct Field {
  std::string name;
  DType dtype = DType::bytes;
  Shape shape{};
  bool required = true;
  Tensor fallback{};  // for what is missing
};

// Throws ArgumentError about `param`. Shapes other than scalars are refused unless `shaped`.
std::vector<Field> fields_of(const Attr& fields, const std::string& param, bool shaped);
// A dict with an item for each.
Spec spec_of(const std::vector<Field>& fields);

}  // namespace penstock
