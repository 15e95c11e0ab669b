// skip(count): all but the first elements; -1 skips all.
//
// Counts positions: an error among the skipped elements counts and is not seen.

#include <algorithm>

#include "datasets/datasets.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/open.h"

namespace penstock {
namespace {

struct SkipMark {
  static constexpr MarkForm kForm{"skip", 1};
  int64_t left = 0;  // elements still to be skipped
  static void fields(auto& mark, auto& f) { f.count("left", mark.left); }
};

class SkipCursor final : public Cursor {
 public:
  SkipCursor(CursorPtr input, int64_t count) : input_(std::move(input)), left_(count) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const int64_t want = left_ == 0
                               ? pull.max_rows
                               : std::min<int64_t>(pull.max_rows, std::max<int64_t>(1, left_));
      const Poll poll = input_->pull(out, {want, pull.waker});
      if (poll != Poll::ready) return poll;
      const int64_t dropped = std::min(left_, out->rows);
      left_ -= dropped;
      if (dropped < out->rows) {
        out->drop_front(dropped);
        set_mark(out, SkipMark{left_}, {input_->position()});
        return Poll::ready;
      }
    }
  }

 private:
  CursorPtr input_;
  int64_t left_;
};

}  // namespace

OperatorDef skip_operator() {
  OperatorDef op;
  op.name = "skip";
  op.doc = "All but the first `count` elements; -1: none.";
  op.params = {required("input", Param::Kind::dataset), required("count", Param::Kind::tensor)};
  op.rows = Rows::subset;
  op.hands_on = op.cuts = op.by_place = true;
  op.changes_nothing = [](const PlanNode& node) { return argument_is(node, "count", 0); };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    const int64_t n = draft.input().cardinality;
    const Attr& count = draft.node.args["count"];
    const int64_t k = count.is_capture() ? 0 : count.as_int();
    draft.node.cardinality = count.is_capture() ? kUnknown
                             : n < 0            ? n
                             : k < 0            ? 0
                                                : std::max<int64_t>(0, n - k);
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t count = context.int_arg(*node, "count");
    if (count < 0) return open_nothing();
    const SkipMark from =
        context.resumed<SkipMark>(*node).value_or(SkipMark{std::min(count, kMostResumed)});
    return std::make_unique<SkipCursor>(context.open_input(*node), from.left);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    IndexedPtr input = open_indexed_input(*node, context);
    const int64_t count = context.int_arg(*node, "count"), rows = input->rows();
    const int64_t left = count < 0           ? 0
                         : rows == INT64_MAX ? rows
                                             : std::max<int64_t>(0, rows - count);
    // Without end there is a last index all the same.
    return reindexed(std::move(input), left,
                     [count](int64_t i) { return i < INT64_MAX - count ? i + count : INT64_MAX; });
  };
  return op;
}

}  // namespace penstock
