// Readers that cut a file into records: views into the chunks that were read, without a copy.
//
// A reader is for one thread at a time and blocks, so run it on an I/O thread. Memory comes from
// the pool that is current when read() is called.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/buffer.h"
#include "data/spec.h"

namespace penstock {

struct Record {
  const char* data;
  int64_t size;
  int64_t offset;  // start of the record in the (decompressed) file, header included
};

// A run of records inside `chunks`, which keep them alive. `error` is set if the bytes after the
// records are bad.
struct RecordChunk {
  std::vector<BufferRef> chunks;
  std::vector<Record> records;
  ErrorPtr error;
  bool end = false;
  int64_t file_bytes = 0;  // of the file, read for this chunk: includes framing and data read
                           // ahead; compressed bytes
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // Overwrites `out` with the next records, between 1 and `max_records` (>= 1), or an error, or
  // both (the records come before the error), or sets `end` at the end. Waits for one chunk, or for
  // the chunks of the first record. Never throws for contents of the file. After an error the next
  // call continues if the format allows it, or sets `end`.
  virtual void read(RecordChunk* out, int64_t max_records) = 0;
};

struct ReaderOptions {
  std::string compression;        // see parse_compression
  int64_t chunk_bytes = 1 << 20;  // bytes per read, at most 64 KiB the first time; at least 64
  bool verify_checksums = true;
  int64_t max_decompressed_bytes = 0;  // of a compressed file; 0: see open_input_stream
};

// Maximum length of a record.
inline constexpr int64_t kMaxRecordBytes = int64_t{1} << 30;

// Both open the file at the first read(): if that fails, the first read() returns the error, then
// the end. Both throw INVALID_ARGUMENT for options out of range.

// Reads TFRecords. A record whose data checksum does not match is DATA_LOSS, and the next record
// follows. A length whose checksum does not match, an impossible length, or a file cut within a
// record is DATA_LOSS that says how many bytes are unread; then the end.
std::unique_ptr<RecordReader> open_tfrecord(std::string path, const ReaderOptions& options);

// Lines without their "\n" and, as in tf.data, without any "\r". Skips a UTF-8 byte order mark at
// the start of the file. A last line without "\n" counts, unless a compressed stream fails there;
// empty lines count unless they are skipped.
struct LineLayout {
  const char* format = "text_line";  // for messages
  bool skip_blank = false;           // skip lines of spaces and tabs only
};
std::unique_ptr<RecordReader> open_text_lines(std::string path, const ReaderOptions& options,
                                              const LineLayout& layout = {});

// Reads samples of a tar archive: neighbouring members whose names agree up to the first dot of the
// base name form one record (headers and data; tar.h splits it). Skips members that are not files
// or have no dot. A bad header is DATA_LOSS and ends the file, as does a missing end mark.
std::unique_ptr<RecordReader> open_tar(std::string path, const ReaderOptions& options);

// Records of `record_bytes` between a header and a footer. A plain file whose body is not a
// multiple of it is INVALID_ARGUMENT and gives no record; in a compressed one the whole records
// come first, then DATA_LOSS.
struct FixedLayout {
  int64_t record_bytes = 1, header_bytes = 0, footer_bytes = 0;
};
std::unique_ptr<RecordReader> open_fixed_length(std::string path, const ReaderOptions& options,
                                                const FixedLayout& layout);

// Rows of delimited text without their line ends: "\n", "\r\n" or "\r", outside of quotes if
// `quotes` is set. A quote that never closes is INVALID_ARGUMENT, then the end.
struct RowLayout {
  char delimiter = ',';
  bool quotes = true, header = false;
};
std::unique_ptr<RecordReader> open_rows(std::string path, const ReaderOptions& options,
                                        const RowLayout& layout);

// Reads rows of a .npy file; a file of another dtype or row shape is INVALID_ARGUMENT, a cut one
// DATA_LOSS after its whole rows.
std::unique_ptr<RecordReader> open_npy(std::string path, const ReaderOptions& options, DType dtype,
                                       const Shape& row);

// Reads a whole file as one record.
std::unique_ptr<RecordReader> open_whole_file(std::string path);

}  // namespace penstock
