// rejection_resample(class_func, target_dist, initial_dist=none, seed): elements are left out so
// that the classes of those that stay are spread as target_dist says; gives (class, element).
//
// One pass, in order, each element at most once: an element of class c stays with a chance in
// proportion to target[c] / initial[c]. Without initial_dist that is counted as the elements come,
// beginning with kSmoothing of each class. The chance is drawn by the element's lineage.

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

std::vector<double> numbers_of(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.entries_count(); ++i) out.push_back(number_at(t, i));
  return out;
}

// The chance of each class to stay: the class most in want of elements always does.
std::vector<double> chances(const std::vector<double>& target, const std::vector<double>& initial) {
  std::vector<double> out;
  for (size_t c = 0; c < target.size(); ++c)
    out.push_back(target[c] == 0 ? 0 : target[c] / initial[c]);
  const double most = std::ranges::max(out);
  for (double& chance : out) chance /= most;
  return out;
}

struct RejectionMark {
  static constexpr MarkForm kForm{"rejection", 1};
  std::vector<int64_t> seen;  // elements of each class; empty with initial_dist
  static void fields(auto& mark, auto& f) { f.counts("seen", mark.seen); }
};

class RejectionCursor final : public Cursor {
 public:
  RejectionCursor(CursorPtr input, std::shared_ptr<const CompiledFunction> class_func,
                  const PlanNode& node, const std::optional<RejectionMark>& from)
      : input_(std::move(input)),
        class_func_(std::move(class_func)),
        target_(numbers_of(node.arg("target_dist").tensor())),
        counting_(node.arg("initial_dist").is_none()),
        seen_(counting_ ? std::vector<double>(target_.size(), kSmoothing)
                        : numbers_of(node.arg("initial_dist").tensor())),
        seed_(static_cast<uint64_t>(node.arg("seed").as_int())) {
    if (from && from->seen.size() != (counting_ ? seen_.size() : 0))
      throw Error(Code::data_loss, "the checkpoint is damaged: it has other classes");
    for (size_t c = 0; counting_ && from && c < seen_.size(); ++c)
      seen_[c] = kSmoothing + static_cast<double>(from->seen[c]);
    chances_ = chances(target_, seen_);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const Poll poll = input_->pull(out, pull);
      if (poll != Poll::ready) return poll;
      Block in = *out, classes;
      class_func_->run(in, &classes);
      Column numbers = Column::dense(DType::int32, {}, out->rows);
      std::vector<int32_t> kept;
      for (int32_t i = 0; i < out->rows; ++i) {
        int32_t& number = numbers.mutable_entries<int32_t>()[i];
        number = 0;
        if (classes.error_at(i) || stays(&classes, i, &number)) kept.push_back(i);
      }
      out->errors = std::move(classes.errors);
      out->columns.insert(out->columns.begin(), std::move(numbers));
      if (static_cast<int64_t>(kept.size()) < out->rows) *out = out->gather(kept);
      if (out->rows > 0) {
        if (identity().marks) mark(out);
        return Poll::ready;
      }
    }
  }

 private:
  static constexpr double kSmoothing = 10;

  void mark(Block* out) const {
    RejectionMark counts;
    for (size_t c = 0; counting_ && c < seen_.size(); ++c)
      counts.seen.push_back(static_cast<int64_t>(seen_[c] - kSmoothing));
    set_mark(out, counts, {&input_->position(), 1});
  }

  bool stays(Block* classes, int64_t row, int32_t* number) {
    const Tensor value = classes->columns[0].row(row);
    const int64_t c = value.entries_count() == 1 ? integer_at(value) : -1;
    if (c < 0 || c >= static_cast<int64_t>(target_.size())) {
      const Error error(Code::invalid_argument, "class_func must give a class from 0 to " +
                                                    std::to_string(target_.size() - 1) + ": " +
                                                    std::to_string(c));
      const RowError failed{row, std::make_shared<const Error>(error)};
      classes->errors.insert(std::ranges::upper_bound(classes->errors, row, {}, &RowError::row),
                             failed);
      return true;
    }
    *number = static_cast<int32_t>(c);
    if (counting_) {
      seen_[static_cast<size_t>(c)] += 1;
      chances_ = chances(target_, seen_);
    }
    RandomStream random(seed_, classes->origin.epoch(row), classes->origin.lineage(row));
    return random.next_double() < chances_[static_cast<size_t>(c)];
  }

  CursorPtr input_;
  std::shared_ptr<const CompiledFunction> class_func_;
  const std::vector<double> target_;
  const bool counting_;
  std::vector<double> seen_;  // elements of each class, or the part that each is of all
  const uint64_t seed_;
  std::vector<double> chances_;
};

