// Reads each chunk into a buffer of its own, which its rows share. A read includes the head of the
// next section. Chunks stored without packing are verified by whoever decodes them, so that one
// core reads while another computes the checksum.

#include <algorithm>
#include <optional>

#include "base/origin_text.h"
#include "io/snapshot.h"
#include "io/snapshot_layout.h"

namespace penstock {
namespace {

using namespace snapshot;

constexpr uint64_t kMostHeader = 64 << 20;
constexpr uint64_t kMostUnpacked = 0x7E000000;  // of a chunk: LZ4's limit
constexpr int64_t kBytesPerRead = 1 << 20;

// Sections of a file from front to back; throws DATA_LOSS and the errors of files.
class Sections {
 public:
  explicit Sections(const std::string& path) : file_(path) {
    file_.expect_sequential_reads();
    char magic[8] = {};
    const int64_t got = file_.pread(std::as_writable_bytes(std::span(magic)), 0);
    if (got != 8 || std::string_view(magic, 8) != kMagic) fail("not a snapshot of Penstock");
    at_ = 8;
  }

  // Returns the next section, unpacked, at the start of the buffer; its head follows it.
  BufferRef next(SectionHead* head) {
    *head = take_head();
    constexpr auto kHead = static_cast<int64_t>(sizeof *head);
    const int64_t left = file_.size() - at_ - kHead;
    if (left < 0 || head->stored_bytes > static_cast<uint64_t>(left))
      fail("the file is cut, or a section's length is wrong");
    const uint32_t packing = head->flags & kPacked;
    const bool packed = packing != 0;
    if (packed ? head->raw_bytes > most_expansion(packing) * head->stored_bytes ||
                     head->raw_bytes > kMostUnpacked
               : head->raw_bytes != head->stored_bytes)
      fail("a section's lengths do not fit each other");
    const auto size = static_cast<int64_t>(head->stored_bytes);
    BufferRef stored = allocate_buffer(size + kHead);
    const std::span all(stored.data(), static_cast<size_t>(size + kHead));
    const int64_t got = file_.pread(all, at_ + kHead);
    const auto bytes = all.first(static_cast<size_t>(size));
    if (got < size) fail("the file is cut, or a section's length is wrong");
    if ((packed || head->kind != kChunk) && !head->matches(bytes)) fail(kWrongChecksum);
    ahead_at_ = -1;
    if (got == size + kHead) {
      std::memcpy(&ahead_, all.data() + size, sizeof ahead_);
      ahead_at_ = at_ + kHead + size;
    }
    if (packed) stored = unpacked(bytes, *head);
    std::memcpy(stored.data() + head->raw_bytes, head, sizeof *head);
    at_ += kHead + size;
    return stored;
  }

  bool at_end() const { return at_ == file_.size(); }
  int64_t offset() const { return at_; }
  int64_t size() const { return file_.size(); }
  void seek(int64_t offset) { at_ = offset; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Code::data_loss, at_offset(file_.path(), at_) + ": " + what);
  }

 private:
  SectionHead take_head() {
    if (ahead_at_ == at_) return ahead_;
    SectionHead head;
    if (file_.pread(std::as_writable_bytes(std::span(&head, 1)), at_) != sizeof head)
      fail("the file is cut: it has no end section");
    return head;
  }

  BufferRef unpacked(std::span<const std::byte> packed, const SectionHead& head) {
    BufferRef out = allocate_buffer(static_cast<int64_t>(head.raw_bytes + sizeof head));
    if (!unpack(head.flags & kPacked, packed, {out.data(), static_cast<size_t>(head.raw_bytes)}))
      fail("a chunk cannot be unpacked");
    return out;
  }

  File file_;
  int64_t at_ = 0;
  SectionHead ahead_;
  int64_t ahead_at_ = -1;  // offset of ahead_ in the file
};

std::string_view text_of(const BufferRef& buffer, const SectionHead& head) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(head.raw_bytes)};
}

struct Header {
  Spec spec;
  uint64_t epoch = 0;
};

Header read_header(Sections* sections) {
  SectionHead head;
  const BufferRef buffer = sections->next(&head);
  if (head.kind != kHeader || head.raw_bytes > kMostHeader) sections->fail("it has no header");
  Taker header(text_of(buffer, head));
  const auto version = header.value<uint32_t>();
  if (version < kFirstVersion || version > kLastVersion) {
    throw Error(Code::unimplemented, "the snapshot has version " + std::to_string(version) +
                                         " of the format, this program reads versions " +
                                         std::to_string(kFirstVersion) + " to " +
                                         std::to_string(kLastVersion) + "; write it anew");
  }
  Header out{take_spec(&header), 0};
  if (!header.empty()) out.epoch = header.value<uint64_t>();
  return out;
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

  void read(RecordChunk* out, int64_t max_records) override {
    *out = RecordChunk();
    try {
      if (!finished_ && !sections_) {
        sections_.emplace(path_);
        const Spec found = read_header(&*sections_).spec;
        if (!(found == spec_))
          sections_->fail("its elements are " + found.text() + ", expected " + spec_.text());
      }
      const int64_t from = finished_ ? 0 : sections_->offset();
      while (!finished_ && std::ssize(out->records) < max_records &&
             sections_->offset() - from < kBytesPerRead)
        read_section(out);
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
    out->file_bytes += sections_->offset() - offset;
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
  const Header header = read_header(&sections);
  out.spec = header.spec;
  out.epoch = header.epoch;
  if (const std::optional<End> end = read_end(&sections))
    out.rows = static_cast<int64_t>(end->rows);
  return out;
}

std::unique_ptr<RecordReader> open_snapshot(std::string path, const Spec& spec) {
  return std::make_unique<SnapshotReader>(std::move(path), spec);
}

}  // namespace penstock
