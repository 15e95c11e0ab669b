// enumerate(start=0): (position, element).
//
// Counts positions: an error takes one, and comes out as the error.

#include "datasets/datasets.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

struct EnumerateMark {
  static constexpr MarkForm kForm{"enumerate", 1};
  int64_t position = 0;  // of the next element
  static void fields(auto& mark, auto& f) { f.number("position", mark.position); }
};

class EnumerateCursor final : public Cursor {
 public:
  EnumerateCursor(CursorPtr input, int64_t start) : input_(std::move(input)), position_(start) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const Poll poll = input_->pull(out, pull);
    if (poll != Poll::ready) return poll;
    Column numbers = Column::dense(DType::int64, {}, out->rows);
    for (int64_t i = 0; i < out->rows; ++i) numbers.mutable_entries<int64_t>()[i] = after(i);
    position_ = after(out->rows);
    set_mark(out, EnumerateMark{position_}, {input_->position()});
    out->columns.insert(out->columns.begin(), std::move(numbers));
    return Poll::ready;
  }

 private:
  // Positions go round, as they do in tf.data.
  int64_t after(int64_t rows) const {
    return static_cast<int64_t>(static_cast<uint64_t>(position_) + static_cast<uint64_t>(rows));
  }

  CursorPtr input_;
  int64_t position_;
};

}  // namespace

OperatorDef enumerate_operator() {
  OperatorDef op;
  op.name = "enumerate";
  op.doc = "(position, element), positions from `start` on.";
  op.params = {required("input", Param::Kind::dataset),
               optional("start", Param::Kind::tensor, Attr::integer(0))};
  op.rows = Rows::same;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = Spec::tuple({Spec::tensor(DType::int64, {}), draft.input().spec});
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const EnumerateMark start{context.int_arg(*node, "start")};
    const auto from = context.resumed<EnumerateMark>(*node).value_or(start);
    return std::make_unique<EnumerateCursor>(context.open_input(*node), from.position);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    std::shared_ptr<Indexed> input = open_indexed_input(*node, context);
    const int64_t start = context.int_arg(*node, "start");
    return make_indexed(input->rows(), [input, start](std::span<const int64_t> indices) {
      Block out = input->at(indices);
      Column numbers = Column::dense(DType::int64, {}, out.rows);
      for (int64_t i = 0; i < out.rows; ++i)
        numbers.mutable_entries<int64_t>()[i] = start + indices[static_cast<size_t>(i)];
      out.columns.insert(out.columns.begin(), std::move(numbers));
      return out;
    });
  };
  return op;
}

}  // namespace penstock
