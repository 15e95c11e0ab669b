#include "io/file.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "io/local_file_system.h"
#include "io/read_counter.h"
#include "io/read_times.h"
#include "io/staging_folder.h"

namespace penstock {
namespace {

// Calls read(span, offset) until it does not fill the span. `size` is the expected size. Throws
// RESOURCE_EXHAUSTED above `limit` bytes.
template <typename Read>
std::string read_to_end(std::string_view caller, const std::string& path, int64_t size,
                        int64_t limit, const Read& read) {
  std::string out;
  size_t done = 0;
  for (;;) {
    // One byte more than the expected size detects the end without another read.
    const size_t expected = size == 0 ? 4096 : static_cast<size_t>(size) + 1;
    out.resize(std::max({expected, done + 1, done * 3 / 2}));
    const std::span rest = std::as_writable_bytes(std::span(out)).subspan(done);
    const int64_t got = read(rest, static_cast<int64_t>(done));
    done += static_cast<size_t>(got);
    if (static_cast<int64_t>(done) > limit) {
      throw Error(Code::resource_exhausted, std::string(caller) + ": " + path +
                                                ": it holds more than " + std::to_string(limit) +
                                                " bytes");
    }
    if (got < std::ssize(rest)) break;
  }
  out.resize(done);
  return out;
}

std::unique_ptr<RandomAccessFile> open_for_reading(std::string_view caller,
                                                   const std::string& path) {
  const ResolvedName at = resolve_name(caller, path);
  const ReadTimer timer(0);
  return at.files->open(caller, at.name);
}

std::unique_ptr<FileWriter> open_for_writing(const std::string& path) {
  const ResolvedName at = resolve_name("write", path);
  check_staged(at.name);
  return at.files->write(at.name);
}

}  // namespace

File::File(std::string path, std::string_view caller)
    : path_(std::move(path)), file_(open_for_reading(caller, path_)) {
  if (ReadCounter* counter = ReadCounter::current()) counter->opened();
}

int64_t File::pread(std::span<std::byte> out, int64_t offset) const {
  const int64_t got = [&] {
    const ReadTimer timer(std::ssize(out));
    return file_->read(out, offset);
  }();
  if (ReadCounter* counter = ReadCounter::current()) counter->read(got);
  return got;
}

AtomicFile::AtomicFile(const std::string& path) : writer_(open_for_writing(path)) {}

void AtomicFile::append(std::string_view bytes) {
  writer_->append(bytes);
  bytes_ += std::ssize(bytes);
}

void discard_unfinished_files() {
  for (FileSystem* files : all_file_systems()) files->discard_unfinished();
  discard_staging_folders();
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.append(bytes);
  file.commit();
}

std::string read_regular(std::string_view caller, const std::string& path, int64_t limit) {
  return read_regular(caller, File(path, caller), limit);
}

std::string read_regular(std::string_view caller, const File& file, int64_t limit) {
  const std::string& path = file.path();
  if (file.size() > limit) {
    throw Error(Code::resource_exhausted, std::string(caller) + ": " + path +
                                              ": it holds more than " + std::to_string(limit) +
                                              " bytes");
  }
  std::string out = read_to_end(
      caller, path, file.size(), limit,
      [&file](std::span<std::byte> to, int64_t offset) { return file.pread(to, offset); });
  if (std::ssize(out) < file.size() && !file.size_is_a_guess()) {
    throw Error(Code::data_loss,
                std::string(caller) + ": " + path + ": became shorter while it was read");
  }
  return out;
}

std::string read_file(const std::string& path, int64_t limit) {
  const FileStatus status = file_status(path);
  if (status.kind != FileStatus::Kind::other) return read_regular("open", path, limit);
  return read_to_end("read", path, 0, limit, LocalStream(path));
}

}  // namespace penstock
