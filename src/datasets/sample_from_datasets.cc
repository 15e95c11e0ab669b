// sample_from_datasets(datasets, weights=none, seed, stop_on_empty_dataset=false,
// rerandomize_each_iteration=false): each element comes from a dataset drawn by its weight.
//
// `weights` is a list, or a dataset of such lists (or tuples): each draw takes the next one, and
// the mixture ends with them. A list that fails, or holds no weights, is an error at its place.
// Where those that have not ended have no weight, the list is passed over. Draw k decides element
// k; drawn is among the datasets that have not ended, so however small the weights left, one draw
// is enough. Datasets of weight 0 are left out; one that is left alone is the result itself.

#include <cmath>
#include <functional>
#include <numeric>

#include "base/cancellation.h"
#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/mixture.h"

namespace penstock {
namespace {

// Which of the datasets draw k takes; -1: none of those that are alive has a weight.
int64_t drawn(const std::vector<double>& weights, const std::vector<bool>& alive, uint64_t seed,
              uint64_t epoch, uint64_t lineage, int64_t k) {
  double total = 0;
  for (size_t i = 0; i < weights.size(); ++i) total += alive[i] ? weights[i] : 0;
  if (total == 0) return -1;
  RandomStream random(seed, epoch, mix(lineage, static_cast<uint64_t>(k)));
  double left = random.next_double() * total;
  int64_t index = -1;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!alive[i] || weights[i] == 0) continue;
    index = static_cast<int64_t>(i);  // the last one stands, should rounding leave some
    left -= weights[i];
    if (left < 0) break;
  }
  return index;
}

class Draws final : public Selector {
 public:
  Draws(std::vector<double> weights, uint64_t seed, uint64_t epoch, uint64_t lineage, int64_t k)
      : weights_(std::move(weights)), seed_(seed), epoch_(epoch), lineage_(lineage), k_(k) {}

  Poll select(const std::vector<bool>& alive, Waker*, int64_t* index, ErrorPtr*) override {
    *index = drawn(weights_, alive, seed_, epoch_, lineage_, k_);
    if (*index < 0) return Poll::end;
    ++k_;
    return Poll::ready;
  }
  int64_t number() const override { return k_; }

 private:
  const std::vector<double> weights_;
  const uint64_t seed_, epoch_, lineage_;
  int64_t k_;
};

// The same with weights that a dataset gives.
class GivenDraws final : public Selector {
 public:
  GivenDraws(CursorPtr weights, uint64_t seed, uint64_t epoch, uint64_t lineage, int64_t k)
      : rows_(std::move(weights)), seed_(seed), epoch_(epoch), lineage_(lineage), k_(k) {}

  Poll select(const std::vector<bool>& alive, Waker* waker, int64_t* index,
              ErrorPtr* error) override {
    for (;;) {
      check_cancelled();
      const Poll poll = rows_.next(waker);
      if (poll != Poll::ready) return poll;
      const int64_t k = k_++;
      *error = read(alive.size());
      if (*error) return Poll::ready;
      *index = drawn(weights_, alive, seed_, epoch_, lineage_, k);
      if (*index >= 0) return Poll::ready;
    }
  }
  int64_t number() const override { return k_; }
  const StreamPosition* position() const override { return &rows_.position(); }

 private:
  // The weights of the row at hand; an error when it holds none for `count` datasets.
  ErrorPtr read(size_t count) {
    if (const ErrorPtr* e = rows_.error()) return *e;
    weights_.clear();
    for (const Column& column : rows_.columns()) {
      const Tensor row = column.row(rows_.row());
      for (int64_t i = 0; i < row.entries_count(); ++i) weights_.push_back(number_at(row, i));
    }
    std::string wrong;
    if (weights_.size() != count) {
      wrong = "there are " + std::to_string(count) + " datasets, but " +
              std::to_string(weights_.size()) + " weights";
    }
    double total = 0;
    for (const double w : weights_) {
      if (!(std::isfinite(w) && w >= 0))
        wrong = "a weight must be positive or 0: " + std::to_string(w);
      total += w;
    }
    if (wrong.empty() && total == 0) wrong = "the weights are all 0";
    if (wrong.empty()) return nullptr;
    return std::make_shared<const Error>(Code::invalid_argument, wrong);
  }

  RowReader rows_;
  std::vector<double> weights_;
  const uint64_t seed_, epoch_, lineage_;
  int64_t k_;
};

