#include "datasets/dealing.h"

#include "plan/noop.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const PlanNode& node, const std::string& what) {
  throw Error(Code::failed_precondition, what, node.op->name);
}

}  // namespace

Resharding resharding_of(const PlanNode& node) {
  return changes_nothing(node) ? Resharding::same : node.op->resharding;
}

std::vector<PlanPtr> stages_to_shard(const PlanPtr& plan) {
  std::vector<PlanPtr> out;
  bool opened = false;
  for (PlanPtr node = plan;; node = node->inputs[0]) {
    out.push_back(node);
    const Resharding how = resharding_of(*node);
    if (how == Resharding::shard) return out;
    if (node->inputs.empty()) {
      refuse(*plan, "the pipeline has no stage `shard` whose elements could be dealt to other "
                    "ranks");
    }
    if (how == Resharding::refused) {
      refuse(*node, "what this stage holds or counts cannot be dealt to other ranks: put it before "
                    "`shard`, or go on with as many ranks as there were");
    }
    if (opened && (how == Resharding::opened || node->op->resharding == Resharding::repeated)) {
      refuse(*node, "it stands between `shard` and a stage that opens datasets, which cannot be "
                    "dealt to other ranks then: put it before `shard`, or go on with as many "
                    "ranks as there were");
    }
    opened |= how == Resharding::opened;
  }
}

}  // namespace penstock
