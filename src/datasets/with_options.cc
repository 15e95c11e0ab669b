// with_options(deterministic=none): options for all stages before it, nested pipelines included.
//
// deterministic=false: parallel maps give elements as they are done, in any order. Leaves elements
// as they are and costs nothing.

#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "runtime/indexed.h"

namespace penstock {

OperatorDef with_options_operator() {
  OperatorDef op;
  op.name = "with_options";
  op.doc = "Options for all stages before it: deterministic=false lets parallel maps reorder.";
  op.params = {required("input", Param::Kind::dataset),
               option("deterministic", Param::Kind::boolean, {})};
  op.rows = Rows::same;
  op.hands_on = op.passes_marks = true;
  op.resharding = resharding_row_by_row();
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    OpenContext below = context.below(*node);
    below.batch_rows = context.batch_rows;
    const Attr& deterministic = node->arg("deterministic");
    if (!deterministic.is_none()) below.ordered = deterministic.as_bool();
    return below.open(node->inputs[0]);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return open_indexed_input(*node, context);
  };
  return op;
}

}  // namespace penstock
