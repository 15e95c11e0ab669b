// The slots of a shuffle: one component of each element that waits to be drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/block.h"
#include "data/charged.h"
#include "data/spec.h"
#include "datasets/held_memory.h"

namespace penstock {

// Small rows lie side by side, written in place, for as long as all have the shape of the first;
// all others are tensors of their own that hold no larger buffer alive. Works on runs of rows, a
// column at a time.
//
// Objects (ragged and sparse tensors, optional values, nested datasets) count a fixed number of
// bytes each against the memory budget, besides those of the tensors in them.
//
// What a row without a value (an error) has in its slot is never looked at. A row that cannot be
// kept becomes an error of the input block.
class SlotColumn {
 public:
  explicit SlotColumn(const LeafSpec& leaf);

  // Room for so many slots. Throws RESOURCE_EXHAUSTED.
  void reserve(size_t slots);
  // Rows [row, row + n) of the block's column go to slots [slot, slot + n).
  void fill(size_t slot, Block* in, size_t column, int64_t row, size_t n);
  // To be called before exchange or drain gives so many outputs. Throws RESOURCE_EXHAUSTED.
  void prepare(size_t outputs);
  // Output i is the value of slots[i]; the first `refills` slots then take rows `row`, row + 1, ...
  void exchange(std::span<const size_t> slots, size_t refills, Block* in, size_t column,
                int64_t row);
  // Output i is the value of slots[i]; the last of `count` slots, one fewer each time, takes its
  // place.
  void drain(std::span<const size_t> slots, size_t count);
  void move(size_t from, size_t to);
  // The outputs so far.
  Column finish();

 private:
  // undecided: no row has come yet whose shape would say
  enum class Layout : uint8_t { undecided, flat, loose };

  // Chooses the layout for rows [row, row + n) of the column, which are to be put next.
  void admit(const Block& in, size_t column, int64_t row, size_t n);
  void decide(const Dims& dims);
  void loosen();
  bool flat() const { return layout_ == Layout::flat; }
  void keep(size_t slot, const Tensor& row);
  Tensor take(size_t slot);
  void put(size_t slot, Block* in, size_t column, int64_t row);
  template <typename F>
  void with_width(F&& f);

  const DType dtype_;
  const bool fixed_;  // the spec says the shape of each row
  Layout layout_;
  Dims dims_;         // flat
  size_t bytes_ = 0;  // flat: of a row
  BufferRef buffer_;
  size_t room_ = 0;
  Column out_;
  ChargedVector<Tensor> tensors_;
  std::vector<Tensor> out_tensors_;
  HeldMemory held_;  // by objects among tensors_
};

}  // namespace penstock
