#include "runtime/stage_cursor.h"

#include "runtime/async_stage.h"

namespace penstock {
namespace {

class StageCursor final : public Cursor {
 public:
  StageCursor(CursorPtr input, Run* run, StageOptions options)
      : input_(std::move(input)),
        run_(run),
        options_(std::move(options)),
        sizer_(run->options().block_rows) {
    if (wants_pool(options_)) stage_ = start_async_stage(&input_, run_, options_);
  }
  ~StageCursor() override {
    if (stage_) stage_->close();
  }
  StageCursor(const StageCursor&) = delete;
  StageCursor& operator=(const StageCursor&) = delete;

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (stage_ || go_to_pool()) return stage_->take(out, pull);
      if (!options_.chain) return input_->pull(out, pull);
      run_->check_cancelled();
      const int64_t want = std::min(pull.max_rows, sizer_.rows());
      const Poll poll = input_->pull(out, {want, pull.waker});
      if (poll != Poll::ready) return poll;
      const uint64_t start = ticks();
      const int64_t rows = out->rows;
      options_.chain->run(out, nullptr);
      sizer_.observe(rows, ticks() - start, 0);
      if (out->rows > 0) return Poll::ready;
    }
  }

 private:
  bool go_to_pool() {
    if (refused_ || !wants_pool(options_)) return false;
    try {
      stage_ = start_async_stage(&input_, run_, options_);
    } catch (const Error&) {
      refused_ = true;
    }
    return stage_ != nullptr;
  }

  CursorPtr input_;  // none once the pool pulls it
  Run* const run_;
  const StageOptions options_;
  BlockSizer sizer_;
  std::shared_ptr<AsyncStage> stage_;
  bool refused_ = false;  // by the system: no thread
};

}  // namespace

CursorPtr open_stage(CursorPtr input, Run* run, const StageOptions& options) {
  return std::make_unique<StageCursor>(std::move(input), run, options);
}

}  // namespace penstock
