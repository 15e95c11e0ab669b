// Ranks may stand in different passes: those that any of them has begun are dealt, one by one.

#include "datasets/descent.h"
#include "datasets/repeat.h"
#include "datasets/reshard.h"

namespace penstock {
namespace {

class RepeatResharding final : public Resharding {
  Rest below(Descent& descent, const PlanPtr& node, const Rest& rest) const override {
    if (!rest.kept.empty()) {
      throw Error(Code::failed_precondition,
                  "what a shuffle holds of several passes cannot be dealt to other ranks: let "
                  "`repeat` follow the shuffle",
                  node->op->name);
    }
    const MarkPtr mark = mark_after(descent, node, rest);
    RepeatMark at;
    std::span<const StreamPosition> passes;
    if (mark) {
      at = decoded_mark<RepeatMark>(*stage_mark(mark));
      passes = stage_mark(mark)->inputs();
    }
    descent.begin_passes(at.pass, *node, passes.empty() ? passes : passes.subspan(1));
    const StreamPosition input = input_of(*node, mark);
    return {input.mark, input.rows, {}};
  }

  // Emits the rows after the mark again, to see in which pass they end.
  static MarkPtr mark_after(Descent& descent, const PlanPtr& node, const Rest& rest) {
    if (rest.head == 0) return rest.mark;
    EmittedAgain rows(descent, node, {rest.mark, 0}, true);
    Block block;
    for (int64_t row = 0; row < rest.head && rows.next(&block, 1); ++row) {
    }
    return rows.position().mark;
  }

  StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t) const override {
    std::vector<StreamPosition> inputs;
    for (size_t pass = 0; pass < rank.passes(); ++pass)
      inputs.push_back(rank.of(*node.inputs[0], pass));
    const RepeatMark mark{rank.first_pass(), true};
    return {make_mark(nullptr, node.op->name, mark, inputs), 0};
  }
};

}  // namespace

const Resharding* repeat_resharding() {
  static const RepeatResharding out;
  return &out;
}

}  // namespace penstock
