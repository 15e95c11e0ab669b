#include "datasets/sink.h"

#include <condition_variable>
#include <mutex>

namespace penstock {
namespace {

class WaitingWaker final : public Waker {
 public:
  void wake() override {
    std::lock_guard lock(mutex_);
    woken_ = true;
    condition_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

}  // namespace

void for_each_block(const PlanPtr& node, const OpenContext& context,
                    const std::function<bool(const Block&)>& f) {
  WaitingWaker waker;
  const CursorPtr input = context.open_input(*node);
  Block block;
  for (;;) {
    context.run->check_cancelled();
    const Poll poll = input->pull(&block, {context.run->options().block_rows, &waker});
    if (poll == Poll::end) return;
    if (poll == Poll::pending) {
      waker.wait();
    } else if (!f(block)) {
      return;
    }
  }
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