// How many datasets are mixed: the input behind them, if there is one, gives the weights.
size_t mixed_count(const PlanNode& node) {
  const std::function<size_t(const Attr&)> leaves = [&](const Attr& a) -> size_t {
    if (a.is_tensor()) return 1;
    size_t out = 0;
    for (const Attr& item : a.items()) out += leaves(item);
    return out;
  };
  return leaves(node.arg("structure"));
}

std::vector<double> weights_of(const PlanNode& node) {
  const Attr& given = node.arg("weights");
  std::vector<double> out(mixed_count(node), 1.0);
  if (given.is_none()) return out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = number_at(given.tensor(), static_cast<int64_t>(i));
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
    const double weight = number_at(t, i);
    if (std::isfinite(weight) && weight >= 0) continue;
    NodeDraft::fail("weights", std::string("must be finite and not negative: ") +
                                   std::to_string(weight) + " is weight " + std::to_string(i));
  }
  for (int64_t i = 0; i < t.dims()[0]; ++i) {
    if (number_at(t, i) > 0) return;
  }
  NodeDraft::fail("weights", "must not all be 0, as " + std::string(dtype_name(t.dtype())) +
                                 " numbers: nothing would be drawn");
}

void check_given_weights(const NodeDraft& draft, size_t count) {
  if (!draft.node.args["weights"].is_none())
    NodeDraft::fail("weights", "is given twice: as a list and as a dataset");
  const Spec& spec = draft.input(count).spec;
  const auto wrong = [&] {
    NodeDraft::fail("weights_dataset", "weights gives " + spec.text() + ", expected float32[" +
                                           std::to_string(count) + "]: a weight for each dataset");
  };
  const std::vector<LeafSpec> leaves = spec.leaves();
  if (!spec.is_leaf() && (spec.kind != Spec::Kind::tuple || leaves.size() != count)) wrong();
  for (const LeafSpec& leaf : leaves) {
    if (!leaf.is_tensor() || (leaf.dtype != DType::float32 && leaf.dtype != DType::float64))
      wrong();
    const int rank = spec.is_leaf() ? 1 : 0;
    if (leaf.shape.has_rank() && leaf.shape.rank() != rank) wrong();
    if (leaf.shape.rank() == 1 && leaf.shape[0] >= 0 &&
        leaf.shape[0] != std::ssize(draft.node.inputs) - 1)
      wrong();
  }
}

void infer(NodeDraft& draft) {
  const size_t count = mixed_count(draft.node);
  if (count > 0 && count < draft.node.inputs.size()) {
    check_given_weights(draft, count);
    infer_mixture(draft, count);
    if (draft.input(count).cardinality != kInfinite) draft.node.cardinality = kUnknown;
    return;
  }
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
               optional("rerandomize_each_iteration", Param::Kind::boolean, Attr::boolean(false)),
               option("weights_dataset", Param::Kind::dataset, {})};
  op.random = true;
  op.rows = Rows::mixed;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const std::vector<double> weights = weights_of(*node);
    const auto seed = static_cast<uint64_t>(node->arg("seed").as_int());
    const Attr& anew = node->arg("rerandomize_each_iteration");
    const uint64_t epoch = !anew.is_none() && anew.as_bool() ? context.epoch : 0;
    const bool stop = node->arg("stop_on_empty_dataset").as_bool();
    const int64_t k = resumed_draws(*node, context);
    std::vector<CursorPtr> inputs;
    if (weights.size() < node->inputs.size()) {
      for (size_t i = 0; i < weights.size(); ++i)
        inputs.push_back(open_mixed_input(*node, context, i));
      auto draws = std::make_unique<GivenDraws>(open_mixed_input(*node, context, weights.size()),
                                                seed, epoch, context.lineage, k);
      return open_mixture(*node, context, std::move(inputs), std::move(draws), stop);
    }
    for (size_t i = 0; i < weights.size(); ++i)
      inputs.push_back(weights[i] > 0 ? open_mixed_input(*node, context, i) : open_nothing());
    if (drawn_inputs(*node).empty()) return open_nothing();
    auto draws = std::make_unique<Draws>(weights, seed, epoch, context.lineage, k);
    return open_mixture(*node, context, std::move(inputs), std::move(draws), stop);
  };
  return op;
}

}  // namespace penstock
