// Pipelines: stages, their arguments, and names for nodes with several users.

#include "plan/unparse.h"
#include "plan/builtin_names.h"

#include <algorithm>
#include <unordered_map>

#include "plan/builtin_names.h"
#include "plan/unparse_parts.h"

namespace penstock {
namespace unparsing {
namespace {

class PlanUnparser {
 public:
  PlanUnparser(const PlanNode& root, std::span<const ExprPtr> environment, Names taken)
      : root_(root), environment_(environment), taken_(std::move(taken)) {
    std::unordered_map<const PlanNode*, int> users;
    for (const PlanNode* node : topological(root)) {
      for (const PlanPtr& input : node->inputs) ++users[input.get()];
    }
    for (const PlanNode* node : topological(root)) {
      if (users[node] < 2 || !node->op->stands_for.empty()) continue;
      names_[node] = new_name("", "d" + std::to_string(shared_.size() + 1), &taken_);
      shared_.push_back(node);
    }
  }

  const std::vector<const PlanNode*>& shared() const { return shared_; }
  const std::string& name(const PlanNode* node) const { return names_.at(node); }
  ExprPtr result() { return chain(root_); }

  // The node and what is below it down to nodes with names. Chains may be thousands of stages long:
  // no recursion down the first input.
  ExprPtr chain(const PlanNode& top) {
    std::vector<const PlanNode*> stages{&top};
    while (pipes(*stages.back())) {
      const PlanNode* below = stages.back()->inputs[0].get();
      if (names_.contains(below)) break;
      stages.push_back(below);
    }
    ExprPtr out;
    for (size_t i = stages.size(); i-- > 0;) {
      const PlanNode& node = *stages[i];
      if (!pipes(node)) {
        out = stage(node);
      } else {
        if (!out) out = name_expr(names_.at(node.inputs[0].get()));
        out = pipe_expr(std::move(out), stage(node));
      }
    }
    return out;
  }

 private:
  static bool pipes(const PlanNode& node) {
    return !node.op->params.empty() && node.op->params[0].kind == Param::Kind::dataset &&
           !node.inputs.empty();
  }

  ExprPtr dataset(const PlanNode& node) {
    const auto named = names_.find(&node);
    return named == names_.end() ? chain(node) : name_expr(named->second);
  }

  // The call, without the dataset that is piped into it.
  ExprPtr stage(const PlanNode& node) {
    if (const std::string& param = node.op->stands_for; !param.empty())
      return attr_expr(node.arg(param), Param::Kind::any, environment_);
    CallBuilder call{node.op->name};
    size_t next_input = pipes(node) ? 1 : 0;
    for (const Param& p : std::span(node.op->params).subspan(next_input)) {
      switch (p.kind) {
        case Param::Kind::dataset:
          if (next_input < node.inputs.size())
            call.add(spelled(*node.op, p), dataset(*node.inputs[next_input++]));
          else
            call.name_what_follows();
          break;
        case Param::Kind::datasets: next_input = datasets(node, p, &call); break;
        case Param::Kind::function:
          if (const FunctionPtr& f = node.function(p.name))
            call.add(p, lambda_expr(*f, environment_, taken_));
          else
            call.name_what_follows();
          break;
        default: argument(p, node.arg(p.name), &call);
      }
    }
    return call.finish();
  }

  void argument(const Param& p, const Attr& value, CallBuilder* call) {
    const bool seed = p.name == "seed";
    if (seed ? value.is_none() : !p.required && value == p.fallback) {
      call->name_what_follows();
    } else {
      call->add(p, attr_expr(value, p.kind, environment_), seed);
    }
  }

  // zip(a, b), zip({k: a}), sample_from_datasets([a, b]): the tree of indices with the datasets at
  // its leaves. Gives their number.
  size_t datasets(const PlanNode& node, const Param& p, CallBuilder* call) {
    const Attr& structure = node.arg("structure");
    const bool loose = structure.kind() == Attr::Kind::tuple && call->positional() &&
                       (structure.items().size() > 1 ||
                        (structure.items().size() == 1 && structure.items()[0].is_tensor()));
    if (loose) {
      for (const Attr& item : structure.items()) call->add_loose(place(item, node));
    } else {
      call->add(p, place(structure, node));
    }
    call->name_what_follows();
    return indices(structure);
  }

  static size_t indices(const Attr& structure) {
    if (structure.is_tensor()) return 1;
    size_t out = 0;
    for (const Attr& item : structure.items()) out += indices(item);
    return out;
  }

  static Param spelled(const OperatorDef& op, Param p) {
    p.name = spelled_name(op, p);
    return p;
  }

  ExprPtr place(const Attr& structure, const PlanNode& node) {
    if (structure.is_tensor())
      return dataset(*node.inputs[static_cast<size_t>(structure.as_int())]);
    std::vector<ExprPtr> items;
    for (const Attr& item : structure.items()) items.push_back(place(item, node));
    if (structure.kind() == Attr::Kind::list) return list_expr(std::move(items));
    return structure.kind() == Attr::Kind::dict ? dict_expr(structure.keys(), std::move(items))
                                                : tuple_expr(std::move(items));
  }

  const PlanNode& root_;
  std::span<const ExprPtr> environment_;
  Names taken_;
  std::unordered_map<const PlanNode*, std::string> names_;
  std::vector<const PlanNode*> shared_;  // topological order
};

void count_captures(const Attr& attr, std::vector<EnvironmentUse>* use) {
  if (attr.is_capture()) ++(*use)[static_cast<size_t>(attr.capture_index())].in_args;
  for (const Attr& item : attr.items()) count_captures(item, use);
}

}  // namespace

std::vector<EnvironmentUse> environment_use(const PlanNode& root, size_t environment) {
  std::vector<EnvironmentUse> out(environment);
  for (const PlanNode* node : topological(root)) {
    for (const auto& [name, attr] : node->args) count_captures(attr, &out);
    for (const auto& [name, f] : node->functions) {
      for (const int source : needed_sources(*f)) ++out[static_cast<size_t>(source)].in_functions;
    }
  }
  return out;
}

ExprPtr plan_expr(const PlanNode& root, std::span<const ExprPtr> environment, const Names& taken) {
  PlanUnparser unparser(root, environment, taken);
  ExprPtr out = unparser.result();
  for (size_t i = unparser.shared().size(); i-- > 0;) {
    const PlanNode* node = unparser.shared()[i];
    out = let_expr(name_pattern(unparser.name(node)), unparser.chain(*node), std::move(out));
  }
  return out;
}

}  // namespace unparsing

Program unparse(const PlanNode& root) {
  using namespace unparsing;
  PlanUnparser unparser(root, {}, {});
  Program out;
  for (const PlanNode* node : unparser.shared()) {
    Statement statement;
    statement.kind = Statement::Kind::let;
    statement.pattern = name_pattern(unparser.name(node));
    statement.value = unparser.chain(*node);
    out.statements.push_back(std::move(statement));
  }
  out.result = unparser.result();
  return out;
}

}  // namespace penstock
