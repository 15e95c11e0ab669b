// What every op states, in one call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "functions/op.h"

namespace penstock {

struct OpTraits {
  const char* group;
  double cost_ns;
  bool can_fail = false;
};

// A pure op; set what else it is (block, elementwise, effects, ...) on the result.
inline OpDef op_def(std::string name, std::string doc, std::vector<Param> params,
                    std::function<Spec(const InferContext&)> infer, RowKernel row,
                    const OpTraits& traits) {
  OpDef op;
  op.name = std::move(name);
  op.params = std::move(params);
  op.doc = std::move(doc);
  op.infer = std::move(infer);
  op.row = row;
  op.can_fail = traits.can_fail;
  op.cost_ns = traits.cost_ns;
  op.group = traits.group;
  return op;
}

inline Param tensor_param(std::string name) {
  return required(std::move(name), Param::Kind::tensor);
}
inline Param axis_param(int64_t fallback) {
  return optional("axis", Param::Kind::integer, Attr::integer(fallback));
}
inline Param dtype_param(DType fallback) {
  return optional("dtype", Param::Kind::dtype, Attr::of(fallback));
}

}  // namespace penstock
