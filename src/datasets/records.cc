// Records are views into the chunks that were read; nothing is copied. What is bad in a file is an
// error at its place, and reading goes on where the format lets it.

#include "datasets/records.h"

#include <algorithm>

#include "base/random.h"
#include "runtime/read_ahead.h"

namespace penstock {
namespace {

class RecordsCursor final : public Cursor {
 public:
  // The paths from the file number `first` on.
  RecordsCursor(std::vector<std::string> paths, size_t first, const OpenContext& context,
                NodeCounters* counters, OpenReader open, const ReaderOptions& options)
      : context_(context),
        first_(first),
        file_(first),
        ahead_(context.run, counters, std::move(paths),
               [open, options](const std::string& path) { return open(path, options); }) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (at_ == chunk_.records.size() && !chunk_.error) {
      size_t file = 0;
      RecordChunk chunk;
      const Poll poll = ahead_.take(&chunk, &file, pull.waker);
      if (poll != Poll::ready) return poll;
      file += first_;
      if (file != file_) position_ = 0;
      file_ = file;
      chunk_ = std::move(chunk);
      at_ = 0;
    }
    const auto rows = std::min(pull.max_rows, static_cast<int64_t>(chunk_.records.size() - at_));
    out->clear();
    const Origin origin(mix(context_.lineage, file_ + 1) + static_cast<uint64_t>(position_), 1,
                        context_.epoch);
    if (rows == 0) {
      *out = error_block(std::exchange(chunk_.error, nullptr), 1, origin);
      ++position_;
      mark(out);
      return Poll::ready;
    }
    Column column = Column::dense(DType::bytes, {}, rows);
    auto* views = column.mutable_entries<BytesView>();
    for (int64_t i = 0; i < rows; ++i) {
      const Record& r = chunk_.records[at_ + static_cast<size_t>(i)];
      views[i] = {r.data, r.size};
    }
    for (const BufferRef& buffer : chunk_.chunks) column.mutable_buffer().keep(buffer);
    at_ += static_cast<size_t>(rows);
    out->rows = rows;
    out->columns.push_back(std::move(column));
    out->origin = origin;
    position_ += rows;
    mark(out);
    return Poll::ready;
  }

 private:
  void mark(Block* out) const { set_mark(out, {static_cast<int64_t>(file_), position_}); }

  OpenContext context_;
  const size_t first_;
  size_t file_;
  ReadAhead ahead_;
  RecordChunk chunk_;
  size_t at_ = 0;         // next record of chunk_
  int64_t position_ = 0;  // of the next record in its file
};

ReaderOptions reader_options(const PlanNode& node) {
  ReaderOptions options;
  options.compression =
      node.arg("compression").is_none() ? "" : node.arg("compression").as_string();
  options.chunk_bytes = 512 << 10;
  return options;
}

}  // namespace

std::vector<std::string> strings_of(const Attr& value) {
  std::vector<std::string> out;
  if (value.is_tensor()) {
    for (int64_t i = 0; i < value.tensor().entries_count(); ++i) {
      if (value.tensor().dtype() != DType::bytes) break;
      out.emplace_back(bytes_at(value.tensor(), i));
    }
    if (value.tensor().dtype() == DType::bytes || value.tensor().entries_count() == 0) return out;
  } else if (value.kind() == Attr::Kind::list || value.kind() == Attr::Kind::tuple) {
    for (const Attr& item : value.items()) out.push_back(item.as_string());
    return out;
  }
  throw Error(Code::invalid_argument, "expected a file name, or a list of them");
}

OperatorDef records_operator(std::string name, std::string doc, OpenReader open) {
  OperatorDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.params = {required("filenames", Param::Kind::any),
               optional("compression", Param::Kind::text, Attr::text("")), knob("buffer_size"),
               option("num_parallel_reads", Param::Kind::integer, {})};
  op.source = true;
  op.infer = [open](NodeDraft& draft) {
    const Attr& names = draft.node.args["filenames"];
    if (names.is_capture()) {
      const LeafSpec& type = names.capture_type();
      if (!type.is_tensor() || type.dtype != DType::bytes)
        NodeDraft::fail("filenames", "is " + type.text() + ", expected a file name");
    } else if (!names.has_capture()) {
      try {
        strings_of(names);
      } catch (const Error& e) {
        NodeDraft::fail("filenames", e.message());
      }
    }
    try {
      open("", reader_options(draft.node));  // opens nothing yet; refuses unknown compression
    } catch (const Error& e) {
      NodeDraft::fail("compression", e.message());
    }
    draft.node.spec = Spec::tensor(DType::bytes, {});
    draft.node.cardinality = kUnknown;
  };
  op.open = [open](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    std::vector<std::string> paths = strings_of(context.arg(*node, "filenames"));
    const int64_t first = context.resumed_number(*node);
    if (first < 0 || first > static_cast<int64_t>(paths.size())) {
      throw Error(Code::failed_precondition, "the checkpoint stands in file " +
                                                 std::to_string(first) + ", there are only " +
                                                 std::to_string(paths.size()) + " now");
    }
    paths.erase(paths.begin(), paths.begin() + first);
    auto cursor = std::make_unique<RecordsCursor>(std::move(paths), static_cast<size_t>(first),
                                                  context, context.run->counters(node.get()), open,
                                                  reader_options(*node));
    cursor->drop_rows(context.resumed_number(*node, 1));
    return cursor;
  };
  return op;
}

}  // namespace penstock
