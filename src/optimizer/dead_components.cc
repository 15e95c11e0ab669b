// dead_components: what no later stage looks at is not made: components of an earlier map, through
// the stages between that only order or count elements, and features of parse_example.

#include <algorithm>

#include "optimizer/rule.h"

namespace penstock {
namespace {

constexpr RuleCondition kDeadComponentsConditions[] = {
    {"made_by_map",
     "a map below makes it, and only stages between that order, count or filter elements",
     "range(9) | map(x -> {a: x, b: x * 2}) | batch(3) | map({a, **_} -> a)"},
    {"not_filtered_by", "no filter between looks at it",
     "range(9) | map(x -> {a: x, b: x * 2}) | filter({b, **_} -> b > 3) | shuffle(3, seed=1) | "
     "map({a, **_} -> a)"},
};

bool is_map(const PlanNode& node) { return node.op->chain == ChainRole::map; }
bool is_filter(const PlanNode& node) { return node.op->chain == ChainRole::filter; }

// Returns `node` on another input, with another function.
PlanPtr with_function(const PlanNode& node, PlanPtr input, FunctionPtr f) {
  return make_node(*node.op, {std::move(input)}, node.args,
                   {{node.functions.front().first, std::move(f)}}, node.span);
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
  const FunctionPtr& predicate = node.functions.front().second;
  const std::vector<bool> used = used_inputs(*predicate);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (used[i] && !kept[i]) return nullptr;
  }
  FunctionPtr f = narrow_input(*predicate, input->spec, indices(kept));
  return with_function(node, std::move(input), std::move(f));
}

// The node giving only the kept leaves; null when it can't. They are not made by the map that it
// stands on.
PlanPtr prune(const PlanPtr& node, const std::vector<bool>& kept, RuleSite& site) {
  std::vector<const PlanNode*> above;  // of the map, highest first
  PlanPtr at = node;
  for (; at->op->hands_on || is_filter(*at); at = at->inputs[0]) above.push_back(at.get());
  size_t leaf = 0;
  const Spec spec = narrow(at->spec, kept, &leaf);
  if (!is_map(*at)) return site.stop("made_by_map");
  if (spec.kind == Spec::Kind::none) return nullptr;
  FunctionPtr f = keep_results(*at->functions.front().second, spec, indices(kept));
  PlanPtr out = with_function(*at, at->inputs[0], std::move(f));
  for (size_t i = above.size(); out && i-- > 0;) {
    out = is_filter(*above[i]) ? narrowed_filter(*above[i], kept, std::move(out))
                               : with_inputs(*above[i], {std::move(out)});
  }
  if (!out) site.stop("not_filtered_by");
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

PlanPtr apply(const PlanPtr& node, RuleSite& site) {
  if (!is_map(*node)) return nullptr;
  const FunctionPtr& f = node->functions.front().second;
  if (FunctionPtr fewer = drop_features(f))
    return with_function(*node, node->inputs[0], std::move(fewer));
  const std::vector<bool> used = used_inputs(*f);
  if (std::ranges::find(used, false) == used.end() || std::ranges::find(used, true) == used.end())
    return nullptr;
  const PlanPtr& below = node->inputs[0];
  if (is_map(*below)) return nullptr;  // map_fusion joins them
  PlanPtr input = prune(below, used, site);
  if (!input) return nullptr;
  FunctionPtr narrowed = narrow_input(*f, input->spec, indices(used));
  return with_function(*node, std::move(input), std::move(narrowed));
}

}  // namespace

const Rule kDeadComponents{
    "dead_components", "components that no later stage looks at are not made",
    "range(9) | map(x -> {a: x, b: x * 2}) | shuffle(3, seed=1) | map({a, **_} -> a)", apply,
    kDeadComponentsConditions};

}  // namespace penstock
