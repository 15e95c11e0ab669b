// Stateless neighbours (map, filter, map) run back to back on a block while it is hot.
#pragma once

#include <memory>
#include <vector>

#include "runtime/open.h"

namespace penstock {

class Chain {
 public:
  struct Stage {
    std::shared_ptr<const CompiledFunction> function;
    bool filter = false;  // the function is a predicate: keeps the input's rows for which it holds
    NodeCounters* counters = nullptr;
    const RecordPlaces* places = nullptr;  // null: rows are not single records
    std::string name;
    std::vector<DType> dtypes;       // of the output leaves
    std::vector<int64_t> row_bytes;  // of output leaves of static size, -1 for others
    std::vector<Dims> row_dims;
  };
  explicit Chain(std::vector<Stage> stages) : stages_(std::move(stages)) {}

  // Runs the block through all stages, in place. May leave no rows.
  void run(Block* block, const Placement* placement) const;
  // Rows of large results of static shape lie in columns of `rows` rows each; null when there are
  // none.
  std::unique_ptr<Placement> make_placement(int64_t rows) const;
  const std::vector<Stage>& stages() const { return stages_; }
  bool filters() const;

 private:
  std::vector<Stage> stages_;
};

// One bool for each row of `rows`, or its error: a scalar, or a tensor that turns out to hold one
// entry. Errors name `stage`.
Block run_predicate(const CompiledFunction& predicate, const Block& rows, const std::string& stage);
// REQUIRES that row `row` is no error.
inline bool holds(const Block& predicate, int64_t row) {
  return predicate.columns[0].row(row).entry<bool>();
}

// Rows to ask for so that a task takes about `kTaskNs`: grows from 1 while rows turn out cheap.
class BlockSizer {
 public:
  explicit BlockSizer(int64_t most) : most_(most) {}
  int64_t rows() const { return rows_; }
  // What a block of `rows` rows cost.
  void observe(int64_t rows, uint64_t ticks, int64_t bytes);

 private:
  static constexpr double kTaskNs = 150'000;
  static constexpr double kBlockBytes = 256 << 10;
  int64_t most_;
  int64_t rows_ = 1;
};

// A filter has no parallel calls of its own: it runs where the map below it runs, so that the rows
// it drops are never handed to another thread. True for such a filter.
bool goes_along(const PlanNode& node);
// The node whose num_parallel_calls says where `node` runs: itself, or what it goes along with.
const PlanNode& parallel_node(const PlanNode& node);

// The cursor of `node` and of all its neighbours below that can run with it; in this thread, or on
// the CPU pool when the node's num_parallel_calls says so.
CursorPtr open_chain(const PlanPtr& node, OpenContext& context);

}  // namespace penstock
