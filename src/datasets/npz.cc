// npz(filenames): the rows (along axis 0) of .npz archives as dicts: row i holds row i of each
// array, which must all have the same length.
//
// Names, dtypes and shapes come from the first file, or from `fields`, which may leave arrays out:
// {image: feature(uint8, shape=[32, 32, 3]), label: int64}. Arrays may be deflated
// (numpy.savez_compressed); each one's checksum is compared behind its last row.

#include "io/npz.h"

#include <algorithm>

#include "datasets/datasets.h"
#include "datasets/fields.h"
#include "datasets/records.h"

namespace penstock {
namespace {

std::vector<NpzArray> named_arrays(const Attr& fields) {
  std::vector<NpzArray> out;
  for (const Field& f : fields_of(fields, "fields", {.shapes = true})) {
    if (f.dtype == DType::bytes)
      NodeDraft::fail("fields", "`" + f.name + "` must be numbers: bytes");
    if (!f.shape.is_static()) NodeDraft::fail("fields", "`" + f.name + "` must have a known shape");
    if (!f.required) NodeDraft::fail("fields", "`" + f.name + "`: an array has no default");
    out.push_back({f.name, f.dtype, f.shape.dims()});
  }
  return out;
}

std::vector<NpzArray> declared_arrays(const Attrs& args) {
  if (!args["fields"].is_none()) return named_arrays(args["fields"]);
  if (args["filenames"].has_capture())
    NodeDraft::fail("fields", "say fields where the file is not known before the start");
  try {
    std::vector<NpzArray> out = read_npz_arrays(files_of(args["filenames"]).at(0));
    if (out.empty()) NodeDraft::fail("filenames", "the archive holds no array");
    return out;
  } catch (const std::out_of_range&) {
    NodeDraft::fail("filenames", "at least one file is needed");
  } catch (const Error& e) {
    NodeDraft::fail("filenames", e.message(), e.code());
  }
}

std::vector<NpzArray> arrays_of(const Spec& spec) {
  std::vector<NpzArray> out;
  for (size_t i = 0; i < spec.keys.size(); ++i) {
    const LeafSpec& leaf = spec.items[i].leaf;
    out.push_back({spec.keys[i], leaf.dtype, leaf.shape.dims()});
  }
  return out;
}

// Rows of one array lie in the records at the same place.
class NpzDecoder final : public RecordDecoder {
 public:
  explicit NpzDecoder(std::vector<NpzArray> arrays) : arrays_(std::move(arrays)) {}

  void decode(std::span<const Record> records, std::span<const BufferRef>, const std::string&,
              Block* out) override {
    int64_t at = 0;
    for (const NpzArray& array : arrays_) {
      const int64_t bytes = array.row_bytes();
      out->columns.push_back(
          Column::dense(array.dtype, array.row, static_cast<int64_t>(records.size())));
      std::byte* to = out->columns.back().mutable_data();
      for (size_t i = 0; i < records.size() && bytes > 0; ++i, to += bytes)
        std::memcpy(to, records[i].data + at, static_cast<size_t>(bytes));
      at += bytes;
    }
  }

 private:
  const std::vector<NpzArray> arrays_;
};

}  // namespace

OperatorDef npz_operator() {
  RecordsFormat format;
  format.name = "npz";
  format.doc = "The rows of .npz archives of arrays, as dicts.";
  format.compressed = false;
  format.options = {option("fields", Param::Kind::any, {})};
  format.spec = [](const NodeDraft& draft) {
    std::vector<std::string> keys;
    std::vector<Spec> items;
    for (const NpzArray& array : declared_arrays(draft.node.args)) {
      keys.push_back(array.name);
      items.push_back(Spec::tensor(array.dtype, Shape(array.row)));
    }
    return Spec::dict(std::move(keys), std::move(items));
  };
  format.reader = [](std::string path, const ReaderOptions& options, const RecordsArgs& args) {
    return open_npz(std::move(path), options, arrays_of(args.spec));
  };
  format.decoder = [](const RecordsArgs& args) -> std::unique_ptr<RecordDecoder> {
    return std::make_unique<NpzDecoder>(arrays_of(args.spec));
  };
  return records_operator(std::move(format));
}

}  // namespace penstock
