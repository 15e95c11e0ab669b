#include "datasets/snapshot_cursor.h"

#include <algorithm>

#include "base/origin_text.h"
#include "base/random.h"
#include "io/file_system.h"
#include "io/snapshot.h"
#include "io/snapshot_layout.h"
#include "runtime/read_ahead.h"

namespace penstock {
namespace {

class SnapshotCursor final : public Cursor {
 public:
  SnapshotCursor(std::vector<std::string> paths, const PlanPtr& node, const OpenContext& context,
                 SnapshotLineage lineage, bool transparent)
      : context_(context),
        spec_(node->spec),
        lineage_(lineage),
        transparent_(transparent),
        first_file_(skip_files(resumed(context, *node).file, &paths)),
        paths_(paths),
        ahead_(context.run, context.run->stage(node.get()), std::move(paths),
               [spec = node->spec](const std::string& path) { return open_snapshot(path, spec); }),
        file_(first_file_) {
    drop_rows(resumed(context, *node).records);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    while (row_ == block_.rows) {
      if (record_ < chunk_.records.size()) {
        open_record();
      } else if (chunk_.error) {
        *out = error_block(std::exchange(chunk_.error, nullptr), identity().columns, origin());
        return Poll::ready;
      } else if (const Poll poll = take_chunk(pull.waker); poll != Poll::ready) {
        return poll;
      }
    }
    const int64_t rows = std::min(pull.max_rows, block_.rows - row_);
    *out = block_.slice(row_, rows);
    out->origin =
        lineage_ == SnapshotLineage::kept ? out->origin.with_epoch(context_.epoch) : origin();
    row_ += rows;
    position_ += rows;
    if (marks_file()) {
      set_mark(out, FileMark{static_cast<int64_t>(file_), position_});
    } else {
      set_mark(out, EntryMark{EntryMark::reading, position_, 0, false, transparent_},
               {StreamPosition{nullptr, position_}});
    }
    return Poll::ready;
  }

 private:
  // What follows in a file that is bad is passed over.
  Poll take_chunk(Waker* waker) {
    size_t file = 0;
    const Poll poll = ahead_.take(&chunk_, &file, waker);
    if (poll != Poll::ready) return poll;
    record_ = 0;
    if (first_file_ + file != file_) {
      file_ = first_file_ + file;
      position_ = 0;
      bad_ = false;
    }
    if (bad_) chunk_ = RecordChunk();
    return poll;
  }

  // The next record as block_; its error ends the file.
  void open_record() {
    const Record& record = chunk_.records[record_];
    const BufferRef buffer = std::move(chunk_.chunks[record_++]);
    row_ = block_.rows = 0;
    try {
      verify_chunk(buffer, record.size);
      block_ = decode_chunk(buffer, record.size, spec_);
    } catch (const Error& e) {
      const std::string where = at_offset(paths_[file_ - first_file_], record.offset);
      chunk_ = RecordChunk();
      chunk_.error = std::make_shared<const Error>(e.code(), where + ": " + e.message());
      record_ = 0;
      bad_ = true;
    }
  }

  // Entries of caches are one file.
  bool marks_file() const { return lineage_ == SnapshotLineage::anew; }

  // Entries are opened at their beginning, by cursors that drop rows.
  FileMark resumed(const OpenContext& context, const PlanNode& node) const {
    if (!marks_file()) return {};
    return context.resumed<FileMark>(node).value_or(FileMark());
  }

  // Takes away the first `count` files, which are delivered, and returns their number.
  static size_t skip_files(int64_t count, std::vector<std::string>* paths) {
    if (count > 0 && count >= static_cast<int64_t>(paths->size())) {
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
  const bool transparent_;
  const size_t first_file_;
  const std::vector<std::string> paths_;  // from the first file on
  ReadAhead ahead_;
  RecordChunk chunk_;
  size_t record_ = 0;  // next of chunk_
  Block block_;
  int64_t row_ = 0;   // next of block_
  bool bad_ = false;  // the file
  size_t file_ = 0;
  int64_t position_ = 0;  // of the next row in its file
};

}  // namespace

CursorPtr open_snapshot_cursor(std::vector<std::string> paths, const PlanPtr& node,
                               const OpenContext& context, SnapshotLineage lineage,
                               bool transparent) {
  return std::make_unique<SnapshotCursor>(std::move(paths), node, context, lineage, transparent);
}

void check_snapshot_path(const std::string& param, const Attr& path) {
  if (path.as_string().empty()) NodeDraft::fail(param, "must not be empty");
  try {
    resolve_name("write", path.as_string());
  } catch (const Error& e) {
    NodeDraft::fail(param, e.message(), e.code());
  }
}

void check_snapshot_arguments(const Spec& spec, const Attr& compression) {
  if (!can_snapshot(spec))
    NodeDraft::fail("input", "a file holds no datasets, an element is " + spec.text());
  try {
    snapshot::parse_packing(compression.is_none() ? "" : compression.as_string());
  } catch (const Error& e) {
    NodeDraft::fail("compression", e.message());
  }
}

}  // namespace penstock
