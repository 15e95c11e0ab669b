#include "runtime/read_ahead.h"

#include <deque>

namespace penstock {

class ReadAhead::State : public std::enable_shared_from_this<State> {
 public:
  State(Run* run, RunStage* stage, std::vector<std::string> paths, Open open)
      : run_(run), stage_(*stage), paths_(std::move(paths)), open_(std::move(open)) {
    stage_.controls.bytes_ahead.start(kBytesAhead, INT64_MAX, false);
  }

  void start() {
    std::lock_guard lock(mutex_);
    if (!run_->options().latency && !is_tight()) schedule();
  }

  Poll take(RecordChunk* out, size_t* file, Waker* waker) {
    std::lock_guard lock(mutex_);
    if (ready_.empty()) {
      run_->check_cancelled();
      if (ended_) return Poll::end;
      waker_ = waker;
      schedule();
      return Poll::pending;
    }
    *out = std::move(ready_.front().chunk);
    *file = ready_.front().file;
    bytes_ -= ready_.front().bytes;
    ready_.pop_front();
    schedule();
    return Poll::ready;
  }

  void close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waker_ = nullptr;
  }

  // On the I/O pool: one chunk, then room is looked for anew.
  void read() {
    Ready next;
    bool ended = false;
    while (next.chunk.records.empty() && !next.chunk.error && !ended) {
      ended = run_->cancelled() || file_ == paths_.size();
      if (!ended) read_chunk(&next);
    }
    for (const Record& r : next.chunk.records) next.bytes += r.size;
    std::lock_guard lock(mutex_);
    reading_ = false;
    if (closed_) return;
    if (ended) {
      ended_ = true;
    } else {
      bytes_ += next.bytes;
      ready_.push_back(std::move(next));
    }
    if (waker_) std::exchange(waker_, nullptr)->wake();
    schedule(true);
  }

 private:
  struct Ready {
    RecordChunk chunk;
    size_t file = 0;
    int64_t bytes = 0;
  };

  // What the reader throws (no memory for a chunk) ends its file with an error.
  void read_chunk(Ready* next) {
    next->file = file_;
    try {
      if (!reader_) {
        reader_ = open_(paths_[file_]);
        stage_.counters.add(&StageCounts::files_opened, 1);
      }
      reader_->read(&next->chunk, kMostRecords);
      stage_.counters.add(&StageCounts::bytes_read, next->chunk.file_bytes);
    } catch (...) {
      next->chunk = RecordChunk();
      next->chunk.error = current_error();
      next->chunk.end = true;
    }
    if (next->chunk.end) {
      reader_.reset();
      ++file_;
    }
  }

  static constexpr int64_t kMostRecords = 4096;
  static constexpr int64_t kBytesAhead = 2 << 20;
  class ReadTask final : public Task {
   public:
    explicit ReadTask(std::shared_ptr<State> state) : state_(std::move(state)) {}
    void run() override { state_->read(); }

   private:
    std::shared_ptr<State> state_;
  };

  bool is_tight() const { return run_->pool().used_bytes() > run_->pool().budget_bytes() / 2; }

  // With the lock. `last`: a read ends with it, whose thread does the next, too.
  void schedule(bool last = false) {
    if (reading_ || ended_ || closed_ ||
        (!ready_.empty() &&
         (bytes_ > stage_.controls.bytes_ahead.get() || run_->options().latency || is_tight())))
      return;
    reading_ = true;
    run_->io().submit(std::make_unique<ReadTask>(shared_from_this()), ThreadPool::kLeastUrgent / 2,
                      last);
  }

  Run* const run_;
  RunStage& stage_;
  const std::vector<std::string> paths_;
  const Open open_;
  std::unique_ptr<RecordReader> reader_;  // used by the reading task only, as is file_
  size_t file_ = 0;
  std::mutex mutex_;
  std::deque<Ready> ready_;
  int64_t bytes_ = 0;
  bool reading_ = false, ended_ = false, closed_ = false;
  Waker* waker_ = nullptr;
};

ReadAhead::ReadAhead(Run* run, RunStage* stage, std::vector<std::string> paths, Open open)
    : state_(std::make_shared<State>(run, stage, std::move(paths), std::move(open))) {
  run->io().start();
  state_->start();
}

ReadAhead::~ReadAhead() { state_->close(); }

Poll ReadAhead::take(RecordChunk* out, size_t* file, Waker* waker) {
  return state_->take(out, file, waker);
}

}  // namespace penstock
