// take_while(predicate): the elements before the first for which the predicate does not hold; then
// the end, for good.
//
// Errors, of the input and of the predicate, come out at their place and end nothing.

#include "datasets/datasets.h"
#include "runtime/chain.h"

namespace penstock {

void check_predicate(const NodeDraft& draft);  // filter.cc

namespace {

class TakeWhileCursor final : public Cursor {
 public:
  TakeWhileCursor(CursorPtr input, std::shared_ptr<const CompiledFunction> predicate)
      : input_(std::move(input)), predicate_(std::move(predicate)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (!input_) return Poll::end;
    const Poll poll = input_->pull(out, pull);
    if (poll == Poll::end) input_.reset();
    if (poll != Poll::ready) return poll;
    Block verdict = run_predicate(*predicate_, *out, identity().name);
    int64_t kept = 0;
    while (kept < out->rows && (verdict.error_at(kept) || holds(verdict, kept))) ++kept;
    out->errors = std::move(verdict.errors);
    if (kept < out->rows) {
      input_.reset();
      if (kept == 0) return Poll::end;
      out->truncate(kept);
      return Poll::ready;  // without a mark: the next pull ends it
    }
    set_mark(out, InputsMark(), {input_->position()});
    return Poll::ready;
  }

 private:
  CursorPtr input_;  // null once the end is reached
  std::shared_ptr<const CompiledFunction> predicate_;
};

}  // namespace

OperatorDef take_while_operator() {
  OperatorDef op;
  op.name = "take_while";
  op.doc = "The elements before the first for which predicate(element) is false.";
  op.params = {required("input", Param::Kind::dataset),
               required("predicate", Param::Kind::function)};
  op.rows = Rows::subset;
  op.cuts = true;
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    check_predicate(draft);
    const Spec& verdict = draft.node.function("predicate")->output;
    if (verdict.leaf.shape.has_rank() && verdict.leaf.shape.rank() > 0)
      NodeDraft::fail("predicate", "gives " + verdict.text() + ", expected one bool");
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<TakeWhileCursor>(context.open_input(*node),
                                             context.program(*node, "predicate"));
  };
  return op;
}

}  // namespace penstock
