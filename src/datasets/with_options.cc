// with_options(deterministic=none, throttle=none): options for all stages before it, nested
// pipelines included.
//
// deterministic=false: parallel maps give elements as they are done, in any order. Leaves elements
// as they are and costs nothing.
//
// throttle="bandwidth=10MB/s,open=20ms,read=1ms": slow storage, for experiments. A run has one
// throttle: --throttle of the command line, else that of the last with_options that has one.

#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "io/throttle.h"
#include "plan/throttle_text.h"
#include "runtime/indexed.h"

namespace penstock {

namespace {

ThrottleOptions throttle_of(const PlanNode& node) {
  const Attr& text = node.arg("throttle");
  if (text.is_none() || text.is_auto()) return {};
  return parse_throttle(text.as_string());
}

}  // namespace

OperatorDef with_options_operator() {
  OperatorDef op;
  op.name = "with_options";
  op.doc =
      "Options for all stages before it: deterministic=false lets parallel maps reorder; throttle "
      "slows the files they read.";
  op.params = {required("input", Param::Kind::dataset),
               option("deterministic", Param::Kind::boolean, {}),
               option("throttle", Param::Kind::text, {})};
  op.params.back().performance = true;
  op.rows = Rows::same;
  op.hands_on = op.passes_marks = true;
  op.resharding = resharding_row_by_row();
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
    try {
      throttle_of(draft.node);
    } catch (const Error& e) {
      NodeDraft::fail("throttle", e.message());
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    OpenContext below = context.below(*node);
    below.batch = context.batch;
    const Attr& deterministic = node->arg("deterministic");
    if (!deterministic.is_none()) below.ordered = deterministic.as_bool();
    context.run->slow_storage(throttle_of(*node));
    const ScopedThrottle slow(context.run->throttle());
    return below.open(node->inputs[0]);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    context.run->slow_storage(throttle_of(*node));
    const ScopedThrottle slow(context.run->throttle());
    return open_indexed_input(*node, context);
  };
  return op;
}

}  // namespace penstock
