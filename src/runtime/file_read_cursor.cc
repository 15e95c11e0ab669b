#include "runtime/file_read_cursor.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace penstock {
namespace {

constexpr int64_t kMostBytes = 32 << 20;  // read and waiting, besides the block that is next

struct File {
  enum class State : uint8_t { none, reading, read, dropped } state = State::none;
  FileBytes bytes;
  ErrorPtr error;
  std::string name;
  uint64_t number = 0;  // in the order of rows
};

// A block and the files of its rows: files[i * rows + row], for as many rows as it had at first.
struct Waiting {
  Block block;
  std::vector<File> files;
  size_t rows = 0;
  size_t given = 0;     // rows that the cursor has taken already
  int64_t left = 0;     // files not read yet
  int64_t dropped = 0;  // of those: nobody reads them until the cursor asks for their rows
  int64_t bytes = 0;    // of those that are
};

// Shared by the cursor and its tasks; lives until the last of them is done.
//
// Memory may be too small for the files that are read ahead, even for those of one block. Then rows
// are given as soon as theirs are there, and files of later rows are dropped and read again.
class Reads : public Spare, public std::enable_shared_from_this<Reads> {
 public:
  Reads(Run* run, ReadFile read) : run_(run), read_(std::move(read)) {}

  void start(const std::shared_ptr<Waiting>& block, const Block& names) {
    const std::lock_guard lock(mutex_);
    block->rows = static_cast<size_t>(names.rows);
    block->files.resize(block->rows * names.columns.size());
    for (size_t r = 0; r < block->rows; ++r) {
      if (names.error_at(static_cast<int64_t>(r))) continue;
      for (size_t i = 0; i < names.columns.size(); ++i) {
        File& file = block->files[i * block->rows + r];
        file.name = std::string(bytes_at(names.columns[i].row(static_cast<int64_t>(r))));
        file.number = submitted_++;
        submit(block, &file);
      }
    }
    waiting_.push_back(block);
  }

  // Returns how many rows of the first block can be taken: all, or some where memory is short. With
  // 0 the waker is woken when there are more.
  size_t ready_rows(Waker* waker) {
    const std::lock_guard lock(mutex_);
    const std::shared_ptr<Waiting>& block = waiting_.front();
    for (File& file : block->files) {
      if (file.state == File::State::dropped) submit(block, &file);
    }
    const size_t rows = block->rows - block->given;
    const bool some = run_->gate().is_contended() || std::exchange(give_some_, false);
    const size_t ready = block->left == 0 ? rows : some ? ready_prefix() : 0;
    waker_ = ready == 0 ? waker : nullptr;
    return ready;
  }

  // Takes the files of the next `rows` rows of the first block, column by column.
  std::vector<File> take(size_t rows) {
    const std::lock_guard lock(mutex_);
    Waiting& block = *waiting_.front();
    std::vector<File> out;
    for (size_t first = 0; first < block.files.size(); first += block.rows) {
      for (size_t r = block.given; r < block.given + rows; ++r) {
        out.push_back(std::exchange(block.files[first + r], File()));
        block.bytes -= out.back().bytes.size;
      }
    }
    block.given += rows;
    if (block.given == block.rows) waiting_.pop_front();
    return out;
  }

  int64_t bytes() {
    const std::lock_guard lock(mutex_);
    int64_t bytes = 0;
    for (const auto& block : waiting_) bytes += block->bytes;
    return bytes;
  }
  void close() {
    run_->gate().remove(this);
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waker_ = nullptr;
  }

  // Rows that are ready go; if there are none, the last of the files makes room for others.
  bool give_up() override {
    FileBytes dropped;  // freed after the lock
    const std::lock_guard lock(mutex_);
    if (closed_ || waiting_.empty()) return false;
    if (waker_ && ready_prefix() > 0) {
      give_some_ = true;
      std::exchange(waker_, nullptr)->wake();
      return true;
    }
    const auto [block, file] = last_read();
    if (!file) return false;
    block->bytes -= file->bytes.size;
    ++block->left;
    ++block->dropped;
    dropped = std::exchange(file->bytes, FileBytes());
    file->state = File::State::dropped;
    return true;
  }

