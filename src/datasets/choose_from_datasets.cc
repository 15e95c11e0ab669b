// choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=true): each choice says
// which dataset gives the next element.
//
// A choice that fails, or of a dataset that is not there, is an error at its place.

#include "datasets/datasets.h"
#include "datasets/mixture.h"

namespace penstock {
namespace {

class Choices final : public Selector {
 public:
  explicit Choices(CursorPtr choices) : choices_(std::move(choices)) {}

  Poll select(const std::vector<bool>&, Waker* waker, int64_t* index, ErrorPtr* error) override {
    const Poll poll = choices_.next(waker);
    if (poll != Poll::ready) return poll;
    if (const ErrorPtr* e = choices_.error()) {
      *error = *e;
    } else {
      *index = choices_.columns()[0].row(choices_.row()).entry<int64_t>();
    }
    return Poll::ready;
  }
  int64_t number() const override { return 0; }
  const StreamPosition* position() const override { return &choices_.position(); }

 private:
  RowReader choices_;
};

}  // namespace

OperatorDef choose_from_datasets_operator() {
  OperatorDef op;
  op.name = "choose_from_datasets";
  op.doc = "Elements of several datasets, in the order that choice_dataset says.";
  op.params = {required("datasets", Param::Kind::datasets),
               required("choice_dataset", Param::Kind::dataset),
               optional("stop_on_empty_dataset", Param::Kind::boolean, Attr::boolean(true))};
  op.rows = Rows::mixed;
  op.infer = [](NodeDraft& draft) {
    const size_t count = draft.node.inputs.size() - 1;
    const Spec& choice = draft.input(count).spec;
    if (!choice.is_leaf() || !choice.leaf.is_tensor() || choice.leaf.dtype != DType::int64 ||
        !choice.leaf.shape.is_scalar()) {
      NodeDraft::fail("choice_dataset", "gives " + choice.text() + ", expected int64");
    }
    infer_mixture(draft, count);
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    std::vector<CursorPtr> inputs;
    for (size_t i = 0; i + 1 < node->inputs.size(); ++i)
      inputs.push_back(open_mixed_input(*node, context, i));
    auto choices = std::make_unique<Choices>(open_mixed_input(*node, context, inputs.size()));
    return open_mixture(*node, context, std::move(inputs), std::move(choices),
                        node->arg("stop_on_empty_dataset").as_bool());
  };
  return op;
}

}  // namespace penstock
