// From the plan as written to the plan that is run: rewrites, and values for knobs left to us.
#pragma once

#include <string>
#include <vector>

#include "optimizer/rule.h"
#include "plan/node.h"

namespace penstock {

struct PrepareOptions {
  bool rewrite = true;    // static rules
  bool automatic = true;  // knobs that are auto get values for `threads`
  int threads = 1;
  std::vector<std::string> disabled_rules;
  std::string only_rule;  // not empty: this one alone
  bool says_why = false;  // log what stopped rules, too
};

// Throws Error{INVALID_ARGUMENT} when a rule of that name does not exist.
void check_rule_names(const PrepareOptions& options);

// Stages of a prepared plan whose parallel calls were left to us: a tuner may move them.
using FilledNodes = std::vector<const PlanNode*>;

// `filled` may be null; its nodes live as long as the plan.
PlanPtr prepare_plan(const PlanPtr& plan, const PrepareOptions& options, std::vector<RuleLog>* log,
                     FilledNodes* filled = nullptr);

// Every knob that is auto gets its value: parallel calls where the functions of a stage are worth a
// hand-over, a prefetch at the end where anything is.
PlanPtr fill_knobs(const PlanPtr& plan, int threads, FilledNodes* filled = nullptr);

}  // namespace penstock
