// flat_map(f): f gives a dataset for each element; their elements one dataset after the other.
//
// Where f gives files, the three that come next are opened and read ahead.

#include "datasets/block_flat_map.h"
#include "datasets/datasets.h"
#include "datasets/interleaving.h"
#include "datasets/opened_rows.h"

namespace penstock {
namespace {

// Datasets of which parts have been given, and what is noted row by row, go through
// open_interleaving.
bool by_rows(const PlanNode& node, const OpenContext& context) {
  const StageMark* from = context.resume(node);
  return (from && from->number(0) < 0) || ScopedOpenedRows::of(&node);
}

}  // namespace

OperatorDef flat_map_operator() {
  OperatorDef op;
  op.name = "flat_map";
  op.doc = "The elements of the datasets that f gives, one dataset after the other.";
  op.params = {required("input", Param::Kind::dataset), required("f", Param::Kind::function)};
  op.rows = Rows::multiply;
  op.resharding = Resharding::opened;
  op.first_mark = {0, 0};
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = inner_spec(draft);
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    auto inner = by_rows(*node, context) ? nullptr : inner_template(node, context);
    if (inner) return open_block_flat_map(node, context, std::move(inner));
    StageControls& controls = context.run->stage(node.get())->controls;
    controls.files_ahead.start(kFilesAhead, kMostFilesAhead, false);
    return open_interleaving(node, context, {.controls = &controls});
  };
  return op;
}

}  // namespace penstock