 private:
  class ReadTask final : public Task {
   public:
    ReadTask(std::shared_ptr<Reads> reads, std::shared_ptr<Waiting> block, File* file)
        : reads_(std::move(reads)), block_(std::move(block)), file_(file) {}
    void run() override { reads_->read(block_.get(), file_); }

   private:
    std::shared_ptr<Reads> reads_;
    std::shared_ptr<Waiting> block_;
    File* file_;
  };

  // With the lock, all that follow but read. The oldest file is read first, and waits for memory
  // first.
  void submit(const std::shared_ptr<Waiting>& block, File* file) {
    if (file->state == File::State::dropped) {
      --block->dropped;
    } else {
      ++block->left;
    }
    file->state = File::State::reading;
    run_->io().submit(std::make_unique<ReadTask>(shared_from_this(), block, file),
                      ThreadPool::kLeastUrgent / 2 + file->number);
  }

  // Rows of the first block before the first that lacks a file.
  size_t ready_prefix() const {
    const Waiting& block = *waiting_.front();
    size_t row = block.given;
    const auto lacks = [&block](size_t r) {
      for (size_t f = r; f < block.files.size(); f += block.rows) {
        const File::State state = block.files[f].state;
        if (state == File::State::reading || state == File::State::dropped) return true;
      }
      return false;
    };
    while (row < block.rows && !lacks(row)) ++row;
    return row - block.given;
  }

  // The last file that is there and not of the next row; null if there is none.
  std::pair<Waiting*, File*> last_read() const {
    for (auto block = waiting_.rbegin(); block != waiting_.rend(); ++block) {
      const bool first = *block == waiting_.front();
      File* last = nullptr;
      for (size_t f = 0; f < (*block)->files.size(); ++f) {
        File& file = (*block)->files[f];
        if (first && f % (*block)->rows == (*block)->given) continue;
        const bool there = file.state == File::State::read && file.bytes.buffer;
        if (there && (!last || file.number > last->number)) last = &file;
      }
      if (last) return {block->get(), last};
    }
    return {nullptr, nullptr};
  }

  void read(Waiting* block, File* file) {
    FileBytes bytes;
    ErrorPtr error;
    try {
      run_->check_cancelled();
      bytes = read_(file->name);
    } catch (...) {
      error = current_error();
    }
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    block->bytes += bytes.size;
    file->bytes = std::move(bytes);
    file->error = std::move(error);
    file->state = File::State::read;
    --block->left;
    const bool first = !waiting_.empty() && waiting_.front().get() == block;
    const bool some = run_->gate().is_contended() && first && ready_prefix() > 0;
    const bool stopped = block->left == block->dropped;
    if (waker_ && first && (stopped || some)) std::exchange(waker_, nullptr)->wake();
  }

  Run* const run_;
  const ReadFile read_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Waiting>> waiting_;  // those that the cursor has not taken whole
  uint64_t submitted_ = 0;
  Waker* waker_ = nullptr;  // of the cursor, while its next rows are not ready
  bool give_some_ = false;  // of the first block, whatever it lacks
  bool closed_ = false;
};

class FileReadCursor final : public Cursor {
 public:
  FileReadCursor(CursorPtr input, Run* run, StageControls* controls,
                 std::shared_ptr<const CompiledFunction> names, ReadFile read)
      : input_(std::move(input)),
        run_(run),
        controls_(*controls),
        names_(std::move(names)),
        reads_(std::make_shared<Reads>(run, std::move(read))) {
    constexpr int64_t kMostFiles = 1024;
    controls_.files_ahead.start(int64_t{2} * run->io().threads(), kMostFiles, false);
    run->gate().add(reads_.get());
  }
  ~FileReadCursor() override { reads_->close(); }
  FileReadCursor(const FileReadCursor&) = delete;
  FileReadCursor& operator=(const FileReadCursor&) = delete;

