// assert_cardinality(expected_cardinality): the elements as they are; their number is taken at its
// word, and checked. -1: without end.
//
// One element too many, or an end too early, is an error; then comes the end. Errors of the input
// do not count.

#include <algorithm>

#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

std::string count_text(int64_t n) {
  if (n == kInfinite) return "an infinite number of elements";
  return std::to_string(n) + (n == 1 ? " element" : " elements");
}

class AssertCardinalityCursor final : public Cursor {
 public:
  AssertCardinalityCursor(CursorPtr input, int64_t expected, int64_t count)
      : input_(std::move(input)), expected_(expected), count_(count) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (over_) {
      over_ = false;
      fail("but contained at least " + count_text(expected_ + 1));
    }
    if (!input_) return Poll::end;
    const Poll poll = input_->pull(out, pull);
    if (poll == Poll::pending) return poll;
    if (poll == Poll::end) {
      input_.reset();
      if (count_ != expected_) fail("but contained only " + count_text(count_));
      return Poll::end;
    }
    const int64_t good = out->rows - static_cast<int64_t>(out->errors.size());
    if (expected_ != kInfinite && count_ + good > expected_) return give_rest(out);
    count_ += good;
    set_mark(out, {count_}, {input_->position()});
    return Poll::ready;
  }

 private:
  // The block holds more than there may be: its first rows, then the error.
  Poll give_rest(Block* out) {
    int64_t rows = 0;
    for (; count_ < expected_ || out->error_at(rows); ++rows) count_ += out->error_at(rows) ? 0 : 1;
    input_.reset();
    if (rows == 0) fail("but contained at least " + count_text(expected_ + 1));
    over_ = true;
    out->truncate(rows);
    return Poll::ready;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::failed_precondition,
                "the input was expected to contain " + count_text(expected_) + " " + what);
  }

  CursorPtr input_;  // null once the end is reached
  const int64_t expected_;
  int64_t count_;
  bool over_ = false;  // the next outcome says that there are too many
};

}  // namespace

OperatorDef assert_cardinality_operator() {
  OperatorDef op;
  op.name = "assert_cardinality";
  op.doc = "The elements as they are; another number of them than expected is an error.";
  op.params = {required("input", Param::Kind::dataset),
               required("expected_cardinality", Param::Kind::tensor)};
  op.infer = [](NodeDraft& draft) {
    draft.int_at_least("expected_cardinality", kInfinite, "must be a count, or -1 for no end", 0);
    const Attr& expected = draft.node.args["expected_cardinality"];
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = expected.is_capture() ? kUnknown : expected.as_int();
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<AssertCardinalityCursor>(context.open_input(*node),
                                                     context.int_arg(*node, "expected_cardinality"),
                                                     context.resumed_number(*node));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return open_indexed_input(*node, context);
  };
  return op;
}

}  // namespace penstock
