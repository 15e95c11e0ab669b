#include "functions/split_function.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/error.h"

namespace penstock {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id); }

bool is_constant(const FunctionNode* node) {
  return node && node->kind == FunctionNode::Kind::constant;
}

// One leaf by itself, several as a tuple.
Spec spec_of(const Function& f, std::span<const ValueId> ids) {
  std::vector<Spec> leaves;
  for (const ValueId id : ids) leaves.push_back(Spec::of(f.type(id)));
  return leaves.size() == 1 ? leaves[0] : Spec::tuple(std::move(leaves));
}

// The nodes that `keep` says, over `input`, whose leaves are the values `known` of `f`: in this
// order, -1 where nothing is.
FunctionPtr part(const Function& f, Spec input, std::span<const ValueId> known,
                 const std::vector<bool>& keep, Spec output, std::span<const ValueId> results) {
  auto out = std::make_shared<Function>();
  std::map<ValueId, ValueId> renamed;
  const std::vector<LeafSpec> leaves = input.leaves();
  for (size_t i = 0; i < leaves.size(); ++i) {
    const bool named = i < known.size() && known[i] >= 0;
    if (named) renamed[known[i]] = static_cast<ValueId>(i);
    out->values.push_back({leaves[i], named ? f.values[at(known[i])].name : ""});
  }
  std::set<ValueId> used(results.begin(), results.end());
  for (size_t i = 0; i < f.nodes.size(); ++i)
    if (keep[i]) used.insert(f.nodes[i].inputs.begin(), f.nodes[i].inputs.end());
  for (size_t i = 0; i < f.captures.size(); ++i) {
    const ValueId id = f.input_count() + static_cast<ValueId>(i);
    if (!used.contains(id) || renamed.contains(id)) continue;
    renamed[id] = static_cast<ValueId>(out->values.size());
    out->values.push_back(f.values[at(id)]);
    out->captures.push_back(f.captures[i]);
    out->capture_sources.push_back(f.capture_sources[i]);
  }
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    if (!keep[i]) continue;
    FunctionNode node = f.nodes[i];
    for (ValueId& id : node.inputs) id = renamed.at(id);
    for (ValueId& id : node.outputs) {
      renamed[id] = static_cast<ValueId>(out->values.size());
      out->values.push_back(f.values[at(id)]);
      id = renamed[id];
    }
    out->nodes.push_back(std::move(node));
  }
  out->input = std::move(input);
  out->output = std::move(output);
  for (const ValueId id : results) out->results.push_back(renamed.at(id));
  // Drops what no result needs.
  return rebuild(*out, [](const FunctionNode&, const std::vector<ValueId>&, FunctionBuilder*,
                          std::vector<ValueId>*) { return false; });
}

// The nodes on which the values depend.
std::vector<bool> needed_nodes(const Function& f, std::span<const ValueId> values) {
  std::vector<bool> wanted(f.values.size(), false), out(f.nodes.size(), false);
  for (const ValueId id : values) wanted[at(id)] = true;
  for (size_t i = f.nodes.size(); i-- > 0;) {
    const FunctionNode& node = f.nodes[i];
    out[i] = std::ranges::any_of(node.outputs, [&](ValueId id) { return wanted[at(id)]; });
    if (!out[i]) continue;
    for (const ValueId id : node.inputs) wanted[at(id)] = true;
  }
  return out;
}

std::vector<ValueId> input_ids(const Function& f) {
  std::vector<ValueId> out(static_cast<size_t>(f.input_count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<ValueId>(i);
  return out;
}

}  // namespace

SplitFunction split_function(const Function& f, const std::vector<int>& results) {
  std::vector<ValueId> wanted;
  for (const int i : results) wanted.push_back(f.results[static_cast<size_t>(i)]);
  const std::vector<bool> first = needed_nodes(f, wanted);

  // Values that leave the first part; constants and captures are had on both sides instead.
  std::vector<bool> leaves(f.values.size(), false), rest(f.nodes.size(), false);
  for (const ValueId id : wanted) leaves[at(id)] = true;
  const ValueId first_made = f.input_count() + static_cast<ValueId>(f.captures.size());
  const auto use = [&](ValueId id) {
    const bool is_capture = id >= f.input_count() && id < first_made;
    if (!is_capture && !is_constant(f.producer(id))) leaves[at(id)] = true;
  };
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    rest[i] = !first[i] || is_constant(&f.nodes[i]);
    if (!first[i]) std::ranges::for_each(f.nodes[i].inputs, use);
  }
  std::ranges::for_each(f.results, use);
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    if (first[i]) continue;
    for (const ValueId id : f.nodes[i].outputs) leaves[at(id)] = false;
  }
  std::vector<ValueId> crossing;
  for (size_t id = 0; id < leaves.size(); ++id)
    if (leaves[id]) crossing.push_back(static_cast<ValueId>(id));

  SplitFunction out;
  const Spec between = spec_of(f, crossing);
  out.first = part(f, f.input, input_ids(f), first, between, crossing);
  out.rest = part(f, between, crossing, rest, f.output, f.results);
  for (const ValueId id : f.results) {
    const auto found = std::ranges::find(crossing, id);
    out.leaf_of_result.push_back(
        found == crossing.end() ? -1 : static_cast<int>(found - crossing.begin()));
  }
  return out;
}

FunctionPtr from_leaves(const Function& f, const Spec& input, const std::vector<int>& leaves) {
  std::vector<ValueId> known(static_cast<size_t>(input.leaf_count()), -1);
  // Leaves that are the same value twice: the second takes the name of the first.
  auto shared = std::make_shared<Function>(f);
  std::map<ValueId, ValueId> same;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i] < 0) continue;
    ValueId& slot = known[static_cast<size_t>(leaves[i])];
    if (slot >= 0)
      same[static_cast<ValueId>(i)] = slot;
    else
      slot = static_cast<ValueId>(i);
  }
  const auto renamed = [&](ValueId& id) {
    if (const auto found = same.find(id); found != same.end()) id = found->second;
  };
  for (FunctionNode& node : shared->nodes) std::ranges::for_each(node.inputs, renamed);
  std::ranges::for_each(shared->results, renamed);
  return part(*shared, input, known, std::vector<bool>(f.nodes.size(), true), f.output,
              shared->results);
}

}  // namespace penstock
