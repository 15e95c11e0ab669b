#include "datasets/key_order.h"

namespace penstock {
namespace {

// `from`, whose leaves are values `first` on, in the order of `like`: its spec, and which leaf each
// is. False where they differ in more than the order of keys.
bool reorder(const Spec& from, ValueId first, const Spec& like, Spec* out,
             std::vector<ValueId>* leaves) {
  if (from.kind != like.kind || from.items.size() != like.items.size()) return false;
  *out = from;
  if (from.is_leaf()) {
    leaves->push_back(first);
    return true;
  }
  std::vector<ValueId> begins;
  for (const Spec& item : from.items) {
    begins.push_back(first);
    first += item.leaf_count();
  }
  out->keys = like.keys;
  for (size_t i = 0; i < like.items.size(); ++i) {
    const int at = from.kind == Spec::Kind::dict ? from.find(like.keys[i]) : static_cast<int>(i);
    if (at < 0) return false;
    const auto j = static_cast<size_t>(at);
    if (!reorder(from.items[j], begins[j], like.items[i], &out->items[i], leaves)) return false;
  }
  return true;
}

}  // namespace

PlanPtr with_key_order(const PlanPtr& dataset, const Spec& like) {
  Spec spec;
  std::vector<ValueId> leaves;
  if (dataset->spec.same_structure(like) || !reorder(dataset->spec, 0, like, &spec, &leaves))
    return dataset;
  FunctionBuilder builder(dataset->spec);
  return make_node("map", {dataset}, {}, {{"f", builder.finish(std::move(spec), leaves)}},
                   dataset->span);
}

}  // namespace penstock
