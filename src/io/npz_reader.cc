// Reads each array as a stream of its own; joins their rows side by side into records.

#include <algorithm>

#include "data/checked_product.h"
#include "io/npz.h"
#include "io/zip.h"

namespace penstock {
namespace {

constexpr std::string_view kSuffix = ".npy";

Error at_member(const File& file, const ZipMember& member, const Error& e) {
  return Error(e.code(), file.path() + ": " + member.name + ": " + e.message());
}

// Reads the header at the start of the member; `stream` is at the data after it.
NpyHeader read_header(const File& file, const ZipMember& member, ZipMemberStream* stream) {
  std::string text(static_cast<size_t>(std::min(kNpyPrefix, member.bytes)), '\0');
  stream->read(std::as_writable_bytes(std::span(text)));
  try {
    const int64_t bytes = npy_header_bytes(text);
    if (bytes > member.bytes || bytes < kNpyPrefix)
      throw Error(Code::data_loss, "no .npy file: its header is cut");
    text.resize(static_cast<size_t>(bytes));
    stream->read(std::as_writable_bytes(std::span(text).subspan(kNpyPrefix)));
    const NpyHeader out = parse_npy_header(text);
    if (checked_product({out.rows, out.row.entries(), dtype_size(out.dtype)}) !=
        member.bytes - out.bytes) {
      throw Error(Code::data_loss, "its header says " + std::to_string(out.rows) +
                                       " rows, behind it are " +
                                       std::to_string(member.bytes - out.bytes) + " bytes");
    }
    return out;
  } catch (const Error& e) {
    if (e.message().find(file.path()) != std::string::npos) throw;
    throw at_member(file, member, e);
  }
}

class NpzReader final : public RecordReader {
 public:
  NpzReader(std::string path, const ReaderOptions& options, std::vector<NpzArray> arrays)
      : path_(std::move(path)), options_(options), arrays_(std::move(arrays)) {
    for (const NpzArray& a : arrays_) record_bytes_ += a.row_bytes();
  }

  void read(RecordChunk* out, int64_t max_records) override {
    *out = RecordChunk();
    const int64_t before = file_bytes_read();
    try {
      if (!file_ && !done_) open();
      if (!done_) read_rows(out, max_records);
    } catch (const Error& e) {
      out->error = std::make_shared<const Error>(e.code(), "npz: " + e.message());
      done_ = true;
    }
    out->file_bytes = file_bytes_read() - before;
    out->end = done_ && out->records.empty() && !out->error;
  }

 private:
  int64_t file_bytes_read() const {
    int64_t out = 0;
    for (const auto& stream : streams_) out += stream->file_bytes_read();
    return out;
  }

  void open() {
    file_ = std::make_unique<File>(path_);
    if (record_bytes_ > kMaxRecordBytes)
      throw Error(Code::resource_exhausted, path_ + ": a row has more than 1 GiB");
    const std::vector<ZipMember> members = read_zip_members(*file_);
    for (const NpzArray& array : arrays_) {
      const auto member =
          std::ranges::find(members, array.name + std::string(kSuffix), &ZipMember::name);
      if (member == members.end())
        throw Error(Code::invalid_argument, path_ + ": it has no array `" + array.name + "`");
      streams_.push_back(open_zip_member(*file_, *member, options_.max_decompressed_bytes));
      check(read_header(*file_, *member, streams_.back().get()), array);
    }
  }

  void check(const NpyHeader& header, const NpzArray& array) {
    if (header.dtype != array.dtype || !(header.row == array.row)) {
      throw Error(Code::invalid_argument,
                  path_ + ": the rows of `" + array.name + "` are " +
                      LeafSpec::tensor(header.dtype, Shape(header.row)).text() + ", expected " +
                      LeafSpec::tensor(array.dtype, Shape(array.row)).text());
    }
    if (&array == arrays_.data()) left_ = header.rows;
    if (header.rows != left_) {
      throw Error(Code::invalid_argument, path_ + ": `" + array.name + "` has " +
                                              std::to_string(header.rows) + " rows, `" +
                                              arrays_[0].name + "` has " + std::to_string(left_) +
                                              "; name those that belong together in fields");
    }
  }

  void read_rows(RecordChunk* out, int64_t max_records) {
    const int64_t fit =
        std::max<int64_t>(1, options_.chunk_bytes / std::max<int64_t>(1, record_bytes_));
    const int64_t rows = std::min({left_, max_records, fit});
    if (rows == 0) {
      done_ = true;
      return;
    }
    BufferRef buffer = allocate_buffer(rows * record_bytes_);
    std::byte* to = buffer.data();
    out->chunks.push_back(buffer);
    for (int64_t i = 0; i < rows; ++i, --left_) {
      const auto* record = reinterpret_cast<const char*>(to);
      for (size_t a = 0; a < arrays_.size(); ++a) {
        const int64_t bytes = arrays_[a].row_bytes();
        streams_[a]->read({to, static_cast<size_t>(bytes)});
        to += bytes;
      }
      out->records.push_back({record, record_bytes_, at_++});
    }
  }

  const std::string path_;
  const ReaderOptions options_;
  const std::vector<NpzArray> arrays_;
  int64_t record_bytes_ = 0;
  std::unique_ptr<File> file_;
  std::vector<std::unique_ptr<ZipMemberStream>> streams_;
  int64_t left_ = 0, at_ = 0;
  bool done_ = false;
};

}  // namespace

std::vector<NpzArray> read_npz_arrays(const std::string& path) {
  const File file(path);
  std::vector<NpzArray> out;
  for (const ZipMember& member : read_zip_members(file)) {
    if (!std::string_view(member.name).ends_with(kSuffix)) continue;
    const auto stream = open_zip_member(file, member);
    const NpyHeader header = read_header(file, member, stream.get());
    out.push_back(
        {member.name.substr(0, member.name.size() - kSuffix.size()), header.dtype, header.row});
  }
  return out;
}

std::unique_ptr<RecordReader> open_npz(std::string path, const ReaderOptions& options,
                                       std::vector<NpzArray> arrays) {
  return std::make_unique<NpzReader>(std::move(path), options, std::move(arrays));
}

}  // namespace penstock
