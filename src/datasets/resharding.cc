#include "datasets/resharding.h"

#include <algorithm>
#include <set>

#include "datasets/descent.h"
#include "datasets/reshard.h"
#include "plan/noop.h"

namespace penstock {
namespace {

[[noreturn]] void refuse(const PlanNode& node, const std::string& what) {
  throw Error(Code::failed_precondition, what, node.op->name);
}

class RowByRow final : public Resharding {
  Rest below(Descent&, const PlanPtr&, const Rest& rest) const override { return rest; }
  StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t pass) const override {
    return rank.of(*node.inputs[0], pass);
  }
};

class Subset final : public OrderedResharding {
  MarkPtr first(const PlanNode&, const StreamPosition& input) const override { return input.mark; }
};

// The stage below whose rows are counted: a prefetch is not opened here, its input is.
const PlanNode& counted_input(const PlanNode& node) {
  const PlanNode* out = node.inputs[0].get();
  while (emits_row_by_row(*out) && out->op->chain == ChainRole::none) out = out->inputs[0].get();
  return *out;
}

}  // namespace

const Resharding* resharding_row_by_row() {
  static const RowByRow out;
  return &out;
}

bool emits_row_by_row(const PlanNode& node) {
  return changes_nothing(node) || node.op->resharding == resharding_row_by_row();
}

const Resharding* resharding_subset() {
  static const Subset out;
  return &out;
}

// Rows of the input, counted from the position in the stage's mark.
struct OrderedResharding::Used {
  int64_t head = 0;           // read
  std::vector<int64_t> held;  // of them not emitted
};

// After `base` rows that were used before the position of the mark's input.
OrderedResharding::Used OrderedResharding::used_at(const MarkPtr& mark, int64_t base) const {
  Used out{base, {}};
  if (!mark) return out;
  const HeldRows at = held(*stage_mark(mark));
  out.head += at.head;
  for (const int64_t row : at.rows) out.held.push_back(base + row);
  return out;
}

// After one more row was emitted, at `at`; `read` rows of the input were read for it.
OrderedResharding::Used OrderedResharding::used_after(const PlanNode& node,
                                                      const StreamPosition& at,
                                                      int64_t read) const {
  if (passes_marks(node)) return {read, {}};
  if (at.rows > 0 || !at.mark) {
    refuse(node, "the checkpoint stands behind an error that came out before the elements "
                 "around it: take it some elements later");
  }
  const HeldRows listed = held(*stage_mark(at.mark));
  Used out{read, {}};
  for (const int64_t row : listed.rows) out.held.push_back(read - listed.head + row);
  return out;
}

Rest OrderedResharding::below(Descent& descent, const PlanPtr& node, const Rest& rest) const {
  const StreamPosition input = input_of(*node, rest.mark);
  Used used = used_at(passes_marks(*node) ? nullptr : rest.mark, input.rows);
  std::set<int64_t> kept;
  if (rest.head > 0) {
    if (!node->arg("max_tokens").is_none()) {
      refuse(*node, "with max_tokens batches cannot be taken apart again: let no shuffle follow "
                    "it, and take checkpoints between elements of `run`, or at each");
    }
    EmittedAgain rows(descent, node, {rest.mark, 0}, true);
    const NodeCounters& counters = rows.counters(counted_input(*node));
    for (int64_t row = 0; row < rest.head; ++row) {
      Block block;
      if (!rows.next(&block, 1)) break;  // shorter than it was
      const int64_t read = counters.total(&StageCounts::elements);
      Used now = used_after(*node, rows.position(), read);
      if (std::ranges::binary_search(rest.kept, row)) {
        kept.insert(used.held.begin(), used.held.end());
        for (int64_t r = used.head; r < now.head; ++r) kept.insert(r);
        for (const int64_t r : now.held) kept.erase(r);
      }
      used = std::move(now);
    }
  }
  kept.insert(used.held.begin(), used.held.end());
  return {input.mark, used.head, {kept.begin(), kept.end()}};
}

StreamPosition OrderedResharding::anew(const NewRank& rank, const PlanNode& node,
                                       size_t pass) const {
  return {first(node, rank.of(*node.inputs[0], pass)), 0};
}

const PlanNode& resharded_shard(const PlanNode& plan) {
  bool opened = false;
  for (const PlanNode* node = &plan;; node = node->inputs[0].get()) {
    if (node->op->deals_rows) return *node;
    if (node->inputs.empty()) {
      refuse(plan, "the pipeline has no stage `shard` whose elements could be dealt to other "
                   "ranks");
    }
    const Resharding* how = node->op->resharding;
    if (!how && !changes_nothing(*node)) {
      refuse(*node, "what this stage holds or counts cannot be dealt to other ranks: put it before "
                    "`shard`, or go on with as many ranks as there were");
    }
    const bool opens = how && how->opens_datasets();
    if (opened && (opens || !node->op->passes_param.empty())) {
      refuse(*node, "it stands between `shard` and a stage that opens datasets, which cannot be "
                    "dealt to other ranks then: put it before `shard`, or go on with as many "
                    "ranks as there were");
    }
    opened |= opens;
  }
}

}  // namespace penstock
