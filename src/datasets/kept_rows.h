// Rows that are kept as a nested dataset: the windows of window and group_by_window.
#pragma once

#include <memory>
#include <vector>

#include "data/block.h"
#include "runtime/open.h"

namespace penstock {

// Rows begin, begin + step, ... of a block; none of them is an error.
struct RowRun {
  std::shared_ptr<const Block> block;
  int64_t begin = 0, count = 0, step = 1;

  Block rows(int64_t from, int64_t n) const;  // of this run
};

// What the template `rows_of` is opened with: runs one after the other, of one column (a component)
// or of all.
class KeptRows final : public Object {
 public:
  static constexpr int kAllColumns = -1;
  KeptRows(std::vector<RowRun> runs, int column) : runs_(std::move(runs)), column_(column) {}
  const std::vector<RowRun>& runs() const { return runs_; }
  int column() const { return column_; }

 private:
  std::vector<RowRun> runs_;
  int column_;
};

// Makes nested datasets of kept rows for one stage. The template is made once for all iterators.
class KeptRowsFactory {
 public:
  // Component `column` of the elements of `node`'s input, or whole elements.
  KeptRowsFactory(const OpenContext& context, const PlanPtr& node, int column);
  ObjectPtr make(std::vector<RowRun> runs) const;

 private:
  PlanPtr plan_;
  int column_;
};

// The kept rows behind a nested dataset; null when it is another one.
const KeptRows* kept_rows(const DatasetValue& dataset);

}  // namespace penstock
