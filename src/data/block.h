// The unit of flow: up to a few thousand elements, stored by column.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/recycled.h"
#include "data/column.h"
#include "data/mark.h"

namespace penstock {

// Identity of each row. A lineage id names the source record of a row, mixed with the child's index
// at operators that multiply rows. An epoch distinguishes passes of `repeat` and iterators. Random
// ops draw by both, so their results depend on neither threads nor block sizes. Both are affine
// within a block until rows are picked.
using RowIndices = RecycledVector<int32_t>;
using RowIds = RecycledVector<uint64_t>;

class Origin {
 public:
  Origin() = default;
  Origin(uint64_t lineage, uint64_t stride, uint64_t epoch)
      : lineage_(lineage), stride_(stride), epoch_(epoch) {}
  // Makes an origin with one id (and epoch) per row.
  static Origin of(RowIds lineages, RowIds epochs);

  uint64_t lineage(int64_t row) const {
    if (ids_) return ids_->lineages[static_cast<size_t>(first_ + row)];
    const int64_t i = picks_ ? (*picks_)[static_cast<size_t>(first_ + row)] : row;
    return lineage_ + stride_ * static_cast<uint64_t>(i);
  }
  uint64_t epoch(int64_t row) const {
    return ids_ && !ids_->epochs.empty() ? ids_->epochs[static_cast<size_t>(first_ + row)] : epoch_;
  }
  Origin slice(int64_t begin) const;
  Origin gather(std::span<const int32_t> indices) const;
  // Returns the same rows as gather, but shares the indices.
  Origin pick(std::shared_ptr<const RowIndices> indices) const;
  Origin with_epoch(uint64_t epoch) const;
  // Returns the identities of every n-th row.
  Origin grouped(int64_t n, int64_t groups) const;

 private:
  struct Ids {
    RowIds lineages;
    RowIds epochs;  // empty: one epoch for all rows
  };
  uint64_t lineage_ = 0;
  uint64_t stride_ = 0;
  uint64_t epoch_ = 0;
  int64_t first_ = 0;
  std::shared_ptr<const RowIndices> picks_;  // into an affine sequence; ids_ is null then
  std::shared_ptr<const Ids> ids_;
};

struct RowError {
  int64_t row;
  ErrorPtr error;
};

// Rows of one element spec. A row in `errors` keeps its position but has no value: its columns hold
// defined memory of the right shape there, which must never be shown.
struct Block {
  int64_t rows = 0;
  uint64_t seq = 0;                // position among the blocks of its stream
  RecycledVector<Column> columns;  // one for each leaf of the spec
  Origin origin;
  std::vector<RowError> errors;  // rows ascending, each once
  MarkPtr mark;  // position of the stream after the last row; null: unknown or not requested

  void clear();
  // The mark stays with the last row.
  Block slice(int64_t begin, int64_t count) const;
  // The result has no mark.
  Block gather(std::span<const int32_t> indices) const;
  Block pick(std::shared_ptr<const RowIndices> indices) const;
  // Keeps the first `count` rows.
  void truncate(int64_t count);
  void drop_front(int64_t count);
  const ErrorPtr* error_at(int64_t row) const;  // null: no error
  int64_t payload_bytes() const;

 private:
  Block gather_values(
      std::span<const int32_t> indices) const;  // gathers everything except the origin
};

// Returns a block of one error row.
Block error_block(ErrorPtr error, size_t columns, const Origin& origin);

// Joins rows of blocks of one spec; keeps errors and origins with their rows.
class BlockBuilder {
 public:
  explicit BlockBuilder(size_t columns) : columns_(columns) {}
  void append(const Block& block);
  void append_row(const Block& block, int64_t row);
  int64_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  Block finish();

 private:
  std::vector<ColumnBuilder> columns_;
  std::vector<RowError> errors_;
  RowIds lineages_, epochs_;
  Origin single_;  // origin of the only piece so far
  bool has_single_ = false;
  void materialise();
  int64_t rows_ = 0;
};

}  // namespace penstock
