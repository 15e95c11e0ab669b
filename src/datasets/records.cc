// Records are views into the chunks that were read; nothing is copied. What is bad in a file is an
// error at its place, and reading goes on where the format lets it.

#include "datasets/records.h"

#include <algorithm>
#include <cstring>

#include "base/origin_text.h"
#include "base/random.h"
#include "io/file_system.h"
#include "io/glob.h"
#include "io/input_stream.h"
#include "runtime/read_ahead.h"

namespace penstock {
namespace {

class RecordsCursor final : public Cursor {
 public:
  // The paths from the file number `first` on.
  RecordsCursor(std::vector<std::string> paths, size_t first, const OpenContext& context,
                RunStage* stage, ReadAhead::Open open, std::unique_ptr<RecordDecoder> decoder)
      : context_(context),
        decoder_(std::move(decoder)),
        paths_(paths),
        first_(first),
        file_(first),
        ahead_(context.run, stage,
               {paths.begin() + static_cast<std::ptrdiff_t>(first), paths.end()}, std::move(open)) {
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (at_ == chunk_.records.size() && !chunk_.error) {
      size_t file = 0;
      RecordChunk chunk;
      const Poll poll = ahead_.take(&chunk, &file, pull.waker);
      if (poll != Poll::ready) return poll;
      file += first_;
      if (file != file_) position_ = 0;
      if (file != file_ || !noted_) context_.run->places().note(first_lineage(file), paths_[file]);
      noted_ = true;
      file_ = file;
      chunk_ = std::move(chunk);
      at_ = 0;
    }
    const auto rows = std::min(pull.max_rows, static_cast<int64_t>(chunk_.records.size() - at_));
    out->clear();
    const Origin origin(first_lineage(file_) + static_cast<uint64_t>(position_), 1, context_.epoch);
    if (rows == 0) {
      *out = error_block(std::exchange(chunk_.error, nullptr), identity().columns, origin);
      ++position_;
      mark(out);
      return Poll::ready;
    }
    const std::span<const Record> records =
        std::span(chunk_.records).subspan(at_, static_cast<size_t>(rows));
    at_ += static_cast<size_t>(rows);
    position_ += rows;
    out->rows = rows;
    out->origin = origin;
    if (decoder_) {
      decoder_->decode(records, chunk_.chunks, paths_[file_], out);
    } else {
      out->columns.push_back(views_of(records));
    }
    mark(out);
    return Poll::ready;
  }

 private:
  uint64_t first_lineage(size_t file) const { return mix(context_.lineage, file + 1); }

  void mark(Block* out) const { set_mark(out, FileMark{static_cast<int64_t>(file_), position_}); }

  Column views_of(std::span<const Record> records) const {
    Column column = Column::dense(DType::bytes, {}, static_cast<int64_t>(records.size()));
    auto* views = column.mutable_entries<BytesView>();
    for (const Record& r : records) *views++ = {r.data, r.size};
    for (const BufferRef& buffer : chunk_.chunks) column.mutable_buffer().keep(buffer);
    return column;
  }

