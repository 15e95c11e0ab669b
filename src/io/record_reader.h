// Readers that cut a file into records: views into the chunks that were read, without a copy.
//
// A reader is for one thread at a time and blocks (run it on an I/O thread). Memory comes from the
// pool that is current when read() is called.
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
  int64_t offset;  // where the record begins in the (decompressed) file, its header included
};

// A run of records that lie in `chunks`, which keep them alive. `error` is set when what follows
// the records is bad.
struct RecordChunk {
  std::vector<BufferRef> chunks;
  std::vector<Record> records;
  ErrorPtr error;
  bool end = false;
  int64_t file_bytes =
      0;  // of the file read for it: frames and what lies ahead included, compressed
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // Overwrites `out` with the next records, between 1 and `max_records` (>= 1), or an error, or
  // both (the records come before the error), or with `end` when nothing follows. Waits for one
  // chunk, or for as many as the first record needs. Never throws for what the file holds. After an
  // error the next call goes on where the format lets it, or gives `end`.
  virtual void read(RecordChunk* out, int64_t max_records) = 0;
};

struct ReaderOptions {
  std::string compression;        // see parse_compression
  int64_t chunk_bytes = 1 << 20;  // read at a time, 64 KiB at most the first time; at least 64
  bool verify_checksums = true;
  int64_t max_decompressed_bytes = 0;  // of a compressed file; 0: see open_input_stream
};

// Records are at most this long.
inline constexpr int64_t kMaxRecordBytes = int64_t{1} << 30;

// Both open the file at the first read(): a file that cannot be opened is an error there, then the
// end. Both throw INVALID_ARGUMENT for options out of range.

// A record whose data checksum does not match is DATA_LOSS; the one after it follows. A length
// whose checksum does not match, an impossible length, or a file cut within a record is DATA_LOSS
// that says how many bytes are left unread; then the end.
std::unique_ptr<RecordReader> open_tfrecord(std::string path, const ReaderOptions& options);

// Lines without their "\n" and, as in tf.data, without any "\r". A UTF-8 byte order mark at the
// begin of the file is passed over. A last line without "\n" counts,
// unless a compressed stream fails there; empty lines count unless they are skipped.
struct LineLayout {
  const char* format = "text_line";  // for messages
  bool skip_blank = false;           // lines of nothing but spaces and tabs
};
std::unique_ptr<RecordReader> open_text_lines(std::string path, const ReaderOptions& options,
                                              const LineLayout& layout = {});

// Samples of a tar archive: neighbouring members whose names agree up to the first dot of the base
// name, as one record (headers and data; tar.h takes it apart). Members that are no files, or have
// no dot, are passed over. A bad header is DATA_LOSS and ends the file, as does a missing end mark.
std::unique_ptr<RecordReader> open_tar(std::string path, const ReaderOptions& options);

// Records of `record_bytes` between a header and a footer. A plain file whose body is no multiple
// of it is INVALID_ARGUMENT and gives no record; in a compressed one the whole records come first,
// then DATA_LOSS.
struct FixedLayout {
  int64_t record_bytes = 1, header_bytes = 0, footer_bytes = 0;
};
std::unique_ptr<RecordReader> open_fixed_length(std::string path, const ReaderOptions& options,
                                                const FixedLayout& layout);

// Rows of delimited text without their line ends: "\n", "\r\n" or "\r", each outside of quotes when
// `quotes` is set. A quote that never closes is INVALID_ARGUMENT, then the end.
struct RowLayout {
  char delimiter = ',';
  bool quotes = true, header = false;
};
std::unique_ptr<RecordReader> open_rows(std::string path, const ReaderOptions& options,
                                        const RowLayout& layout);

// Rows of a .npy file; a file of another dtype or row shape is INVALID_ARGUMENT, a cut one
// DATA_LOSS behind its whole rows.
std::unique_ptr<RecordReader> open_npy(std::string path, const ReaderOptions& options, DType dtype,
                                       const Shape& row);

// A whole file as one record.
std::unique_ptr<RecordReader> open_whole_file(std::string path);

}  // namespace penstock