 protected:
  Poll next(Block* out, const Pull& pull) override {
    run_->check_cancelled();
    fill(pull);
    if (rest_.rows == 0) {
      if (waiting_.empty()) return ended_ ? Poll::end : Poll::pending;
      const size_t rows = reads_->ready_rows(pull.waker);
      if (rows == 0) return Poll::pending;
      rest_ = take(rows);
    }
    if (rest_.rows <= pull.max_rows) {
      *out = std::move(rest_);
      rest_ = Block();
    } else {
      *out = rest_.slice(0, pull.max_rows);
      rest_.drop_front(pull.max_rows);
    }
    rows_ -= out->rows;
    return Poll::ready;
  }

 private:
  bool has_room() {
    if (waiting_.empty() && rest_.rows == 0) return true;
    if (run_->options().latency || rows_ >= controls_.files_ahead.get()) return false;
    if (run_->pool().used_bytes() > run_->pool().budget_bytes() / 2) return false;
    return !run_->gate().is_contended() && reads_->bytes() < kMostBytes;
  }

  void fill(const Pull& pull) {
    while (!ended_ && has_room()) {
      auto next = std::make_shared<Waiting>();
      const int64_t ahead = controls_.files_ahead.get();
      const int64_t most = std::min(pull.max_rows, std::max<int64_t>(1, ahead / 2));
      const Poll poll = input_->pull(&next->block, {most, pull.waker});
      if (poll == Poll::pending) return;
      if (poll == Poll::end) {
        ended_ = true;
        return;
      }
      rows_ += next->block.rows;
      Block in = next->block, names;
      names_->run(in, &names);
      next->block.errors = names.errors;
      reads_->start(next, names);
      waiting_.push_back(std::move(next));
    }
  }

  // The next rows of the first block, with the columns of bytes. Only the cursor uses a Waiting's
  // block.
  Block take(size_t rows) {
    Block& whole = waiting_.front()->block;
    const bool all = static_cast<int64_t>(rows) == whole.rows;
    Block block;
    if (all) {
      block = std::move(whole);
      waiting_.pop_front();
    } else {
      block = whole.slice(0, static_cast<int64_t>(rows));
      whole.drop_front(static_cast<int64_t>(rows));
    }
    const std::vector<File> files = reads_->take(rows);
    for (size_t first = 0; first < files.size(); first += rows) {
      Column column = Column::dense(DType::bytes, {}, block.rows);
      auto* views = column.mutable_entries<BytesView>();
      for (size_t r = 0; r < rows; ++r) {
        const File& file = files[first + r];
        views[r] = {"", 0};
        if (file.error) {
          if (!block.error_at(static_cast<int64_t>(r)))
            block.errors.push_back({static_cast<int64_t>(r), file.error});
          std::ranges::sort(block.errors, {}, &RowError::row);
        } else if (file.bytes.buffer) {
          views[r] = {reinterpret_cast<const char*>(file.bytes.buffer.data()), file.bytes.size};
          column.mutable_buffer().keep(file.bytes.buffer);
        }
      }
      block.columns.push_back(std::move(column));
    }
    return block;
  }

  CursorPtr input_;
  Run* const run_;
  StageControls& controls_;
  std::shared_ptr<const CompiledFunction> names_;
  std::shared_ptr<Reads> reads_;
  std::deque<std::shared_ptr<Waiting>> waiting_;
  Block rest_;        // what the consumer has begun to take
  int64_t rows_ = 0;  // pulled and not given
  bool ended_ = false;
};

}  // namespace

CursorPtr open_file_reads(CursorPtr input, Run* run, StageControls* controls,
                          std::shared_ptr<const CompiledFunction> names, ReadFile read) {
  run->io().start();
  return std::make_unique<FileReadCursor>(std::move(input), run, controls, std::move(names),
                                          std::move(read));
}

}  // namespace penstock
