#include "datasets/snapshot_cursor.h"

#include <algorithm>

#include "base/random.h"
#include "io/snapshot.h"
#include "runtime/read_ahead.h"
#include "runtime/resumed_count.h"

namespace penstock {
namespace {

class SnapshotCursor final : public Cursor {
 public:
  SnapshotCursor(std::vector<std::string> paths, const PlanPtr& node, const OpenContext& context,
                 SnapshotLineage lineage)
      : context_(context),
        spec_(node->spec),
        lineage_(lineage),
        first_file_(skip_files(context.resume(*node), &paths)),
        ahead_(context.run, context.run->counters(node.get()), std::move(paths),
               [spec = node->spec](const std::string& path) { return open_snapshot(path, spec); }),
        file_(first_file_) {
    if (const StageMark* from = context.resume(*node))
      drop_rows(checked_count(from->number(marks_file() ? 1 : 0), from->stage()));
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (row_ == block_.rows) {
      RecordChunk chunk;
      size_t file = 0;
      const Poll poll = ahead_.take(&chunk, &file, pull.waker);
      if (poll != Poll::ready) return poll;
      file += first_file_;
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
    if (marks_file()) {
      set_mark(out, {static_cast<int64_t>(file_), position_});
    } else {
      set_mark(out, {position_});
    }
    return Poll::ready;
  }

 private:
  // Entries of caches are one file.
  bool marks_file() const { return lineage_ == SnapshotLineage::anew; }

  // Takes the files away that are behind us at the mark, and gives their number.
  size_t skip_files(const StageMark* from, std::vector<std::string>* paths) const {
    if (!from || !marks_file()) return 0;
    const int64_t count = checked_count(from->number(0), from->stage());
    if (count >= static_cast<int64_t>(paths->size())) {
      throw Error(Code::failed_precondition, "the checkpoint was taken in file " +
                                                 std::to_string(count + 1) + ", there are " +
                                                 std::to_string(paths->size()));
    }
    paths->erase(paths->begin(), paths->begin() + count);
    return static_cast<size_t>(count);
  }

  Origin origin() const {
    return Origin(mix(context_.lineage, file_ + 1) + static_cast<uint64_t>(position_), 1,
                  context_.epoch);
  }

  OpenContext context_;
  const Spec spec_;
  const SnapshotLineage lineage_;
  const size_t first_file_;
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
