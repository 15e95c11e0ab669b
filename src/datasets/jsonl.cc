// jsonl(filenames, fields): a JSON object a line, as a dict of typed fields.
//
// Blank lines are passed over. Keys that `fields` does not name are ignored; a missing one, or a
// null, takes the field's default, is an optional value that is missing (of feature(dtype,
// kind="optional")), or is an error. Numbers must fit their dtype: no rounding of integers, no
// number made of text. Of a key that comes twice the first counts.

#include <simdjson.h>

#include <algorithm>

#include "base/json_mistake.h"
#include "data/optional.h"
#include "datasets/datasets.h"
#include "datasets/fields.h"
#include "datasets/records.h"
#include "functions/kernels/parse/key_list.h"
#include "functions/kernels/text/strings.h"

namespace penstock {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

const char* type_of(const element& value) {
  switch (value.type()) {
    case element_type::ARRAY: return "a list";
    case element_type::OBJECT: return "an object";
    case element_type::STRING: return "a string";
    case element_type::BOOL: return "true or false";
    case element_type::NULL_VALUE: return "null";
    default: return "a number";
  }
}

// What is wrong with a row; caught in this file.
struct Fault {
  std::string what;
};

template <typename T>
T number_of(const element& value) {
  if constexpr (std::is_same_v<T, bool>) {
    bool out;
    if (value.get(out) == simdjson::SUCCESS) return out;
  } else if constexpr (std::is_floating_point_v<T>) {
    double out;
    if (value.get(out) == simdjson::SUCCESS) return static_cast<T>(out);
  } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    double out;
    if (value.get(out) == simdjson::SUCCESS) {
      if constexpr (std::is_same_v<T, Float16>) return to_float16(static_cast<float>(out));
      if constexpr (std::is_same_v<T, BFloat16>) return to_bfloat16(static_cast<float>(out));
    }
  } else if constexpr (std::is_signed_v<T>) {
    int64_t out;
    if (value.get(out) == simdjson::SUCCESS && static_cast<int64_t>(static_cast<T>(out)) == out)
      return static_cast<T>(out);
  } else {
    uint64_t out;
    if (value.get(out) == simdjson::SUCCESS && static_cast<uint64_t>(static_cast<T>(out)) == out)
      return static_cast<T>(out);
  }
  throw Fault{"is no " + std::string(dtype_name(DTypeOf<T>::value)) + ", but " + type_of(value) +
              ": " + penstock::quoted(std::string(simdjson::minify(value)))};
}

std::string_view string_of(const element& value) {
  std::string_view out;
  if (value.get(out) != simdjson::SUCCESS)
    throw Fault{std::string("is no string, but ") + type_of(value)};
  return out;
}

// Sizes of nested lists, taken from the first items; collect() finds the others to agree.
void measure(const element& value, Dims* dims) {
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  if (dims->rank() == kMaxRank) throw Fault{"is nested more than 8 deep"};
  dims->push_back(static_cast<int64_t>(items.size()));
  for (const element item : items) {
    measure(item, dims);
    return;
  }
}

template <typename F>
void collect(const element& value, const Dims& dims, int axis, F&& entry) {
  if (axis == dims.rank()) return entry(value);
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS || static_cast<int64_t>(items.size()) != dims[axis])
    throw Fault{"has rows that differ in shape"};
  for (const element item : items) collect(item, dims, axis + 1, entry);
}

Tensor tensor_of(const element& value, const Field& field) {
  Dims dims;
  measure(value, &dims);
  if (dims.entries() == 0 && dims.rank() < field.shape.rank()) {
    for (int i = dims.rank(); i < field.shape.rank(); ++i)
      dims.push_back(std::max<int64_t>(field.shape[i], 0));
  }
  if (!field.shape.admits(dims))
    throw Fault{"has shape " + dims.text() + ", expected " + field.shape.text()};
  Tensor out = Tensor::make(field.dtype, dims);
  if (dims.entries() == 0) return out;
  if (field.dtype == DType::bytes) {
    std::vector<std::string_view> texts;
    collect(value, dims, 0, [&](const element& e) { texts.push_back(string_of(e)); });
    return Tensor::of_strings(texts).reshaped(dims);
  }
  visit_dtype(field.dtype, [&]<typename T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, BytesView>) {
      T* to = out.mutable_entries<T>();
      collect(value, dims, 0, [&](const element& e) { *to++ = number_of<T>(e); });
    }
  });
  return out;
}

std::vector<std::string_view> keys_of(const simdjson::dom::object& object) {
  std::vector<std::string_view> out;
  for (const simdjson::dom::key_value_pair pair : object) out.push_back(pair.key);
  return out;
}

// The rows of one field, row after row.
class FieldRows {
 public:
  FieldRows(const Field& field, int64_t rows) : field_(&field), strings_(rows) {
    if (field.shape.is_scalar()) dense_ = Column::dense(field.dtype, {}, rows);
  }

  // Throws Fault, with nothing added.
  void add(const element& value) {
    add_value(value);
    if (field_->is_optional) present_.push_back(1);
  }

  // `line`: null where the key is there, and null.
  void add_missing(const simdjson::dom::object* line) {
    if (field_->required)
      throw Fault{line ? "is missing" + keys_there("the line", keys_of(*line)) : "is null"};
    if (field_->is_optional) return add_nothing();
    if (!field_->shape.is_scalar()) return add_tensor(field_->fallback);
    if (field_->dtype == DType::bytes) return add_text(bytes_at(field_->fallback));
    const auto bytes = dtype_size(field_->dtype);
    std::memcpy(dense_.mutable_data() + rows_++ * bytes, field_->fallback.data(),
                static_cast<size_t>(bytes));
  }

