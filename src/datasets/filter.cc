// filter(predicate): the elements for which the predicate holds, in order. Runs in chains.
//
// The predicate gives one bool: a scalar, or a tensor of unknown rank that turns out to hold one
// entry.

#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "runtime/chain.h"

namespace penstock {

void check_predicate(const NodeDraft& draft) {
  const Spec& output = draft.node.function("predicate")->output;
  if (!output.is_leaf() || !output.leaf.is_tensor() || output.leaf.dtype != DType::boolean) {
    NodeDraft::fail("predicate", "gives " + output.text() + ", expected bool");
  }
  if (output.leaf.shape.has_rank() && !output.leaf.shape.is_scalar()) {
    NodeDraft::fail("predicate", "gives " + output.text() + ", expected one bool");
  }
}

OperatorDef filter_operator() {
  OperatorDef op;
  op.name = "filter";
  op.doc = "The elements for which predicate(element) is true.";
  op.params = {required("input", Param::Kind::dataset),
               required("predicate", Param::Kind::function)};
  op.rows = Rows::subset;
  op.chain = ChainRole::filter;
  op.passes_marks = true;
  op.resharding = resharding_subset();
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = [](NodeDraft& draft) {
    check_predicate(draft);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = kUnknown;
  };
  op.open = open_chain;
  return op;
}

}  // namespace penstock
