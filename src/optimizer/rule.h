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
// Whether the function calls that op, bodies aside: rules look before they make a function anew.
bool calls_op(const Function& f, std::string_view name);

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

// Returns true if a run of stages that map_fusion joins may end in the node.
bool may_fuse(const PlanNode& node);
// The map at the top of a run of maps, which map_fusion would join two by two, as few maps made at
// once; `node` where nothing is joined. Stages between that change nothing go if `over_noops`.
// `made`: the maps that it stands on and itself, that need no joining any more.
PlanPtr fuse_run(const PlanPtr& node, bool over_noops, std::vector<PlanPtr>* made,
                 std::vector<RuleLog>* log);

struct PrepareOptions;
// Applies the rules bottom-up until nothing changes; checks the plan after each: spec and
// cardinality must stay.
PlanPtr apply_rules(const PlanPtr& root, const PrepareOptions& options, std::vector<RuleLog>* log);

}  // namespace penstock
