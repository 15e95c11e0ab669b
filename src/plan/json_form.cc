#include "plan/json_form.h"

#include <algorithm>
#include <unordered_map>

#include "plan/json_parts.h"

namespace penstock {
namespace {

using json_form::Out;

Out function_to_json(const Function& f);

// JSON libraries recurse: what nests deeper than this is written beside the plan and referred to.
constexpr int kDeepest = 50;

// One template: shared nodes are written where they come first, and referred to after that. In deep
// plans they, too, stand beside the plan, since their first users do.
class PlanWriter {
 public:
  Out write_root(const PlanNode& root) {
    std::unordered_map<const PlanNode*, int> heights;
    for (const PlanNode* node : topological(root)) {
      int& height = heights[node];
      for (const PlanPtr& input : node->inputs) {
        ++users_[input.get()];
        height = std::max(height, heights[input.get()] + 1);
      }
      deep_ |= height > kDeepest;
    }
    Out out = write(root).form;
    if (!earlier_.empty()) out["earlier"] = std::move(earlier_);
    return out;
  }

 private:
  struct Written {
    Out form;
    int height = 0;  // of nested nodes
  };

  // In a loop down the first inputs: chains may be thousands of stages long.
  Written write(const PlanNode& top) {
    std::vector<const PlanNode*> chain;
    Written out;
    const PlanNode* node = &top;
    for (; node; node = node->inputs.empty() ? nullptr : node->inputs[0].get()) {
      if (ids_.contains(node)) {
        out.form = reference(*node);
        break;
      }
      chain.push_back(node);
    }
    for (size_t i = chain.size(); i-- > 0;) {
      Out inputs = Out::array();
      int height = 0;
      for (size_t k = 0; k < chain[i]->inputs.size(); ++k) {
        // Assigned anew below, once for each node of the chain.
        // NOLINTNEXTLINE(bugprone-use-after-move)
        Written input = k == 0 ? std::move(out) : write(*chain[i]->inputs[k]);
        height = std::max(height, input.height + 1);
        inputs.push_back(std::move(input.form));
      }
      out = one(*chain[i], std::move(inputs), height);
    }
    return out;
  }

  Out reference(const PlanNode& node) const { return Out{{"ref", ids_.at(&node)}}; }

  Written one(const PlanNode& node, Out inputs, int height) {
    Out out{{"op", node.op->name}};
    const bool shared = users_[&node] > 1;
    const bool beside = users_[&node] > 0 && deep_ && (shared || height >= kDeepest);
    if (shared || beside) {
      const auto id = static_cast<int64_t>(ids_.size()) + 1;
      ids_[&node] = id;
      out["id"] = id;
    }
    Out args = Out::object(), functions = Out::object();
    for (const auto& [name, attr] : node.args) args[name] = json_form::attr_to_json(attr);
    for (const auto& [name, f] : node.functions) functions[name] = function_to_json(*f);
    out["inputs"] = std::move(inputs);
    out["args"] = std::move(args);
    out["functions"] = std::move(functions);
    if (!beside) return {std::move(out), height};
    earlier_.push_back(std::move(out));
    return {reference(node), 0};
  }

  std::unordered_map<const PlanNode*, int> users_;
  std::unordered_map<const PlanNode*, int64_t> ids_;
  bool deep_ = false;
  Out earlier_ = Out::array();
};

Out node_to_json(const FunctionNode& node) {
  Out out;
  switch (node.kind) {
    case FunctionNode::Kind::constant:
      return Out{{"constant", json_form::tensor_to_json(node.constant)}};
    case FunctionNode::Kind::dataset:
      out["dataset"] = PlanWriter().write_root(*node.dataset);
      out["inputs"] = node.inputs;
      return out;
    case FunctionNode::Kind::conditional:
      out["if"] = node.inputs[0];
      out["inputs"] = std::vector<ValueId>(node.inputs.begin() + 1, node.inputs.end());
      out["then"] = function_to_json(*node.bodies[0]);
      out["else"] = function_to_json(*node.bodies[1]);
      return out;
    case FunctionNode::Kind::op: break;
  }
  Out attrs = Out::object();
  for (const auto& [name, attr] : node.attrs) attrs[name] = json_form::attr_to_json(attr);
  out["op"] = node.op->name;
  out["inputs"] = node.inputs;
  out["attrs"] = std::move(attrs);
  for (const FunctionPtr& body : node.bodies) out["bodies"].push_back(function_to_json(*body));
  return out;
}

Out function_to_json(const Function& f) {
  Out values = Out::array(), nodes = Out::array();
  for (const FunctionValue& v : f.values) {
    Out value{{"type", json_form::leaf_to_json(v.type)}};
    if (!v.name.empty()) value["name"] = v.name;
    values.push_back(std::move(value));
  }
  for (const FunctionNode& node : f.nodes) nodes.push_back(node_to_json(node));
  return Out{{"input", json_form::spec_to_json(f.input)},
             {"arity", f.arity},
             {"captures", f.capture_sources},
             {"values", std::move(values)},
             {"nodes", std::move(nodes)},
             {"output", json_form::spec_to_json(f.output)},
             {"results", f.results}};
}

}  // namespace

nlohmann::ordered_json plan_to_json(const PlanNode& plan) {
  return Out{{"penstock", 1}, {"plan", PlanWriter().write_root(plan)}};
}

}  // namespace penstock
