#include "runtime/batch_places.h"

#include <algorithm>

#include "data/foreign.h"

namespace penstock {

BatchPlaces::BatchPlaces(int64_t batch_rows, int64_t ahead, int threads,
                         std::shared_ptr<HeldStages> held)
    : batch_rows_(batch_rows),
      ahead_(std::max<int64_t>(1, ahead)),
      thread_count_(std::max(1, threads)),
      held_(std::move(held)),
      in_use_(std::make_shared<std::atomic<int64_t>>(0)) {}

bool BatchPlaces::may_go_on(Waker* stage, bool wanted) {
  if (batch_rows_ == 0 || current_ || in_use_->load() < most_) return true;
  const bool consumer_waits = held_->hold(stage);
  if (in_use_->load() < most_) return true;  // released before it was held
  if (!wanted || !consumer_waits) return false;
  // It keeps more of them than was thought; a cache keeps all.
  most_ = in_use_->load() + growth_;
  growth_ = std::min<int64_t>(growth_ * 2, 1 << 20);
  return true;
}

std::unique_ptr<Placement> BatchPlaces::take(const Chain& chain, int64_t rows) {
  if (batch_rows_ == 0) return nullptr;
  if (!current_ || used_ + rows > batch_rows_) {
    current_ = chain.make_placement(batch_rows_);
    used_ = 0;
    if (!current_) {
      batch_rows_ = 0;
      return nullptr;
    }
    count(current_.get());
  }
  auto out = std::make_unique<Placement>();
  for (const Column& c : current_->columns)
    out->columns.push_back(c.rows() > 0 ? c.slice(used_, rows) : Column());
  used_ += rows;
  if (used_ == batch_rows_) current_.reset();
  return out;
}

// With many threads a batch takes so little time that several are needed to keep them busy.
void BatchPlaces::count(Placement* placement) {
  constexpr int64_t kBytesPerThread = 24 << 20;
  int64_t bytes = 0;
  in_use_->fetch_add(1);
  const BufferRef token = foreign_buffer([in_use = in_use_, held = held_] {
    in_use->fetch_sub(1);
    held->wake();
  });
  for (Column& c : placement->columns) {
    if (c.rows() == 0) continue;
    bytes += c.buffer().capacity();
    c.mutable_buffer().keep(token);
  }
  if (most_ == INT64_MAX)
    most_ = std::max(ahead_ + 1, kBytesPerThread * thread_count_ / std::max<int64_t>(1, bytes));
}

}  // namespace penstock
