// prefetch(buffer_size): so many elements are made ahead of the consumer, by other threads.

#include "data/checked_product.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/serial.h"
#include "runtime/stage_cursor.h"

namespace penstock {
namespace {

// Left to us: a block's worth of what is small, two of what is large, one of what is so large that
// another one waiting would be most of the memory (BatchPlaces).
int64_t automatic_rows(const Spec& spec, int threads) {
  constexpr int64_t kLarge = 1 << 16, kUnknownSize = 128, kBytesPerThread = 24 << 20;
  for (const LeafSpec& leaf : spec.leaves()) {
    if (leaf.is_tensor() && leaf.shape.has_rank()) {
      int64_t bytes = dtype_size(leaf.dtype);
      for (const int64_t size : leaf.shape.sizes())
        bytes = checked_product({bytes, size < 0 ? kUnknownSize : size});
      if (bytes > kBytesPerThread * threads / 3) return 1;
      if (bytes > kLarge) return 2;
    }
  }
  return 64;
}

}  // namespace

OperatorDef prefetch_operator() {
  OperatorDef op;
  op.name = "prefetch";
  op.doc = "Makes so many elements ahead of the consumer; 0: none, -1 or auto: as it fits.";
  op.params = {required("input", Param::Kind::dataset),
               optional("buffer_size", Param::Kind::integer, Attr::automatic())};
  op.params[1].performance = true;
  op.rows = Rows::same;
  op.hands_on = op.reads_ahead = op.passes_marks = true;
  op.resharding = resharding_row_by_row();
  op.changes_nothing = [](const PlanNode& node) { return argument_is(node, "buffer_size", 0); };
  op.infer = [](NodeDraft& draft) {
    const Attr& size = draft.node.args["buffer_size"];
    if (!size.is_auto() && !size.is_none())
      draft.int_at_least("buffer_size", -1, "must be 0, positive, or -1 for auto", 1);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Attr& size = node->arg("buffer_size");
    const bool open = size.is_auto() || size.is_none() || size.as_int() < 0;
    const int64_t rows =
        open ? automatic_rows(node->spec, context.run->options().threads) : size.as_int();
    OpenContext below = context.below(*node);
    below.batch = context.batch;
    if (!open) below.wanted_ahead = rows;
    CursorPtr input = below.open(node->inputs[0]);
    if (rows == 0 || is_serial() || context.run->options().latency) return input;
    RunStage* stage = context.run->stage(node.get());
    stage->controls.rows_ahead.start(rows, INT64_MAX, !open);
    StageOptions options;
    options.controls = &stage->controls;
    options.depth = context.depth;
    options.counters = &stage->counters;
    return open_stage(std::move(input), context.run, options);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return open_indexed_input(*node, context);
  };
  return op;
}

}  // namespace penstock
