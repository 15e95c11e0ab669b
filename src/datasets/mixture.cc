// An error of an input takes its turn, as in zip: the choice that met it is used up.

#include "datasets/mixture.h"
#include "datasets/key_order.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/random.h"
#include "datasets/runs.h"

namespace penstock {
namespace {

// With the positions of the inputs, and of what the selector reads.
struct MixtureMark {
  static constexpr MarkForm kForm{"mixture", 1};
  int64_t draws = 0;  // of the selector
  bool done = false;
  std::vector<bool> alive;  // inputs that have not ended
  static void fields(auto& mark, auto& f) {
    f.number("draws", mark.draws);
    f.flag("done", mark.done);
    f.flags("alive", mark.alive);
  }
};

class MixtureCursor final : public Cursor {
 public:
  MixtureCursor(std::vector<CursorPtr> inputs, std::unique_ptr<Selector> selector,
                bool stop_on_empty, const std::optional<MixtureMark>& from)
      : alive_(from ? from->alive : std::vector<bool>(inputs.size(), true)),
        selector_(std::move(selector)),
        stop_on_empty_(stop_on_empty),
        done_(from && from->done) {
    if (alive_.size() != inputs.size())
      throw Error(Code::data_loss, "the checkpoint is damaged: it has another number of datasets");
    for (CursorPtr& input : inputs) inputs_.push_back({std::move(input), nullptr, 0, {}});
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    RunJoiner rows;
    while (rows.rows() < pull.max_rows && !done_) {
      check_cancelled();
      const Poll poll = turn(pull, &rows);
      if (poll == Poll::end) done_ = true;
      if (poll != Poll::pending) continue;
      if (rows.empty()) return poll;
      break;
    }
    if (rows.empty()) return Poll::end;
    *out = rows.finish(identity().columns);
    mark(out);
    return Poll::ready;
  }

 private:
  static constexpr int64_t kAhead = 64;  // rows pulled of one input at a time
  static constexpr int64_t kNone = -1;

  struct Input {
    CursorPtr cursor;
    RunJoiner::Source held;
    int64_t row = 0;        // of held
    StreamPosition before;  // where the cursor stood before held
    StreamPosition position() const {
      return held ? StreamPosition{before.mark, before.rows + row} : cursor->position();
    }
  };

  Poll turn(const Pull& pull, RunJoiner* rows) {
    if (std::ranges::find(alive_, true) == alive_.end()) return Poll::end;
    if (chosen_ == kNone) {
      int64_t index = kNone;
      ErrorPtr error;
      const Poll poll = selector_->select(alive_, pull.waker, &index, &error);
      if (poll != Poll::ready) return poll;
      if (!error && (index < 0 || index >= static_cast<int64_t>(inputs_.size()))) {
        error = std::make_shared<const Error>(
            Code::invalid_argument, "there are " + std::to_string(inputs_.size()) +
                                        " datasets, the choice is " + std::to_string(index));
      }
      if (error) {
        rows->add(std::make_shared<const Block>(error_block(error, identity().columns, Origin())),
                  0, 1);
        return Poll::ready;
      }
      chosen_ = index;
    }
    const auto i = static_cast<size_t>(chosen_);
    if (!alive_[i]) {  // ended before: the choice is passed over
      chosen_ = kNone;
      return stop_on_empty_ ? Poll::end : Poll::ready;
    }
    Input& input = inputs_[i];
    if (!input.held) {
      Block block;
      input.before = input.cursor->position();
      const Poll poll = input.cursor->pull(&block, {std::min(pull.max_rows, kAhead), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        alive_[i] = false;
        chosen_ = kNone;
        return stop_on_empty_ ? Poll::end : Poll::ready;
      }
      block.mark.reset();
      input.held = std::make_shared<const Block>(std::move(block));
      input.row = 0;
    }
    rows->add(input.held, input.row++, 1);
    if (input.row == input.held->rows) input.held.reset();
    chosen_ = kNone;
    return Poll::ready;
  }

  void mark(Block* out) {
    if (!identity().marks || chosen_ != kNone) return;
    std::vector<StreamPosition> positions;
    for (const Input& input : inputs_) positions.push_back(input.position());
    if (const StreamPosition* p = selector_->position()) positions.push_back(*p);
    set_mark(out, MixtureMark{selector_->number(), done_, alive_}, positions);
  }

  std::vector<Input> inputs_;
  std::vector<bool> alive_;
  std::unique_ptr<Selector> selector_;
  const bool stop_on_empty_;
  int64_t chosen_ = kNone;  // the input whose turn it is
  bool done_;
};

}  // namespace

Poll RowReader::next(Waker* waker) {
  constexpr int64_t kAhead = 256;
  if (block_.rows > 0) ++row_;
  if (row_ >= block_.rows) {
    block_.clear();
    row_ = 0;
    before_ = cursor_->position();
    const Poll poll = cursor_->pull(&block_, {kAhead, waker});
    if (poll != Poll::ready) {
      block_.clear();
      return poll;
    }
  }
  position_ = row_ + 1 == block_.rows ? cursor_->position()
                                      : StreamPosition{before_.mark, before_.rows + row_ + 1};
  return Poll::ready;
}

void infer_mixture(NodeDraft& draft, size_t count) {
  if (count == 0) NodeDraft::fail("datasets", "at least one dataset is needed");
  Spec spec = draft.input(0).spec;
  draft.node.cardinality = kUnknown;
  for (size_t i = 0; i < count; ++i) {
    bool ok = false;
    draft.node.inputs[i] = with_key_order(draft.node.inputs[i], spec);
    spec = join_specs(spec, draft.input(i).spec, &ok);
    if (!ok) {
      NodeDraft::fail("datasets", "the elements differ: " + draft.input(0).spec.text() + " and " +
                                      draft.input(i).spec.text());
    }
    if (draft.input(i).cardinality == kInfinite) draft.node.cardinality = kInfinite;
  }
  draft.node.spec = std::move(spec);
}

CursorPtr open_mixed_input(const PlanNode& node, const OpenContext& context, size_t i) {
  OpenContext own = context;
  if (i > 0) own.lineage = mix(context.lineage, i);
  return own.open_input(node, i);
}

int64_t resumed_draws(const PlanNode& node, const OpenContext& context) {
  return context.resumed<MixtureMark>(node).value_or(MixtureMark()).draws;
}

CursorPtr open_mixture(const PlanNode& node, const OpenContext& context,
                       std::vector<CursorPtr> inputs, std::unique_ptr<Selector> selector,
                       bool stop_on_empty) {
  return std::make_unique<MixtureCursor>(std::move(inputs), std::move(selector), stop_on_empty,
                                         context.resumed<MixtureMark>(node));
}

}  // namespace penstock
