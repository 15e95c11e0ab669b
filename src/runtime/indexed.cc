#include "runtime/indexed.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "io/throttle.h"
#include "runtime/current_run.h"
#include "runtime/stack.h"

namespace penstock {
namespace {

class IndexedRows final : public Indexed {
 public:
  IndexedRows(int64_t rows, RowsAt at) : rows_(rows), at_(std::move(at)) {}
  int64_t rows() const override { return rows_; }
  Block at(std::span<const int64_t> indices) override { return at_(indices); }

 private:
  const int64_t rows_;
  const RowsAt at_;
};

class RowsCursor final : public Cursor {
 public:
  explicit RowsCursor(Block rows) : rows_(std::move(rows)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (rows_.rows == 0) return Poll::end;
    const int64_t n = std::min(pull.max_rows, rows_.rows);
    *out = rows_.slice(0, n);
    rows_ = rows_.slice(n, rows_.rows - n);
    return Poll::ready;
  }

 private:
  Block rows_;
};

}  // namespace

const PlanNode* not_indexable(const PlanNode& root) {
  for (const PlanNode* node : topological(root)) {
    if (!node->op->open_indexed || node->cardinality == kUnknown) return node;
  }
  return nullptr;
}

void check_index(const PlanNode& plan, int64_t index) {
  // What the last stage has no indices for is told first, as the peer does.
  const PlanNode* last = &plan;
  while (last->op->is_transparent()) last = last->inputs[0].get();
  const bool by_index = last->op->open_indexed || last->op->peer_has_index;
  const Code code = by_index ? Code::failed_precondition : Code::unimplemented;
  if (plan.cardinality == kInfinite)
    throw Error(code, "the pipeline is infinite; put take(n) before", "at");
  if (plan.cardinality == kUnknown && plan.op->caches) {
    if (index >= 0) return;
    throw Error(Code::out_of_range, "index is out of range: " + std::to_string(index), "at");
  }
  if (plan.cardinality == kUnknown) {
    throw Error(code, "the number of elements is not known; say it with assert_cardinality(n)",
                "at");
  }
  check_index(index, plan.cardinality);
}

int64_t counted_elements(const PlanNode& plan) {
  if (plan.cardinality == kUnknown) return kUnknown;
  const std::vector<const PlanNode*> nodes = topological(plan);
  const bool promised = std::ranges::any_of(
      nodes, [](const PlanNode* node) { return node->op->promises_cardinality; });
  return promised ? kUnknown : plan.cardinality;
}

void check_index(int64_t index, int64_t elements) {
  if (index >= 0 && index < elements) return;
  throw Error(Code::out_of_range,
              "index is out of range for " + std::to_string(elements) +
                  " elements: " + std::to_string(index),
              "at");
}

IndexedPtr open_indexed(const PlanPtr& node, const OpenContext& context) {
  try {
    check_depth(context.depth);
    return node->op->open_indexed(node, context);
  } catch (const Error& e) {
    throw e.at(node->op->name);
  }
}

IndexedPtr open_indexed_input(const PlanNode& node, const OpenContext& context, size_t i) {
  return open_indexed(node.inputs[i], context.deeper());
}

IndexedPtr make_indexed(int64_t rows, RowsAt at) {
  return std::make_unique<IndexedRows>(rows, std::move(at));
}

IndexedPtr reindexed(IndexedPtr input, int64_t rows, std::function<int64_t(int64_t)> place) {
  return make_indexed(rows, [input = std::shared_ptr<Indexed>(std::move(input)),
                             place = std::move(place)](std::span<const int64_t> indices) {
    std::vector<int64_t> places(indices.size());
    std::ranges::transform(indices, places.begin(), place);
    return input->at(places);
  });
}

IndexedPtr grouped(IndexedPtr input, int64_t size, bool drop_remainder,
                   std::function<CursorPtr(CursorPtr)> stack) {
  const int64_t all = input->rows();
  const int64_t last = drop_remainder || all % size == 0 ? 0 : 1;
  const int64_t groups = all == INT64_MAX ? all : all / size + last;
  const auto one = [input = std::shared_ptr<Indexed>(std::move(input)), size,
                    stack](int64_t group) {
    std::vector<int64_t> places(static_cast<size_t>(std::min(size, input->rows() - group * size)));
    std::iota(places.begin(), places.end(), group * size);
    const Block rows = input->at(places);
    const CursorPtr cursor = stack(open_rows(rows));
    if (!rows.errors.empty())
      return error_block(rows.errors[0].error, cursor->identity().columns, rows.origin);
    Block out;
    PENSTOCK_CHECK(cursor->pull(&out, {1, nullptr}) == Poll::ready);
    return out;
  };
  return make_indexed(groups, [one](std::span<const int64_t> indices) {
    std::optional<BlockBuilder> out;
    for (const int64_t i : indices) {
      const Block row = one(i);
      if (!out) out.emplace(row.columns.size());
      out->append(row);
    }
    return out->finish();
  });
}

RandomAccess::RandomAccess(PlanPtr plan, const RunOptions& options)
    : run_(std::make_unique<Run>(std::move(plan), options, std::make_shared<PipelineState>())) {
  ScopedPool scoped(&run_->pool());
  ScopedRun current(run_.get());
  const ScopedThrottle throttle(run_->throttle());
  try {
    indexed_ = open_indexed(run_->plan(), OpenContext{run_.get(), {}});
  } catch (const Error& e) {
    throw OpenError(e);
  }
}

RandomAccess::~RandomAccess() {
  ScopedPool scoped(&run_->pool());
  indexed_.reset();
}

Block RandomAccess::at(std::span<const int64_t> indices) {
  ScopedPool scoped(&run_->pool());
  ScopedRun current(run_.get(), 0);  // several threads may read
  const ScopedThrottle throttle(run_->throttle());
  return indexed_->at(indices);
}

Origin source_origin(const OpenContext& context, std::span<const int64_t> records) {
  RowIds lineages;
  lineages.reserve(records.size());
  for (const int64_t record : records)
    lineages.push_back(context.lineage + static_cast<uint64_t>(record));
  return Origin::of(std::move(lineages), {}).with_epoch(context.epoch);
}

CursorPtr open_rows(Block rows) {
  const size_t columns = rows.columns.size();
  CursorPtr cursor = std::make_unique<RowsCursor>(std::move(rows));
  cursor->set_identity({nullptr, "rows", columns});
  return cursor;
}

}  // namespace penstock
