// fingerprint(): two hashes of the pipeline as it is written, 32 hex digits each. `identity`
// changes with all that decides the data: operators, arguments, functions, seeds, and path, size
// and time of each file that is named; caches go by it. `sharing` leaves out the seeds and what the
// files are.
//
// Names, comments and performance options (num_parallel_calls, buffer sizes) change neither.

#include "datasets/datasets.h"
#include "runtime/named_files.h"
#include "runtime/open.h"

namespace penstock {

OperatorDef fingerprint_operator() {
  OperatorDef op;
  op.name = "fingerprint";
  op.doc =
      "Hashes of the pipeline: all that decides its data, and the same without seeds and files.";
  op.params = {required("input", Param::Kind::dataset)};
  op.sink = op.asks_plan = true;
  op.infer = [](NodeDraft& draft) {
    const Spec text = Spec::tensor(DType::bytes, {});
    draft.node.spec = Spec::dict({"identity", "sharing"}, {text, text});
    draft.node.cardinality = 1;
  };
  op.run_sink = [](const PlanPtr& node, OpenContext&) {
    const PlanNode& plan = *node->inputs[0];
    return std::vector<Tensor>{Tensor::of_bytes(identity_with_files(plan)),
                               Tensor::of_bytes(fingerprint(plan).sharing)};
  };
  return op;
}

}  // namespace penstock