// A list of at least one number, none negative, not all zero.
std::vector<double> distribution(const NodeDraft& draft, const char* param) {
  const Attr& dist = draft.node.args[param];
  if (!dist.is_tensor()) NodeDraft::fail(param, "must be constant");
  const Tensor& t = dist.tensor();
  if (t.dims().rank() != 1 || t.dims()[0] == 0 || !is_float(t.dtype())) {
    NodeDraft::fail(param, "must be a list of floats, one for each class: it is " +
                               LeafSpec::tensor(t.dtype(), Shape(t.dims())).text());
  }
  std::vector<double> out = numbers_of(t);
  double total = 0;
  for (const double part : out) {
    if (!(part >= 0) || !std::isfinite(part))
      NodeDraft::fail(param, "must not be negative: " + std::to_string(part));
    total += part;
  }
  if (total == 0) NodeDraft::fail(param, "must not be all zero");
  for (double& part : out) part /= total;
  return out;
}

void infer(NodeDraft& draft) {
  const Spec& output = draft.node.function("class_func")->output;
  if (!output.is_leaf() || !output.leaf.is_tensor() || !is_integer(output.leaf.dtype) ||
      (output.leaf.shape.has_rank() && output.leaf.shape.rank() > 0)) {
    NodeDraft::fail("class_func", "gives " + output.text() + ", expected an integer");
  }
  const std::vector<double> target = distribution(draft, "target_dist");
  bool all_stay = target.size() == 1;
  if (!draft.node.args["initial_dist"].is_none()) {
    const std::vector<double> initial = distribution(draft, "initial_dist");
    if (initial.size() != target.size()) {
      NodeDraft::fail("initial_dist", "must have an entry for each class, " +
                                          std::to_string(target.size()) + ": it has " +
                                          std::to_string(initial.size()));
    }
    for (size_t c = 0; c < target.size(); ++c) {
      if (initial[c] == 0 && target[c] > 0)
        NodeDraft::fail("initial_dist", "is zero for a class that is wanted: " + std::to_string(c));
    }
    all_stay |= initial == target;
  }
  const int64_t n = draft.input().cardinality;
  draft.node.spec = Spec::tuple({Spec::tensor(DType::int32, {}), draft.input().spec});
  draft.node.cardinality = n == kInfinite || n == 0 || all_stay ? n : kUnknown;
}

}  // namespace

OperatorDef rejection_resample_operator() {
  OperatorDef op;
  op.name = "rejection_resample";
  op.doc =
      "(class, element), leaving elements out until the classes are spread as target_dist says.";
  op.params = {required("input", Param::Kind::dataset),
               required("class_func", Param::Kind::function),
               required("target_dist", Param::Kind::tensor),
               optional("initial_dist", Param::Kind::tensor, {}),
               optional("seed", Param::Kind::integer, {})};
  op.random = true;
  op.rows = Rows::subset;
  op.function_input = [](const NodeDraft& draft, std::string_view) { return draft.input().spec; };
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<RejectionCursor>(context.open_input(*node),
                                             context.program(*node, "class_func"), *node,
                                             context.resumed<RejectionMark>(*node));
  };
  return op;
}

}  // namespace penstock
