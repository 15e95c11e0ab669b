// Ops with functions for parameters: while_loop, map_fn, reduce, scan.
//
// A node's inputs are the leaves of its structures in the order of the parameters, then what the
// bodies capture. Bodies take the state, the item, or (state, item).
#pragma once

#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/evaluate.h"
#include "functions/op.h"

namespace penstock {

// The structures among a control op's inputs, in the order of its parameters.
std::vector<Spec> control_structures(const OpDef& op, std::span<const FunctionPtr> bodies);

// What an item along axis 0 of this leaf is: of a tensor a tensor, of a ragged one a tensor or a
// ragged one of one axis less. Throws a message (std::string) for scalars and others.
LeafSpec axis_item_leaf(const LeafSpec& leaf);
Spec item_spec(const Spec& spec);
// What `items` (-1: unknown) of this leaf together are: a tensor where the shape is known, a ragged
// one where its first size alone is not; a tensor again, of items that must agree at run time,
// where sizes behind the first are unknown (images). Throws a message.
LeafSpec collected_leaf(const LeafSpec& item, int64_t items);

// The round of a body inside the round of a loop around it.
RowId in_round(const RowId& row, int64_t round);

// Items of the leaves of x along axis 0.
class Items {
 public:
  // Throws INVALID_ARGUMENT when they differ in number.
  Items(std::string_view op, std::span<const Tensor> leaves);
  int64_t count() const { return count_; }
  // Appends the leaves of item i.
  void append(int64_t i, std::vector<Tensor>* out) const;

 private:
  std::span<const Tensor> leaves_;
  int64_t count_ = 0;
};

// Takes up one leaf of each item, and gives them as one value.
class Collector {
 public:
  explicit Collector(LeafSpec item) : item_(std::move(item)) {}
  // Throws INVALID_ARGUMENT when the value's shape is none that the item may have.
  void add(std::string_view op, Tensor value);
  void finish(OutputSlot* slot);

 private:
  void finish_dense(OutputSlot* slot) const;
  void finish_ragged(OutputSlot* slot) const;
  LeafSpec item_;
  ChargedVector<Tensor> values_;
};

}  // namespace penstock
