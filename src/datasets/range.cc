// range(stop), range(start, stop), range(start, stop, step): numbers in order.
//
// Counts in 64 bits and narrows at the end, so int8 wraps as the peer's does; unlike there, a range
// that ends near the int64 limits ends.

#include <algorithm>
#include <array>

#include "base/wide.h"
#include "datasets/datasets.h"
#include "datasets/range_bounds.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

// One argument is the stop.
RangeBounds bounds_of(const Attr& a, const Attr& b, const Attr& step) {
  const int64_t start = b.is_none() ? 0 : a.as_int();
  return range_bounds(start, b.is_none() ? a.as_int() : b.as_int(), step.as_int());
}

class RangeCursor final : public Cursor {
 public:
  RangeCursor(const RangeBounds& bounds, DType dtype, const OpenContext& context, int64_t position)
      : bounds_(bounds), dtype_(dtype), run_(context.run), context_(context), position_(position) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (position_ == bounds_.count) return Poll::end;
    const int64_t rows =
        std::min({pull.max_rows, bounds_.count - position_, run_->options().block_rows});
    out->clear();
    out->rows = rows;
    Column column = Column::dense(dtype_, {}, rows);
    fill_range(bounds_, position_, 0, rows, &column);
    out->columns.push_back(std::move(column));
    out->origin = source_origin(context_, position_);
    position_ += rows;
    set_mark(out, IndexMark{position_});
    return Poll::ready;
  }

 private:
  const RangeBounds bounds_;
  const DType dtype_;
  Run* const run_;
  const OpenContext context_;
  int64_t position_;
};

void infer(NodeDraft& draft) {
  const Attr &a = draft.node.args["start"], &b = draft.node.args["stop"],
             &step = draft.node.args["step"];
  const DType dtype = draft.node.args["dtype"].as_dtype();
  if (!is_integer(dtype) && !is_float(dtype)) {
    NodeDraft::fail("dtype", "must be an integer or a float: " + std::string(dtype_name(dtype)));
  }
  if (!step.is_capture() && step.as_int() == 0) NodeDraft::fail("step", "must not be zero: 0");
  draft.node.spec = Spec::tensor(dtype, {});
  const bool known = !a.is_capture() && !b.is_capture() && !step.is_capture();
  draft.node.cardinality = known ? bounds_of(a, b, step).count : kUnknown;
}

}  // namespace

RangeBounds range_bounds(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) throw Error(Code::invalid_argument, "step must not be zero: 0");
  const bool up = step > 0;
  if (up ? start >= stop : start <= stop) return {start, step, 0};
  const uint64_t distance = up ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  const uint64_t stride = up ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (distance - 1) / stride + 1;
  return {start, step, static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX))};
}

namespace {

template <typename T>
PENSTOCK_WIDE void fill_steps(uint64_t start, uint64_t step, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i, start += step)
    to[i] = static_cast<T>(static_cast<int64_t>(start));
}

// Whole numbers that are known, or captured as scalars.
bool counts_up(const PlanNode& range) {
  return std::ranges::all_of(std::array{"start", "stop", "step"}, [&](const char* param) {
    const Attr& a = range.arg(param);
    if (!a.is_capture()) return true;
    const LeafSpec& leaf = a.capture_type();
    return leaf.is_tensor() && is_integer(leaf.dtype) && leaf.shape.is_scalar();
  });
}

}  // namespace

void fill_range(const RangeBounds& bounds, int64_t first, int64_t row, int64_t n, Column* column) {
  const auto step = static_cast<uint64_t>(bounds.step);
  const uint64_t start = static_cast<uint64_t>(bounds.start) + static_cast<uint64_t>(first) * step;
  visit_dtype(column->dtype(), [&]<typename T>(TypeTag<T>) {
    T* const to = column->mutable_entries<T>() + row;
    if constexpr (std::is_arithmetic_v<T>) {
      fill_steps(start, step, n, to);
    } else if constexpr (!std::is_same_v<T, BytesView>) {
      for (int64_t i = 0; i < n; ++i) {
        const auto value = static_cast<int64_t>(start + static_cast<uint64_t>(i) * step);
        if constexpr (std::is_same_v<T, Float16>) to[i] = to_float16(static_cast<float>(value));
        if constexpr (std::is_same_v<T, BFloat16>) to[i] = to_bfloat16(static_cast<float>(value));
      }
    }
  });
}

OperatorDef range_operator() {
  OperatorDef op;
  op.name = "range";
  op.doc = "Numbers from start (0) to before stop: range(stop), range(start, stop, step=1, "
           "dtype=int64).";
  op.params = {required("start", Param::Kind::tensor), optional("stop", Param::Kind::tensor, {}),
               optional("step", Param::Kind::tensor, Attr::integer(1)),
               option("dtype", Param::Kind::dtype, Attr::of(DType::int64))};
  op.source = true;
  op.counts_up = counts_up;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const RangeBounds bounds = bounds_of(context.arg(*node, "start"), context.arg(*node, "stop"),
                                         context.arg(*node, "step"));
    return std::make_unique<RangeCursor>(bounds, node->arg("dtype").as_dtype(), context,
                                         context.resumed_index(*node, bounds.count));
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    const RangeBounds bounds = bounds_of(context.arg(*node, "start"), context.arg(*node, "stop"),
                                         context.arg(*node, "step"));
    return make_indexed(bounds.count, [bounds, dtype = node->arg("dtype").as_dtype(),
                                       context](std::span<const int64_t> indices) {
      Block out;
      out.rows = static_cast<int64_t>(indices.size());
      Column column = Column::dense(dtype, {}, out.rows);
      for (int64_t i = 0; i < out.rows; ++i)
        fill_range(bounds, indices[static_cast<size_t>(i)], i, 1, &column);
      out.columns.push_back(std::move(column));
      out.origin = source_origin(context, indices);
      return out;
    });
  };
  return op;
}

}  // namespace penstock
