#include "plan/noop.h"

namespace penstock {
namespace {

bool is_int(const Attr& a, int64_t value) {
  return a.is_tensor() && a.tensor().dims().rank() == 0 && a.as_int() == value;
}

}  // namespace

bool changes_nothing(const PlanNode& node) {
  if (node.is("take")) return is_int(node.arg("count"), -1);
  if (node.is("skip")) return is_int(node.arg("count"), 0);
  if (node.is("repeat")) return is_int(node.arg("count"), 1);
  if (node.is("prefetch")) return is_int(node.arg("buffer_size"), 0);
  return node.is("map") && is_identity(*node.function("f"));
}

}  // namespace penstock
