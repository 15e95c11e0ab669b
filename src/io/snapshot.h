// Blocks of elements in a file (docs/format/snapshot.md). Each chunk has a checksum; the file
// appears atomically.
//
// Not thread-safe; all calls block.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/block.h"
#include "data/spec.h"
#include "io/file.h"
#include "io/record_reader.h"

struct XXH3_state_s;

namespace penstock {

// Returns true if elements of the spec can be stored in a file: all except nested datasets.
bool can_snapshot(const Spec& spec);

// A file that appears at close(); without close() it is removed.
class SnapshotWriter {
 public:
  // `compression` is "", "LZ4", "GZIP", "SNAPPY" or "AUTO"; throws INVALID_ARGUMENT for others.
  // `epoch` is the epoch in which the rows were drawn. Throws what AtomicFile throws.
  SnapshotWriter(std::string path, const Spec& spec, std::string_view compression,
                 uint64_t epoch = 0);
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // REQUIRES a block of the spec without errors.
  void write(const Block& block);
  // Call it once, and nothing after it.
  void close();
  int64_t rows() const { return rows_; }
  // Returns the size of the file so far, including bytes not yet written.
  int64_t bytes() const {
    return file_.bytes() + static_cast<int64_t>(held_.size()) + pending_bytes_;
  }

 private:
  void write_chunk(const Block& block);
  void write_section(uint32_t kind, std::span<const std::string_view> pieces);

  struct FreeHash {
    void operator()(XXH3_state_s* state) const;
  };
  AtomicFile file_;
  const uint32_t packing_;  // a flag of chunks, or 0
  std::unique_ptr<XXH3_state_s, FreeHash> hash_;
  BlockBuilder pending_;
  int64_t pending_bytes_ = 0, rows_ = 0, chunks_ = 0;
  std::string held_;  // small pieces not yet written
};

// Contents of a file's header and end section.
struct SnapshotInfo {
  Spec spec;
  int64_t rows = -1;  // -1: the end section is unreadable; reading the file reports why
  uint64_t epoch = 0;
};
// Throws NOT_FOUND and similar errors, DATA_LOSS for a bad header, UNIMPLEMENTED for another
// version of the format.
SnapshotInfo read_snapshot_info(const std::string& path);

// Reads the file's chunks as records, unpacked, about 1 MiB of the file per read(), each in the
// chunk of the same index, not yet verified. The header must have `spec`. Damage in the file is
// DATA_LOSS and ends it.
std::unique_ptr<RecordReader> open_snapshot(std::string path, const Spec& spec);
// Verifies such a record, `bytes` at the start of `buffer`. Throws DATA_LOSS if it is damaged:
// nothing after it in the file can be trusted.
void verify_chunk(const BufferRef& buffer, int64_t bytes);
// Returns its rows, which share the buffer. Lineage ids are those that were written. Throws
// DATA_LOSS if the bytes are not a chunk of the spec.
Block decode_chunk(const BufferRef& buffer, int64_t bytes, const Spec& spec);

}  // namespace penstock
