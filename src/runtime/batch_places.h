// Results that are made where their batch will lie.
//
// batch makes one BatchPlaces and hands it down to the stage that computes its rows. A repeat
// between them hands it to the stage of each pass in turn, so that a batch of rows of two passes is
// one buffer, too. Used by one stage at a time, with its lock.
//
// Buffers are counted until whoever holds them last, mostly the consumer, releases them: see
// held_stages.h.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/chain.h"
#include "runtime/held_stages.h"

namespace penstock {

// A batch buffer being filled: places are handed out in order, each to one task.
class BatchPlaces {
 public:
  // The user wants `ahead` batches ready; `threads` compute.
  BatchPlaces(int64_t batch_rows, int64_t ahead, int threads, std::shared_ptr<HeldStages> held);

  // Rows left in the current buffer; blocks should not be larger.
  int64_t room() const {
    if (batch_rows_ == 0) return INT64_MAX;
    return current_ ? batch_rows_ - used_ : batch_rows_;
  }
  // Returns false if the next rows begin a buffer and enough of them are in use. The stage is woken
  // when that may have changed; `wanted` says that nothing else can serve its consumer.
  bool may_go_on(Waker* stage, bool wanted);
  void remove(Waker* stage) { held_->remove(stage); }
  // Room for the next `rows` results of the chain; null if their size is not known before.
  std::unique_ptr<Placement> take(const Chain& chain, int64_t rows);

 private:
  void count(Placement* placement);

  int64_t batch_rows_;  // 0: none are handed out
  const int64_t ahead_;
  const int64_t thread_count_;
  const std::shared_ptr<HeldStages> held_;
  const std::shared_ptr<std::atomic<int64_t>> in_use_;
  int64_t most_ = INT64_MAX;  // buffers in use; the first one shows their size
  int64_t growth_ = 1;
  int64_t used_ = 0;
  std::unique_ptr<Placement> current_;
};

}  // namespace penstock
