#include "datasets/waiting_batch.h"

#include <exception>

#include "datasets/stacking.h"
#include "runtime/alarm.h"
#include "runtime/async_stage.h"
#include "runtime/serial.h"

namespace penstock {
namespace {

class WaitingBatchCursor final : public Cursor {
 public:
  WaitingBatchCursor(CursorPtr input, int64_t size, int64_t max_wait_ns,
                     std::vector<LeafSpec> leaves)
      : input_(std::move(input)),
        size_(size),
        max_wait_ns_(max_wait_ns),
        leaves_(std::move(leaves)),
        pending_(leaves_.size()) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    while (rows_ < size_ && !ended_) {
      const Poll poll = input_->pull(&in_, {1, pull.waker});
      if (poll == Poll::end) {
        ended_ = true;
      } else if (poll == Poll::pending) {
        if (rows_ == 0) return poll;
        if (now_ns() >= deadline_ns_) break;
        alarm_.set(deadline_ns_, pull.waker);
        return poll;
      } else if (!in_.errors.empty()) {  // leaves before the batch that is being filled
        *out = error_block(in_.errors[0].error, identity().columns, in_.origin);
        return Poll::ready;
      } else {
        add();
      }
    }
    if (rows_ == 0) return Poll::end;
    emit(out);
    return Poll::ready;
  }

 private:
  void add() {
    if (rows_ == 0) {
      deadline_ns_ = now_ns() + max_wait_ns_;
      origin_ = in_.origin;
    }
    for (size_t c = 0; c < pending_.size(); ++c) pending_[c].append(in_.columns[c]);
    rows_ += in_.rows;
  }

  void emit(Block* out) {
    alarm_.clear();
    out->clear();
    out->rows = 1;
    out->origin = origin_;
    const int64_t rows = std::exchange(rows_, 0);
    std::exception_ptr failure;  // a batch that finds no memory is lost, in every column
    for (size_t c = 0; c < pending_.size(); ++c) {
      try {
        const Column column = pending_[c].take(rows);
        if (!failure) out->columns.push_back(stack_rows(column, leaves_[c], 1, rows, &out->errors));
      } catch (const Error&) {
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    set_mark(out, {}, {input_->position()});
  }

  CursorPtr input_;
  const int64_t size_, max_wait_ns_;
  const std::vector<LeafSpec> leaves_;
  std::vector<ColumnBuilder> pending_;
  Block in_;
  int64_t rows_ = 0, deadline_ns_ = 0;
  Origin origin_;
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
    AsyncOptions options;
    options.buffer_rows = 1;
    options.cheap_together = false;
    options.depth = below.depth;
    options.counters = context.run->counters(node.get());
    input = open_async_stage(std::move(input), context.run, options);
    input->set_identity({nullptr, id.name, id.columns, id.node, id.marks, true});
    input->stand_at(below.at);
  }
  return std::make_unique<WaitingBatchCursor>(std::move(input), size, max_wait_ns,
                                              node->inputs[0]->spec.leaves());
}

}  // namespace penstock
