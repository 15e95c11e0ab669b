// echo(count): each element `count` times in a row (data echoing).
//
// Changes the data: for pipelines that cannot keep up. Copies have lineages of their own, so random
// ops behind draw anew for each. An error comes once.

#include <algorithm>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

uint64_t copy_lineage(uint64_t lineage, int64_t copy) {
  return copy == 0 ? lineage : mix(lineage, static_cast<uint64_t>(copy));
}

class EchoCursor final : public Cursor {
 public:
  EchoCursor(CursorPtr input, int64_t count) : input_(std::move(input)), count_(count) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (held_.rows == 0) {
      const int64_t want = std::max<int64_t>(1, pull.max_rows / std::min(count_, pull.max_rows));
      const Poll poll = input_->pull(&held_, {want, pull.waker});
      if (poll != Poll::ready) return poll;
    }
    std::vector<int32_t> rows;
    RowIds lineages, epochs;
    int32_t row = 0;
    while (row < held_.rows && static_cast<int64_t>(rows.size()) < pull.max_rows) {
      rows.push_back(row);
      lineages.push_back(copy_lineage(held_.origin.lineage(row), copy_));
      epochs.push_back(held_.origin.epoch(row));
      if (++copy_ < count_ && !held_.error_at(row)) continue;
      copy_ = 0;
      ++row;
    }
    *out = held_.gather(rows);
    out->origin = Origin::of(std::move(lineages), std::move(epochs));
    if (row == held_.rows) {
      held_ = Block();
      set_mark(out, InputsMark(), {input_->position()});
    } else if (row > 0) {
      held_.drop_front(row);
    }
    return Poll::ready;
  }

 private:
  CursorPtr input_;
  const int64_t count_;
  Block held_;        // from the element being given on
  int64_t copy_ = 0;  // of its first element, the next to give
};

}  // namespace

OperatorDef echo_operator() {
  OperatorDef op;
  op.name = "echo";
  op.doc = "Each element `count` times in a row; changes the data.";
  op.params = {required("input", Param::Kind::dataset), required("count", Param::Kind::tensor)};
  op.rows = Rows::multiply;
  op.hands_on = true;
  op.infer = [](NodeDraft& draft) {
    const int64_t count = draft.int_at_least("count", 1, "must be positive", kUnknown);
    const int64_t n = draft.input().cardinality;
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = n < 0 || n == 0                      ? n
                             : count < 0 || n > INT64_MAX / count ? kUnknown
                                                                  : n * count;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t count = context.int_arg(*node, "count");
    if (count < 1)
      throw Error(Code::invalid_argument, "count must be positive: " + std::to_string(count));
    return std::make_unique<EchoCursor>(context.open_input(*node), count);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    const int64_t count = context.int_arg(*node, "count");
    std::shared_ptr<Indexed> input = open_indexed_input(*node, context);
    const int64_t rows = input->rows() > INT64_MAX / count ? INT64_MAX : input->rows() * count;
    return make_indexed(rows, [input, count](std::span<const int64_t> indices) {
      std::vector<int64_t> places;
      for (const int64_t i : indices) places.push_back(i / count);
      Block out = input->at(places);
      RowIds lineages, epochs;
      for (int64_t r = 0; r < out.rows; ++r) {
        lineages.push_back(
            copy_lineage(out.origin.lineage(r), indices[static_cast<size_t>(r)] % count));
        epochs.push_back(out.origin.epoch(r));
      }
      out.origin = Origin::of(std::move(lineages), std::move(epochs));
      return out;
    });
  };
  return op;
}

}  // namespace penstock
