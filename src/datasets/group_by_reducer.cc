// group_by_reducer(key, init, reduce, finalize): for each key init(key) and then reduce(state,
// element) for its elements; at the end finalize(state) of every key, by ascending key.
//
// Errors of elements come out at once, and the state goes on without them.

#include <map>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class GroupByReducerCursor final : public Cursor {
 public:
  GroupByReducerCursor(const PlanPtr& node, const OpenContext& context)
      : run_(context.run),
        key_(context.program(*node, "key")),
        init_(context.program(*node, "init")),
        reduce_(context.program(*node, "reduce")),
        finalize_(context.program(*node, "finalize")),
        input_(context.open_input(*node)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (ended_) return groups_.empty() ? Poll::end : finalize(out);
      if (at_ == in_.rows) {
        const Poll poll = pull_rows(pull);
        if (poll == Poll::pending) return poll;
        continue;
      }
      run_->check_cancelled();
      const int64_t row = at_++;
      if (const ErrorPtr* e = keys_.error_at(row)) {
        *out = error_block(*e, identity().columns, in_.origin.slice(row));
        return Poll::ready;
      }
      add(integer_at(keys_.columns[0].row(row)), row);
    }
  }

 private:
  struct Group {
    std::vector<Tensor> state;
    RowId first;  // the row that began it
  };

  Poll pull_rows(const Pull& pull) {
    at_ = 0;
    in_ = Block();
    const Poll poll = input_->pull(&in_, {run_->options().block_rows, pull.waker});
    if (poll == Poll::ready) {
      Block consumed = in_;
      keys_ = Block();
      key_->run(consumed, &keys_);
    } else {
      in_ = Block();
      ended_ = poll == Poll::end;
    }
    return poll;
  }

  void add(int64_t key, int64_t row) {
    const RowId id{in_.origin.lineage(row), in_.origin.epoch(row), 0};
    auto group = groups_.find(key);
    if (group == groups_.end())
      group = groups_.emplace(key, Group{init_->run_row({Tensor::scalar(key)}, id), id}).first;
    std::vector<Tensor> inputs = group->second.state;
    for (const Column& c : in_.columns) inputs.push_back(c.row(row));
    group->second.state = reduce_->run_row(std::move(inputs), id);
  }

  // The result of the least key; the group is gone whatever comes of it.
  Poll finalize(Block* out) {
    const Group group = std::move(groups_.begin()->second);
    groups_.erase(groups_.begin());
    const std::vector<Tensor> result = finalize_->run_row(group.state, group.first);
    out->clear();
    out->rows = 1;
    out->origin = Origin(mix(group.first.lineage, 1), 1, group.first.epoch);
    for (const Tensor& t : result) out->columns.push_back(Column::constant(t, 1));
    return Poll::ready;
  }

  Run* const run_;
  const std::shared_ptr<const CompiledFunction> key_, init_, reduce_, finalize_;
  CursorPtr input_;
  Block in_, keys_;
  int64_t at_ = 0;  // next row of in_
  std::map<int64_t, Group> groups_;
  bool ended_ = false;
};

}  // namespace

OperatorDef group_by_reducer_operator() {
  OperatorDef op;
  op.name = "group_by_reducer";
  op.doc = "For each key(element) the elements folded: reduce(state, element), from init(key).";
  op.params = {required("input", Param::Kind::dataset), required("key", Param::Kind::function),
               required("init", Param::Kind::function), required("reduce", Param::Kind::function),
               required("finalize", Param::Kind::function)};
  op.state_param = "reduce";
  op.function_input = [](const NodeDraft& draft, std::string_view param) {
    if (param == "key") return draft.input().spec;
    if (param == "init") return Spec::tensor(DType::int64, {});
    if (param == "finalize") return draft.node.function("reduce")->input.items[0];
    return Spec::tuple({draft.node.function("init")->output, draft.input().spec});
  };
  op.infer = [](NodeDraft& draft) {
    const Spec& key = draft.node.function("key")->output;
    if (!(key == Spec::tensor(DType::int64, {})))
      NodeDraft::fail("key", "gives " + key.text() + ", expected one int64");
    draft.node.spec = draft.node.function("finalize")->output;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<GroupByReducerCursor>(node, context);
  };
  return op;
}

}  // namespace penstock
