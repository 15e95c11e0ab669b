// replace_errors(value, max_count=none, max_rate=none): `value` stands where an element failed; the
// error is counted, with stage, file and offset. Beyond the limit errors come out.
//
// What on_error=replace(value) on a stage puts behind it. A number takes the element's dtype where
// that keeps it exact.

#include "data/ragged.h"
#include "datasets/datasets.h"
#include "datasets/error_limit.h"
#include "datasets/resharding.h"
#include "datasets/structure.h"
#include "functions/evaluate.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class ReplaceErrorsCursor final : public Cursor {
 public:
  ReplaceErrorsCursor(CursorPtr input, std::vector<Tensor> value, const PlanPtr& node,
                      const OpenContext& context)
      : input_(std::move(input)), limit_(node, context.run) {
    value_.rows = 1;
    for (Tensor& t : value) value_.columns.push_back(Column::constant(std::move(t), 1));
    if (const auto from = context.resumed<ErrorLimitMark>(*node)) limit_.start(*from);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const Poll poll = input_->pull(out, pull);
    if (poll != Poll::ready) return poll;
    if (out->errors.empty()) {
      limit_.pass(out->rows);
    } else {
      replace(out);
    }
    set_mark(out, limit_.mark(), {input_->position()});
    return Poll::ready;
  }

 private:
  void replace(Block* block) {
    BlockBuilder built(block->columns.size());
    int64_t done = 0;
    for (const RowError& e : block->errors) {
      if (e.row > done) built.append(block->slice(done, e.row - done));
      limit_.pass(e.row - done);
      done = e.row + 1;
      if (const ErrorPtr beyond = limit_.admit(e.error)) {
        built.append(error_block(beyond, block->columns.size(), Origin()));
      } else {
        built.append(value_);
      }
    }
    if (block->rows > done) built.append(block->slice(done, block->rows - done));
    limit_.pass(block->rows - done);
    const Origin origin = block->origin;
    *block = built.finish();
    block->origin = origin;
  }

  CursorPtr input_;
  Block value_;
  ErrorLimit limit_;
};

// The tensor in the dtype, where that keeps its entries; else as it is.
Tensor exact_cast(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype || !is_number(t.dtype()) || !is_number(dtype)) return t;
  const auto cast = [](const Tensor& from, DType to, Tensor* out) {
    Attrs attrs;
    attrs.set("dtype", Attr::of(to));
    std::vector<Tensor> made;
    if (!evaluate_op(*OpRegistry::instance().find("cast"), attrs, {&from, 1},
                     Spec::tensor(to, Shape(from.dims())), &made))
      return false;
    *out = made[0];
    return true;
  };
  Tensor there, back;
  return cast(t, dtype, &there) && cast(there, t.dtype(), &back) && back.same(t) ? there : t;
}

Attr fitted(const Attr& value, const Spec& spec) {
  if (value.is_tensor() && spec.is_leaf() && is_dense(spec.leaf))
    return Attr::of(exact_cast(value.tensor(), spec.leaf.dtype));
  const bool tree = (value.kind() == Attr::Kind::tuple || value.kind() == Attr::Kind::dict) &&
                    value.items().size() == spec.items.size();
  if (!tree) return value;
  std::vector<Attr> items;
  for (size_t i = 0; i < spec.items.size(); ++i)
    items.push_back(fitted(value.items()[i], spec.items[i]));
  return value.kind() == Attr::Kind::tuple ? Attr::tuple(std::move(items))
                                           : Attr::dict(value.keys(), std::move(items));
}

}  // namespace

OperatorDef replace_errors_operator() {
  OperatorDef op;
  op.name = "replace_errors";
  op.doc = "Puts `value` where an element failed, up to max_count and a part of max_rate.";
  op.params = {required("input", Param::Kind::dataset), required("value", Param::Kind::structure)};
  for (Param& p : ErrorLimit::params()) op.params.push_back(std::move(p));
  op.rows = Rows::same;
  op.resharding = resharding_in_order<ErrorLimitMark>();
  op.infer = [](NodeDraft& draft) {
    ErrorLimit::check(draft);
    const Spec& in = draft.input().spec;
    const Attr value = fitted(draft.node.args["value"], in);
    bool ok = false;
    draft.node.spec = join_specs(in, structure_spec(value), &ok);
    if (!ok || draft.node.spec != in) {
      NodeDraft::fail("value",
                      "is " + structure_spec(value).text() + ", an element is " + in.text());
    }
    draft.node.args.set("value", value);
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<ReplaceErrorsCursor>(
        context.open_input(*node), structure_leaves(context.arg(*node, "value")), node, context);
  };
  return op;
}

}  // namespace penstock
