#include "datasets/sink.h"

#include <condition_variable>
#include <mutex>

namespace penstock {
namespace {

class WaitingWaker final : public Waker {
 public:
  explicit WaitingWaker(MemoryGate* gate) : gate_(gate) {}
  void wake() override {
    std::lock_guard lock(mutex_);
    woken_ = true;
    if (std::exchange(still_, false)) gate_->go_on();
    condition_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    if (!woken_) {
      still_ = true;
      gate_->stand_still();
    }
    condition_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  MemoryGate* const gate_;
  bool woken_ = false, still_ = false;
};

void drain(Cursor& input, Run& run, const std::function<bool(const Block&)>& f) {
  WaitingWaker waker(&run.gate());
  Block block;
  for (;;) {
    run.check_cancelled();
    const Poll poll = input.pull(&block, {run.options().block_rows, &waker});
    if (poll == Poll::end) return;
    if (poll == Poll::pending) {
      waker.wait();
    } else if (!f(block)) {
      return;
    }
  }
}

}  // namespace

void for_each_block(const PlanPtr& node, const OpenContext& context,
                    const std::function<bool(const Block&)>& f) {
  drain(*context.open_input(*node), *context.run, f);
}

void for_each_row_block(Cursor& rows, Run& run, const std::function<void(const Block&)>& f) {
  drain(rows, run, [&](const Block& block) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    f(block);
    return true;
  });
}

void for_each_row(const PlanPtr& node, const OpenContext& context,
                  const std::function<bool(const Block&, int64_t row)>& f) {
  for_each_block(node, context, [&](const Block& block) {
    for (int64_t i = 0; i < block.rows; ++i) {
      if (const ErrorPtr* e = block.error_at(i)) throw Error(**e);
      if (!f(block, i)) return false;
    }
    return true;
  });
}

}  // namespace penstock
