#include "io/kept_files.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace penstock {
namespace {

std::atomic<KeptFiles*> living{nullptr};

}  // namespace

// One file, shared by all who have it open.
struct KeptFiles::Content {
  using Piece = std::shared_ptr<const std::vector<std::byte>>;

  FileStatus status;
  int reads_in_flight = 1;
  bool size_is_a_guess = false;
  std::mutex mutex;
  std::map<int64_t, Piece> pieces;  // by index

  Piece find(int64_t index) {
    const std::lock_guard lock(mutex);
    const auto found = pieces.find(index);
    return found == pieces.end() ? nullptr : found->second;
  }
  // Returns false if another thread was first.
  bool add(int64_t index, Piece piece) {
    const std::lock_guard lock(mutex);
    return pieces.emplace(index, std::move(piece)).second;
  }
};

// Opens the file below when the first piece is missing.
class KeptFile final : public RandomAccessFile {
 public:
  using Open = std::function<std::unique_ptr<RandomAccessFile>()>;

  KeptFile(std::shared_ptr<KeptFiles::Content> content, std::unique_ptr<RandomAccessFile> file,
           Open open, KeptFiles* owner)
      : RandomAccessFile(content->status),
        content_(std::move(content)),
        open_(std::move(open)),
        owner_(owner),
        file_(std::move(file)) {}

  int64_t read(std::span<std::byte> out, int64_t offset) const override {
    size_t done = 0;
    while (done < out.size()) {
      const int64_t at = offset + static_cast<int64_t>(done);
      const int64_t index = at / KeptFiles::kPiece, within = at % KeptFiles::kPiece;
      const size_t most =
          std::min(out.size() - done, static_cast<size_t>(KeptFiles::kPiece - within));
      const size_t got = read_of_piece(index, within, out.subspan(done, most));
      done += got;
      if (got < most) break;
    }
    return static_cast<int64_t>(done);
  }
  bool size_is_a_guess() const override { return content_->size_is_a_guess; }
  int reads_in_flight() const override { return content_->reads_in_flight; }

 private:
  size_t read_of_piece(int64_t index, int64_t within, std::span<std::byte> out) const {
    KeptFiles::Content::Piece piece = content_->find(index);
    if (piece) {
      owner_->served_.fetch_add(static_cast<int64_t>(out.size()), std::memory_order_relaxed);
    } else {
      if (owner_->is_full())
        return static_cast<size_t>(from_storage(out, index * KeptFiles::kPiece + within));
      piece = load(index);
    }
    const auto start = std::min(static_cast<size_t>(within), piece->size());
    const size_t got = std::min(out.size(), piece->size() - start);
    std::memcpy(out.data(), piece->data() + start, got);
    return got;
  }

  KeptFiles::Content::Piece load(int64_t index) const {
    auto bytes = std::make_shared<std::vector<std::byte>>(KeptFiles::kPiece);
    bytes->resize(static_cast<size_t>(from_storage(*bytes, index * KeptFiles::kPiece)));
    bytes->shrink_to_fit();
    const auto size = static_cast<int64_t>(bytes->size());
    if (owner_->take_room(size) && !content_->add(index, bytes)) owner_->kept_.fetch_sub(size);
    return bytes;
  }

  int64_t from_storage(std::span<std::byte> out, int64_t offset) const {
    const RandomAccessFile* file = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (!file_) file_ = open_();
      file = file_.get();
    }
    const int64_t got = file->read(out, offset);
    owner_->read_.fetch_add(got, std::memory_order_relaxed);
    return got;
  }

  const std::shared_ptr<KeptFiles::Content> content_;
  const Open open_;
  KeptFiles* const owner_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<RandomAccessFile> file_;
};

class KeptFileSystem final : public FileSystem {
 public:
  KeptFileSystem(FileSystem* key, FileSystem* files, KeptFiles* owner)
      : key_(key), files_(files), owner_(owner) {}

  std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                         const std::string& name) override {
    if (!owner_->is_on()) return files_->open(caller, name);
    const auto below = [files = files_, from = std::string(caller), name] {
      return files->open(from, name);
    };
    if (auto content = owner_->find(key_, name))
      return std::make_unique<KeptFile>(std::move(content), nullptr, below, owner_);
    std::unique_ptr<RandomAccessFile> file = below();
    auto content = std::make_shared<KeptFiles::Content>();
    content->status = file->status();
    content->reads_in_flight = file->reads_in_flight();
    content->size_is_a_guess = file->size_is_a_guess();
    content = owner_->add(key_, name, std::move(content));
    return std::make_unique<KeptFile>(std::move(content), std::move(file), below, owner_);
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
  FileSystem* const key_;
  FileSystem* const files_;
  KeptFiles* const owner_;
};

KeptFiles::KeptFiles(int64_t room_bytes) : room_(room_bytes) {
  KeptFiles* none = nullptr;
  PENSTOCK_CHECK(living.compare_exchange_strong(none, this));
}

KeptFiles::~KeptFiles() { living.store(nullptr); }

FileSystem* KeptFiles::over(FileSystem* files, FileSystem* at_speed) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<FileSystem>& slot = systems_[{files, at_speed}];
  if (!slot) slot = std::make_unique<KeptFileSystem>(files, at_speed, this);
  return slot.get();
}

std::shared_ptr<KeptFiles::Content> KeptFiles::find(FileSystem* files, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = contents_.find({files, name});
  return found == contents_.end() ? nullptr : found->second;
}

std::shared_ptr<KeptFiles::Content> KeptFiles::add(FileSystem* files, const std::string& name,
                                                   std::shared_ptr<Content> content) {
  const std::lock_guard lock(mutex_);
  return contents_.try_emplace({files, name}, std::move(content)).first->second;
}

void KeptFiles::count_anew() {
  read_.store(0);
  served_.store(0);
}

std::vector<std::string> KeptFiles::names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [key, content] : contents_) out.push_back(key.second);
  return out;
}

bool KeptFiles::take_room(int64_t bytes) {
  if (kept_.fetch_add(bytes) + bytes <= room_) return true;
  kept_.fetch_sub(bytes);
  full_.store(true);
  return false;
}

KeptFiles* KeptFiles::current() { return living.load(std::memory_order_acquire); }

}  // namespace penstock
