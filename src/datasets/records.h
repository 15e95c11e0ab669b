// Sources that give the records of files: what tfrecord, text_line, csv and their like share.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/record_reader.h"
#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// Strings of an argument: one, or a list; captures are to be bound before.
std::vector<std::string> strings_of(const Attr& value);
// The files that an argument names: one or a list; a name that holds wildcards and is no file
// stands for what it matches, in order. NOT_FOUND when it matches nothing.
std::vector<std::string> files_of(const Attr& value);

// Makes elements of records, one each. For one thread.
class RecordDecoder {
 public:
  virtual ~RecordDecoder() = default;
  // Appends the columns of records.size() rows to `out`, and errors for the rows that are bad,
  // ascending. Views into the records may be kept: their bytes live as long as `keeper` is kept.
  virtual void decode(std::span<const Record> records, std::span<const BufferRef> keeper,
                      const std::string& path, Block* out) = 0;
};

// Arguments of such a source, captures bound, and what its elements are: files are not asked again.
struct RecordsArgs : Attrs {
  Spec spec;
};

// A file format as a source operator. Arguments come with captures bound, except to `spec`.
struct RecordsFormat {
  std::string name, doc;
  std::vector<Param> leading{};  // behind the file names
  std::vector<Param> options{};  // behind `compression`
  bool compressed = true;        // the files may be: there is an argument `compression`
  int64_t least_buffer_size = 0;
  // Adds arguments that the files decide. Throws ArgumentError.
  std::function<void(NodeDraft&)> complete{};
  // The element spec; throws ArgumentError for what is wrong. Not set: bytes.
  std::function<Spec(const NodeDraft&)> spec{};
  std::function<std::unique_ptr<RecordReader>(std::string path, const ReaderOptions&,
                                              const RecordsArgs& args)>
      reader;
  // Not set: the records as they are.
  std::function<std::unique_ptr<RecordDecoder>(const RecordsArgs& args)> decoder{};
};
OperatorDef records_operator(RecordsFormat format);
// How such a source reads its files.
ReaderOptions reader_options(const Attrs& args);

// The elements of the files in turn.
CursorPtr open_records(std::vector<std::string> paths, const PlanPtr& node,
                       const OpenContext& context,
                       std::function<std::unique_ptr<RecordReader>(const std::string& path)> open,
                       std::unique_ptr<RecordDecoder> decoder);

// An error about a record, with its place.
ErrorPtr record_error(const std::string& path, const Record& record, const std::string& what);
// Gives row `row` of the dense columns defined memory: it has failed.
void clear_row(std::span<Column> columns, int64_t row);

}  // namespace penstock
