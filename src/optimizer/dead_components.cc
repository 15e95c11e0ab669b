// dead_components: what no later stage looks at is not made: components of an earlier map, through
// the stages between that only order or count elements, and features of parse_example.

#include <algorithm>

#include "optimizer/rule.h"

namespace penstock {
namespace {

// Stages that hand elements on as they are.
bool passes_elements(const PlanNode& node) {
  for (const std::string_view name : {"shuffle", "take", "skip", "repeat", "shard", "prefetch",
                                      "cache", "echo", "with_options"}) {
    if (node.is(name)) return true;
  }
  return false;
}

// The spec with only the kept leaves; empty dicts and tuples go.
Spec narrow(const Spec& spec, const std::vector<bool>& kept, size_t* leaf) {
  if (spec.is_leaf()) return kept[(*leaf)++] ? spec : Spec();
  Spec out = spec;
  out.keys.clear();
  out.items.clear();
  for (size_t i = 0; i < spec.items.size(); ++i) {
    Spec item = narrow(spec.items[i], kept, leaf);
    if (item.kind == Spec::Kind::none) continue;
    if (spec.kind == Spec::Kind::dict) out.keys.push_back(spec.keys[i]);
    out.items.push_back(std::move(item));
  }
  return out.items.empty() ? Spec() : out;
}

std::vector<int> indices(const std::vector<bool>& kept) {
  std::vector<int> out;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

// The filter over elements of which only the kept leaves are left; null when it looks at others.
PlanPtr narrowed_filter(const PlanNode& node, const std::vector<bool>& kept, PlanPtr input) {
  const FunctionPtr& predicate = node.function("predicate");
  const std::vector<bool> used = used_inputs(*predicate);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (used[i] && !kept[i]) return nullptr;
  }
  FunctionPtr f = narrow_input(*predicate, input->spec, indices(kept));
  return make_node("filter", {std::move(input)}, node.args, {{"predicate", std::move(f)}},
                   node.span);
}

// The node giving only the kept leaves; null when it can't. They are not made by the map that it
// stands on.
PlanPtr prune(const PlanPtr& node, const std::vector<bool>& kept) {
  std::vector<const PlanNode*> above;  // of the map, highest first
  PlanPtr at = node;
  for (; passes_elements(*at) || at->is("filter"); at = at->inputs[0]) above.push_back(at.get());
  size_t leaf = 0;
  const Spec spec = narrow(at->spec, kept, &leaf);
  if (spec.kind == Spec::Kind::none || !at->is("map")) return nullptr;
  FunctionPtr f = keep_results(*at->function("f"), spec, indices(kept));
  PlanPtr out = make_node("map", at->inputs, at->args, {{"f", std::move(f)}}, at->span);
  for (size_t i = above.size(); out && i-- > 0;) {
    out = above[i]->is("filter") ? narrowed_filter(*above[i], kept, std::move(out))
                                 : with_inputs(*above[i], {std::move(out)});
  }
  return out;
}

// parse_example without the features that nobody uses.
FunctionPtr drop_features(const FunctionPtr& f) {
  if (!calls_op(*f, "parse_example")) return nullptr;
  std::vector<bool> used(f->values.size(), false);
  for (const FunctionNode& node : f->nodes) {
    for (const ValueId id : node.inputs) used[static_cast<size_t>(id)] = true;
  }
  for (const ValueId id : f->results) used[static_cast<size_t>(id)] = true;
  bool changed = false;
  FunctionPtr out = rebuild(*f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                                    FunctionBuilder* b, std::vector<ValueId>* outputs) {
    if (!n.is("parse_example")) return false;
    const Attr& features = n.attrs["features"];
    if (features.items().size() != n.outputs.size()) return false;
    std::vector<std::string> keys;
    std::vector<Attr> items;
    std::vector<size_t> places;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      if (!used[static_cast<size_t>(n.outputs[i])]) continue;
      keys.push_back(features.keys()[i]);
      items.push_back(features.items()[i]);
      places.push_back(i);
    }
    if (items.empty() || items.size() == n.outputs.size()) return false;
    Attrs attrs = n.attrs;
    attrs.set("features", Attr::dict(std::move(keys), std::move(items)));
    std::vector<ValueId> made;
    b->add_op(*n.op, inputs, std::move(attrs), &made);
    outputs->assign(n.outputs.size(), made[0]);  // the others are never looked at
    for (size_t i = 0; i < places.size(); ++i) (*outputs)[places[i]] = made[i];
    changed = true;
    return true;
  });
  return changed ? out : nullptr;
}

PlanPtr apply(const PlanPtr& node) {
  if (!node->is("map")) return nullptr;
  const FunctionPtr& f = node->function("f");
  if (FunctionPtr fewer = drop_features(f))
    return make_node("map", node->inputs, node->args, {{"f", std::move(fewer)}}, node->span);
  const std::vector<bool> used = used_inputs(*f);
  if (std::ranges::find(used, false) == used.end() || std::ranges::find(used, true) == used.end())
    return nullptr;
  const PlanPtr& below = node->inputs[0];
  if (!passes_elements(*below) && !below->is("filter")) return nullptr;  // a map right below fuses
  PlanPtr input = prune(below, used);
  if (!input) return nullptr;
  FunctionPtr narrowed = narrow_input(*f, input->spec, indices(used));
  return make_node("map", {std::move(input)}, node->args, {{"f", std::move(narrowed)}}, node->span);
}

}  // namespace

const Rule kDeadComponents{"dead_components", "what no later stage looks at is not made", apply};

}  // namespace penstock
