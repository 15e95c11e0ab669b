// concatenate(other): the elements of the input, then those of the other dataset, which is opened
// when the first has ended.

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(PlanPtr node, const OpenContext& context)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()) {
    context_.environment = environment_;
    const StageMark* from = context_.resume(*node_);
    if (from && from->number(0) == 1) {
      open_second();
    } else {
      current_ = context_.open_input(*node_, 0);
    }
    context_.at = {};
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (!current_) return Poll::end;
      const Poll poll = current_->pull(out, pull);
      if (poll == Poll::ready) {
        if (second_) {
          set_mark(out, {1}, {StreamPosition(), current_->position()});
        } else {
          set_mark(out, {0}, {current_->position()});
        }
      }
      if (poll != Poll::end) return poll;
      current_.reset();
      if (second_) return Poll::end;
      open_second();
    }
  }

 private:
  void open_second() {
    second_ = true;
    OpenContext context = context_;
    context.lineage = mix(context_.lineage, 1);  // its rows are others than those of the first
    current_ = context.open_input(*node_, 1);
  }

  PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  CursorPtr current_;
  bool second_ = false;
};

}  // namespace

OperatorDef concatenate_operator() {
  OperatorDef op;
  op.name = "concatenate";
  op.doc = "The elements of the input, then those of `dataset`.";
  op.params = {required("input", Param::Kind::dataset), required("dataset", Param::Kind::dataset)};
  op.infer = [](NodeDraft& draft) {
    bool ok = false;
    draft.node.spec = join_specs(draft.input(0).spec, draft.input(1).spec, &ok);
    if (!ok) {
      NodeDraft::fail("dataset", "its elements are " + draft.input(1).spec.text() +
                                     ", those of the input " + draft.input(0).spec.text());
    }
    const int64_t a = draft.input(0).cardinality, b = draft.input(1).cardinality;
    draft.node.cardinality = a == kInfinite || b == kInfinite ? kInfinite
                             : a < 0 || b < 0                 ? kUnknown
                                                              : a + b;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<ConcatenateCursor>(node, context);
  };
  return op;
}

}  // namespace penstock
