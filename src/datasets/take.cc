// take(count): the first elements, then the end; -1 takes all.
//
// An error takes no slot. Once the count is reached the input is dropped at once, so that work
// ahead of it stops and its buffers go back.

#include <algorithm>

#include "datasets/datasets.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/open.h"

namespace penstock {
namespace {

struct TakeMark {
  static constexpr MarkForm kForm{"take", 1};
  int64_t left = 0;  // elements still to come
  static void fields(auto& mark, auto& f) { f.count("left", mark.left); }
};

class TakeCursor final : public Cursor {
 public:
  TakeCursor(CursorPtr input, int64_t count) : input_(std::move(input)), left_(count) {
    if (left_ == 0) input_.reset();
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (!input_) return Poll::end;
    const Poll poll = input_->pull(out, {std::min(pull.max_rows, left_), pull.waker});
    if (poll == Poll::end) input_.reset();
    if (poll != Poll::ready) return poll;
    left_ -= out->rows - static_cast<int64_t>(out->errors.size());
    set_mark(out, TakeMark{left_}, {input_->position()});
    if (left_ == 0) input_.reset();
    return Poll::ready;
  }

 private:
  CursorPtr input_;  // null once the end is reached
  int64_t left_;
};

}  // namespace

OperatorDef take_operator() {
  OperatorDef op;
  op.name = "take";
  op.doc = "The first `count` elements; -1: all.";
  op.params = {required("input", Param::Kind::dataset), required("count", Param::Kind::tensor)};
  op.rows = Rows::subset;
  op.hands_on = op.cuts = true;
  op.changes_nothing = [](const PlanNode& node) { return argument_is(node, "count", -1); };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    const int64_t n = draft.input().cardinality;
    const Attr& count = draft.node.args["count"];
    draft.node.cardinality = kUnknown;
    if (count.is_capture() || n == kUnknown) return;
    const int64_t k = count.as_int();
    draft.node.cardinality = k < 0 ? n : n == kInfinite ? k : std::min(n, k);
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t count = context.int_arg(*node, "count");
    if (count == 0) return open_nothing();
    const TakeMark whole{count < 0 ? kMostResumed : std::min(count, kMostResumed)};
    return std::make_unique<TakeCursor>(context.open_input(*node),
                                        context.resumed<TakeMark>(*node).value_or(whole).left);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    IndexedPtr input = open_indexed_input(*node, context);
    const int64_t count = context.int_arg(*node, "count"), rows = input->rows();
    return reindexed(std::move(input), count < 0 ? rows : std::min(count, rows), std::identity());
  };
  return op;
}

}  // namespace penstock
