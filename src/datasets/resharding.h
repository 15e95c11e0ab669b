// How the stages after `shard` move to another number of ranks.
//
// A checkpoint says how many rows of the last stage a rank has delivered. A Descent carries that
// down, stage by stage: rows of a stage that are used up become rows of its input that are used up,
// until it is said of the rows of the shard. These are dealt to the new ranks (reshard.h), and a
// NewRank carries them up again: each stage stands at its beginning, above an input that has
// delivered its share. A stage's Resharding, which its OperatorDef points to, holds what it must
// know for the two ways.
#pragma once

#include <span>
#include <vector>

#include "datasets/refill.h"
#include "plan/node.h"
#include "runtime/checkpoint.h"

namespace penstock {

class Descent;  // datasets/descent.h
class NewRank;  // datasets/reshard.h

// Rest of a stage: of its rows after the mark the first `head` are used up, except `kept`.
struct Rest {
  MarkPtr mark;
  int64_t head = 0;
  std::vector<int64_t> kept;  // ascending
};

class Resharding {
 public:
  virtual ~Resharding() = default;
  // Returns what is left of the input of a stage of which `rest` is left. May run the stage from
  // its mark. Throws FAILED_PRECONDITION, naming the stage, for a position between elements that
  // belong together.
  virtual Rest below(Descent& descent, const PlanPtr& node, const Rest& rest) const = 0;
  // Returns the position of the stage on a new rank, in the pass that is `pass` after the first.
  // Not called for a stage that passes marks on.
  virtual StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t pass) const = 0;
  // Emits rows of datasets that its function makes: a row of the input may be used up in part.
  virtual bool opens_datasets() const { return false; }
};

// Emits a row for each row of its input and holds nothing.
const Resharding* resharding_row_by_row();
bool emits_row_by_row(const PlanNode& node);
// Holds nothing, and has no mark of its own: what it has emitted came from the rows before a
// position.
const Resharding* resharding_subset();

// Stages whose rows come in the order of the input: to see how many rows of the input the emitted
// ones took, rows are emitted again and those of the input counted.
class OrderedResharding : public Resharding {
 public:
  Rest below(Descent& descent, const PlanPtr& node, const Rest& rest) const final;
  StreamPosition anew(const NewRank& rank, const PlanNode& node, size_t pass) const final;

 protected:
  // Rows that the stage held at the mark: of those after the position of its input.
  virtual HeldRows held(const StageMark&) const { return {}; }
  // Returns the mark before anything was emitted.
  virtual MarkPtr first(const PlanNode& node, const StreamPosition& input) const = 0;

 private:
  struct Used;
  Used used_at(const MarkPtr& mark, int64_t base) const;
  Used used_after(const PlanNode& node, const StreamPosition& at, int64_t read) const;
};

template <typename M>
class InOrder final : public OrderedResharding {
  HeldRows held(const StageMark& mark) const override {
    if constexpr (std::is_same_v<M, HeldRows>) return decoded_mark<HeldRows>(mark);
    return {};
  }
  MarkPtr first(const PlanNode& node, const StreamPosition& input) const override {
    return make_mark(nullptr, node.op->name, M(), std::span(&input, 1));
  }
};

// For a stage with marks M. HeldRows list the rows that it holds; with other marks it holds none
// at its mark.
template <typename M>
const Resharding* resharding_in_order() {
  static const InOrder<M> out;
  return &out;
}

// Returns the `shard` closest to the end of the plan. Throws FAILED_PRECONDITION, naming the stage,
// if there is none, or if a stage after it cannot move to another number of ranks.
const PlanNode& resharded_shard(const PlanNode& plan);

}  // namespace penstock
