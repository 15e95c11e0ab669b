// Each chunk is read into a buffer of its own, verified there, and shared by the rows made of it.

#include <lz4.h>

#include <algorithm>
#include <optional>

#include "io/snapshot.h"
#include "io/snapshot_layout.h"

namespace penstock {
namespace {

using namespace snapshot;

constexpr uint64_t kMostHeader = 64 << 20;
constexpr uint64_t kMostExpansion = 256;  // of LZ4

// A file's sections from front to back; throws DATA_LOSS and the errors of files.
class Sections {
 public:
  explicit Sections(const std::string& path) : file_(path) {
    file_.expect_sequential_reads();
    char magic[8] = {};
    const int64_t got = file_.pread(std::as_writable_bytes(std::span(magic)), 0);
    if (got != 8 || std::string_view(magic, 8) != kMagic) fail("not a snapshot of Penstock");
    at_ = 8;
  }

  // The next section, unpacked, at the beginning of the buffer.
  BufferRef next(SectionHead* head) {
    if (file_.pread(std::as_writable_bytes(std::span(head, 1)), at_) != sizeof *head)
      fail("the file is cut: it has no end section");
    const int64_t left = file_.size() - at_ - static_cast<int64_t>(sizeof *head);
    if (left < 0 || head->stored_bytes > static_cast<uint64_t>(left))
      fail("the file is cut, or a section's length is wrong");
    const bool packed = (head->flags & kLz4) != 0;
    if (packed ? head->raw_bytes > kMostExpansion * head->stored_bytes ||
                     head->raw_bytes > LZ4_MAX_INPUT_SIZE
               : head->raw_bytes != head->stored_bytes)
      fail("a section's lengths do not fit each other");
    BufferRef stored = allocate_buffer(static_cast<int64_t>(head->stored_bytes) + 1);
    const std::span bytes(stored.data(), static_cast<size_t>(head->stored_bytes));
    file_.pread(bytes, at_ + static_cast<int64_t>(sizeof *head));
    if (XXH3_64bits_withSeed(bytes.data(), bytes.size(), head->seed()) != head->checksum)
      fail("a section's checksum does not match");
    at_ += static_cast<int64_t>(sizeof *head + head->stored_bytes);
    return packed ? unpacked(bytes, *head) : stored;
  }

  bool at_end() const { return at_ == file_.size(); }
  int64_t offset() const { return at_; }
  int64_t size() const { return file_.size(); }
  void seek(int64_t offset) { at_ = offset; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::data_loss, file_.path() + ": offset " + std::to_string(at_) + ": " + what);
  }

 private:
  BufferRef unpacked(std::span<const std::byte> packed, const SectionHead& head) {
    BufferRef out = allocate_buffer(static_cast<int64_t>(head.raw_bytes) + 1);
    const int got = LZ4_decompress_safe(
        reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(out.data()),
        static_cast<int>(packed.size()), static_cast<int>(head.raw_bytes));
    if (got != static_cast<int>(head.raw_bytes)) fail("a chunk cannot be unpacked");
    return out;
  }

  File file_;
  int64_t at_ = 0;
};

std::string_view text_of(const BufferRef& buffer, const SectionHead& head) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(head.raw_bytes)};
}

Spec read_header(Sections* sections) {
  SectionHead head;
  const BufferRef buffer = sections->next(&head);
  if (head.kind != kHeader || head.raw_bytes > kMostHeader) sections->fail("it has no header");
  Taker header(text_of(buffer, head));
  const auto version = header.value<uint32_t>();
  if (version != kVersion) {
    throw Error(Code::unimplemented, "the snapshot has version " + std::to_string(version) +
                                         " of the format, this program reads version " +
                                         std::to_string(kVersion) + "; write it anew");
  }
  return take_spec(&header);
}

std::optional<End> read_end(Sections* sections) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(SectionHead) + sizeof(End));
  if (sections->size() < kBytes) return {};
  sections->seek(sections->size() - kBytes);
  try {
    SectionHead head;
    const BufferRef buffer = sections->next(&head);
    if (head.kind != kEnd || head.raw_bytes != sizeof(End)) return {};
    return Taker(text_of(buffer, head)).value<End>();
  } catch (const Error&) {
    return {};
  }
}

class SnapshotReader final : public RecordReader {
 public:
  SnapshotReader(std::string path, const Spec& spec) : path_(std::move(path)), spec_(spec) {}

  void read(RecordChunk* out, int64_t) override {
    *out = RecordChunk();
    try {
      if (!finished_ && !sections_) {
        sections_.emplace(path_);
        const Spec found = read_header(&*sections_);
        if (!(found == spec_))
          sections_->fail("its elements are " + found.text() + ", expected " + spec_.text());
      }
      if (!finished_) read_section(out);
    } catch (const Error& e) {
      out->error = std::make_shared<const Error>(e);
      finished_ = true;
    }
    if (finished_) sections_.reset();
    out->end = finished_ && out->records.empty() && !out->error;
  }

 private:
  void read_section(RecordChunk* out) {
    SectionHead head;
    const int64_t offset = sections_->offset();
    const BufferRef buffer = sections_->next(&head);
    if (head.kind == kChunk) {
      ++chunks_;
      out->records.push_back({reinterpret_cast<const char*>(buffer.data()),
                              static_cast<int64_t>(head.raw_bytes), offset});
      out->chunks.push_back(buffer);
      return;
    }
    if (head.kind != kEnd || head.raw_bytes != sizeof(End)) sections_->fail("an unknown section");
    const auto end = Taker(text_of(buffer, head)).value<End>();
    if (end.chunks != chunks_ || !sections_->at_end())
      sections_->fail("the end counts " + std::to_string(end.chunks) + " chunks, there are " +
                      std::to_string(chunks_) + ", or bytes follow it");
    finished_ = true;
  }

  const std::string path_;
  const Spec spec_;
  std::optional<Sections> sections_;
  uint64_t chunks_ = 0;
  bool finished_ = false;
};

}  // namespace

SnapshotInfo read_snapshot_info(const std::string& path) {
  Sections sections(path);
  SnapshotInfo out;
  out.spec = read_header(&sections);
  if (const std::optional<End> end = read_end(&sections))
    out.rows = static_cast<int64_t>(end->rows);
  return out;
}

std::unique_ptr<RecordReader> open_snapshot(std::string path, const Spec& spec) {
  return std::make_unique<SnapshotReader>(std::move(path), spec);
}

}  // namespace penstock
