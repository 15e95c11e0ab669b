// Applies the table of rules to a plan. Inputs come first, each node once, again and again until
// nothing changes. No recursion: chains may be long.

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "optimizer/prepare.h"
#include "optimizer/rule.h"

namespace penstock {
namespace {

class Rewriter {
 public:
  Rewriter(std::span<const Rule> table, const PrepareOptions& options, std::vector<RuleLog>* log)
      : log_(log) {
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
      RuleSite site(rule->conditions);
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

  std::vector<const Rule*> active_;
  bool fuses_ = false, over_noops_ = false;
  std::vector<RuleLog>* log_;
  std::vector<RuleLog> stopped_;
  std::unordered_map<const PlanNode*, PlanPtr> begun_;
  std::unordered_map<const PlanNode*, PlanPtr> done_;
};

}  // namespace

PlanPtr apply_rules(const PlanPtr& root, std::span<const Rule> table, const PrepareOptions& options,
                    std::vector<RuleLog>* log) {
  PlanPtr now = root;
  std::vector<RuleLog> stopped;
  // Rewrites above may make room for some below.
  for (int pass = 0; pass < 10; ++pass) {
    Rewriter rewriter(table, options, log);
    PlanPtr next = rewriter.rewrite(now);
    stopped = rewriter.stopped();
    if (next == now) break;
    now = std::move(next);
  }
  if (log && options.says_why) log->insert(log->end(), stopped.begin(), stopped.end());
  return now;
}

}  // namespace penstock
