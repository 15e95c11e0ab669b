// value_of(dataset): the value of a pipeline that ends in one (reduce, get_single_element), inside
// a function. The elaborator writes it where such a pipeline stands; it prints as the pipeline.
//
// The row's thread runs the pipeline itself: nothing in it may need another one.

#include "datasets/value_of.h"

#include "base/random.h"
#include "data/object_list.h"
#include "runtime/open.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

Spec infer(const InferContext& context) {
  const LeafSpec& type = context.inputs[0].type;
  if (!is_dataset(type))
    context.fail(0, "is " + type.text() + ", expected a pipeline that ends in a value");
  return *type.element;
}

void run_row(const RowCall& call) {
  const auto* dataset = dynamic_cast<const DatasetValue*>(call.inputs[0].object().get());
  Run* const run = Run::current();
  PENSTOCK_CHECK(dataset != nullptr && run != nullptr);
  const PlanPtr& plan = dataset->plan();
  if (!plan->op->run_sink)
    throw Error(Code::invalid_argument, "`" + plan->op->name + "` gives no value");
  OpenContext context{run, dataset->environment(), mix(call.row.lineage, 1), call.row.epoch};
  context.nested = std::make_shared<PipelineState>();
  const ScopedSerial serial;
  std::vector<Tensor> value = plan->op->run_sink(plan, context);
  for (size_t i = 0; i < value.size(); ++i) call.outputs[i].set(std::move(value[i]));
}

}  // namespace

OpDef value_of_op() {
  OpDef op;
  op.name = "value_of";
  op.params = {required("dataset", Param::Kind::tensor)};
  op.doc = "the value of a pipeline that ends in one";
  op.infer = infer;
  op.row = run_row;
  op.can_fail = true;
  op.cost_ns = 1000;
  op.group = "op";
  return op;
}

}  // namespace penstock
