#include "datasets/waiting_batch.h"

#include "datasets/pending_rows.h"
#include "runtime/alarm.h"
#include "runtime/serial.h"
#include "runtime/stage_cursor.h"

namespace penstock {
namespace {

class WaitingBatchCursor final : public Cursor {
 public:
  WaitingBatchCursor(CursorPtr input, int64_t size, int64_t max_wait_ns,
                     std::vector<LeafSpec> leaves)
      : input_(std::move(input)),
        size_(size),
        max_wait_ns_(max_wait_ns),
        pending_(std::move(leaves)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (pending_.has_error()) {
        *out = pending_.take_error();
        return Poll::ready;
      }
      if (pending_.ready() == size_ || (due_ && pending_.rows() > 0)) return emit(out);
      if (ended_) return Poll::end;
      const Poll poll = input_->pull(&in_, {1, pull.waker});
      if (poll == Poll::ready) {
        if (pending_.rows() == 0) deadline_ns_ = now_ns() + max_wait_ns_;
        pending_.add(in_, size_);
        continue;
      }
      if (poll == Poll::pending) {
        if (pending_.rows() == 0) return poll;
        if (now_ns() < deadline_ns_) {
          alarm_.set(deadline_ns_, pull.waker);
          return poll;
        }
      }
      ended_ = poll == Poll::end;
      due_ = true;
      pending_.settle();
    }
  }

 private:
  Poll emit(Block* out) {
    alarm_.clear();
    due_ = ended_;
    pending_.take(1, pending_.rows(), out);
    set_mark(out, InputsMark(), {input_->position()});
    return Poll::ready;
  }

  CursorPtr input_;
  const int64_t size_, max_wait_ns_;
  PendingRows pending_;
  Block in_;
  int64_t deadline_ns_ = 0;  // of the batch under way
  bool due_ = false;         // the batch under way waits for no more rows
  bool ended_ = false;
  Alarm alarm_;  // cleared before the input goes
};

}  // namespace

CursorPtr open_waiting_batch(const PlanPtr& node, const OpenContext& context, int64_t size,
                             int64_t max_wait_ns) {
  const OpenContext below = context.below(*node);
  CursorPtr input = below.open(node->inputs[0]);
  if (!is_serial()) {
    const Cursor::Identity id = input->identity();
    RunStage* stage = context.run->stage(node.get());
    stage->controls.rows_ahead.start(1, 1, true);
    StageOptions options;
    options.controls = &stage->controls;
    options.cheap_together = false;
    options.depth = below.depth;
    options.counters = &stage->counters;
    input = open_stage(std::move(input), context.run, options);
    input->set_identity({nullptr, id.name, id.columns, id.node, id.marks, true});
    input->stand_at(below.at);
  }
  return std::make_unique<WaitingBatchCursor>(std::move(input), size, max_wait_ns,
                                              node->inputs[0]->spec.leaves());
}

}  // namespace penstock
