// Applies the table of rules to a plan. Inputs come first, each node once, again and again until
// nothing changes. No recursion: chains may be long.

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "optimizer/prepare.h"
#include "optimizer/rule.h"

namespace penstock {
namespace {

// Whether its elements stay if an error of its input does not occur: an error leaves before a batch
// is filled, but has a place in a shuffle, and is counted by skip.
bool lets_errors_go(const PlanNode& node) {
  const OperatorDef& op = *node.op;
  return op.chain != ChainRole::none || op.reads_ahead || !op.passes_param.empty() ||
         (op.plain_batch && op.plain_batch(node));
}

// By node: no stage above, up to the root, holds or counts errors.
std::unordered_map<const PlanNode*, bool> where_errors_may_go(const PlanNode& root, bool at_root) {
  std::unordered_map<const PlanNode*, bool> out{{&root, at_root}};
  const std::vector<const PlanNode*> nodes = topological(root);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool may = out.try_emplace(*node, true).first->second;
    for (const PlanPtr& input : (*node)->inputs)
      out.try_emplace(input.get(), true).first->second &= may && lets_errors_go(**node);
  }
  return out;
}

// A plan, rewritten until nothing changes, and what happened.
struct Rewritten {
  PlanPtr plan;
  std::vector<RuleLog> applied, stopped;
};
Rewritten rewritten(const PlanPtr& root, std::span<const Rule> table, const PrepareOptions& options,
                    RuleSite::Surroundings around);

class Rewriter {
 public:
  Rewriter(std::span<const Rule> table, const PrepareOptions& options,
           RuleSite::Surroundings around, std::vector<RuleLog>* log)
      : table_(table), options_(options), around_(around), log_(log) {
    const auto is_active = [this](const Rule& rule) {
      return std::ranges::any_of(active_, [&](const Rule* r) { return r->name == rule.name; });
    };
    for (const Rule& rule : table) {
      const bool off =
          std::ranges::find(options.disabled_rules, rule.name) != options.disabled_rules.end() ||
          (!options.only_rule.empty() && options.only_rule != rule.name);
      if (!off) active_.push_back(&rule);
    }
    fuses_ = is_active(kMapFusion);
    over_noops_ = is_active(kNoopRemoval);
  }

  // Inputs first. A node used twice is rewritten once. No recursion: chains may be long.
  PlanPtr rewrite(const PlanPtr& root) {
    errors_may_go_ = where_errors_may_go(*root, around_.errors_may_go);
    std::vector<PlanPtr> stack{root};
    while (!stack.empty()) {
      const PlanPtr node = stack.back();
      if (done_.contains(node.get())) {
        stack.pop_back();
        continue;
      }
      const PlanPtr begun = begin(node);
      const bool errors_may_go = errors_may_go_.at(node.get());
      bool ready = true;
      for (const PlanPtr& input : begun->inputs) {
        errors_may_go_.try_emplace(input.get(), errors_may_go && lets_errors_go(*begun));
        if (!done_.contains(input.get())) {
          stack.push_back(input);
          ready = false;
        }
      }
      if (!ready) continue;
      stack.pop_back();
      done_[node.get()] = at_node(begun, errors_may_go);
    }
    return done_[root.get()];
  }

  // Places of this pass at which a condition stopped a rule.
  const std::vector<RuleLog>& stopped() const { return stopped_; }

 private:
  // Long runs of maps are joined from above, at once: two by two the function would be made anew
  // for each.
  PlanPtr begin(const PlanPtr& node) {
    if (!fuses_ || !may_fuse(*node)) return node;
    PlanPtr& slot = begun_[node.get()];
    if (slot) return slot;
    std::vector<PlanPtr> made;
    slot = fuse_run(node, over_noops_, &made, log_);
    const PlanPtr out = slot;  // the slot may move
    for (PlanPtr& map : made) begun_.try_emplace(map.get(), map);
    return out;
  }

  PlanPtr at_node(const PlanPtr& node, bool errors_may_go) {
    std::vector<PlanPtr> inputs;
    bool same = true;
    for (const PlanPtr& input : node->inputs) {
      inputs.push_back(done_[input.get()]);
      same &= inputs.back() == input;
    }
    PlanPtr now = same ? node : with_inputs(*node, std::move(inputs));
    now = with_nested(now, errors_may_go);
    for (int round = 0; round < 100; ++round) {
      PlanPtr next = step(now, errors_may_go);
      if (!next) return now;
      now = std::move(next);
    }
    return now;
  }