  OpenContext context_;
  std::unique_ptr<RecordDecoder> decoder_;
  std::vector<std::string> paths_;
  const size_t first_;
  size_t file_;
  ReadAhead ahead_;
  RecordChunk chunk_;
  size_t at_ = 0;         // next record of chunk_
  int64_t position_ = 0;  // of the next record in its file
  bool noted_ = false;    // the first file's place
};

void check_names(const Attr& names) {
  if (names.is_capture()) {
    const LeafSpec& type = names.capture_type();
    if (!type.is_tensor() || type.dtype != DType::bytes)
      NodeDraft::fail("filenames", "is " + type.text() + ", expected a file name");
  } else if (!names.has_capture()) {
    try {
      for (const std::string& name : strings_of(names)) resolve_name("open", name);
    } catch (const Error& e) {
      NodeDraft::fail("filenames", e.message());
    }
  }
}

bool is_pattern(const std::string& name) {
  return name.find_first_of("*?[") != std::string::npos && !file_status(name).exists();
}

}  // namespace

ReaderOptions reader_options(const Attrs& args) {
  ReaderOptions options;
  options.compression = args["compression"].is_none() ? "" : args["compression"].as_string();
  options.chunk_bytes = 512 << 10;
  const Attr& limit = args["max_decompressed_bytes"];
  if (!limit.is_none()) options.max_decompressed_bytes = limit.as_int();
  return options;
}

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

std::vector<std::string> files_of(const Attr& value) {
  std::vector<std::string> out;
  for (std::string& name : strings_of(value)) {
    if (!is_pattern(name)) {
      out.push_back(std::move(name));
      continue;
    }
    for (std::string& match : match_files({name})) out.push_back(std::move(match));
  }
  return out;
}

ErrorPtr record_error(const std::string& path, const Record& record, const std::string& what) {
  return std::make_shared<const Error>(Code::invalid_argument,
                                       at_offset(path, record.offset) + ": " + what);
}

void clear_row(std::span<Column> columns, int64_t row) {
  for (Column& c : columns) {
    if (c.row_bytes() > 0)
      std::memset(c.mutable_data() + row * c.row_bytes(), 0, static_cast<size_t>(c.row_bytes()));
  }
}

CursorPtr open_records(std::vector<std::string> paths, const PlanPtr& node,
                       const OpenContext& context,
                       std::function<std::unique_ptr<RecordReader>(const std::string& path)> open,
                       std::unique_ptr<RecordDecoder> decoder) {
  const FileMark from = context.resumed<FileMark>(*node).value_or(FileMark());
  if (from.file > std::ssize(paths)) {
    throw Error(Code::failed_precondition, "the checkpoint stands in file " +
                                               std::to_string(from.file) + ", there are only " +
                                               std::to_string(paths.size()) + " now");
  }
  RunStage* stage = context.run->stage(node.get());
  if (const Attr& size = node->arg("buffer_size"); size.is_tensor())
    stage->controls.bytes_ahead.start(size.as_int(), INT64_MAX, true);
  auto cursor =
      std::make_unique<RecordsCursor>(std::move(paths), static_cast<size_t>(from.file), context,
                                      stage, std::move(open), std::move(decoder));
  cursor->drop_rows(from.records);
  return cursor;
}

OperatorDef records_operator(RecordsFormat format) {
  OperatorDef op;
  op.name = format.name;
  op.doc = format.doc;
  op.params = {required("filenames", Param::Kind::any)};
  std::ranges::copy(format.leading, std::back_inserter(op.params));
  if (format.compressed)
    op.params.push_back(optional("compression", Param::Kind::text, Attr::text("")));
  std::ranges::copy(format.options, std::back_inserter(op.params));
  op.params.push_back(knob("buffer_size"));
  op.params.push_back(option("num_parallel_reads", Param::Kind::integer, {}));
  op.params.push_back(option("max_decompressed_bytes", Param::Kind::integer, {}));
  op.source = true;
  op.files_param = "filenames";
  const auto shared = std::make_shared<const RecordsFormat>(std::move(format));
  op.infer = [shared](NodeDraft& draft) {
    check_names(draft.node.args["filenames"]);
    const int64_t least = shared->least_buffer_size;
    if (const Attr& size = draft.node.args["buffer_size"]; !size.is_none() && !size.is_auto())
      draft.int_at_least("buffer_size", least,
                         least > 0 ? "must be positive" : "must not be negative", least);
    if (!draft.node.args["max_decompressed_bytes"].is_none())
      draft.int_at_least("max_decompressed_bytes", 1, "must be positive", 1);
    if (shared->complete) shared->complete(draft);
    draft.node.spec = shared->spec ? shared->spec(draft) : Spec::tensor(DType::bytes, {});
    draft.node.cardinality = kUnknown;
    try {
      parse_compression(reader_options(draft.node.args).compression);
    } catch (const Error& e) {
      NodeDraft::fail("compression", e.message());
    }
  };
  op.open = [shared](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const RecordsArgs args{node->args.bound(context.environment), node->spec};
    auto open = [shared, args, options = reader_options(args)](const std::string& path) {
      return shared->reader(path, options, args);
    };
    return open_records(files_of(args["filenames"]), node, context, std::move(open),
                        shared->decoder ? shared->decoder(args) : nullptr);
  };
  return op;
}

}  // namespace penstock
