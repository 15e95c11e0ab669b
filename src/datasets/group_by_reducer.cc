// group_by_reducer(key, init, reduce, finalize): for each key init(key) and then reduce(state,
// element) for its elements; at the end finalize(state) of every key, by ascending key.
//
// Errors of elements come out at once, and the state goes on without them. Marks hold the states of
// all keys while they are small; where they are not, the input is folded again from its beginning,
// and keys that were given already are not finalized again.

#include <map>
#include <optional>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/held_memory.h"
#include "runtime/open.h"

namespace penstock {
namespace {

// With the states as tensors, and the position of the input. States that are too large are left
// out, and the input is folded again from its beginning.
struct GroupByReducerMark {
  static constexpr MarkForm kForm{"reducer", 1};
  bool has_states = false;
  int64_t delivered = 0;  // keys, without the states
  static void fields(auto& mark, auto& f) {
    f.flag("has_states", mark.has_states);
    f.count("delivered", mark.delivered);
  }
};

class GroupByReducerCursor final : public Cursor {
 public:
  GroupByReducerCursor(const PlanPtr& node, const OpenContext& context)
      : run_(context.run),
        key_(context.program(*node, "key")),
        init_(context.program(*node, "init")),
        reduce_(context.program(*node, "reduce")),
        finalize_(context.program(*node, "finalize")),
        types_(node->function("reduce")) {
    const auto from = context.resumed<GroupByReducerMark>(*node);
    OpenContext below = context.deeper();
    if (from && from->has_states) {
      below.at = context.resume(*node)->input();
      restore(context.resume(*node)->state());
    } else if (from) {
      gone_ = from->delivered;
    }
    input_ = below.open(node->inputs[0]);
    trail_.start(*input_);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (ended_ && gone_ > 0) drop_given();
      if (ended_) return groups_.empty() ? Poll::end : finalize(out);
      if (at_ == in_.rows) {
        const Poll poll = pull_rows(pull);
        if (poll == Poll::pending) return poll;
        continue;
      }
      run_->check_cancelled();
      const int64_t row = at_++;
      if (const ErrorPtr* e = keys_.error_at(row)) {
        if (gone_ > 0) continue;  // came out before the first key did
        *out = error_block(*e, identity().columns, in_.origin.slice(row));
        if (identity().marks) mark(out);
        return Poll::ready;
      }
      try {
        add(integer_at(keys_.columns[0].row(row)), row);
      } catch (const Error& e) {
        if (gone_ == 0 || e.code() == Code::cancelled) throw;
      }
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
    trail_.forget(trail_.rows());
    const Poll poll = input_->pull(&in_, {run_->options().block_rows, pull.waker});
    if (poll == Poll::ready) {
      trail_.note(*input_, in_.rows);
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
    if (group == groups_.end()) {
      std::vector<Tensor> state = init_->run_row({Tensor::scalar(key)}, id);
      hold(state);
      group = groups_.emplace(key, Group{std::move(state), id}).first;
    }
    std::vector<Tensor> inputs = group->second.state;
    for (const Column& c : in_.columns) inputs.push_back(c.row(row));
    group->second.state = reduce_->run_row(std::move(inputs), id);
  }

  void hold(const std::vector<Tensor>& state) {
    held_.grow(
        bytes_of(state),
        [this] { return "the states of " + std::to_string(groups_.size()) + " keys"; },
        "group by fewer keys");
  }

  // Of a group beside its buffers.
  static int64_t bytes_of(const std::vector<Tensor>& state) {
    constexpr size_t kTreeNode = 64;
    return static_cast<int64_t>(kTreeNode + sizeof(Group) + state.size() * sizeof(Tensor));
  }

  // The result of the least key; the group is gone whatever comes of it.
  Poll finalize(Block* out) {
    const Group group = std::move(groups_.begin()->second);
    groups_.erase(groups_.begin());
    held_.shrink(bytes_of(group.state));
    const std::vector<Tensor> result = finalize_->run_row(group.state, group.first);
    out->clear();
    out->rows = 1;
    out->origin = Origin(mix(group.first.lineage, 1), 1, group.first.epoch);
    for (const Tensor& t : result) out->columns.push_back(Column::constant(t, 1));
    ++given_;
    if (identity().marks) mark(out);
    return Poll::ready;
  }

  void mark(Block* out) const {
    if (const auto state = small_state()) {
      const StreamPosition input = trail_.before(trail_.rows() - (in_.rows - at_));
      set_mark(out, GroupByReducerMark{true, 0}, {&input, 1}, *state);
    } else if (ended_) {
      set_mark(out, GroupByReducerMark{false, given_});
    }
  }

  // Keys, lineages and epochs as vectors, then the states of each key; nothing where that is large.
  std::optional<std::vector<Tensor>> small_state() const {
    constexpr int64_t kMostBytes = 16 << 10;
    int64_t bytes = 0;
    std::vector<int64_t> keys, lineages, epochs;
    std::vector<Tensor> out(3);
    for (const auto& [key, group] : groups_) {
      bytes += 3 * static_cast<int64_t>(sizeof key);
      for (const Tensor& t : group.state) {
        if (t.object()) return std::nullopt;
        bytes += t.payload_bytes() + 32;  // dtype and shape, too, are written
        out.push_back(t);
      }
      if (bytes > kMostBytes) return std::nullopt;
      keys.push_back(key);
      lineages.push_back(static_cast<int64_t>(group.first.lineage));
      epochs.push_back(static_cast<int64_t>(group.first.epoch));
    }
    out[0] = Tensor::vector<int64_t>(keys);
    out[1] = Tensor::vector<int64_t>(lineages);
    out[2] = Tensor::vector<int64_t>(epochs);
    return out;
  }

  void restore(const std::vector<Tensor>& state) {
    const size_t leaves = types_->input.items[0].leaves().size();
    bool fits = state.size() >= 3;
    for (size_t i = 0; fits && i < 3; ++i) {
      fits = !state[i].object() && state[i].dtype() == DType::int64 &&
             state[i].dims() == state[0].dims() && state[i].dims().rank() == 1;
    }
    const int64_t count = fits ? state[0].entries_count() : 0;
    fits = fits && state.size() == 3 + static_cast<size_t>(count) * leaves;
    for (size_t i = 3; fits && i < state.size(); ++i) {
      const LeafSpec& type = types_->type(static_cast<ValueId>((i - 3) % leaves));
      fits = !state[i].object() && state[i].dtype() == type.dtype &&
             type.shape.admits(state[i].dims());
    }
    if (!fits)
      throw Error(Code::data_loss, "the checkpoint is damaged: the states are of another type");
    auto next = state.begin() + 3;
    for (int64_t i = 0; i < count; ++i) {
      const auto end = next + static_cast<std::ptrdiff_t>(leaves);
      std::vector<Tensor> one(next, end);
      hold(one);
      groups_[state[0].entry<int64_t>(i)] = {
          std::move(one),
          {static_cast<uint64_t>(state[1].entry<int64_t>(i)),
           static_cast<uint64_t>(state[2].entry<int64_t>(i)), 0}};
      next = end;
    }
  }

  // Of keys that were given before the mark.
  void drop_given() {
    for (given_ = gone_; gone_ > 0 && !groups_.empty(); --gone_) {
      held_.shrink(bytes_of(groups_.begin()->second.state));
      groups_.erase(groups_.begin());
    }
    gone_ = 0;
  }

  Run* const run_;
  const std::shared_ptr<const CompiledFunction> key_, init_, reduce_, finalize_;
  CursorPtr input_;
  const FunctionPtr types_;  // reduce: its first inputs are the state
  InputTrail trail_;
  Block in_, keys_;
  int64_t at_ = 0;  // next row of in_
  std::map<int64_t, Group> groups_;
  HeldMemory held_;  // by groups_
  bool ended_ = false;
  int64_t given_ = 0;  // keys
  int64_t gone_ = 0;   // keys that were given before the mark and come up again
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
  op.rows = Rows::regroup;
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
