#include "datasets/snapshot_cursor.h"

#include <algorithm>

#include "base/random.h"
#include "io/snapshot.h"
#include "runtime/read_ahead.h"

namespace penstock {
namespace {

class SnapshotCursor final : public Cursor {
 public:
  SnapshotCursor(std::vector<std::string> paths, const PlanPtr& node, const OpenContext& context,
                 SnapshotLineage lineage)
      : context_(context),
        spec_(node->spec),
        lineage_(lineage),
        ahead_(context.run, context.run->counters(node.get()), std::move(paths),
               [spec = node->spec](const std::string& path) { return open_snapshot(path, spec); }) {
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (row_ == block_.rows) {
      RecordChunk chunk;
      size_t file = 0;
      const Poll poll = ahead_.take(&chunk, &file, pull.waker);
      if (poll != Poll::ready) return poll;
      if (file != file_) position_ = 0;
      file_ = file;
      row_ = block_.rows = 0;
      if (chunk.records.empty()) {
        *out = error_block(std::move(chunk.error), identity().columns, origin());
        return Poll::ready;
      }
      block_ = decode_chunk(chunk.chunks[0], chunk.records[0].size, spec_);
    }
    const int64_t rows = std::min(pull.max_rows, block_.rows - row_);
    *out = block_.slice(row_, rows);
    out->origin =
        lineage_ == SnapshotLineage::kept ? out->origin.with_epoch(context_.epoch) : origin();
    row_ += rows;
    position_ += rows;
    return Poll::ready;
  }

 private:
  Origin origin() const {
    return Origin(mix(context_.lineage, file_ + 1) + static_cast<uint64_t>(position_), 1,
                  context_.epoch);
  }

  OpenContext context_;
  const Spec spec_;
  const SnapshotLineage lineage_;
  ReadAhead ahead_;
  Block block_;
  int64_t row_ = 0;  // next of block_
  size_t file_ = 0;
  int64_t position_ = 0;  // of the next row in its file
};

}  // namespace

CursorPtr open_snapshot_cursor(std::vector<std::string> paths, const PlanPtr& node,
                               const OpenContext& context, SnapshotLineage lineage) {
  return std::make_unique<SnapshotCursor>(std::move(paths), node, context, lineage);
}

void check_snapshot_arguments(const Spec& spec, const Attr& compression) {
  if (!can_snapshot(spec))
    NodeDraft::fail("input", "a file holds tensors only, an element is " + spec.text());
  const std::string word = compression.is_none() ? "" : compression.as_string();
  if (!word.empty() && word != "LZ4")
    NodeDraft::fail("compression", "must be \"\" or \"LZ4\": \"" + word + "\"");
}

}  // namespace penstock
