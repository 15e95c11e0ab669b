// The order is the peer's: a pointer visits the slots in turn and takes up to block_length elements
// from each; a slot whose dataset has ended is filled with the next input only when the pointer
// comes back to it. An error takes no element of a turn and leaves the pointer where it is, so the
// order does not depend on how many threads work ahead.
//
// Datasets that read files are opened before their turn, so that their reading begins: as many as
// files_ahead says, while half of the memory budget is free.
//
// A mark holds for each slot how many inputs ago its dataset was made, and where that dataset
// stands; taken up, the inputs are read again from the oldest.

#include "datasets/interleaving.h"

#include <algorithm>
#include <deque>

#include "base/random.h"
#include "datasets/block_flat_map.h"
#include "datasets/inner_slot.h"
#include "datasets/opened_rows.h"
#include "datasets/runs.h"
#include "runtime/async_stage.h"
#include "runtime/resumed_count.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

class InterleavingCursor final : public Cursor {
 public:
  InterleavingCursor(PlanPtr node, const OpenContext& context, const Interleaving& how)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()),
        how_(how) {
    context_.environment = environment_;
    context_.batch_rows = 0;
    function_ = context_.program(*node_, "f");
    input_ = context_.open_input(*node_);
    trail_.start(*input_);
    if (const StageMark* from = context_.resume(*node_)) resume(*from);
    context_.at = {};
    if (noted_) noted_->rests = rests_, noted_->used = head_;
    if (!gives_files() || run_->options().latency) how_.files_ahead = 0;
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    while (trail_.rows() < head_) {
      if (const Poll poll = reopen(pull.waker); poll != Poll::ready) return poll;
    }
    look_ahead(pull.waker);
    RunJoiner rows;
    ++pulls_;
    while (rows.rows() < pull.max_rows) {
      run_->check_cancelled();
      if (at_ == slots_.size()) {  // slots are made as the pointer comes to them first
        if (!exhausted()) {
          slots_.emplace_back();
        } else if (slots_.empty()) {
          break;
        } else {
          at_ = 0;
        }
      }
      Slot& slot = slots_[at_];
      Poll poll = Poll::ready;
      if (!slot.cursor && exhausted()) {  // never filled again
        slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(at_));
        taken_ = 0;
        continue;
      }
      if (!slot.cursor) {
        poll = fill(&slot, pull.waker, &rows);
      } else if (slot.left() == 0) {
        poll = pull_inner(&slot, pull, rows.rows());
      }
      if (poll == Poll::pending) {
        if (rows.empty()) return poll;
        break;
      }
      if (slot.left() == 0) continue;
      const int64_t given = take_turn(&slot, &rows, pull.max_rows - rows.rows());
      if (how_.cycle_length == 1 && given >= kPassed)
        break;  // large pieces pass through without a copy
    }
    if (rows.empty()) return Poll::end;
    *out = rows.finish(identity().columns);
    if (identity().marks) mark(out);
    return Poll::ready;
  }

 private:
  static constexpr int64_t kPassed = 64;

  using Slot = InnerSlot;

  // While being taken up: inputs whose datasets stand in slots, in order.
  struct Live {
    int64_t row;
    size_t slot;
    StreamPosition at;
  };

  void mark(Block* out) {
    int64_t head = trail_.rows() - (datasets_.rows - used_);
    for (const Coming& c : coming_) head -= c.inputs;
    int64_t oldest = head;
    const auto at = static_cast<int64_t>(at_);
    std::vector<int64_t> numbers{rests_.empty() ? at : ~at, taken_, exhausted() ? 1 : 0};
    if (!rests_.empty()) numbers.push_back(std::ssize(slots_));
    std::vector<StreamPosition> positions(1);
    for (const Slot& slot : slots_) {
      numbers.push_back(slot.cursor ? head - slot.arrived : 0);
      if (!slot.cursor) continue;
      oldest = std::min(oldest, slot.arrived);
      positions.push_back(slot.position());
    }
    if (!rests_.empty()) {
      InnerRests rests = rests_;
      for (const Slot& slot : slots_)
        if (slot.rest) rests[slot.key] = slot.rest->behind(slot.next_row(), slot.position());
      put_rests(rests, &numbers, &positions);
    }
    positions[0] = trail_.before(oldest);
    set_mark(out, numbers, positions);
    trail_.forget(oldest);
  }

  void resume(const StageMark& from) {
    if (from.numbers().size() == kBlockFlatMapNumbers) return resume_block_flat_map(from);
    const bool dealt = from.number(0) < 0;
    at_ = static_cast<size_t>(dealt ? ~from.number(0) : from.number(0));
    taken_ = checked_count(from.number(1), from.stage());
    will_end_ = from.number(2) != 0;
    std::span<const int64_t> ages = std::span<const int64_t>(from.numbers()).subspan(3);
    if (dealt) ages = take_rests_of(from);
    for (const int64_t age : ages) head_ = std::max(head_, checked_count(age, from.stage()));
    if (static_cast<int64_t>(ages.size()) > how_.cycle_length)
      throw Error(Code::data_loss, "the checkpoint is damaged: more datasets than cycle_length");
    slots_.resize(ages.size());
    size_t next = 1;
    for (size_t i = 0; i < ages.size(); ++i) {
      if (ages[i] <= 0) continue;
      if (next == from.inputs().size())
        throw Error(Code::data_loss, "the checkpoint is damaged: a dataset's position is missing");
      slots_[i].arrived = head_ - ages[i];
      live_.push_back({slots_[i].arrived, i, from.inputs()[next++]});
    }
    if (at_ > slots_.size())
      throw Error(Code::data_loss, "the checkpoint is damaged: no slot " + std::to_string(at_));
    std::ranges::sort(live_, {}, &Live::row);
    if (head_ == 0) end_restored_input();
  }

  // Of a mark that has them; gives the ages of its slots.
  std::span<const int64_t> take_rests_of(const StageMark& from) {
    const std::span<const int64_t> numbers = from.numbers();
    const auto slots = static_cast<size_t>(checked_count(from.number(3), from.stage()));
    if (slots > numbers.size() - 4)
      throw Error(Code::data_loss, "the checkpoint is damaged: `interleave` has too few numbers");
    const std::span<const int64_t> ages = numbers.subspan(4, slots);
    const auto live =
        static_cast<size_t>(std::ranges::count_if(ages, [](int64_t a) { return a > 0; }));
    const std::span<const StreamPosition> positions = from.inputs();
    if (positions.size() < 1 + live)
      throw Error(Code::data_loss, "the checkpoint is damaged: a dataset's position is missing");
    rests_ = take_rests(numbers.subspan(4 + slots), positions.subspan(1 + live));
    return ages;
  }

  void resume_block_flat_map(const StageMark& from) {
    const bool within = from.inputs().size() > 1;
    if (!within && from.number(0) == 0) return;
    head_ = 1;
    slots_.resize(1);
    live_.push_back({0, 0, within ? from.inputs()[1] : StreamPosition{nullptr, from.number(1)}});
  }

  void end_restored_input() {
    if (!will_end_) return;
    input_ended_ = true;
    input_.reset();
  }

  // Reads inputs again and opens the datasets of those that stand in a slot.
  Poll reopen(Waker* waker) {
    Block in, made;
    const int64_t first = trail_.rows();
    const Poll poll =
        input_->pull(&in, {std::min(run_->options().block_rows, head_ - first), waker});
    if (poll == Poll::pending) return poll;
    if (poll == Poll::end) {
      live_.clear();
      head_ = first;
      input_ended_ = true;
      input_.reset();
      throw Error(Code::failed_precondition,
                  "the input has become shorter since the checkpoint was taken");
    }
    trail_.note(*input_, in.rows);
    ErrorPtr error;  // the first one; other datasets are opened all the same
    const auto attempt = [&](auto&& f) {
      try {
        f();
      } catch (const Error& e) {
        if (e.code() == Code::cancelled) throw;
        if (!error) error = std::make_shared<const Error>(e);
      }
    };
    attempt([&] { function_->run(in, &made); });
    size_t done = 0;
    for (; done < live_.size() && live_[done].row < trail_.rows(); ++done) {
      if (made.columns.empty()) continue;
      attempt([&] { reopen_slot(live_[done], made, live_[done].row - first); });
    }
    live_.erase(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(done));
    if (trail_.rows() == head_) end_restored_input();
    if (error) throw Error(*error);
    return Poll::ready;
  }

  // The slot stays empty where that fails.
  void reopen_slot(const Live& live, const Block& made, int64_t row) {
    if (const ErrorPtr* e = made.error_at(row)) throw Error(**e);
    Slot slot;
    slot.arrived = live.row;
    find_rest(&slot, made.origin, row);
    if (noted_) noted_->inputs[slot.key] = {live.row, live.at, false};
    open(&slot, made.columns[0].row(row).object(), made.origin.slice(row), live.at);
    slots_[live.slot] = std::move(slot);
  }

  void advance() {
    at_ = at_ + 1 == static_cast<size_t>(how_.cycle_length) ? 0 : at_ + 1;
    taken_ = 0;
  }

  // The slot's next rows; at its end the slot is empty and the pointer moves on.
  Poll pull_inner(Slot* slot, const Pull& pull, int64_t made) {
    const int64_t want =
        how_.cycle_length == 1
            ? pull.max_rows - made
            : std::min(pull.max_rows, std::max<int64_t>(how_.block_length, kPassed));
    Block block;
    slot->before = slot->cursor->position();
    const Poll poll = slot->cursor->pull(&block, {want, pull.waker});
    if (poll == Poll::ready) {
      slot->hold(std::move(block));
    } else if (poll == Poll::end) {
      if (noted_) noted_->inputs[slot->key].ended = true;
      rests_.erase(slot->key);
      *slot = Slot();
      advance();
    }
    return poll;
  }

  // The dataset of the next input, or what failed; the input is used up either way.
  struct Coming {
    Slot slot;
    ErrorPtr error;
    Origin origin;
    int64_t inputs = 1;
  };

  // Nothing more goes into a slot.
  bool exhausted() const { return input_ended_ && coming_.empty(); }

  // Whether the datasets that f gives read files, and may be made before they are wanted.
  bool gives_files() const {
    const Function& f = *node_->function("f");
    const FunctionNode* made = f.producer(f.results[0]);
    if (!made || made->kind != FunctionNode::Kind::dataset || f.effects() == Effects::stateful ||
        plan_effects(*node_->inputs[0]) == Effects::stateful)
      return false;
    const PlanNode* source = made->dataset.get();
    while (!source->inputs.empty()) source = source->inputs[0].get();
    return !source->args["filenames"].is_none();
  }

  void look_ahead(Waker* waker) {
    const auto room = [&] {
      return run_->pool().used_bytes() < run_->pool().budget_bytes() / 2 && !input_ended_ &&
             static_cast<int64_t>(coming_.size()) < how_.files_ahead;
    };
    while (room()) {
      Coming next;
      if (make(&next, waker) != Poll::ready) return;
      coming_.push_back(std::move(next));
    }
  }

  // The next input's dataset goes into the slot. What fails is an error here.
  Poll fill(Slot* slot, Waker* waker, RunJoiner* rows) {
    Coming next;
    if (!coming_.empty()) {
      next = std::move(coming_.front());
      coming_.pop_front();
    } else if (const Poll poll = make(&next, waker); poll != Poll::ready) {
      return poll;
    }
    *slot = std::move(next.slot);
    if (noted_) note(*slot, next.error != nullptr);
    if (next.error) {
      rests_.erase(slot->key);
      rows->add(std::make_shared<const Block>(
                    error_block(std::move(next.error), identity().columns, next.origin)),
                0, 1);
    }
    look_ahead(waker);
    return Poll::ready;
  }

  Poll make(Coming* out, Waker* waker) {
    try {
      if (datasets_.rows == used_) {
        Block in;
        const Poll poll = input_->pull(&in, {std::min<int64_t>(16, how_.cycle_length), waker});
        if (poll == Poll::end) {
          input_ended_ = true;
          input_.reset();
        }
        if (poll != Poll::ready) return poll;
        if (identity().marks) trail_.note(*input_, in.rows);
        out->origin = in.origin;
        datasets_ = Block();
        used_ = 0;
        Block made;
        out->inputs = in.rows;
        function_->run(in, &made);
        datasets_ = std::move(made);
        out->inputs = 1;
      }
      const int64_t row = used_++;
      out->origin = datasets_.origin.slice(row);
      out->slot.arrived = trail_.rows() - datasets_.rows + row;
      find_rest(&out->slot, datasets_.origin, row);
      if (const ErrorPtr* e = datasets_.error_at(row)) throw Error(**e);
      open(&out->slot, datasets_.columns[0].row(row).object(), out->origin,
           out->slot.rest ? out->slot.rest->start : StreamPosition());
    } catch (const Error& e) {
      if (e.code() == Code::cancelled) throw;
      out->slot.cursor.reset();
      out->slot.rest = nullptr;
      out->error = std::make_shared<const Error>(e);
    }
    return Poll::ready;
  }

  void find_rest(Slot* slot, const Origin& inputs, int64_t row) const {
    slot->key = inner_key(inputs, row);
    const auto rest = rests_.find(slot->key);
    slot->rest = rest == rests_.end() ? nullptr : &rest->second;
  }

  // An input that is opened now.
  void note(const Slot& slot, bool failed) const {
    noted_->inputs[slot.key] = {slot.arrived, slot.rest ? slot.rest->start : StreamPosition(),
                                failed};
    noted_->used = std::max(noted_->used, slot.arrived + 1);
    if (failed) noted_->rows.push_back({slot.key, -1});
  }

  void open(Slot* slot, ObjectPtr value, const Origin& origin, const StreamPosition& at) {
    const auto* dataset = dynamic_cast<const DatasetValue*>(value.get());
    PENSTOCK_CHECK(dataset != nullptr);
    slot->value = std::move(value);
    slot->cursor = open_dataset(context_, *dataset, mix(origin.lineage(0), 1), origin.epoch(0), at);
    if (how_.rows_ahead == 0 || is_serial()) return;
    const Identity id = slot->cursor->identity();
    AsyncOptions options;
    options.buffer_rows = how_.rows_ahead;
    options.cheap_together = false;
    options.depth = context_.depth;
    options.counters = id.counters;
    slot->cursor = open_async_stage(std::move(slot->cursor), run_, options);
    slot->cursor->set_identity({nullptr, id.name, id.columns, id.node, id.marks, true});
    slot->cursor->stand_at(at);
  }

  // Up to what is left of the turn; errors count for nothing. The number of rows given.
  int64_t take_turn(Slot* slot, RunJoiner* rows, int64_t most) {
    if (slot->rest) {
      slot->drop(slot->rest->given_from(slot->next_row(), slot->left()));
      if (slot->left() == 0) return 0;
    }
    const Block& held = *slot->held;
    int64_t n = std::min(most, slot->left());
    if (slot->rest) n = slot->rest->left_from(slot->next_row(), n);
    if (how_.cycle_length > 1) {
      if (held.errors.empty()) {
        n = std::min(n, how_.block_length - taken_);
        taken_ += n;
      } else {
        const int64_t end = n;
        for (n = 0; n < end && taken_ < how_.block_length; ++n)
          taken_ += held.error_at(slot->row + n) ? 0 : 1;
      }
    }
    rows->add(slot->held, slot->row, n, slot->joined == pulls_);
    if (n > 0) slot->joined = pulls_;
    for (int64_t i = 0; noted_ && i < n; ++i)
      noted_->rows.push_back({slot->key, slot->next_row() + i});
    slot->drop(n);
    if (how_.cycle_length > 1 && taken_ >= how_.block_length) advance();
    return n;
  }

  PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  Interleaving how_;
  std::shared_ptr<const CompiledFunction> function_;
  CursorPtr input_;
  Run* const run_ = context_.run;
  std::vector<Slot> slots_;
  size_t at_ = 0;
  int64_t pulls_ = 0;
  int64_t taken_ = 0;  // elements of this turn
  bool input_ended_ = false;
  std::deque<Coming> coming_;  // opened before their turn
  Block datasets_;             // made, not yet opened
  int64_t used_ = 0;
  InputTrail trail_;
  InnerRests rests_;  // of datasets to come, and of those in slots as they were when opened
  OpenedRows* const noted_ = ScopedOpenedRows::of(node_.get());
  std::vector<Live> live_;
  int64_t head_ = 0;  // inputs to read again
  bool will_end_ = false;
};

}  // namespace

Spec inner_spec(const NodeDraft& draft) {
  const Spec& output = draft.node.function("f")->output;
  if (!output.is_leaf() || output.leaf.kind != LeafSpec::Kind::dataset) {
    NodeDraft::fail("f", "gives " + output.text() + ", expected a dataset");
  }
  return *output.leaf.element;
}

CursorPtr open_interleaving(const PlanPtr& node, const OpenContext& context,
                            const Interleaving& how) {
  return std::make_unique<InterleavingCursor>(node, context, how);
}

}  // namespace penstock
