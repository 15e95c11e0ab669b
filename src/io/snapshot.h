// Blocks of elements in a file: docs/format/snapshot.md. Checksummed per chunk, atomic as a whole.
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

// True when elements of the spec can be kept in a file: all but nested datasets can.
bool can_snapshot(const Spec& spec);

// The file comes to be at close(); without it nothing is left behind.
class SnapshotWriter {
 public:
  // `compression` is "", "LZ4", "GZIP", "SNAPPY" or "AUTO"; INVALID_ARGUMENT else. `epoch` is the
  // one that the rows were drawn in. Throws what AtomicFile throws.
  SnapshotWriter(std::string path, const Spec& spec, std::string_view compression,
                 uint64_t epoch = 0);
  ~SnapshotWriter();
  SnapshotWriter(const SnapshotWriter&) = delete;
  SnapshotWriter& operator=(const SnapshotWriter&) = delete;

  // REQUIRES a block of the spec without errors.
  void write(const Block& block);
  // Call once, and nothing after it.
  void close();
  int64_t rows() const { return rows_; }
  // Of the file so far, with what is on its way there.
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
  std::string held_;  // small pieces on their way to the file
};

// What a file's header and its end say.
struct SnapshotInfo {
  Spec spec;
  int64_t rows = -1;  // -1: the end cannot be read, reading will say why
  uint64_t epoch = 0;
};
// Throws NOT_FOUND and its like, DATA_LOSS when the header is bad, UNIMPLEMENTED for another
// version of the format.
SnapshotInfo read_snapshot_info(const std::string& path);

// The file's chunks as records, unpacked, about 1 MiB of the file a read(), each in the chunk of
// the same index, and yet to be verified. `spec` is what the header must say. What is bad in the
// file is DATA_LOSS and ends it.
std::unique_ptr<RecordReader> open_snapshot(std::string path, const Spec& spec);
// Throws DATA_LOSS where such a record, `bytes` at the beginning of `buffer`, is not what was
// written: nothing behind it in the file is to be believed.
void verify_chunk(const BufferRef& buffer, int64_t bytes);
// Its rows, which share the buffer. Lineage ids are those that were written. DATA_LOSS for bytes
// that are no chunk of the spec.
Block decode_chunk(const BufferRef& buffer, int64_t bytes, const Spec& spec);

}  // namespace penstock
