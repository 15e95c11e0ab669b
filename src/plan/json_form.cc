#include "plan/json_form.h"

#include <unordered_map>

#include "plan/json_parts.h"

namespace penstock {
namespace {

using json_form::Out;

Out function_to_json(const Function& f);

// One template: shared nodes are written where they come first, and referred to after that.
class PlanWriter {
 public:
  explicit PlanWriter(const PlanNode& root) {
    for (const PlanNode* node : topological(root)) {
      for (const PlanPtr& input : node->inputs) ++users_[input.get()];
    }
  }

  // In a loop down the first inputs: chains may be thousands of stages long.
  Out write(const PlanNode& top) {
    std::vector<const PlanNode*> chain;
    Out out;
    for (const PlanNode* node = &top; node; node = node->inputs.empty() ? nullptr : node->inputs[0].get()) {
      if (const auto known = ids_.find(node); known != ids_.end()) {
        out = Out{{"ref", known->second}};
        break;
      }
      chain.push_back(node);
    }
    for (size_t i = chain.size(); i-- > 0;) {
      const PlanNode& node = *chain[i];
      Out inputs = Out::array();
      for (size_t k = 0; k < node.inputs.size(); ++k) inputs.push_back(k == 0 ? std::move(out) : write(*node.inputs[k]));
      out = one(node, std::move(inputs));
    }
    return out;
  }

 private:
  Out one(const PlanNode& node, Out inputs) {
    Out out{{"op", node.op->name}};
    if (users_[&node] > 1) {
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
    return out;
  }

  std::unordered_map<const PlanNode*, int> users_;
  std::unordered_map<const PlanNode*, int64_t> ids_;
};

Out node_to_json(const FunctionNode& node) {
  Out out;
  switch (node.kind) {
    case FunctionNode::Kind::constant: return Out{{"constant", json_form::tensor_to_json(node.constant)}};
    case FunctionNode::Kind::dataset:
      out["dataset"] = PlanWriter(*node.dataset).write(*node.dataset);
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
  return Out{{"penstock", 1}, {"plan", PlanWriter(plan).write(plan)}};
}

}  // namespace penstock
