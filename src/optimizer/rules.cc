#include "optimizer/rule.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "functions/op.h"
#include "optimizer/prepare.h"

namespace penstock {

const OpDef& known_op(std::string_view name) {
  const OpDef* found = OpRegistry::instance().find(name);
  PENSTOCK_CHECK(found != nullptr);
  return *found;
}

bool calls_op(const Function& f, std::string_view name) {
  return std::ranges::any_of(f.nodes, [name](const FunctionNode& n) { return n.is(name); });
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table{
      kNoopRemoval,  // first: it brings neighbours together
      kMapFusion,    // one function, so that the next rules see across stages
      kDeadComponents,
      kCastCropOrder,  // before the fusion, which wants the crop right behind the decoder
      kDecodeCropFusion, kNormalizeFusion, kDepthTransposeFusion, kInvariantHoisting, kMapBatch,
  };
  return table;
}

void check_rule_names(const PrepareOptions& options) {
  std::vector<std::string> known;
  for (const Rule& rule : rules()) known.emplace_back(rule.name);
  std::vector<std::string> asked = options.disabled_rules;
  if (!options.only_rule.empty()) asked.push_back(options.only_rule);
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) == known.end()) {
      throw Error(Code::invalid_argument,
                  "there is no rewrite rule " + name + did_you_mean(name, known));
    }
  }
}

namespace {

class Rewriter {
 public:
  Rewriter(const PrepareOptions& options, std::vector<RuleLog>* log) : log_(log) {
    const auto is_active = [this](const Rule& rule) {
      return std::ranges::any_of(active_, [&](const Rule* r) { return r->name == rule.name; });
    };
    for (const Rule& rule : rules()) {
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
    std::vector<PlanPtr> stack{root};
    while (!stack.empty()) {
      const PlanPtr node = stack.back();
      if (done_.contains(node.get())) {
        stack.pop_back();
        continue;
      }
      const PlanPtr begun = begin(node);
      bool ready = true;
      for (const PlanPtr& input : begun->inputs) {
        if (!done_.contains(input.get())) {
          stack.push_back(input);
          ready = false;
        }
      }
      if (!ready) continue;
      stack.pop_back();
      done_[node.get()] = at_node(begun);
    }
    return done_[root.get()];
  }

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

  PlanPtr at_node(const PlanPtr& node) {
    std::vector<PlanPtr> inputs;
    bool same = true;
    for (const PlanPtr& input : node->inputs) {
      inputs.push_back(done_[input.get()]);
      same &= inputs.back() == input;
    }
    PlanPtr now = same ? node : with_inputs(*node, std::move(inputs));
    for (int round = 0; round < 100; ++round) {
      PlanPtr next = step(now);
      if (!next) return now;
      now = std::move(next);
    }
    return now;
  }

  PlanPtr step(const PlanPtr& node) {
    for (const Rule* rule : active_) {
      const auto start = std::chrono::steady_clock::now();
      PlanPtr out = rule->apply(node);
      if (!out) continue;
      // A rewrite that changes what elements are is a bug of ours.
      PENSTOCK_CHECK(out->spec.same_structure(node->spec) && out->cardinality == node->cardinality);
      if (log_)
        log_->push_back(
            {rule->name, node->op->name, (std::chrono::steady_clock::now() - start).count()});
      return out;
    }
    return nullptr;
  }

  std::vector<const Rule*> active_;
  bool fuses_ = false, over_noops_ = false;
  std::vector<RuleLog>* log_;
  std::unordered_map<const PlanNode*, PlanPtr> begun_;
  std::unordered_map<const PlanNode*, PlanPtr> done_;
};

}  // namespace

PlanPtr apply_rules(const PlanPtr& root, const PrepareOptions& options, std::vector<RuleLog>* log) {
  PlanPtr now = root;
  // Rewrites above may make room for some below.
  for (int pass = 0; pass < 10; ++pass) {
    PlanPtr next = Rewriter(options, log).rewrite(now);
    if (next == now) break;
    now = std::move(next);
  }
  return now;
}

PlanPtr prepare_plan(const PlanPtr& plan, const PrepareOptions& options,
                     std::vector<RuleLog>* log) {
  if (plan->op->asks_plan) return plan;
  PlanPtr out = plan;
  if (options.rewrite) out = apply_rules(out, options, log);
  if (options.automatic) out = fill_knobs(out, options.threads);
  return out;
}

}  // namespace penstock
