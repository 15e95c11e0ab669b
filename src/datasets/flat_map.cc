// flat_map(f): f gives a dataset for each element; their elements one dataset after the other.
//
// Where f gives files, the three that come next are opened and read ahead.

#include "datasets/block_flat_map.h"
#include "datasets/datasets.h"
#include "datasets/interleaving.h"
#include "datasets/opened_mark.h"
#include "datasets/opened_rows.h"

namespace penstock {
namespace {

// Datasets that were partly delivered, and what is noted row by row, go through open_interleaving.
bool one_by_one(const PlanNode& node, const OpenContext& context) {
  const auto from = resumed_opened(context, node);
  return (from && !from->rests.empty()) || ScopedOpenedRows::of(&node);
}

}  // namespace

OperatorDef flat_map_operator() {
  OperatorDef op;
  op.name = "flat_map";
  op.doc = "The elements of the datasets that f gives, one dataset after the other.";
  op.params = {required("input", Param::Kind::dataset), required("f", Param::Kind::function)};
  op.rows = Rows::multiply;
  op.resharding = interleaving_resharding();
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = inner_spec(draft);
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    auto inner = one_by_one(*node, context) ? nullptr : inner_template(node, context);
    if (inner) return open_block_flat_map(node, context, std::move(inner));
    StageControls& controls = context.run->stage(node.get())->controls;
    controls.files_ahead.start(kFilesAhead, kMostFilesAhead, false);
    return open_interleaving(node, context, {.controls = &controls});
  };
  return op;
}

}  // namespace penstock
