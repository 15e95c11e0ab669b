// interleave(f, cycle_length=16, block_length=1): f gives a dataset for each element; cycle_length
// of them are open at once and give block_length elements in turn.
//
// The order never depends on the machine: cycle_length has a fixed default and threads that work
// ahead change nothing. num_parallel_calls of them are worked on at once. If f gives files, those
// that come next are opened and read ahead as well: three, or as many as num_parallel_calls
// is more than cycle_length; none with num_parallel_calls=1.

#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/interleaving.h"
#include "datasets/opened_mark.h"

namespace penstock {

void check_parallel_calls(const NodeDraft& draft);  // map.cc

OperatorDef interleave_operator() {
  OperatorDef op;
  op.name = "interleave";
  op.doc = "The elements of the datasets that f gives, cycle_length of them in turn.";
  op.params = {required("input", Param::Kind::dataset),
               required("f", Param::Kind::function),
               optional("cycle_length", Param::Kind::integer, Attr::integer(16)),
               optional("block_length", Param::Kind::integer, Attr::integer(1)),
               knob("num_parallel_calls"),
               option("deterministic", Param::Kind::boolean, {})};
  op.rows = Rows::multiply;
  op.resharding = interleaving_resharding();
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    draft.int_at_least("cycle_length", 1, "must be positive", 1);
    draft.int_at_least("block_length", 1, "must be positive", 1);
    check_parallel_calls(draft);
    draft.node.spec = inner_spec(draft);
    const Attr& calls = draft.node.args["num_parallel_calls"];
    const bool parallel = !calls.is_auto() && !calls.is_none();
    draft.node.cardinality =
        parallel && draft.input().cardinality == kInfinite ? kInfinite : kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Attr& calls = node->arg("num_parallel_calls");
    const bool asked = !calls.is_auto() && !calls.is_none();
    const int64_t n = asked ? calls.as_int() : 1;
    const int64_t cycle = node->arg("cycle_length").as_int(),
                  block = node->arg("block_length").as_int();
    constexpr int64_t kRowsAhead = 32;
    const int64_t rows = std::min(context.run->options().block_rows,
                                  std::max(kRowsAhead, block > INT64_MAX / 2 ? block : 2 * block));
    StageControls& controls = context.run->stage(node.get())->controls;
    controls.calls.start(n, INT64_MAX, asked);
    controls.rows_ahead.start(rows, INT64_MAX, false);
    const int64_t files = asked && n == 1 ? 0 : std::max(kFilesAhead, n - cycle);
    controls.files_ahead.start(files, kMostFilesAhead, false);
    const Interleaving how{cycle, block, true, &controls};
    return open_interleaving(node, context, how);
  };
  return op;
}

}  // namespace penstock
