#include "runtime/file_read_cursor.h"

#include <algorithm>
#include <deque>

#include "functions/kernels/parse/file_bytes.h"

namespace penstock {
namespace {

constexpr int64_t kMostBytes = 32 << 20;  // read and waiting, besides the block that is next

struct File {
  FileBytes bytes;
  ErrorPtr error;
};

// A block and the files of its rows: files[i * rows + row].
struct Waiting {
  Block block;
  std::vector<File> files;
  int64_t left = 0;   // files not read yet
  int64_t bytes = 0;  // of those that are
};

// Shared by the cursor and its tasks; lives until the last of them is done.
class Reads : public std::enable_shared_from_this<Reads> {
 public:
  explicit Reads(Run* run) : run_(run) {}

  void start(const std::shared_ptr<Waiting>& block, const Block& names) {
    const auto rows = static_cast<size_t>(names.rows);
    block->files.resize(rows * names.columns.size());
    std::vector<std::pair<size_t, std::string>> wanted;
    for (size_t i = 0; i < names.columns.size(); ++i) {
      for (int64_t r = 0; r < names.rows; ++r) {
        if (names.error_at(r)) continue;
        wanted.emplace_back(i * rows + static_cast<size_t>(r),
                            std::string(bytes_at(names.columns[i].row(r))));
      }
    }
    block->left = static_cast<int64_t>(wanted.size());
    for (auto& [place, name] : wanted) {
      run_->io().submit(
          std::make_unique<ReadTask>(shared_from_this(), block, place, std::move(name)));
    }
  }

  // Otherwise the waker is woken when it is.
  bool is_ready(const Waiting& block, Waker* waker) {
    const std::lock_guard lock(mutex_);
    waker_ = block.left == 0 ? nullptr : waker;
    return block.left == 0;
  }
  int64_t bytes_of(const Waiting& block) {
    const std::lock_guard lock(mutex_);
    return block.bytes;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waker_ = nullptr;
  }

 private:
  class ReadTask final : public Task {
   public:
    ReadTask(std::shared_ptr<Reads> reads, std::shared_ptr<Waiting> block, size_t place,
             std::string name)
        : reads_(std::move(reads)),
          block_(std::move(block)),
          place_(place),
          name_(std::move(name)) {}
    void run() override { reads_->read(block_.get(), place_, name_); }

   private:
    std::shared_ptr<Reads> reads_;
    std::shared_ptr<Waiting> block_;
    size_t place_;
    std::string name_;
  };

  void read(Waiting* block, size_t place, const std::string& name) {
    File file;
    try {
      run_->check_cancelled();
      file.bytes = read_file_bytes(name);
    } catch (...) {
      file.error = current_error();
    }
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    block->bytes += file.bytes.size;
    block->files[place] = std::move(file);
    if (--block->left == 0 && waker_) std::exchange(waker_, nullptr)->wake();
  }

  Run* const run_;
  std::mutex mutex_;
  Waker* waker_ = nullptr;  // of the cursor, while its next block is not ready
  bool closed_ = false;
};

class FileReadCursor final : public Cursor {
 public:
  FileReadCursor(CursorPtr input, Run* run, std::shared_ptr<const CompiledFunction> names)
      : input_(std::move(input)),
        run_(run),
        names_(std::move(names)),
        reads_(std::make_shared<Reads>(run)) {}
  ~FileReadCursor() override { reads_->close(); }
  FileReadCursor(const FileReadCursor&) = delete;
  FileReadCursor& operator=(const FileReadCursor&) = delete;

 protected:
  Poll next(Block* out, const Pull& pull) override {
    run_->check_cancelled();
    fill(pull);
    if (rest_.rows == 0) {
      if (waiting_.empty()) return ended_ ? Poll::end : Poll::pending;
      if (!reads_->is_ready(*waiting_.front(), pull.waker)) return Poll::pending;
      rest_ = finish(waiting_.front().get());
      waiting_.pop_front();
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
    if (run_->options().latency || rows_ >= 2 * run_->options().io_threads) return false;
    if (run_->pool().used_bytes() > run_->pool().budget_bytes() / 2) return false;
    int64_t bytes = 0;
    for (const auto& block : waiting_) bytes += reads_->bytes_of(*block);
    return bytes < kMostBytes;
  }

  void fill(const Pull& pull) {
    while (!ended_ && has_room()) {
      auto next = std::make_shared<Waiting>();
      const int64_t most = std::min<int64_t>(pull.max_rows, run_->options().io_threads);
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

  // With the columns of bytes. Nobody else looks at the block any more.
  static Block finish(Waiting* waiting) {
    Block& block = waiting->block;
    const auto rows = static_cast<size_t>(block.rows);
    for (size_t first = 0; first < waiting->files.size(); first += rows) {
      Column column = Column::dense(DType::bytes, {}, block.rows);
      auto* views = column.mutable_entries<BytesView>();
      for (size_t r = 0; r < rows; ++r) {
        const File& file = waiting->files[first + r];
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
    return std::move(block);
  }

  CursorPtr input_;
  Run* const run_;
  std::shared_ptr<const CompiledFunction> names_;
  std::shared_ptr<Reads> reads_;
  std::deque<std::shared_ptr<Waiting>> waiting_;
  Block rest_;        // what the consumer has begun to take
  int64_t rows_ = 0;  // pulled and not given
  bool ended_ = false;
};

}  // namespace

CursorPtr open_file_reads(CursorPtr input, Run* run,
                          std::shared_ptr<const CompiledFunction> names) {
  return std::make_unique<FileReadCursor>(std::move(input), run, std::move(names));
}

}  // namespace penstock
