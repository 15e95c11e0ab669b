// concatenate(other): the elements of the input, then those of the other dataset, which is opened
// when the first has ended. Dicts agree in their keys, in any order.

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/key_order.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

struct ConcatenateMark {
  static constexpr MarkForm kForm{"concatenate", 1};
  bool second = false;  // the first dataset has ended
  static void fields(auto& mark, auto& f) { f.flag("second", mark.second); }
};

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(PlanPtr node, const OpenContext& context)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()) {
    context_.environment = environment_;
    if (context_.resumed<ConcatenateMark>(*node_).value_or(ConcatenateMark()).second) {
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
          set_mark(out, ConcatenateMark{true}, {StreamPosition(), current_->position()});
        } else {
          set_mark(out, ConcatenateMark{false}, {current_->position()});
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
  op.rows = Rows::mixed;
  op.infer = [](NodeDraft& draft) {
    bool ok = false;
    draft.node.inputs[1] = with_key_order(draft.node.inputs[1], draft.input(0).spec);
    draft.node.spec = join_specs(draft.input(0).spec, draft.input(1).spec, &ok);
    if (!ok) {
      NodeDraft::fail("dataset", "its elements are " + draft.input(1).spec.text() +
                                     ", those of the input " + draft.input(0).spec.text());
    }
    const int64_t a = draft.input(0).cardinality, b = draft.input(1).cardinality;
    int64_t both = 0;
    draft.node.cardinality = a == kInfinite || b == kInfinite                        ? kInfinite
                             : a < 0 || b < 0 || __builtin_add_overflow(a, b, &both) ? kUnknown
                                                                                     : both;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<ConcatenateCursor>(node, context);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    OpenContext second = context;
    second.lineage = mix(context.lineage, 1);
    std::shared_ptr<Indexed> a = open_indexed_input(*node, context),
                             b = open_indexed_input(*node, second, 1);
    const int64_t rows = a->rows() > INT64_MAX - b->rows() ? INT64_MAX : a->rows() + b->rows();
    return make_indexed(rows, [a, b](std::span<const int64_t> indices) {
      std::vector<int64_t> in_a, in_b;
      std::vector<int32_t> order;  // row k of the result among those of a, then b
      for (const int64_t i : indices) (i < a->rows() ? in_a : in_b).push_back(i);
      for (int64_t& i : in_b) i -= a->rows();
      size_t next_a = 0, next_b = in_a.size();
      for (const int64_t i : indices)
        order.push_back(static_cast<int32_t>(i < a->rows() ? next_a++ : next_b++));
      if (in_b.empty()) return a->at(in_a);
      if (in_a.empty()) return b->at(in_b);
      const Block from_a = a->at(in_a), from_b = b->at(in_b);
      BlockBuilder joined(from_a.columns.size());
      joined.append(from_a);
      joined.append(from_b);
      return joined.finish().gather(order);
    });
  };
  return op;
}

}  // namespace penstock
