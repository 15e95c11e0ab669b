// Common part of readers of record formats: a window of the stream, [begin_, end_) of a buffer, not
// yet returned. When it holds no whole record, the remaining bytes move to the front of a new
// buffer.
#pragma once

#include <memory>
#include <string>

#include "io/input_stream.h"
#include "io/record_reader.h"

namespace penstock {

class ChunkedReader : public RecordReader {
 public:
  ChunkedReader(const char* format, std::string path, const ReaderOptions& options);
  void read(RecordChunk* out, int64_t max_records) final;

 protected:
  // Takes whole records from the window, up to `max_records`, and sets error if bad ones follow. If
  // it takes none, returns the size that the window must have, 0 for any growth.
  virtual int64_t take(RecordChunk* out, int64_t max_records) = 0;
  // Handles the window at the end of the stream, when it holds no whole record. Also called with an
  // empty window if empty_rest() says so.
  virtual void take_rest(RecordChunk* out) = 0;
  virtual bool empty_rest() const { return false; }
  // Names the record at the window's start if its end can be found without holding it: "line".
  // Returns null if not: then the file ends there.
  virtual const char* skippable() const { return nullptr; }
  // Drops the window's part of a record that is too large; returns true if it held the record's
  // end. Called repeatedly with the next part until then.
  virtual bool skip_part() { return true; }

  // Returns null before the first chunk.
  char* data() const { return buffer_ ? reinterpret_cast<char*>(buffer_.data()) : nullptr; }
  int64_t available() const { return end_ - begin_; }
  // Offset of the window's start in the (decompressed) file.
  int64_t offset() const { return buffer_offset_ + begin_; }
  const InputStream& stream() const { return *stream_; }
  bool compressed() const { return compression_ != Compression::none; }

  void give(RecordChunk* out, int64_t at, int64_t size, int64_t offset) const {
    out->records.push_back({data() + at, size, offset});
  }
  void fail(RecordChunk* out, int64_t at, const std::string& what, Code code = Code::data_loss);
  // Sets the same error; nothing of the file can be read after it.
  void fail_for_good(RecordChunk* out, int64_t at, const std::string& what,
                     Code code = Code::data_loss);
  // Skips a UTF-8 byte order mark at the start of the file. Returns the size that the window must
  // have to decide, 0 when done. For text; call it before taking a record.
  int64_t skip_byte_order_mark();
  // Reports that the record at the window's start is too large; continues after it if its end can
  // be found.
  void fail_too_large(RecordChunk* out, const std::string& what, Code code);
  // Ends reading: no more of the file is needed.
  void finish() { finished_ = true; }

  int64_t begin_ = 0;
  int64_t end_ = 0;

 private:
  void step(RecordChunk* out, int64_t max_records);
  bool refill(RecordChunk* out, int64_t needed);
  bool allocate_room(int64_t room, int64_t least, BufferRef* next, RecordChunk* out);

  const std::string format_;
  const std::string path_;
  const Compression compression_;
  const int64_t chunk_bytes_, limit_bytes_;
  std::unique_ptr<InputStream> stream_;
  BufferRef buffer_;
  int64_t buffer_offset_ = 0;  // of buffer_'s first byte, in the (decompressed) file
  bool skips_ = false;         // the rest of a record that is too large follows
  bool finished_ = false;
};

}  // namespace penstock