  // The node with the pipelines rewritten that its functions make.
  PlanPtr with_nested(const PlanPtr& node, bool errors_may_go) {
    auto functions = node->functions;
    bool changed = false;
    for (auto& [name, f] : functions) {
      const auto is_changed = [&](const FunctionNode& n) {
        return n.dataset && nested(*node, n.dataset, errors_may_go) != n.dataset;
      };
      if (std::ranges::none_of(f->nodes, is_changed)) continue;
      changed = true;
      f = rebuild(*f, [&](const FunctionNode& n, const std::vector<ValueId>& inputs,
                          FunctionBuilder* builder, std::vector<ValueId>* outputs) {
        if (!is_changed(n)) return false;
        *outputs = {builder->add_dataset(nested_[n.dataset.get()], inputs, f->type(n.outputs[0]))};
        return true;
      });
    }
    if (!changed) return node;
    return make_node(*node->op, node->inputs, node->args, std::move(functions), node->span);
  }

  // The plan of which a function of `node` makes datasets, rewritten; itself if a rule would change
  // what is known of it.
  PlanPtr nested(const PlanNode& node, const PlanPtr& plan, bool errors_may_go) {
    if (const auto known = nested_.find(plan.get()); known != nested_.end()) return known->second;
    // flat_map and interleave: its elements are theirs.
    const bool hands_on = node.op->rows == Rows::multiply;
    Rewritten inner = rewritten(plan, table_, options_, {errors_may_go && hands_on, true});
    const bool same =
        inner.plan->spec == plan->spec && inner.plan->cardinality == plan->cardinality;
    const PlanPtr out = same ? inner.plan : plan;
    nested_[plan.get()] = nested_[out.get()] = out;
    if (log_ && same) log_->insert(log_->end(), inner.applied.begin(), inner.applied.end());
    stopped_.insert(stopped_.end(), inner.stopped.begin(), inner.stopped.end());
    return out;
  }

  PlanPtr step(const PlanPtr& node, bool errors_may_go) {
    for (const Rule* rule : active_) {
      const auto start = std::chrono::steady_clock::now();
      RuleSite site(rule->conditions, {errors_may_go, around_.nested});
      PlanPtr out = rule->apply(node, site);
      const RuleCondition* stopped_by = out ? nullptr : site.stopped_by();
      // The plan as it was is right, whatever a rule makes of it.
      if (out && !(out->spec.same_structure(node->spec) && out->cardinality == node->cardinality)) {
        out = nullptr;
        stopped_by = &kKeepsElements;
      }
      const int64_t ns = (std::chrono::steady_clock::now() - start).count();
      if (stopped_by) stopped_.push_back({rule->name, node->op->name, node->span, ns, stopped_by});
      if (!out) continue;
      if (log_) log_->push_back({rule->name, node->op->name, node->span, ns, nullptr});
      return out;
    }
    return nullptr;
  }

  const std::span<const Rule> table_;
  const PrepareOptions& options_;
  const RuleSite::Surroundings around_;  // of the root
  std::vector<const Rule*> active_;
  bool fuses_ = false, over_noops_ = false;
  std::vector<RuleLog>* log_;
  std::vector<RuleLog> stopped_;
  std::unordered_map<const PlanNode*, bool> errors_may_go_;
  std::unordered_map<const PlanNode*, PlanPtr> begun_;
  std::unordered_map<const PlanNode*, PlanPtr> done_;
  std::unordered_map<const PlanNode*, PlanPtr> nested_;  // by the plan, and by what it became
};

Rewritten rewritten(const PlanPtr& root, std::span<const Rule> table, const PrepareOptions& options,
                    RuleSite::Surroundings around) {
  Rewritten out{root, {}, {}};
  // Rewrites above may make room for some below.
  for (int pass = 0; pass < 10; ++pass) {
    Rewriter rewriter(table, options, around, &out.applied);
    PlanPtr next = rewriter.rewrite(out.plan);
    out.stopped = rewriter.stopped();
    if (next == out.plan) break;
    out.plan = std::move(next);
  }
  return out;
}

}  // namespace

PlanPtr apply_rules(const PlanPtr& root, std::span<const Rule> table, const PrepareOptions& options,
                    std::vector<RuleLog>* log) {
  Rewritten out = rewritten(root, table, options, {.errors_may_go = true});
  if (log) {
    log->insert(log->end(), out.applied.begin(), out.applied.end());
    if (options.says_why) log->insert(log->end(), out.stopped.begin(), out.stopped.end());
  }
  return out.plan;
}

}  // namespace penstock
