// npy(filenames): the rows (along axis 0) of .npy array files, one file after the other.
//
// dtype and shape of a row come from the first file, or from the arguments where the name is known
// only when the pipeline runs. Rows are not copied on their way from the file.

#include "io/npy.h"
#include "datasets/datasets.h"
#include "datasets/records.h"

namespace penstock {
namespace {

class NpyDecoder final : public RecordDecoder {
 public:
  explicit NpyDecoder(const LeafSpec& row) : dtype_(row.dtype), shape_(row.shape) {
    if (shape_.is_static()) row_ = shape_.dims();
  }

  // Rows that come from one chunk lie side by side.
  void decode(std::span<const Record> records, std::span<const BufferRef> keeper,
              const std::string& path, Block* out) override {
    if (!shape_.is_static() && path != path_) {
      path_ = path;
      row_ = read_npy_header(path).row;
    }
    const auto rows = static_cast<int64_t>(records.size());
    auto* data = reinterpret_cast<std::byte*>(const_cast<char*>(records[0].data));
    const bool aligned =
        reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(dtype_size(dtype_)) == 0;
    if (aligned) {
      out->columns.push_back(Column::dense(dtype_, row_, rows, keeper[0], data));
      return;
    }
    out->columns.push_back(Column::dense(dtype_, row_, rows));
    Column& column = out->columns.back();
    if (column.row_bytes() > 0)
      std::memcpy(column.mutable_data(), data, static_cast<size_t>(rows * column.row_bytes()));
  }

 private:
  const DType dtype_;
  const Shape shape_;
  std::string path_;  // that row_ was read from, where the shape leaves it open
  Dims row_;
};

LeafSpec row_of(const Attrs& args) {
  if (!args["dtype"].is_none())
    return LeafSpec::tensor(args["dtype"].as_dtype(), Shape(args["shape"].as_ints()));
  if (args["filenames"].has_capture())
    NodeDraft::fail("dtype", "say dtype and shape where the file is not known before the start");
  try {
    const NpyHeader header = read_npy_header(files_of(args["filenames"]).at(0));
    return LeafSpec::tensor(header.dtype, Shape(header.row));
  } catch (const std::out_of_range&) {
    NodeDraft::fail("filenames", "at least one file is needed");
  } catch (const Error& e) {
    NodeDraft::fail("filenames", e.message(), e.code());
  }
}

}  // namespace

OperatorDef npy_operator() {
  RecordsFormat format;
  format.name = "npy";
  format.doc = "The rows of .npy array files.";
  format.options = {option("dtype", Param::Kind::dtype, {}),
                    option("shape", Param::Kind::shape, Attr::list({}))};
  format.spec = [](const NodeDraft& draft) {
    const LeafSpec row = row_of(draft.node.args);
    if (row.dtype == DType::bytes) NodeDraft::fail("dtype", "must be numbers: bytes");
    if (!row.shape.is_static() && !draft.node.args["compression"].as_string().empty())
      NodeDraft::fail("shape", "must be known for compressed files");
    return Spec::of(row);
  };
  format.reader = [](std::string path, const ReaderOptions& options, const RecordsArgs& args) {
    const LeafSpec& row = args.spec.leaf;
    return open_npy(std::move(path), options, row.dtype, row.shape);
  };
  format.decoder = [](const RecordsArgs& args) -> std::unique_ptr<RecordDecoder> {
    return std::make_unique<NpyDecoder>(args.spec.leaf);
  };
  return records_operator(std::move(format));
}

}  // namespace penstock
