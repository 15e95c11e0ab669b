// Rows that are kept as a nested dataset: the windows of window and group_by_window.
#pragma once

#include <memory>
#include <span>
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

// Runs of many windows, one after the other: windows that are made together share them.
using RunList = std::shared_ptr<const std::vector<RowRun>>;

// What the template `rows_of` is opened with: some runs of a list, of one column (a component) or
// of all.
struct KeptRows {
  static constexpr int kAllColumns = -1;
  std::span<const RowRun> runs;
  int column = kAllColumns;
};

// Windows that were made together, as nested datasets that are made when they are asked for.
class WindowRows final : public ObjectRows {
 public:
  // Window i has the runs [begins[i], begins[i + 1]) of the list.
  WindowRows(PlanPtr plan, RunList list, std::shared_ptr<const std::vector<size_t>> begins,
             int column)
      : plan_(std::move(plan)),
        list_(std::move(list)),
        begins_(std::move(begins)),
        column_(column) {}
  int64_t rows() const override { return static_cast<int64_t>(begins_->size()) - 1; }
  ObjectPtr row(int64_t i) const override;
  KeptRows kept(int64_t i) const;

 private:
  PlanPtr plan_;
  RunList list_;
  std::shared_ptr<const std::vector<size_t>> begins_;
  int column_;
};

// The template of windows of component `column` of the elements of `node`'s input, or of whole
// elements. Made once for all iterators.
PlanPtr rows_template(const OpenContext& context, const PlanPtr& node, int column);

// How many rows the dataset keeps; -1 when it is no window.
int64_t kept_count(const Object* dataset);

// The rows kept behind a row of a column of nested datasets; false when it is another dataset.
bool kept_rows(const Column& column, int64_t row, KeptRows* out);

}  // namespace penstock
