// A file system in memory, for tests: it has no paths of the machine, no links and no mappings.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "base/error.h"
#include "io/file_system.h"

namespace penstock {

class MemoryFileSystem : public FileSystem {
 public:
  std::unique_ptr<RandomAccessFile> open(std::string_view caller,
                                         const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(name);
    if (found == files_.end()) throw missing(caller, name);
    return std::make_unique<MemoryFile>(status_of(found->second), found->second.bytes);
  }
  FileStatus status(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(name); found != files_.end())
      return status_of(found->second);
    FileStatus out;
    if (is_folder(name)) out.kind = FileStatus::Kind::folder;
    return out;
  }
  std::vector<FolderEntry> list(const std::string& folder) override {
    const std::lock_guard lock(mutex_);
    if (!is_folder(folder)) throw missing("list", folder);
    const std::string prefix = joined_name(folder, "");
    std::vector<FolderEntry> out;
    for (auto at = files_.lower_bound(prefix); at != files_.end(); ++at) {
      if (!at->first.starts_with(prefix)) break;
      const std::string rest = at->first.substr(prefix.size());
      const std::string name = rest.substr(0, rest.find('/'));
      const bool folder_within = name.size() < rest.size();
      if (!out.empty() && out.back().name == name) continue;
      out.push_back({name, folder_within ? FileStatus::Kind::folder : FileStatus::Kind::file});
    }
    return out;
  }
  std::unique_ptr<FileWriter> write(const std::string& name) override {
    return std::make_unique<Writer>(this, name);
  }
  bool remove(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    files_.erase(name);
    return true;
  }
  void rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    auto node = files_.extract(from);
    if (!node) throw missing("write", from);
    node.key() = to;
    files_.erase(to);
    files_.insert(std::move(node));
  }
  bool make_folder(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    return !is_folder(name);  // folders are where files are
  }

 private:
  struct Content {
    std::string bytes;
    int64_t version = 0;
  };
  class MemoryFile final : public RandomAccessFile {
   public:
    MemoryFile(FileStatus status, std::string bytes)
        : RandomAccessFile(std::move(status)), bytes_(std::move(bytes)) {}
    int64_t read(std::span<std::byte> out, int64_t offset) const override {
      const auto from = std::min(static_cast<size_t>(offset), bytes_.size());
      const size_t size = std::min(out.size(), bytes_.size() - from);
      if (size > 0) std::memcpy(out.data(), bytes_.data() + from, size);
      return static_cast<int64_t>(size);
    }

   private:
    const std::string bytes_;
  };
  class Writer final : public FileWriter {
   public:
    Writer(MemoryFileSystem* files, std::string name) : files_(files), name_(std::move(name)) {}
    void append(std::string_view bytes) override { bytes_ += bytes; }
    void commit() override {
      const std::lock_guard lock(files_->mutex_);
      files_->files_[name_] = {std::move(bytes_), ++files_->versions_};
    }

   private:
    MemoryFileSystem* const files_;
    const std::string name_;
    std::string bytes_;
  };

  static FileStatus status_of(const Content& content) {
    FileStatus out;
    out.kind = FileStatus::Kind::file;
    out.bytes = std::ssize(content.bytes);
    out.etag = "v" + std::to_string(content.version);
    return out;
  }
  static Error missing(std::string_view caller, const std::string& name) {
    return {Code::not_found, std::string(caller) + ": " + name + ": there is no such object"};
  }
  bool is_folder(const std::string& name) const {
    const std::string prefix = joined_name(name, "");
    const auto at = files_.lower_bound(prefix);
    return at != files_.end() && at->first.starts_with(prefix);
  }

  std::mutex mutex_;
  std::map<std::string, Content> files_;
  int64_t versions_ = 0;
};

}  // namespace penstock
