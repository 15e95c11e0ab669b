#include "functions/kernels/control/control_ops.h"

#include "functions/kernels/control/control.h"
#include "functions/kernels/families.h"

namespace penstock {

void check_bodies(const InferContext& context, size_t count) {
  if (context.bodies.size() != count) context.fail("takes " + std::to_string(count) + " functions");
  const Spec& input = context.bodies[0]->input;
  for (const FunctionPtr& body : context.bodies) {
    if (!(body->input == input)) context.fail("the functions must take the same");
    for (const int source : body->capture_sources) {
      if (source < input.leaf_count() || source >= static_cast<int>(context.inputs.size()))
        context.fail("a function captures no value of this one: " + std::to_string(source));
    }
  }
}

void check_state(const InferContext& context, const Spec& state, const Spec& given, size_t first) {
  bool ok = false;
  const Spec joined = join_specs(state, given, &ok);
  if (!ok || !(joined == state))
    context.fail("the state is " + state.text() + ", the function gives " + given.text());
  const std::vector<LeafSpec> leaves = state.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (first + i >= context.inputs.size()) context.fail("a part of the state is missing");
    const Spec input = Spec::of(context.inputs[first + i].type), leaf = Spec::of(leaves[i]);
    const Spec both = join_specs(leaf, input, &ok);
    if (!ok || !(both == leaf))
      context.fail("a part of the state is " + input.text() + ", expected " + leaf.text());
  }
}

int64_t check_items(const InferContext& context, const Spec& item) {
  int64_t items = -1;
  const std::vector<LeafSpec> leaves = item.leaves();
  if (leaves.empty()) context.fail("holds no tensor");
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (i >= context.inputs.size()) context.fail("a part of x is missing");
    const LeafSpec& whole = context.inputs[i].type;
    LeafSpec own;
    try {
      own = axis_item_leaf(whole);
    } catch (const std::string& what) {
      context.fail(static_cast<int>(i), what);
    }
    bool ok = false;
    const Spec both = join_specs(Spec::of(leaves[i]), Spec::of(own), &ok);
    if (!ok || !(both == Spec::of(leaves[i])))
      context.fail("an item is " + own.text() + ", the function takes " + leaves[i].text());
    const int64_t n = whole.shape.has_rank() ? whole.shape[0] : -1;
    if (n >= 0 && items >= 0 && n != items) {
      context.fail("the tensors must have as many items: " + std::to_string(items) + " and " +
                   std::to_string(n));
    }
    items = n >= 0 ? n : items;
  }
  return items;
}

Spec collected_spec(const InferContext& context, const Spec& item, int64_t items) {
  std::vector<LeafSpec> leaves = item.leaves();
  for (LeafSpec& leaf : leaves) {
    try {
      leaf = collected_leaf(leaf, items);
    } catch (const std::string& what) {
      context.fail("the function " + what);
    }
  }
  return item.with_leaves(leaves);
}

void add_control_ops(OpRegistry* registry) {
  add_while_loop_op(registry);
  add_map_fn_op(registry);
  add_fold_ops(registry);
}

}  // namespace penstock
