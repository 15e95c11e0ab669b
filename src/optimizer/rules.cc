#include "optimizer/rule.h"

#include <algorithm>

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

const RuleCondition kKeepsElements{"keeps_elements",
                                   "the result has elements of the same spec, and as many", ""};

std::nullptr_t RuleSite::stop(std::string_view condition) {
  const auto at = std::ranges::find(conditions_, condition, &RuleCondition::name);
  PENSTOCK_CHECK(at != conditions_.end());
  stopped_by_ = &*at;
  return nullptr;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table{
      kNoopRemoval,    // first: it brings neighbours together
      kPositionFirst,  // before maps grow together
      kMapFusion,      // one function, so that the next rules see across stages
      kFilterFirst,
      kBranchFree,  // after the maps have joined: one function runs by column or by row
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

PlanPtr apply_rules(const PlanPtr& root, const PrepareOptions& options, std::vector<RuleLog>* log) {
  return apply_rules(root, rules(), options, log);
}

PlanPtr prepare_plan(const PlanPtr& plan, const PrepareOptions& options, std::vector<RuleLog>* log,
                     FilledNodes* filled) {
  if (plan->op->asks_plan) return plan;
  PlanPtr out = plan;
  if (options.rewrite) out = apply_rules(out, options, log);
  if (options.automatic) out = fill_knobs(out, options.threads, filled);
  return out;
}

}  // namespace penstock
