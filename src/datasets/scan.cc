// scan(initial_state, scan_func): scan_func(state, element) gives (next state, output), one element
// after the other.
//
// What fails leaves the state as it is; the error comes out at its place. Marks hold the state;
// where it is large or not made of tensors there are none, and it is made again from the beginning.

#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/structure.h"
#include "functions/result_rows.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class ScanCursor final : public Cursor {
 public:
  ScanCursor(CursorPtr input, std::vector<Tensor> state,
             std::shared_ptr<const CompiledFunction> function, std::vector<LeafSpec> leaves)
      : input_(std::move(input)),
        state_(std::move(state)),
        function_(std::move(function)),
        leaves_(std::move(leaves)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    Block in;
    const Poll poll = input_->pull(&in, pull);
    if (poll != Poll::ready) return poll;
    std::vector<ResultRows> results;
    for (const LeafSpec& leaf : leaves_) results.emplace_back(leaf, in.rows, nullptr);
    out->clear();
    for (int64_t r = 0; r < in.rows; ++r) {
      const ErrorPtr* failed = in.error_at(r);
      const ErrorPtr error = failed ? *failed : step(in, r, &results);
      if (!error) continue;
      out->errors.push_back({r, error});
      for (ResultRows& result : results) result.add_failed(r);
    }
    out->rows = in.rows;
    for (ResultRows& result : results) out->columns.push_back(result.finish());
    out->origin = in.origin;
    if (identity().marks) mark(out);
    return Poll::ready;
  }

 private:
  void mark(Block* out) const {
    constexpr int64_t kMostBytes = 16 << 10;
    int64_t bytes = 0;
    for (const Tensor& t : state_) {
      if (t.object()) return;
      bytes += t.payload_bytes();
    }
    if (bytes <= kMostBytes) set_mark(out, InputsMark(), {&input_->position(), 1}, state_);
  }

  // The row's outputs and the state behind it; or its error.
  ErrorPtr step(const Block& in, int64_t row, std::vector<ResultRows>* results) {
    try {
      std::vector<Tensor> inputs = state_;
      for (const Column& c : in.columns) inputs.push_back(c.row(row));
      std::vector<Tensor> made =
          function_->run_row(std::move(inputs), {in.origin.lineage(row), in.origin.epoch(row), 0});
      const auto outputs = made.begin() + static_cast<std::ptrdiff_t>(state_.size());
      for (size_t i = 0; i < results->size(); ++i)
        (*results)[i].add(row, std::move(outputs[static_cast<std::ptrdiff_t>(i)]));
      std::move(made.begin(), outputs, state_.begin());
      return nullptr;
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      return std::make_shared<const Error>(e);
    } catch (...) {
      return current_error();
    }
  }

  CursorPtr input_;
  std::vector<Tensor> state_;
  std::shared_ptr<const CompiledFunction> function_;
  const std::vector<LeafSpec> leaves_;  // of the outputs
};

// The mark's state, which must be what the function takes.
std::vector<Tensor> state_of(const StageMark& from, const Function& function, size_t count) {
  bool fits = from.state().size() == count;
  for (size_t i = 0; fits && i < count; ++i) {
    const Tensor& t = from.state()[i];
    const LeafSpec& type = function.type(static_cast<ValueId>(i));
    fits = !t.object() && t.dtype() == type.dtype && type.shape.admits(t.dims());
  }
  if (!fits)
    throw Error(Code::data_loss, "the checkpoint is damaged: the state is of another type");
  return from.state();
}

}  // namespace

OperatorDef scan_operator() {
  OperatorDef op;
  op.name = "scan";
  op.doc = "Element by element with a state: scan_func(state, element) gives (state, output).";
  op.params = {required("input", Param::Kind::dataset),
               required("initial_state", Param::Kind::structure),
               required("scan_func", Param::Kind::function)};
  op.rows = Rows::same;
  op.function_arity = 2;
  op.state_in_pair = true;
  op.function_input = [](const NodeDraft& draft, std::string_view) {
    return Spec::tuple({structure_spec(draft.node.args["initial_state"]), draft.input().spec});
  };
  op.infer = [](NodeDraft& draft) {
    const Spec& output = draft.node.function("scan_func")->output;
    if (output.kind != Spec::Kind::tuple || output.items.size() != 2)
      NodeDraft::fail("scan_func", "gives " + output.text() + ", expected (state, output)");
    if (output.items[1].kind == Spec::Kind::none)
      NodeDraft::fail("scan_func", "gives no output: none");
    draft.node.spec = output.items[1];
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    std::vector<Tensor> state = structure_leaves(context.arg(*node, "initial_state"));
    if (const StageMark* from = context.resume(*node))
      state = state_of(*from, *node->function("scan_func"), state.size());
    return std::make_unique<ScanCursor>(context.open_input(*node), std::move(state),
                                        context.program(*node, "scan_func"), node->spec.leaves());
  };
  return op;
}

}  // namespace penstock
