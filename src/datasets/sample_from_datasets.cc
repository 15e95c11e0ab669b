// sample_from_datasets(datasets, weights=none, seed, stop_on_empty_dataset=false,
// rerandomize_each_iteration=false): each element comes from a dataset drawn by its weight.
//
// Draw k decides element k; drawn is among the datasets that have not ended, so however small the
// weights left, one draw is enough. Datasets of no weight are left out; one that is left alone is
// the result itself.

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/mixture.h"

namespace penstock {
namespace {

class Draws final : public Selector {
 public:
  Draws(std::vector<double> weights, uint64_t seed, uint64_t epoch, uint64_t lineage, int64_t k)
      : weights_(std::move(weights)), seed_(seed), epoch_(epoch), lineage_(lineage), k_(k) {}

  Poll select(const std::vector<bool>& alive, Waker*, int64_t* index, ErrorPtr*) override {
    double total = 0;
    for (size_t i = 0; i < weights_.size(); ++i) total += alive[i] ? weights_[i] : 0;
    if (total == 0) return Poll::end;
    RandomStream random(seed_, epoch_, mix(lineage_, static_cast<uint64_t>(k_++)));
    double left = random.next_double() * total;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!alive[i] || weights_[i] == 0) continue;
      *index = static_cast<int64_t>(i);  // the last one stands, should rounding leave some
      left -= weights_[i];
      if (left < 0) break;
    }
    return Poll::ready;
  }
  int64_t number() const override { return k_; }

 private:
  const std::vector<double> weights_;
  const uint64_t seed_, epoch_, lineage_;
  int64_t k_;
};

std::vector<double> weights_of(const PlanNode& node) {
  const Attr& given = node.arg("weights");
  std::vector<double> out(node.inputs.size(), 1.0);
  if (given.is_none()) return out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = std::max(0.0, number_at(given.tensor(), static_cast<int64_t>(i)));
  return out;
}

// Those with a weight.
std::vector<size_t> drawn_inputs(const PlanNode& node) {
  const std::vector<double> weights = weights_of(node);
  std::vector<size_t> out;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) out.push_back(i);
  }
  return out;
}

void check_weights(const NodeDraft& draft) {
  const Attr& weights = draft.node.args["weights"];
  if (weights.is_none()) return;
  if (!weights.is_tensor()) NodeDraft::fail("weights", "must be constant");
  const Tensor& t = weights.tensor();
  if (t.dtype() != DType::float32 && t.dtype() != DType::float64) {
    NodeDraft::fail("weights", "must be float32 or float64, such as [0.5, 0.5]: " +
                                   std::string(dtype_name(t.dtype())));
  }
  if (t.dims().rank() != 1 || t.dims()[0] != static_cast<int64_t>(draft.node.inputs.size())) {
    NodeDraft::fail("weights", "must be a list of one for each dataset, " +
                                   std::to_string(draft.node.inputs.size()) + ": it has shape " +
                                   t.dims().text());
  }
  for (int64_t i = 0; i < t.dims()[0]; ++i) {
    if (!std::isfinite(number_at(t, i)))
      NodeDraft::fail("weights", "must be finite: " + std::to_string(number_at(t, i)));
  }
}

void infer(NodeDraft& draft) {
  if (!draft.node.inputs.empty()) check_weights(draft);
  infer_mixture(draft, draft.node.inputs.size());
  const std::vector<size_t> drawn = drawn_inputs(draft.node);
  if (drawn.size() > 1) {
    draft.node.cardinality = kUnknown;
    for (const size_t i : drawn) {
      if (draft.input(i).cardinality == kInfinite) draft.node.cardinality = kInfinite;
    }
  } else {
    draft.node.cardinality = drawn.empty() ? 0 : draft.input(drawn[0]).cardinality;
  }
}

}  // namespace

OperatorDef sample_from_datasets_operator() {
  OperatorDef op;
  op.name = "sample_from_datasets";
  op.doc = "Elements of several datasets, each from one drawn by its weight.";
  op.params = {required("datasets", Param::Kind::datasets),
               optional("weights", Param::Kind::tensor, {}),
               optional("seed", Param::Kind::integer, {}),
               optional("stop_on_empty_dataset", Param::Kind::boolean, Attr::boolean(false)),
               optional("rerandomize_each_iteration", Param::Kind::boolean, Attr::boolean(false))};
  op.random = true;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const std::vector<double> weights = weights_of(*node);
    std::vector<CursorPtr> inputs;
    for (size_t i = 0; i < weights.size(); ++i)
      inputs.push_back(weights[i] > 0 ? open_mixed_input(*node, context, i) : open_nothing());
    if (drawn_inputs(*node).empty()) return open_nothing();
    const Attr& anew = node->arg("rerandomize_each_iteration");
    auto draws = std::make_unique<Draws>(weights, static_cast<uint64_t>(node->arg("seed").as_int()),
                                         !anew.is_none() && anew.as_bool() ? context.epoch : 0,
                                         context.lineage, context.resumed_number(*node));
    return open_mixture(*node, context, std::move(inputs), std::move(draws),
                        node->arg("stop_on_empty_dataset").as_bool());
  };
  return op;
}

}  // namespace penstock
