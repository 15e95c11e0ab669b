// Joins runs of rows of several blocks of one spec: what a merge of streams gives.
#pragma once

#include <memory>
#include <vector>

#include "data/block.h"

namespace penstock {

// Runs are only noted; rows are copied at the end, a column at a time, or not at all where one run
// is all.
class RunJoiner {
 public:
  using Source = std::shared_ptr<const Block>;
  // Rows [begin, begin + rows) of the block come next. `again`: some of it came since the last
  // finish().
  void add(const Source& source, int64_t begin, int64_t rows, bool again = false);
  int64_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  Block finish(size_t columns);

 private:
  struct Run {
    const Block* block;
    int64_t begin, rows;
  };
  Column join(size_t column) const;

  std::vector<Run> runs_;
  std::vector<Source> sources_;  // kept alive; in the order they were met, each once
  int64_t rows_ = 0;
};

}  // namespace penstock