  // The row that would be the last of `rows` has failed: what it may have left stays as it is,
  // never to be shown.
  void settle(int64_t rows) {
    if (rows_ < rows) add_nothing();
  }

  Column finish() {
    if (!field_->is_optional) return finish_values();
    return optional_column(finish_values(), field_->shape, std::move(present_));
  }

 private:
  // Throws Fault, with nothing added.
  void add_value(const element& value) {
    if (!field_->shape.is_scalar()) return add_tensor(tensor_of(value, *field_));
    if (field_->dtype == DType::bytes) return add_text(string_of(value));
    visit_dtype(field_->dtype, [&]<typename T>(TypeTag<T>) {
      if constexpr (!std::is_same_v<T, BytesView>)
        dense_.mutable_entries<T>()[rows_] = number_of<T>(value);
    });
    ++rows_;
  }

  Column finish_values() {
    if (!field_->shape.is_scalar()) return tensors_.take(rows_);
    if (field_->dtype == DType::bytes)
      strings_.finish(dense_.mutable_entries<BytesView>(), &dense_.mutable_buffer());
    return std::move(dense_);
  }

  void add_nothing() {
    if (field_->is_optional) present_.push_back(0);
    if (field_->shape.is_scalar()) {
      if (field_->dtype == DType::bytes) return add_text({});
      const auto bytes = dtype_size(field_->dtype);
      std::memset(dense_.mutable_data() + rows_++ * bytes, 0, static_cast<size_t>(bytes));
      return;
    }
    Dims dims;
    for (const int64_t size : field_->shape.sizes()) dims.push_back(std::max<int64_t>(size, 0));
    Tensor nothing = Tensor::make(field_->dtype, dims);
    std::memset(nothing.mutable_data(), 0, static_cast<size_t>(nothing.data_bytes()));
    add_tensor(nothing);
  }

  void add_text(std::string_view text) {
    strings_.add(text);
    ++rows_;
  }
  void add_tensor(const Tensor& tensor) {
    tensors_.append(Column::constant(tensor, 1));
    ++rows_;
  }

  const Field* field_;
  int64_t rows_ = 0;
  Column dense_;
  StringWriter strings_;
  ColumnBuilder tensors_;
  std::vector<uint8_t> present_;  // optional
};

constexpr FieldRules kRules{.shapes = true, .optionals = true};

// Why a line is no JSON; missing values have a place in `fields`.
std::string refusal(std::string_view line, simdjson::error_code code) {
  const std::string mistake = json_mistake(line);
  const bool missing = mistake.find("write null") != std::string::npos;
  return (mistake.empty() ? std::string("no JSON: ") + simdjson::error_message(code)
                          : "no JSON" + mistake) +
         (missing ? ", and give the field a default or feature(dtype, kind=\"optional\")" : "");
}

class JsonDecoder final : public RecordDecoder {
 public:
  explicit JsonDecoder(std::vector<Field> fields) : fields_(std::move(fields)) {}

  void decode(std::span<const Record> records, std::span<const BufferRef>, const std::string& path,
              Block* out) override {
    const auto rows = static_cast<int64_t>(records.size());
    std::vector<FieldRows> columns;
    for (const Field& f : fields_) columns.emplace_back(f, rows);
    for (int64_t row = 0; row < rows; ++row) {
      const Record& record = records[static_cast<size_t>(row)];
      try {
        take(record, columns);
      } catch (const Fault& fault) {
        out->errors.push_back({row, record_error(path, record, fault.what)});
        for (FieldRows& c : columns) c.settle(row + 1);
      }
    }
    for (FieldRows& c : columns) out->columns.push_back(c.finish());
  }

 private:
  void take(const Record& record, std::vector<FieldRows>& columns) {
    element line;
    if (const auto code = parser_.parse(record.data, static_cast<size_t>(record.size)).get(line))
      throw Fault{refusal(std::string_view(record.data, static_cast<size_t>(record.size)), code)};
    simdjson::dom::object object;
    if (line.get(object) != simdjson::SUCCESS)
      throw Fault{std::string("expected an object, the line is ") + type_of(line)};
    for (size_t i = 0; i < fields_.size(); ++i) {
      element value;
      const bool there = object.at_key(fields_[i].name).get(value) == simdjson::SUCCESS;
      try {
        if (there && !value.is_null()) {
          columns[i].add(value);
        } else {
          columns[i].add_missing(there ? nullptr : &object);
        }
      } catch (const Fault& fault) {
        throw Fault{"`" + fields_[i].name + "` " + fault.what};
      }
    }
  }

  const std::vector<Field> fields_;
  simdjson::dom::parser parser_;
};

}  // namespace

OperatorDef jsonl_operator() {
  RecordsFormat format;
  format.name = "jsonl";
  format.doc = "Lines of JSON objects, as a dict of typed fields.";
  format.leading = {required("fields", Param::Kind::any)};
  format.spec = [](const NodeDraft& draft) {
    return spec_of(fields_of(draft.node.args["fields"], "fields", kRules));
  };
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs&) {
    return open_text_lines(std::move(path), options, {"jsonl", true});
  };
  format.decoder = [](const Attrs& args) -> std::unique_ptr<RecordDecoder> {
    return std::make_unique<JsonDecoder>(fields_of(args["fields"], "fields", kRules));
  };
  return records_operator(std::move(format));
}

}  // namespace penstock
