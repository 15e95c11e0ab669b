#include "io/sequential_file.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "base/error.h"
#include "io/io_executor.h"
#include "io/memory_file_system_test.h"

namespace penstock {
namespace {

constexpr int64_t kFirst = 1000, kRange = SequentialFile::kRange;

// Files whose reads of whole ranges return only when `meeting` of them are in flight at once.
class MeetingFileSystem final : public MemoryFileSystem {
 public:
  explicit MeetingFileSystem(int meeting) : meeting_(meeting) {}
  std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                         const std::string& name) override {
    return std::make_unique<MeetingFile>(MemoryFileSystem::open(caller, name), this);
  }

 private:
  class MeetingFile final : public RandomAccessFile {
   public:
    MeetingFile(std::unique_ptr<RandomAccessFile> file, MeetingFileSystem* files)
        : RandomAccessFile(file->status()), file_(std::move(file)), files_(files) {}
    int64_t read(std::span<std::byte> out, int64_t offset) const override {
      if (out.size() == static_cast<size_t>(kRange)) files_->meet();
      return file_->read(out, offset);
    }
    int reads_in_flight() const override { return 4; }

   private:
    const std::unique_ptr<RandomAccessFile> file_;
    MeetingFileSystem* const files_;
  };

  void meet() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    const int group = (arrived_ + meeting_ - 1) / meeting_;
    changed_.wait(lock, [&] { return arrived_ >= group * meeting_; });
  }

  const int meeting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

// One thread for each piece of work.
class ThreadExecutor final : public IoExecutor {
 public:
  ~ThreadExecutor() override {
    for (std::thread& t : threads_) t.join();
  }
  void submit(std::function<void()> work) override { threads_.emplace_back(std::move(work)); }

 private:
  std::vector<std::thread> threads_;
};

// Never gets to the work.
class BusyExecutor final : public IoExecutor {
 public:
  void submit(std::function<void()>) override { ++submitted; }
  int submitted = 0;
};

std::string content(int64_t bytes) {
  std::string out(static_cast<size_t>(bytes), '\0');
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(i * 2654435761u >> 13);
  return out;
}

void write(int meeting, const std::string& bytes) {
  add_file_system("meeting", std::make_unique<MeetingFileSystem>(meeting));
  write_file_atomically("meeting://x", bytes);
}

// Reads the file in pieces: a short first one, then `piece` bytes at a time.
std::string read_all(int64_t piece) {
  SequentialFile file("meeting://x");
  std::string out;
  for (int64_t size = kFirst;; size = piece) {
    std::string part(static_cast<size_t>(size), '\0');
    const int64_t got = file.read(std::as_writable_bytes(std::span(part)));
    out += part.substr(0, static_cast<size_t>(got));
    if (got < size) return out;
  }
}

TEST_CASE("slow storage has four reads of one file in flight") {
  const std::string bytes = content(kFirst + 4 * kRange);
  write(4, bytes);
  ThreadExecutor executor;
  const ScopedIoExecutor scope(&executor);
  CHECK(read_all(4 * kRange + 1) == bytes);
}

TEST_CASE("reads ahead give the same bytes, whatever the sizes") {
  for (const int64_t size : {kFirst, kFirst + kRange, kFirst + kRange + 1, 5 * kRange - 7}) {
    const std::string bytes = content(size);
    write(1, bytes);
    for (const int64_t piece : {int64_t{70'000}, kRange, 3 * kRange}) {
      CAPTURE(size);
      CAPTURE(piece);
      CHECK(read_all(piece) == bytes);  // without an executor
      ThreadExecutor executor;
      const ScopedIoExecutor scope(&executor);
      CHECK(read_all(piece) == bytes);
    }
  }
}

TEST_CASE("a reader does not wait for work that has not begun") {
  const std::string bytes = content(6 * kRange);
  write(1, bytes);
  BusyExecutor executor;
  const ScopedIoExecutor scope(&executor);
  CHECK(read_all(kRange) == bytes);
  CHECK(executor.submitted > 0);
}

}  // namespace
}  // namespace penstock
