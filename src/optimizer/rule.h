// Rewrite rules: small, local, switchable; the same elements in the same order before and after.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/node.h"

namespace penstock {

// A condition for a rule to apply at a place that it is made for.
struct RuleCondition {
  std::string_view name;     // "same_calls"
  std::string_view doc;      // one line: "both maps have the same num_parallel_calls"
  std::string_view example;  // a pipeline in which nothing but this stops the rule
};

// A place at which a rule is tried; takes the rule's reason for leaving it as it is.
class RuleSite {
 public:
  // Facts about the place that its plan does not tell.
  struct Surroundings {
    bool errors_may_go = false;
    bool nested = false;
  };
  RuleSite(std::span<const RuleCondition> conditions, Surroundings around)
      : conditions_(conditions), around_(around) {}
  // Says that the condition of that name does not hold: `return site.stop("same_calls");`.
  std::nullptr_t stop(std::string_view condition);
  // Null if no condition was named.
  const RuleCondition* stopped_by() const { return stopped_by_; }
  // Returns true if an error that does not occur changes nothing but itself: no stage above counts
  // its place, or holds it in one.
  bool errors_may_go() const { return around_.errors_may_go; }
  // Returns true in a pipeline that a function makes: each dataset may know more than its plan,
  // such as how many elements it has.
  bool is_nested() const { return around_.nested; }

 private:
  std::span<const RuleCondition> conditions_;
  const Surroundings around_;
  const RuleCondition* stopped_by_ = nullptr;
};

struct Rule {
  std::string_view name;
  std::string_view doc;      // one line
  std::string_view example;  // a pipeline in which it applies
  // The node that stands for `node` (whose inputs are rewritten already), or null: the rule does
  // not apply. Must come to an end when applied again and again.
  PlanPtr (*apply)(const PlanPtr& node, RuleSite& site);
  std::span<const RuleCondition> conditions;
};

// A result that breaks this, which holds for every rule, is a mistake in the rule, and is not used.
extern const RuleCondition kKeepsElements;

// The op of that name, which there is.
const OpDef& known_op(std::string_view name);
// Whether the function calls that op, bodies aside: rules look before they make a function anew.
bool calls_op(const Function& f, std::string_view name);

// In the order in which they are tried at each node.
const std::vector<Rule>& rules();

extern const Rule kNoopRemoval;
extern const Rule kPositionFirst;
extern const Rule kMapFusion;
extern const Rule kFilterFirst;
extern const Rule kBranchFree;
extern const Rule kDeadComponents;
extern const Rule kCastCropOrder;
extern const Rule kDecodeCropFusion;
extern const Rule kNormalizeFusion;
extern const Rule kDepthTransposeFusion;
extern const Rule kInvariantHoisting;
extern const Rule kMapBatch;

// One application of a rule or, where `stopped_by` is set, a place at which it nearly applied.
struct RuleLog {
  std::string_view rule;
  std::string stage;  // name of the operator
  Span span;          // where that was written; its source must live
  int64_t ns = 0;     // time that the application took
  const RuleCondition* stopped_by = nullptr;
};

// Returns true if a run of stages that map_fusion joins may end in the node.
bool may_fuse(const PlanNode& node);
// The map at the top of a run of maps, which map_fusion would join two by two, as few maps made at
// once; `node` where nothing is joined. Stages between that change nothing go if `over_noops`.
// `made`: the maps that it stands on and itself, that need no joining any more.
PlanPtr fuse_run(const PlanPtr& node, bool over_noops, std::vector<PlanPtr>* made,
                 std::vector<RuleLog>* log);

struct PrepareOptions;
// Applies those of `table` that the options leave on, bottom-up, until nothing changes. Logs what
// was applied and, if options.says_why, after that what stopped the rest in the plan returned.
PlanPtr apply_rules(const PlanPtr& root, std::span<const Rule> table, const PrepareOptions& options,
                    std::vector<RuleLog>* log);
// The same with rules().
PlanPtr apply_rules(const PlanPtr& root, const PrepareOptions& options, std::vector<RuleLog>* log);

}  // namespace penstock
