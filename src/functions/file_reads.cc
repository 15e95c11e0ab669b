#include "functions/file_reads.h"

#include <algorithm>

namespace penstock {
namespace {

constexpr double kMostNameNs = 20'000;  // names are made in the thread that pulls

using Ids = std::vector<ValueId>;

bool is_cheap(const FunctionNode& node) {
  if (node.kind == FunctionNode::Kind::constant) return true;
  if (node.kind == FunctionNode::Kind::conditional) {
    return std::ranges::all_of(node.bodies, [](const FunctionPtr& body) {
      return std::ranges::all_of(body->nodes, [](const FunctionNode& n) { return is_cheap(n); });
    });
  }
  return node.kind == FunctionNode::Kind::op && node.bodies.empty() && !node.op->is_file_content &&
         node.op->effects == Effects::pure && !node.op->large_rows &&
         node.op->cost_ns < kMostNameNs;
}

bool may_fail(const FunctionNode& node) {
  if (node.kind == FunctionNode::Kind::constant) return false;
  if (node.kind == FunctionNode::Kind::conditional)
    return std::ranges::any_of(node.bodies,
                               [](const FunctionPtr& body) { return body->can_fail(); });
  return node.kind != FunctionNode::Kind::op || node.op->can_fail;
}

// What the node needs, marked by the places of the nodes.
void mark_needed(const Function& f, size_t at, std::vector<bool>* needed) {
  std::vector<bool> values(f.values.size(), false);
  for (const ValueId id : f.nodes[at].inputs) values[static_cast<size_t>(id)] = true;
  for (size_t i = at; i-- > 0;) {
    const FunctionNode& node = f.nodes[i];
    if (std::ranges::none_of(node.outputs,
                             [&](ValueId id) { return values[static_cast<size_t>(id)]; }))
      continue;
    (*needed)[i] = true;
    for (const ValueId id : node.inputs) values[static_cast<size_t>(id)] = true;
  }
}

// The reads whose names depend on nothing but cheap ops, and that no other error can come before:
// names are made first, then the files are read, then all else is done.
std::vector<const FunctionNode*> early_reads(const Function& f) {
  std::vector<const FunctionNode*> reads;
  std::vector<bool> for_names(f.nodes.size(), false);
  size_t first = f.nodes.size();
  for (size_t at = 0; at < f.nodes.size(); ++at) {
    if (!f.nodes[at].op || !f.nodes[at].op->is_file_content) continue;
    std::vector<bool> needed = for_names;
    mark_needed(f, at, &needed);
    bool good = true;
    for (size_t i = 0; i < at && good; ++i) {
      const FunctionNode& node = f.nodes[i];
      if (needed[i] && !is_cheap(node)) good = false;
      const bool read = std::ranges::find(reads, &node) != reads.end();
      if (may_fail(node) && !read && (!needed[i] || i > first)) good = false;
    }
    if (!good) break;
    first = std::min(first, at);
    for_names = std::move(needed);
    reads.push_back(&f.nodes[at]);
  }
  return reads;
}

Ids copy_node(const Function& f, const FunctionNode& node, const Ids& inputs,
              FunctionBuilder* builder) {
  switch (node.kind) {
    case FunctionNode::Kind::constant: return {builder->add_constant(node.constant)};
    case FunctionNode::Kind::dataset:
      return {builder->add_dataset(node.dataset, inputs, f.type(node.outputs[0]))};
    case FunctionNode::Kind::conditional: {
      std::vector<LeafSpec> types;
      for (const ValueId id : node.outputs) types.push_back(f.type(id));
      return builder->add_conditional(inputs[0], node.bodies[0], node.bodies[1],
                                      {inputs.begin() + 1, inputs.end()}, types);
    }
    case FunctionNode::Kind::op: break;
  }
  Ids outputs;
  builder->add_op(*node.op, inputs, node.attrs, &outputs, node.bodies);
  return outputs;
}

FunctionPtr without_reads(const Function& f, const std::vector<const FunctionNode*>& reads) {
  std::vector<Spec> given{f.input};
  given.insert(given.end(), reads.size(), Spec::tensor(DType::bytes, {}));
  FunctionBuilder builder(Spec::tuple(std::move(given)));
  Ids values(f.values.size(), -1);
  for (int i = 0; i < f.input_count(); ++i) values[static_cast<size_t>(i)] = i;
  for (size_t i = 0; i < f.captures.size(); ++i) {
    const size_t id = static_cast<size_t>(f.input_count()) + i;
    values[id] = builder.add_capture(f.captures[i], f.capture_sources[i], f.values[id].name);
  }
  ValueId next = f.input_count();
  for (const FunctionNode& node : f.nodes) {
    if (std::ranges::find(reads, &node) != reads.end()) {
      values[static_cast<size_t>(node.outputs[0])] = next++;
      continue;
    }
    Ids inputs;
    for (const ValueId id : node.inputs) inputs.push_back(values[static_cast<size_t>(id)]);
    const Ids outputs = copy_node(f, node, inputs, &builder);
    for (size_t i = 0; i < outputs.size(); ++i)
      values[static_cast<size_t>(node.outputs[i])] = outputs[i];
  }
  Ids results;
  for (const ValueId id : f.results) results.push_back(values[static_cast<size_t>(id)]);
  return builder.finish(f.output, std::move(results));
}

FunctionPtr names_of(const Function& f, const std::vector<const FunctionNode*>& reads) {
  Function names = f;
  names.results.clear();
  std::vector<Spec> leaves;
  std::vector<int> all;
  for (const FunctionNode* read : reads) {
    all.push_back(static_cast<int>(names.results.size()));
    names.results.push_back(read->inputs[0]);
    leaves.push_back(Spec::tensor(DType::bytes, {}));
  }
  names.output = Spec::tuple(std::move(leaves));
  return keep_results(names, names.output, all);
}

}  // namespace

std::optional<FileReads> split_file_reads(const Function& function) {
  const std::vector<const FunctionNode*> reads = early_reads(function);
  if (reads.empty()) return {};
  return FileReads{names_of(function, reads), without_reads(function, reads), reads.size()};
}

}  // namespace penstock
