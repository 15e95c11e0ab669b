// Rows by their index: random access, and what keyed permutations read from.
#pragma once

#include <functional>
#include <span>

#include "runtime/open.h"

namespace penstock {

// Gives what an iteration would give at these places, without the rows before them. Where rows fail
// there is a difference: a place is one of the input's, failed or not.
class Indexed {
 public:
  virtual ~Indexed() = default;
  virtual int64_t rows() const = 0;  // INT64_MAX: without end
  // Row k of the result is row indices[k], each in [0, rows()). What fails is an error row.
  virtual Block at(std::span<const int64_t> indices) = 0;
};
using IndexedPtr = std::unique_ptr<Indexed>;

// The first stage of the plan that can't give rows by index; null when all can.
const PlanNode* not_indexable(const PlanNode& root);

// REQUIRES that all stages can.
IndexedPtr open_indexed(const PlanPtr& node, const OpenContext& context);
IndexedPtr open_indexed_input(const PlanNode& node, const OpenContext& context, size_t i = 0);

// Throws where the plan has no element of this index: OUT_OF_RANGE. Where the number of elements is
// infinite or not known: FAILED_PRECONDITION if the last stage finds rows by index, else
// UNIMPLEMENTED. What a cache holds can be counted: then it is for the caller to find out.
void check_index(const PlanNode& plan, int64_t index);
void check_index(int64_t index, int64_t elements);

// How many elements the plan gives, where that follows from its sources: kUnknown, too, where it is
// what assert_cardinality promises, which no bound may be taken from.
int64_t counted_elements(const PlanNode& plan);

using RowsAt = std::function<Block(std::span<const int64_t>)>;
IndexedPtr make_indexed(int64_t rows, RowsAt at);
// Row i is the input's row place(i).
IndexedPtr reindexed(IndexedPtr input, int64_t rows, std::function<int64_t(int64_t)> place);

// Rows in groups of `size`, the last of which may be smaller and can be dropped: row i of the
// result is what `stack`, an operator over the rows of group i alone, gives first. A group with a
// failing row is that error.
IndexedPtr grouped(IndexedPtr input, int64_t size, bool drop_remainder,
                   std::function<CursorPtr(CursorPtr)> stack);

// A pipeline opened for random access. One user at a time.
class RandomAccess {
 public:
  // REQUIRES that all its stages can. Throws OpenError.
  RandomAccess(PlanPtr plan, const RunOptions& options);
  ~RandomAccess();
  int64_t rows() const { return indexed_->rows(); }
  Block at(std::span<const int64_t> indices);

 private:
  std::unique_ptr<Run> run_;
  IndexedPtr indexed_;
};

// Ids of these records of a source opened in `context`.
Origin source_origin(const OpenContext& context, std::span<const int64_t> records);
// The rows as a stream.
CursorPtr open_rows(Block rows);

}  // namespace penstock
