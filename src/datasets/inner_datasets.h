// The datasets that a flat_map or interleave opens for its inputs, in the order of these.
#pragma once

#include <deque>

#include "datasets/inner_slot.h"
#include "datasets/interleaving.h"
#include "datasets/opened_rows.h"
#include "runtime/turns.h"

namespace penstock {

// Those that read files are opened before they are wanted, so that their reading begins: as many as
// files_ahead says, while half of the memory budget is free. Not thread-safe.
class InnerDatasets {
 public:
  // An input's dataset, or what failed; the input is used up either way.
  struct Coming {
    InnerSlot slot;
    ErrorPtr error;
    Origin origin;
    int64_t inputs = 1;
  };
  // While being taken up: an input whose dataset stood in a slot.
  struct Live {
    int64_t row;  // of the inputs that are read again
    size_t slot;
    StreamPosition at;
  };

  // Opens the input, where the context says.
  InnerDatasets(PlanPtr node, const OpenContext& context, const Interleaving& how);
  InnerDatasets(const InnerDatasets&) = delete;
  InnerDatasets& operator=(const InnerDatasets&) = delete;

  // Before anything else, for a cursor that is taken up: the first `head` inputs are read again and
  // those of `live` (ascending) opened; `ends`: there were no more. What is left of some is
  // `rests`.
  void take_up(int64_t head, std::vector<Live> live, bool ends, InnerRests rests);
  bool taken_up() const { return trail_.rows() >= head_; }
  // Goes on with that. Throws what cannot be opened; its slot stays empty.
  Poll reopen(std::vector<InnerSlot>* slots, Waker* waker);

  // The next input's dataset.
  Poll take(Coming* out, Waker* waker);
  void look_ahead(Waker* waker);
  // No more come.
  bool exhausted() const { return input_ended_ && coming_.empty(); }
  // Before the slot is pulled: where the stage's calls are more than one, the pool goes on with it
  // between its turns.
  void work_ahead(InnerSlot* slot) {
    if (turns_ && !slot->takes_turns && how_.controls->calls.get() > 1) hand_over(slot);
  }
  // All of the dataset has been given.
  void end(const InnerSlot& slot);

  // Inputs used up, counted from the first pull; where the input stood before one of them.
  int64_t used() const;
  InputTrail& trail() { return trail_; }
  const InnerRests& rests() const { return rests_; }  // as they were when opened

 private:
  void reopen_slot(InnerSlot* slot, const Live& live, const Block& made, int64_t row);
  Poll make(Coming* out, Waker* waker);
  Poll pull_inputs(Coming* out, Waker* waker);
  void identify(InnerSlot* slot, const Origin& inputs, int64_t row) const;
  void open(InnerSlot* slot, ObjectPtr value, const Origin& origin, const StreamPosition& at);
  void end_input();
  void hand_over(InnerSlot* slot);
  int64_t files_ahead() const { return gives_files_ ? how_.controls->files_ahead.get() : 0; }

  const PlanPtr node_;
  OpenContext context_;
  Run* const run_;
  const std::vector<Tensor> environment_;
  Interleaving how_;
  bool gives_files_ = false;
  std::shared_ptr<Turns> turns_;  // null: the consumer's thread does all
  std::shared_ptr<const CompiledFunction> function_;
  CursorPtr input_;
  bool input_ended_ = false;
  std::deque<Coming> coming_;  // opened before their turn
  Block made_;                 // datasets, not yet opened
  int64_t used_ = 0;           // of made_
  InputTrail trail_;
  InnerRests rests_;
  std::vector<Live> live_;
  int64_t head_ = 0;
  bool will_end_ = false;
  OpenedRows* const noted_;
};

}  // namespace penstock
