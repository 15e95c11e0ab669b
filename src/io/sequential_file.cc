#include "io/sequential_file.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "data/buffer.h"
#include "io/io_executor.h"

namespace penstock {

// The next ranges of the file, in order. Shared by the reader and the tasks of the executor; a task
// reads the first range that nobody reads yet. The reader never waits for a task that has not
// begun: it reads such a range itself.
class SequentialFile::Ahead : public std::enable_shared_from_this<Ahead> {
 public:
  Ahead(std::shared_ptr<const File> file, int64_t position)
      : file_(std::move(file)), next_offset_(position) {}

  int64_t read(std::span<std::byte> out) {
    size_t done = 0;
    while (done < out.size()) {
      fill_queue();
      std::unique_lock lock(mutex_);
      if (ranges_.empty()) break;
      const std::shared_ptr<Range> range = ranges_.front();
      if (range->state == Range::State::queued) {
        range->state = Range::State::reading;
        lock.unlock();
        read_range(range.get());
        lock.lock();
      }
      changed_.wait(lock, [&] { return range->state == Range::State::done; });
      if (range->error) throw Error(*std::exchange(range->error, nullptr));
      const auto size = std::min(out.size() - done, static_cast<size_t>(range->got - range->taken));
      if (size > 0) std::memcpy(out.data() + done, range->buffer.data() + range->taken, size);
      done += size;
      range->taken += static_cast<int64_t>(size);
      if (range->taken < range->got) continue;
      ranges_.pop_front();
      if (range->got < range->size) {  // the file ends here, whatever its size was
        ranges_.clear();
        next_offset_ = INT64_MAX;
      }
    }
    return static_cast<int64_t>(done);
  }

  // Drops the ranges that nobody reads yet.
  void close() {
    const std::lock_guard lock(mutex_);
    ranges_.clear();
  }

 private:
  struct Range {
    enum class State : uint8_t { queued, reading, done } state = State::queued;
    int64_t offset = 0, size = 0;
    int64_t got = 0, taken = 0;
    BufferRef buffer;
    ErrorPtr error;
  };

  // Adds ranges, and tasks that read them. Without room in memory there is one range at a time.
  void fill_queue() {
    const BufferPool& pool = current_pool();
    const bool tight = pool.used_bytes() > pool.budget_bytes() / 2;
    const size_t most = tight ? 1 : static_cast<size_t>(file_->reads_in_flight());
    for (;;) {
      const int64_t size = std::min(kRange, file_->size() - next_offset_);
      {
        const std::lock_guard lock(mutex_);
        if (ranges_.size() >= most || size <= 0) return;
      }
      auto range = std::make_shared<Range>();
      try {
        range->buffer = allocate_buffer(size);  // without the lock: it may wait for memory
      } catch (const Error&) {
        if (is_reading()) return;
        throw;
      }
      range->offset = std::exchange(next_offset_, next_offset_ + size);
      range->size = size;
      {
        const std::lock_guard lock(mutex_);
        ranges_.push_back(std::move(range));
      }
      if (IoExecutor* executor = IoExecutor::current())
        executor->submit([self = shared_from_this()] { self->read_next(); });
    }
  }

  bool is_reading() {
    const std::lock_guard lock(mutex_);
    return !ranges_.empty();
  }

  void read_next() {
    std::shared_ptr<Range> range;
    {
      const std::lock_guard lock(mutex_);
      const auto queued =
          std::ranges::find(ranges_, Range::State::queued, [](const auto& r) { return r->state; });
      if (queued == ranges_.end()) return;
      range = *queued;
      range->state = Range::State::reading;
    }
    read_range(range.get());
  }

  void read_range(Range* range) {
    int64_t got = 0;
    ErrorPtr error;
    try {
      got = file_->pread({range->buffer.data(), static_cast<size_t>(range->size)}, range->offset);
    } catch (...) {
      error = current_error();
    }
    const std::lock_guard lock(mutex_);
    range->got = got;
    range->error = std::move(error);
    range->state = Range::State::done;
    changed_.notify_all();
  }

  const std::shared_ptr<const File> file_;
  int64_t next_offset_;  // used by the reader only
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Range>> ranges_;
};

SequentialFile::SequentialFile(std::string path)
    : file_(std::make_shared<const File>(std::move(path))) {
  file_->expect_sequential_reads();
}

SequentialFile::~SequentialFile() {
  if (ahead_) ahead_->close();
}

bool SequentialFile::wants_ahead() const {
  return position_ > 0 && file_->reads_in_flight() > 1 && IoExecutor::current() &&
         file_->size() - position_ > kRange;
}

int64_t SequentialFile::read(std::span<std::byte> out) {
  if (!ahead_ && wants_ahead()) ahead_ = std::make_shared<Ahead>(file_, position_);
  const int64_t got = ahead_ ? ahead_->read(out) : file_->pread(out, position_);
  position_ += got;
  return got;
}

}  // namespace penstock
