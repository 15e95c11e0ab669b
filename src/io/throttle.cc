#include "io/throttle.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "base/cancellation.h"
#include "base/error.h"
#include "io/read_counter.h"

namespace penstock {
namespace {

// Tokens that an idle bucket keeps. They make up for waits that end some microseconds late.
constexpr int64_t kBurstNs = 10'000'000;

class RealClock final : public WaitClock {
 public:
  int64_t now_ns() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void wait_until(int64_t deadline_ns, const std::function<bool()>& stopped) override {
    const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
    std::unique_lock lock(mutex_);
    interrupted_.wait_until(lock, deadline, stopped);
  }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable interrupted_;
};

class ThrottledFile final : public RandomAccessFile {
 public:
  ThrottledFile(std::unique_ptr<RandomAccessFile> file, Throttle* throttle)
      : RandomAccessFile(file->status()), file_(std::move(file)), throttle_(throttle) {}

  int64_t read(std::span<std::byte> out, int64_t offset) const override {
    throttle_->wait_to_read();
    size_t done = 0;
    while (done < out.size()) {
      const size_t size = std::min(out.size() - done, static_cast<size_t>(Throttle::kPiece));
      const int64_t got = file_->read(out.subspan(done, size), offset + static_cast<int64_t>(done));
      throttle_->wait_for_bytes(got);
      done += static_cast<size_t>(got);
      if (got < static_cast<int64_t>(size)) break;
    }
    return static_cast<int64_t>(done);
  }
  bool size_is_a_guess() const override { return file_->size_is_a_guess(); }
  int reads_in_flight() const override {
    return std::max(file_->reads_in_flight(), throttle_->reads_in_flight());
  }
  void expect_sequential_reads() const override { file_->expect_sequential_reads(); }

 private:
  const std::unique_ptr<RandomAccessFile> file_;
  Throttle* const throttle_;
};

// Opening and reading are slow; all else has the speed of the file system below.
class ThrottledFileSystem final : public FileSystem {
 public:
  ThrottledFileSystem(FileSystem* files, Throttle* throttle) : files_(files), throttle_(throttle) {}

  std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                         const std::string& name) override {
    throttle_->wait_to_open();
    return std::make_unique<ThrottledFile>(files_->open(caller, name), throttle_);
  }
  FileStatus status(const std::string& name) override { return files_->status(name); }
  bool is_listed(const std::string& name) override { return files_->is_listed(name); }
  std::vector<FolderEntry> list(const std::string& folder) override { return files_->list(folder); }
  std::unique_ptr<FileWriter> write(const std::string& name) override {
    return files_->write(name);
  }
  bool remove(const std::string& name) override { return files_->remove(name); }
  void rename(const std::string& from, const std::string& to) override { files_->rename(from, to); }
  bool make_folder(const std::string& name) override { return files_->make_folder(name); }
  void touch(const std::string& name) override { files_->touch(name); }
  std::unique_ptr<FileLock> try_lock(const std::string& name) override {
    return files_->try_lock(name);
  }
  void discard_unfinished() override { files_->discard_unfinished(); }

 private:
  FileSystem* const files_;
  Throttle* const throttle_;
};

}  // namespace

std::unique_ptr<WaitClock> make_real_clock() { return std::make_unique<RealClock>(); }

Throttle::Throttle(const ThrottleOptions& options, std::unique_ptr<WaitClock> clock)
    : options_(options), clock_(clock ? std::move(clock) : make_real_clock()) {}

Throttle::~Throttle() = default;

FileSystem* Throttle::slowed(FileSystem* files) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FileSystem>& slot = slowed_[files];
  if (!slot) slot = std::make_unique<ThrottledFileSystem>(files, this);
  return slot.get();
}

void Throttle::wait_to_open() {
  if (options_.open_ns == 0) return;
  const int64_t now = clock_->now_ns();
  wait(now, now + options_.open_ns);
}

void Throttle::wait_to_read() {
  if (options_.read_ns == 0) return;
  const int64_t now = clock_->now_ns();
  wait(now, now + options_.read_ns);
}

void Throttle::wait_for_bytes(int64_t bytes) {
  if (options_.bytes_per_second <= 0 || bytes <= 0) return;
  const double ns = 1e9 * static_cast<double>(bytes) / options_.bytes_per_second;
  const int64_t now = clock_->now_ns();
  int64_t deadline = 0;
  {
    const std::lock_guard lock(mutex_);
    free_ns_ = std::max(free_ns_, now - kBurstNs) + std::max<int64_t>(1, static_cast<int64_t>(ns));
    deadline = free_ns_;
  }
  wait(now, deadline);
}

void Throttle::wait(int64_t since_ns, int64_t deadline_ns) {
  if (deadline_ns <= since_ns) return;
  clock_->wait_until(deadline_ns, [] { return ScopedCancellation::requested(); });
  if (ReadCounter* counter = ReadCounter::current()) counter->waited(clock_->now_ns() - since_ns);
  check_cancelled();
}

}  // namespace penstock
