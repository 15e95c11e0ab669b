// counter(start=0, step=1, dtype=int64): start, start + step, ... without end.
//
// Value i is start + i * step, made in 64 bits (float64 for float dtypes) and narrowed: integers
// wrap, floats gather no rounding.

#include <algorithm>

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class CounterCursor final : public Cursor {
 public:
  CounterCursor(const Tensor& start, const Tensor& step, DType dtype, const PlanNode& node,
                const OpenContext& context)
      : start_(start),
        step_(step),
        dtype_(dtype),
        context_(context),
        position_(context.resumed_index(node, kMostResumed)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const int64_t rows = std::min(pull.max_rows, context_.run->options().block_rows);
    out->clear();
    out->rows = rows;
    Column column = Column::dense(dtype_, {}, rows);
    visit_dtype(dtype_, [&]<typename T>(TypeTag<T>) {
      if constexpr (std::is_arithmetic_v<T>) {
        for (int64_t i = 0; i < rows; ++i) column.mutable_entries<T>()[i] = value<T>(position_ + i);
      }
    });
    out->columns.push_back(std::move(column));
    out->origin = source_origin(context_, position_);
    position_ += rows;
    set_mark(out, IndexMark{position_});
    return Poll::ready;
  }

 private:
  template <typename T>
  T value(int64_t i) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(number_at(start_) + static_cast<double>(i) * number_at(step_));
    } else {
      return static_cast<T>(static_cast<int64_t>(static_cast<uint64_t>(integer_at(start_)) +
                                                 static_cast<uint64_t>(i) *
                                                     static_cast<uint64_t>(integer_at(step_))));
    }
  }

  const Tensor start_, step_;
  const DType dtype_;
  const OpenContext context_;
  int64_t position_;
};

void check_number(const NodeDraft& draft, const char* param, DType dtype) {
  const Attr& value = draft.node.args[param];
  const LeafSpec type =
      value.is_capture() ? value.capture_type()
                         : LeafSpec::tensor(value.tensor().dtype(), Shape(value.tensor().dims()));
  if (!type.shape.is_scalar() || !is_number(type.dtype))
    NodeDraft::fail(param, "must be a number, it is " + type.text());
  if (is_float(type.dtype) && !is_float(dtype))
    NodeDraft::fail(param, "is a float, dtype is " + std::string(dtype_name(dtype)));
}

}  // namespace

OperatorDef counter_operator() {
  OperatorDef op;
  op.name = "counter";
  op.doc = "start, start + step, ... without end.";
  op.params = {optional("start", Param::Kind::tensor, Attr::integer(0)),
               optional("step", Param::Kind::tensor, Attr::integer(1)),
               optional("dtype", Param::Kind::dtype, Attr::of(DType::int64))};
  op.source = true;
  op.infer = [](NodeDraft& draft) {
    const DType dtype = draft.node.args["dtype"].as_dtype();
    if (!is_integer(dtype) && dtype != DType::float32 && dtype != DType::float64) {
      NodeDraft::fail("dtype",
                      "must be an integer, float32 or float64: " + std::string(dtype_name(dtype)));
    }
    check_number(draft, "start", dtype);
    check_number(draft, "step", dtype);
    draft.node.spec = Spec::tensor(dtype, {});
    draft.node.cardinality = kInfinite;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<CounterCursor>(context.arg(*node, "start").tensor(),
                                           context.arg(*node, "step").tensor(),
                                           node->arg("dtype").as_dtype(), *node, context);
  };
  return op;
}

}  // namespace penstock
