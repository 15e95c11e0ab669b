// at(index): the element that an iteration gives at this index, where the number of elements is
// known.
//
// Straight, where each stage can give rows by index; else by running up to there. A negative index
// is out of range; an element that fails is its error.

#include "datasets/datasets.h"
#include "datasets/sink.h"
#include "runtime/indexed.h"

namespace penstock {
namespace {

std::vector<Tensor> element_of(const Block& block, int64_t row) {
  if (const ErrorPtr* e = block.error_at(row)) throw Error(**e);
  std::vector<Tensor> out;
  for (const Column& c : block.columns) out.push_back(c.row(row));
  return out;
}

}  // namespace

OperatorDef at_operator() {
  OperatorDef op;
  op.name = "at";
  op.doc = "The element at an index, straight where every stage can give it.";
  op.params = {required("input", Param::Kind::dataset), required("index", Param::Kind::tensor)};
  op.sink = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    const int64_t index = context.int_arg(*node, "index");
    check_index(*node->inputs[0], index);
    if (!not_indexable(*node->inputs[0])) {
      const IndexedPtr rows = open_indexed_input(*node, context);
      // Else another number was promised, and running up to there says where it goes wrong.
      if (rows->rows() == node->inputs[0]->cardinality) return element_of(rows->at({&index, 1}), 0);
    }
    std::vector<Tensor> out;
    int64_t first = 0;
    bool found = false;
    ErrorPtr error;  // why there may be fewer than were to be expected
    for_each_block(node, context, [&](const Block& block) {
      if (!error && !block.errors.empty()) error = block.errors[0].error;
      found = index < first + block.rows;
      if (found) out = element_of(block, index - first);
      first += block.rows;
      return !found;
    });
    if (!found && error) throw Error(*error);
    if (!found) check_index(index, first);
    return out;
  };
  return op;
}

}  // namespace penstock
