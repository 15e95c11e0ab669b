#include "datasets/inner_datasets.h"

#include <algorithm>

#include "base/random.h"
#include "runtime/serial.h"
#include "runtime/stage_cursor.h"

namespace penstock {
namespace {

// Whether the datasets that f gives read files, and may be made before they are wanted.
bool gives_files(const PlanNode& node) {
  const Function& f = *node.function("f");
  const FunctionNode* made = f.producer(f.results[0]);
  if (!made || made->kind != FunctionNode::Kind::dataset || f.effects() == Effects::stateful ||
      plan_effects(*node.inputs[0]) == Effects::stateful)
    return false;
  const PlanNode* source = made->dataset.get();
  while (!source->inputs.empty()) source = source->inputs[0].get();
  return !source->op->files_param.empty() && !source->op->lists_files;
}

}  // namespace

InnerDatasets::InnerDatasets(PlanPtr node, const OpenContext& context, const Interleaving& how)
    : node_(std::move(node)),
      context_(context),
      run_(context.run),
      environment_(context.environment.begin(), context.environment.end()),
      how_(how),
      noted_(ScopedOpenedRows::of(node_.get())) {
  context_.environment = environment_;
  context_.batch.reset();
  context_.wanted_ahead = 0;
  function_ = context_.program(*node_, "f");
  input_ = context_.open_input(*node_);
  trail_.start(*input_);
  context_.at = {};
  gives_files_ = gives_files(*node_) && !run_->options().latency;
  if (how_.in_turns && !is_serial() && !run_->options().latency)
    turns_ = std::make_shared<Turns>(&how_.controls->calls);
}

void InnerDatasets::take_up(int64_t head, std::vector<Live> live, bool ends, InnerRests rests) {
  head_ = head;
  live_ = std::move(live);
  will_end_ = ends;
  rests_ = std::move(rests);
  if (noted_) {
    noted_->rests = rests_;
    noted_->used = head_;
  }
  if (head_ == 0 && will_end_) end_input();
}

void InnerDatasets::end_input() {
  input_ended_ = true;
  input_.reset();
}

Poll InnerDatasets::reopen(std::vector<InnerSlot>* slots, Waker* waker) {
  Block in, made;
  const int64_t first = trail_.rows();
  const Poll poll = input_->pull(&in, {std::min(run_->options().block_rows, head_ - first), waker});
  if (poll == Poll::pending) return poll;
  if (poll == Poll::end) {
    live_.clear();
    head_ = first;
    end_input();
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
    const Live& live = live_[done];
    if (made.columns.empty()) continue;
    attempt([&] { reopen_slot(&(*slots)[live.slot], live, made, live.row - first); });
  }
  live_.erase(live_.begin(), live_.begin() + static_cast<std::ptrdiff_t>(done));
  if (trail_.rows() == head_ && will_end_) end_input();
  if (error) throw Error(*error);
  return Poll::ready;
}

void InnerDatasets::reopen_slot(InnerSlot* slot, const Live& live, const Block& made, int64_t row) {
  if (const ErrorPtr* e = made.error_at(row)) throw Error(**e);
  InnerSlot opened;
  opened.arrived = live.row;
  identify(&opened, made.origin, row);
  if (noted_) noted_->inputs[opened.key] = {live.row, live.at, false};
  open(&opened, made.columns[0].row(row).object(), made.origin.slice(row), live.at);
  *slot = std::move(opened);
}

Poll InnerDatasets::take(Coming* out, Waker* waker) {
  if (!coming_.empty()) {
    *out = std::move(coming_.front());
    coming_.pop_front();
  } else if (const Poll poll = make(out, waker); poll != Poll::ready) {
    return poll;
  }
  const InnerSlot& slot = out->slot;
  if (noted_) {
    const StreamPosition start = slot.rest ? slot.rest->start : StreamPosition();
    noted_->inputs[slot.key] = {slot.arrived, start, out->error != nullptr};
    noted_->used = std::max(noted_->used, slot.arrived + 1);
    if (out->error) noted_->rows.push_back({slot.key, -1});
  }
  if (out->error) rests_.erase(slot.key);
  return Poll::ready;
}

void InnerDatasets::look_ahead(Waker* waker) {
  const auto room = [&] {
    return run_->pool().used_bytes() < run_->pool().budget_bytes() / 2 && !input_ended_ &&
           static_cast<int64_t>(coming_.size()) < files_ahead();
  };
  while (room()) {
    Coming next;
    if (make(&next, waker) != Poll::ready) return;
    coming_.push_back(std::move(next));
  }
}

void InnerDatasets::end(const InnerSlot& slot) {
  if (noted_) noted_->inputs[slot.key].ended = true;
  rests_.erase(slot.key);
}

int64_t InnerDatasets::used() const {
  int64_t out = trail_.rows() - (made_.rows - used_);
  for (const Coming& c : coming_) out -= c.inputs;
  return out;
}

Poll InnerDatasets::make(Coming* out, Waker* waker) {
  try {
    if (made_.rows == used_) {
      if (const Poll poll = pull_inputs(out, waker); poll != Poll::ready) return poll;
    }
    const int64_t row = used_++;
    out->origin = made_.origin.slice(row);
    out->slot.arrived = trail_.rows() - made_.rows + row;
    identify(&out->slot, made_.origin, row);
    if (const ErrorPtr* e = made_.error_at(row)) throw Error(**e);
    open(&out->slot, made_.columns[0].row(row).object(), out->origin,
         out->slot.rest ? out->slot.rest->start : StreamPosition());
  } catch (const Error& e) {
    if (e.code() == Code::cancelled) throw;
    out->slot.cursor.reset();
    out->slot.rest = nullptr;
    out->error = std::make_shared<const Error>(e);
  }
  return Poll::ready;
}

// Where it throws all of them are used up.
Poll InnerDatasets::pull_inputs(Coming* out, Waker* waker) {
  Block in;
  const Poll poll = input_->pull(&in, {std::min<int64_t>(16, how_.cycle_length), waker});
  if (poll == Poll::end) end_input();
  if (poll != Poll::ready) return poll;
  if (context_.run->options().marks) trail_.note(*input_, in.rows);
  out->origin = in.origin;
  made_ = Block();
  used_ = 0;
  Block made;
  out->inputs = in.rows;
  function_->run(in, &made);
  made_ = std::move(made);
  out->inputs = 1;
  return poll;
}

void InnerDatasets::identify(InnerSlot* slot, const Origin& inputs, int64_t row) const {
  slot->key = inner_key(inputs, row);
  const auto rest = rests_.find(slot->key);
  slot->rest = rest == rests_.end() ? nullptr : &rest->second;
}

void InnerDatasets::open(InnerSlot* slot, ObjectPtr value, const Origin& origin,
                         const StreamPosition& at) {
  const auto* dataset = dynamic_cast<const DatasetValue*>(value.get());
  PENSTOCK_CHECK(dataset != nullptr);
  slot->value = std::move(value);
  slot->cursor = open_dataset(context_, *dataset, mix(origin.lineage(0), 1), origin.epoch(0), at);
}

void InnerDatasets::hand_over(InnerSlot* slot) {
  slot->takes_turns = true;
  const Cursor::Identity id = slot->cursor->identity();
  const StreamPosition at = slot->cursor->position();
  StageOptions options;
  options.controls = how_.controls;
  options.cheap_together = false;
  options.turns = turns_;
  options.depth = context_.depth;
  options.counters = id.counters;
  slot->cursor = open_stage(std::move(slot->cursor), run_, options);
  slot->cursor->set_identity({nullptr, id.name, id.columns, id.node, id.marks, true});
  slot->cursor->stand_at(at);
}

}  // namespace penstock
