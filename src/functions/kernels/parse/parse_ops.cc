// parse_example and decode_raw as ops.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "functions/kernels/families.h"
#include "functions/kernels/parse/example_plan.h"
#include "functions/op.h"

namespace penstock {
namespace {

Spec infer_parse(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  const bool batch = type.shape.rank() == 1;
  if (type.shape.rank() > 1) context.fail(0, "is " + type.text() + ", expected bytes: one record");
  std::vector<std::string> keys;
  std::vector<Spec> items;
  for (const ExampleFeature& feature : read_features(context.attrs["features"])) {
    Shape shape(feature.dims);
    if (feature.sequence) {
      if (batch) {
        context.fail(0, "is " + type.text() + ", expected bytes: key \"" + feature.key +
                            "\" holds lists of any length; parse the records before batching");
      }
      shape = shape.with_front(Shape::kUnknown);
    }
    keys.push_back(feature.key);
    items.push_back(
        Spec::tensor(feature.dtype, batch ? shape.with_front(type.shape[0]) : std::move(shape)));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

std::shared_ptr<const void> prepare_parse(const Attrs& attrs) {
  return std::make_shared<const ExamplePlan>(read_features(attrs["features"]));
}

void keep_strings(const Tensor& record, OutputSlot& slot) {
  slot.keep(record.buffer());
  slot.keep_all_of(record.buffer());
}

// A vector of records: the fixed features of all of them, stacked.
void parse_records(const RowCall& call, const ExamplePlan& plan) {
  const Tensor& records = call.inputs[0];
  const int64_t rows = records.entries_count();
  std::vector<std::byte*> at;
  for (size_t i = 0; i < plan.features().size(); ++i) {
    const ExampleFeature& feature = plan.features()[i];
    OutputSlot& slot = call.outputs[i];
    at.push_back(slot.allocate(feature.dims.with_front(rows)));
    if (feature.dtype != DType::bytes) continue;
    keep_strings(records, slot);
    if (feature.has_fallback) slot.keep(feature.fallback.buffer());
  }
  for (int64_t r = 0; r < rows; ++r) {
    const std::span<const FeatureView> views = plan.parse(bytes_at(records, r));
    for (size_t i = 0; i < views.size(); ++i) {
      const ExampleFeature& feature = plan.features()[i];
      read_fixed(feature, views[i], at[i]);
      at[i] += feature.count * dtype_size(feature.dtype);
    }
  }
}

void parse_row(const RowCall& call) {
  const auto& plan = *static_cast<const ExamplePlan*>(call.state);
  const Tensor& record = call.inputs[0];
  if (record.dims().rank() == 1 &&
      std::ranges::none_of(plan.features(), &ExampleFeature::sequence)) {
    return parse_records(call, plan);
  }
  if (record.dims().rank() != 0) {
    throw Error(Code::invalid_argument,
                "parse_example: expected one record, got shape " + record.dims().text());
  }
  const std::span<const FeatureView> views = plan.parse(bytes_at(record));
  for (size_t i = 0; i < views.size(); ++i) {
    const ExampleFeature& feature = plan.features()[i];
    OutputSlot& slot = call.outputs[i];
    const int64_t count = checked_count(feature, views[i]);
    if (count < 0) {
      slot.set(feature.fallback);
      continue;
    }
    const int64_t length = feature.count == 0 ? 0 : count / feature.count;
    std::byte* to =
        slot.allocate(feature.sequence ? feature.dims.with_front(length) : feature.dims);
    if (feature.dtype == DType::bytes) keep_strings(record, slot);
    read_values(feature, views[i], count, to);
  }
}

// One feature of a block: a dense column, or rows of any length side by side.
class FeatureColumn {
 public:
  FeatureColumn(const ExampleFeature& feature, int64_t rows)
      : feature_(feature), row_bytes_(feature.count * dtype_size(feature.dtype)), rows_(rows) {
    if (feature.sequence) {
      splits_ = allocate_buffer((rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
      split(0) = 0;
    } else {
      dense_ = Column::dense(feature.dtype, feature.dims, rows);
    }
  }

  void read(int64_t row, const FeatureView& view) {
    if (!feature_.sequence) {
      read_fixed(feature_, view, dense_.mutable_data() + row * row_bytes_);
      return;
    }
    const int64_t count = checked_count(feature_, view);
    const size_t before = values_.size();
    values_.resize(before + static_cast<size_t>(count * dtype_size(feature_.dtype)));
    read_values(feature_, view, count, values_.data() + before);
    split(row + 1) = split(row) + (feature_.count == 0 ? 0 : count / feature_.count);
  }

  // Also undoes what read() did for this row.
  void set_failed(int64_t row) {
    if (feature_.sequence) {
      split(row + 1) = split(row);
      values_.resize(static_cast<size_t>(split(row) * row_bytes_));
    } else if (row_bytes_ > 0) {
      std::memset(dense_.mutable_data() + row * row_bytes_, 0, static_cast<size_t>(row_bytes_));
    }
  }

  Column finish(const BufferRef& records) {
    const bool strings = feature_.dtype == DType::bytes;
    if (!feature_.sequence) {
      if (strings) keep(records, dense_.mutable_buffer());
      return std::move(dense_);
    }
    Tensor all = Tensor::make(feature_.dtype, feature_.dims.with_front(split(rows_)));
    if (!values_.empty()) std::memcpy(all.mutable_data(), values_.data(), values_.size());
    if (strings) keep(records, all.mutable_buffer());
    return Column::ragged(std::move(all), std::move(splits_), rows_);
  }

 private:
  int64_t& split(int64_t row) { return reinterpret_cast<int64_t*>(splits_.data())[row]; }
  void keep(const BufferRef& records, BufferRef& buffer) const {
    buffer.keep(records);
    buffer.keep_all_of(records);
    if (feature_.has_fallback) buffer.keep(feature_.fallback.buffer());
  }

  const ExampleFeature& feature_;
  int64_t row_bytes_;
  int64_t rows_;
  Column dense_;
  std::vector<std::byte> values_;
  BufferRef splits_;
};

bool parse_block(const BlockCall& call) {
  const Column& records = call.inputs[0];
  if (records.kind() != Column::Kind::dense || records.row_dims().rank() != 0) return false;
  const auto& plan = *static_cast<const ExamplePlan*>(call.state);
  std::vector<FeatureColumn> columns;
  columns.reserve(plan.features().size());
  for (const ExampleFeature& feature : plan.features()) columns.emplace_back(feature, call.rows);
  const auto* texts = records.entries<BytesView>();
  const size_t known = call.errors->size();
  size_t next = 0;  // of the rows that failed before
  for (int64_t r = 0; r < call.rows; ++r) {
    bool good = true;
    if (next < known && (*call.errors)[next].row == r) {
      ++next;
      good = false;
    } else {
      try {
        const std::span<const FeatureView> views = plan.parse(texts[r].view());
        for (size_t i = 0; i < columns.size(); ++i) columns[i].read(r, views[i]);
      } catch (const Error&) {
        call.errors->push_back({r, current_error()});
        good = false;
      }
    }
    if (good) continue;
    for (FeatureColumn& column : columns) column.set_failed(r);
  }
  for (size_t i = 0; i < columns.size(); ++i) call.outputs[i] = columns[i].finish(records.buffer());
  return true;
}

Spec infer_raw(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (dtype == DType::bytes) {
    throw TypeError{-1, "dtype", "is bytes, expected a number dtype or bool"};
  }
  if (!type.shape.has_rank()) return Spec::tensor(dtype, Shape::unknown_rank());
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.push_back(Shape::kUnknown);
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

void raw_row(const RowCall& call) {
  const Tensor& input = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  const int64_t entry = dtype_size(slot.dtype());
  const int64_t texts = input.entries_count();
  const int64_t bytes = texts == 0 ? 0 : input.entry<BytesView>().size;
  if (bytes % entry != 0) {
    throw Error(Code::invalid_argument, "decode_raw: " + std::to_string(bytes) +
                                            " bytes are no multiple of " + std::to_string(entry) +
                                            ", the size of " +
                                            std::string(dtype_name(slot.dtype())));
  }
  Dims dims = input.dims();
  dims.push_back(bytes / entry);
  std::byte* const begin = slot.allocate(dims);
  std::byte* to = begin;
  for (int64_t i = 0; i < texts; ++i, to += bytes) {
    const BytesView text = input.entry<BytesView>(i);
    if (text.size != bytes) {
      throw Error(Code::invalid_argument,
                  "decode_raw: strings of different sizes: " + std::to_string(bytes) + " and " +
                      std::to_string(text.size) + " bytes");
    }
    if (bytes > 0) std::memcpy(to, text.data, static_cast<size_t>(bytes));
  }
  if (slot.dtype() == DType::boolean) {
    for (std::byte* b = begin; b != to; ++b) *b = std::byte{*b != std::byte{0}};
  } else if (entry > 1 && !call.attrs["little_endian"].as_bool()) {
    for (std::byte* b = begin; b != to; b += entry) std::reverse(b, b + entry);
  }
}

}  // namespace

void add_parse_ops(OpRegistry* registry) {
  OpDef parse;
  parse.name = "parse_example";
  parse.params = {required("serialized", Param::Kind::tensor),
                  required("features", Param::Kind::any)};
  parse.doc = "Features of a tf.train.Example record: {key: dtype or feature(...)}.";
  parse.infer = infer_parse;
  parse.row = parse_row;
  parse.block = parse_block;
  parse.prepare = prepare_parse;
  parse.can_fail = true;
  parse.cost_ns = 500;
  parse.group = "parse";
  registry->add(std::move(parse));

  OpDef raw;
  raw.name = "decode_raw";
  raw.params = {required("bytes", Param::Kind::tensor), required("dtype", Param::Kind::dtype),
                option("little_endian", Param::Kind::boolean, Attr::boolean(true))};
  raw.doc = "The bytes of a string as numbers: [?].";
  raw.infer = infer_raw;
  raw.row = raw_row;
  raw.can_fail = true;
  raw.cost_ns = 150;
  raw.group = "parse";
  registry->add(std::move(raw));
}

}  // namespace penstock
