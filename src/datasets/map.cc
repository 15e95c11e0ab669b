// map(f): each element becomes f(element), in order. Runs in chains (runtime/chain.h).
//
// synchronous=true: one call at a time, whatever the knobs would make of it.

#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "runtime/chain.h"
#include "runtime/indexed.h"

namespace penstock {

// Shared by operators with parallel calls: positive, or auto.
void check_parallel_calls(const NodeDraft& draft) {
  const Attr& calls = draft.node.args["num_parallel_calls"];
  if (!calls.is_auto() && !calls.is_none())
    draft.int_at_least("num_parallel_calls", 1, "must be positive", 1);
}

namespace {

void make_synchronous(NodeDraft& draft) {
  const Attr& calls = draft.node.args["num_parallel_calls"];
  if (!calls.is_auto() && !calls.is_none() && !calls.is_capture() && calls.as_int() > 1)
    NodeDraft::fail("synchronous",
                    "must not stand beside num_parallel_calls; leave one of them out");
  draft.node.args.set("num_parallel_calls", Attr::integer(1));
}

}  // namespace

OperatorDef map_operator() {
  OperatorDef op;
  op.name = "map";
  op.doc = "Each element becomes f(element).";
  op.params = {required("input", Param::Kind::dataset), required("f", Param::Kind::function),
               knob("num_parallel_calls"), option("deterministic", Param::Kind::boolean, {}),
               option("synchronous", Param::Kind::boolean, Attr::boolean(false))};
  op.params.back().performance = true;  // it decides no data
  op.rows = Rows::same;
  op.chain = ChainRole::map;
  op.passes_marks = true;
  op.resharding = resharding_row_by_row();
  op.changes_nothing = [](const PlanNode& node) { return is_identity(*node.function("f")); };
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    check_parallel_calls(draft);
    if (draft.node.args["synchronous"].as_bool()) make_synchronous(draft);
    const FunctionPtr& f = draft.node.function("f");
    if (f->output.kind == Spec::Kind::none)
      NodeDraft::fail("f", "gives none; a function must give a value");
    draft.node.spec = f->output;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = open_chain;
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    std::shared_ptr<Indexed> input = open_indexed_input(*node, context);
    return make_indexed(input->rows(),
                        [input, f = context.program(*node, "f")](std::span<const int64_t> indices) {
                          Block in = input->at(indices), out;
                          f->run(in, &out);
                          for (RowError& e : out.errors)
                            e.error = std::make_shared<const Error>(e.error->at("map"));
                          return out;
                        });
  };
  return op;
}

}  // namespace penstock
