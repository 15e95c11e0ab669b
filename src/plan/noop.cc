#include "plan/noop.h"

namespace penstock {

bool argument_is(const PlanNode& node, std::string_view param, int64_t value) {
  const Attr& a = node.arg(param);
  return a.is_tensor() && a.tensor().dims().rank() == 0 && a.as_int() == value;
}

bool changes_nothing(const PlanNode& node) {
  return node.op->changes_nothing && node.op->changes_nothing(node);
}

}  // namespace penstock
