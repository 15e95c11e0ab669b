// batch(n): consecutive elements stacked along a new first axis.
//
// Elements of one batch must have one shape: those of another than most are errors. An error takes
// no slot: it leaves before the batch that is being filled, which goes on with the next element.
// max_wait=5ms, in latency mode, gives what is there that long after a batch's first element: for
// requests that come when they like. num_parallel_calls=n: n batches are made ahead of the consumer
// by another thread. Rows that already lie side by side in one buffer (a chain that
// was told the batch size) are not copied.

#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "datasets/waiting_batch.h"
#include "plan/format.h"
#include "runtime/batch_places.h"
#include "runtime/indexed.h"
#include "runtime/serial.h"
#include "runtime/stage_cursor.h"

namespace penstock {

void check_parallel_calls(const NodeDraft& draft);  // map.cc

namespace {

void check_wait(const Attr& wait, bool drop) {
  constexpr double kLongest = 3600;
  if (!(wait.as_float() >= 0 && wait.as_float() <= kLongest))
    NodeDraft::fail("max_wait", "must lie between 0 and 1h: " + format_float(wait.as_float()));
  if (drop)
    NodeDraft::fail("max_wait",
                    "must not stand beside drop_remainder=true: it makes smaller batches");
}

void infer(NodeDraft& draft) {
  const int64_t size = known_batch_size(draft);
  const bool drop = draft.node.args["drop_remainder"].as_bool();
  const Attr& wait = draft.node.args["max_wait"];
  check_parallel_calls(draft);
  if (!wait.is_none()) check_wait(wait, drop);
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  for (LeafSpec& leaf : leaves) leaf = batched_leaf(leaf, drop ? size : Shape::kUnknown);
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  draft.node.cardinality = batch_count(draft.input().cardinality, size, drop);
  if (!wait.is_none() && draft.node.cardinality > 0) draft.node.cardinality = kUnknown;
}

CursorPtr open_waiting(const PlanPtr& node, const OpenContext& context, int64_t size) {
  if (!context.run->options().latency) {
    throw Error(Code::invalid_argument,
                "max_wait lets time decide what a batch holds, which only latency mode allows; "
                "leave it out or say --latency (Options::latency)");
  }
  constexpr double kNanoseconds = 1e9;
  return open_waiting_batch(node, context, size,
                            static_cast<int64_t>(node->arg("max_wait").as_float() * kNanoseconds));
}

// The batches, made ahead by the pool where the user asks for that.
CursorPtr open_ahead(CursorPtr batches, const PlanNode& node, const OpenContext& context) {
  const Attr& calls = node.arg("num_parallel_calls");
  if (!calls.is_tensor() || calls.as_int() <= 1 || is_serial() || context.run->options().latency)
    return batches;
  context.identify(node, batches.get());
  const Cursor::Identity id = batches->identity();
  RunStage* stage = context.run->stage(&node);
  stage->controls.rows_ahead.start(calls.as_int(), INT64_MAX, true);
  StageOptions options;
  options.controls = &stage->controls;
  options.depth = context.depth;
  options.counters = &stage->counters;
  CursorPtr out = open_stage(std::move(batches), context.run, options);
  out->set_identity({nullptr, id.name, id.columns, id.node, id.marks, true});
  return out;
}

std::optional<PlainBatch> plain_batch(const PlanNode& node) {
  if (node.arg("batch_size").is_capture() || !node.arg("max_wait").is_none()) return {};
  return PlainBatch{node.arg("batch_size").as_int(), node.arg("drop_remainder").as_bool()};
}

}  // namespace

OperatorDef batch_operator() {
  OperatorDef op;
  op.name = "batch";
  op.doc = "Consecutive elements stacked: batch(batch_size, drop_remainder=false).";
  op.params = {required("input", Param::Kind::dataset),
               required("batch_size", Param::Kind::tensor),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false)),
               knob("num_parallel_calls"),
               option("deterministic", Param::Kind::boolean, {}),
               option("max_wait", Param::Kind::floating, {})};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<InputsMark>();
  op.plain_batch = plain_batch;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t size = open_batch_size(context, *node);
    if (!node->arg("max_wait").is_none()) return open_waiting(node, context, size);
    OpenContext below = context.below(*node);
    below.batch = std::make_shared<BatchPlaces>(
        size, context.wanted_ahead, context.run->options().threads, context.run->gate().held());
    CursorPtr batches =
        open_batching(below.open(node->inputs[0]), size, node->arg("drop_remainder").as_bool(),
                      node->inputs[0]->spec.leaves());
    return open_ahead(std::move(batches), *node, context);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    const int64_t size = context.int_arg(*node, "batch_size");
    return grouped(open_indexed_input(*node, context), size, node->arg("drop_remainder").as_bool(),
                   [node, context, size](CursorPtr rows) -> CursorPtr {
                     CursorPtr cursor = open_batching(std::move(rows), size, false,
                                                      node->inputs[0]->spec.leaves());
                     context.identify(*node, cursor.get());
                     return cursor;
                   });
  };
  return op;
}

}  // namespace penstock
