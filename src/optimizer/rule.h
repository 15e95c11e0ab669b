// Rewrite rules: small, local, switchable; the same elements in the same order before and after.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/node.h"

namespace penstock {

struct Rule {
  std::string_view name;
  std::string_view doc;
  // The node that stands for `node` (whose inputs are rewritten already), or null: no match. Must
  // come to an end when applied again and again.
  PlanPtr (*apply)(const PlanPtr& node);
};

// The op of that name, which there is.
const OpDef& known_op(std::string_view name);

// In the order in which they are tried at each node.
const std::vector<Rule>& rules();

extern const Rule kNoopRemoval;
extern const Rule kMapFusion;
extern const Rule kDeadComponents;
extern const Rule kCastCropOrder;
extern const Rule kDecodeCropFusion;
extern const Rule kNormalizeFusion;
extern const Rule kDepthTransposeFusion;
extern const Rule kInvariantHoisting;
extern const Rule kMapBatch;

// One application of a rule.
struct RuleLog {
  std::string_view rule;
  std::string stage;  // name of the operator it was applied at
  int64_t ns = 0;     // what it took
};

struct PrepareOptions;
// Applies the rules bottom-up until nothing changes; checks the plan after each: spec and
// cardinality must stay.
PlanPtr apply_rules(const PlanPtr& root, const PrepareOptions& options, std::vector<RuleLog>* log);

}  // namespace penstock
