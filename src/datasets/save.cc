// save(path): writes the elements to a file for load(), and gives their number.
//
// The file is there when all of it is: an error, a cancelled run or a full disk leaves nothing.

#include "datasets/datasets.h"
#include "datasets/sink.h"
#include "datasets/snapshot_cursor.h"
#include "io/snapshot.h"

namespace penstock {

OperatorDef save_operator() {
  OperatorDef op;
  op.name = "save";
  op.doc = "Writes the elements to a file that load() reads; gives their number.";
  op.params = {required("input", Param::Kind::dataset), required("path", Param::Kind::text),
               option("compression", Param::Kind::text, Attr::text(""))};
  op.sink = true;
  op.infer = [](NodeDraft& draft) {
    const PlanNode& input = draft.input();
    if (draft.node.args["path"].as_string().empty()) NodeDraft::fail("path", "must not be empty");
    if (input.cardinality == kInfinite) NodeDraft::fail("input", "never ends; cut it with take(n)");
    check_snapshot_arguments(input.spec, draft.node.args["compression"]);
    draft.node.spec = Spec::tensor(DType::int64, {});
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext& context) {
    SnapshotWriter writer(node->arg("path").as_string(), node->inputs[0]->spec,
                          node->arg("compression").as_string());
    for_each_block(node, context, [&](const Block& block) {
      if (!block.errors.empty()) throw Error(*block.errors[0].error);
      writer.write(block);
      return true;
    });
    writer.close();
    return std::vector<Tensor>{Tensor::scalar(writer.rows())};
  };
  return op;
}

}  // namespace penstock
