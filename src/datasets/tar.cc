// tar(filenames, fields): the samples of tar archives as WebDataset writes them: neighbouring
// members that share their name up to the first dot, as a dict by extension.
//
// `fields` names the extensions wanted; "__key__" is the shared name. Bytes come as they are,
// numbers are read from the member's text. A sample without a required member is an error; of
// feature(dtype, kind="optional") it is an optional value that is missing.

#include <algorithm>

#include "data/optional.h"
#include "datasets/datasets.h"
#include "datasets/fields.h"
#include "datasets/records.h"
#include "functions/kernels/text/parse_number.h"
#include "io/tar.h"

namespace penstock {
namespace {

constexpr std::string_view kKey = "__key__";

class TarDecoder final : public RecordDecoder {
 public:
  explicit TarDecoder(std::vector<Field> fields) : fields_(std::move(fields)) {}

  void decode(std::span<const Record> records, std::span<const BufferRef> keeper,
              const std::string& path, Block* out) override {
    const auto rows = static_cast<int64_t>(records.size());
    std::vector<Column> columns;
    for (const Field& f : fields_) {
      columns.push_back(Column::dense(f.dtype, {}, rows));
      for (const BufferRef& buffer : keeper) columns.back().mutable_buffer().keep(buffer);
      if (!f.required) columns.back().mutable_buffer().keep(f.fallback.buffer());
    }
    present_.assign(fields_.size(), {});
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].is_optional) present_[i].resize(static_cast<size_t>(rows));
    }
    for (int64_t row = 0; row < rows; ++row) {
      const Record& record = records[static_cast<size_t>(row)];
      std::string fault;
      if (take(record, row, columns, &fault)) continue;
      clear_row(columns, row);
      out->errors.push_back({row, record_error(path, record, fault)});
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      Column& c = columns[i];
      out->columns.push_back(fields_[i].is_optional
                                 ? optional_column(std::move(c), {}, std::move(present_[i]))
                                 : std::move(c));
    }
  }

 private:
  bool take(const Record& record, int64_t row, std::span<Column> columns, std::string* fault) {
    found_.assign(fields_.size(), std::string_view());
    std::string_view sample;
    for (std::string_view rest(record.data, static_cast<size_t>(record.size)); !rest.empty();) {
      const TarMember member = read_tar_member(rest);
      if (!note(member, rest, &sample, fault)) return false;
      rest.remove_prefix(static_cast<size_t>(member.bytes));
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (!found_[i].data() && fields_[i].required) {
        *fault = "sample `" + std::string(sample) + "` has no member ." + fields_[i].name;
        return false;
      }
      if (!store(i, row, columns[i])) {
        *fault = "sample `" + std::string(sample) + "`: ." + fields_[i].name + " is no " +
                 std::string(dtype_name(fields_[i].dtype)) + ": " + quoted(found_[i]);
        return false;
      }
    }
    return true;
  }

  // Remembers where the member's data are; false for a second one of the same name, and for a
  // sparse one.
  bool note(const TarMember& member, std::string_view rest, std::string_view* sample,
            std::string* fault) {
    std::string_view key, extension;
    if (!member.is_file || !split_tar_name(member.name, &key, &extension)) return true;
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].name == kKey && !found_[i].data()) {
        found_[i] = keep_key(key);
      } else if (fields_[i].name == extension) {
        if (found_[i].data()) {
          *fault = "sample `" + std::string(key) + "` has two members ." + fields_[i].name;
          return false;
        }
        if (member.sparse) {
          *fault = "sample `" + std::string(key) + "`: ." + fields_[i].name +
                   " is a GNU sparse file, which is not read; write the archive without --sparse";
          return false;
        }
        found_[i] = member.data.data() ? member.data : rest.substr(0, 0);
      }
    }
    key_ = key;
    *sample = key_;
    return true;
  }

  // Keys may be put together from parts of a header: they get bytes of their own.
  std::string_view keep_key(std::string_view key) {
    key_tensor_ = Tensor::of_bytes(key);
    return key_tensor_.entry<BytesView>().view();
  }

  bool store(size_t i, int64_t row, Column& column) {
    std::byte* to = column.mutable_data() + row * dtype_size(column.dtype());
    if (!found_[i].data()) {
      std::memcpy(to, fields_[i].fallback.data(), static_cast<size_t>(dtype_size(column.dtype())));
      return true;
    }
    if (fields_[i].is_optional) present_[i][static_cast<size_t>(row)] = 1;
    if (fields_[i].name == kKey) column.mutable_buffer().keep(key_tensor_.buffer());
    return visit_dtype(column.dtype(), [&]<typename T>(TypeTag<T>) {
      T* const value = reinterpret_cast<T*>(to);
      if constexpr (std::is_same_v<T, BytesView>) {
        *value = {found_[i].data(), static_cast<int64_t>(found_[i].size())};
        return true;
      } else if constexpr (std::is_floating_point_v<T>) {
        return parse_float(found_[i], value);
      } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        return parse_integer(found_[i], value);
      }
      return false;
    });
  }

  const std::vector<Field> fields_;
  std::vector<std::vector<uint8_t>> present_;  // by row, of optional fields
  std::vector<std::string_view> found_;        // by field, of the sample at hand
  std::string key_;
  Tensor key_tensor_;
};

std::vector<Field> tar_fields(const Attrs& args) {
  std::vector<Field> out = fields_of(args["fields"], "fields", {.optionals = true});
  for (const Field& f : out) {
    const bool text = f.dtype == DType::bytes;
    if (!text && !is_integer(f.dtype) && f.dtype != DType::float32 && f.dtype != DType::float64) {
      NodeDraft::fail("fields", "`" + f.name + "` must be bytes, integers, float32 or float64: " +
                                    std::string(dtype_name(f.dtype)));
    }
    if (f.name == kKey && !text) NodeDraft::fail("fields", "`__key__` is bytes");
  }
  return out;
}

}  // namespace

OperatorDef tar_operator() {
  RecordsFormat format;
  format.name = "tar";
  format.doc = "Samples of tar archives: members that share a name, as a dict by extension.";
  format.leading = {required("fields", Param::Kind::any)};
  format.spec = [](const NodeDraft& draft) { return spec_of(tar_fields(draft.node.args)); };
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs&) {
    return open_tar(std::move(path), options);
  };
  format.decoder = [](const Attrs& args) -> std::unique_ptr<RecordDecoder> {
    return std::make_unique<TarDecoder>(tar_fields(args));
  };
  return records_operator(std::move(format));
}

}  // namespace penstock
