// parse_example: features of one record, of a vector of records, or of a column of them.

#include <algorithm>
#include <cstring>

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/example_values.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

using Kind = ExampleFeature::Kind;

Spec infer_parse(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (!type.shape.has_rank() || type.shape.rank() > 1) {
    context.fail(0, "is " + type.text() + ", expected bytes: one record, or a vector of them");
  }
  std::vector<std::string> keys;  // bounded: written in the pipeline
  std::vector<Spec> items;
  for (const ExampleFeature& feature : read_features(context.attrs["features"], "features")) {
    keys.push_back(feature.key);
    items.push_back(Spec::of(type.shape.rank() == 1 ? feature_batch_leaf(feature, type.shape[0])
                                                    : feature_leaf(feature)));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

void keep_records(const ExampleFeature& feature, const BufferRef& records, BufferRef* keeper) {
  share_strings(keeper, records, feature.dtype);
  if (feature.has_fallback && feature.dtype == DType::bytes)
    keeper->keep(feature.fallback.buffer());
}

// A vector of records: fixed features stacked in place, the others collected.
void parse_records(const RowCall& call, const ExamplePlan& plan) {
  const Tensor& records = call.inputs[0];
  const int64_t rows = records.entries_count();
  std::vector<Tensor> fixed;
  std::vector<FeatureValues> lists;
  for (const ExampleFeature& feature : plan.features()) {
    lists.emplace_back(feature);
    fixed.push_back(feature.kind == Kind::fixed
                        ? Tensor::make(feature.dtype, feature.dims.with_front(rows))
                        : Tensor());
  }
  for (int64_t r = 0; r < rows; ++r) {
    const std::string_view record = bytes_at(records, r);
    const std::span<const FeatureView> views = plan.parse(record);
    naming_keys(record, [&] {
      for (size_t i = 0; i < lists.size(); ++i) {
        const ExampleFeature& feature = plan.features()[i];
        if (feature.kind != Kind::fixed) {
          lists[i].add(plan, i, views);
        } else {
          read_fixed(feature, views[plan.slot(i)],
                     fixed[i].mutable_data() + r * feature.count * dtype_size(feature.dtype));
        }
      }
    });
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    const ExampleFeature& feature = plan.features()[i];
    if (feature.kind == Kind::fixed) {
      keep_records(feature, records.buffer(), &fixed[i].mutable_buffer());
      call.outputs[i].set(std::move(fixed[i]));
    } else {
      call.outputs[i].set(lists[i].finish_batch(records.buffer()));
    }
  }
}

void parse_one(const RowCall& call, const ExamplePlan& plan) {
  const Tensor& record = call.inputs[0];
  const std::span<const FeatureView> views = plan.parse(bytes_at(record));
  for (size_t i = 0; i < plan.features().size(); ++i) {
    const ExampleFeature& feature = plan.features()[i];
    OutputSlot& slot = call.outputs[i];
    if (feature.kind != Kind::fixed) {
      FeatureValues values(feature);
      values.add(plan, i, views);
      slot.set(values.finish_single(record.buffer()));
      continue;
    }
    const FeatureView& view = views[plan.slot(i)];
    if (const int64_t count = checked_count(feature, view); count < 0) {
      slot.set(feature.fallback);
    } else {
      read_values(feature, view, count, slot.allocate(feature.dims));
      if (feature.dtype == DType::bytes) share_strings(&slot, record);
    }
  }
}

void parse_row(const RowCall& call) {
  const auto& plan = *static_cast<const ExamplePlan*>(call.state);
  const Tensor& record = call.inputs[0];
  if (record.dims().rank() == 1) return parse_records(call, plan);
  if (record.dims().rank() != 0)
    fail_row("parse_example", "expected one record, got shape " + record.dims().text());
  naming_keys(bytes_at(record), [&] { parse_one(call, plan); });
}

class ObjectList final : public ObjectRows {
 public:
  explicit ObjectList(std::vector<ObjectPtr> rows) : rows_(std::move(rows)) {}
  int64_t rows() const override { return static_cast<int64_t>(rows_.size()); }
  ObjectPtr row(int64_t i) const override { return rows_[static_cast<size_t>(i)]; }

 private:
  std::vector<ObjectPtr> rows_;
};

// One feature of a block: a dense column, lists of any length side by side, or objects.
class FeatureColumn {
 public:
  FeatureColumn(const ExamplePlan& plan, size_t index, int64_t rows)
      : plan_(plan),
        index_(index),
        feature_(plan.features()[index]),
        row_bytes_(feature_.count * dtype_size(feature_.dtype)),
        rows_(rows) {
    if (feature_.is_list()) {
      splits_ = allocate_buffer((rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
      split(0) = 0;
    } else if (feature_.kind == Kind::fixed) {
      dense_ = Column::dense(feature_.dtype, feature_.dims, rows);
    } else if ((feature_.kind == Kind::ragged && feature_.is_uniform())) {
      tensors_.resize(static_cast<size_t>(rows));
    } else {
      objects_.resize(static_cast<size_t>(rows));
    }
  }

  void read(int64_t row, std::span<const FeatureView> views, const BufferRef& records) {
    const FeatureView& view = views[plan_.slot(index_)];
    if (feature_.kind == Kind::fixed) {
      read_fixed(feature_, view, dense_.mutable_data() + row * row_bytes_);
    } else if (feature_.is_list()) {
      const int64_t count = checked_count(feature_, view);
      const size_t before = values_.size();
      values_.resize(before + static_cast<size_t>(count * dtype_size(feature_.dtype)));
      read_values(feature_, view, count, values_.data() + before);
      split(row + 1) = split(row) + (feature_.count == 0 ? 0 : count / feature_.count);
    } else {
      FeatureValues values(feature_);
      values.add(plan_, index_, views);
      Tensor out = values.finish_single(records);
      if (!tensors_.empty())
        tensors_[static_cast<size_t>(row)] = std::move(out);
      else
        objects_[static_cast<size_t>(row)] = out.object();
    }
  }

  // Also undoes what read() did for this row.
  void set_failed(int64_t row) {
    if (feature_.is_list()) {
      split(row + 1) = split(row);
      values_.resize(static_cast<size_t>(split(row) * row_bytes_));
    } else if (feature_.kind == Kind::fixed && row_bytes_ > 0) {
      std::memset(dense_.mutable_data() + row * row_bytes_, 0, static_cast<size_t>(row_bytes_));
    }
  }

  Column finish(const BufferRef& records) {
    if (!objects_.empty()) return Column::object(std::make_shared<ObjectList>(std::move(objects_)));
    if (!tensors_.empty()) return Column::variable(feature_.dtype, std::move(tensors_));
    if (feature_.kind == Kind::fixed) {
      keep_records(feature_, records, &dense_.mutable_buffer());
      return std::move(dense_);
    }
    Tensor all = Tensor::make(feature_.dtype, feature_.dims.with_front(split(rows_)));
    if (!values_.empty()) std::memcpy(all.mutable_data(), values_.data(), values_.size());
    keep_records(feature_, records, &all.mutable_buffer());
    return Column::ragged(std::move(all), std::move(splits_), rows_);
  }

 private:
  int64_t& split(int64_t row) { return reinterpret_cast<int64_t*>(splits_.data())[row]; }

  const ExamplePlan& plan_;
  size_t index_;
  const ExampleFeature& feature_;
  int64_t row_bytes_;
  int64_t rows_;
  Column dense_;
  ChargedVector<std::byte> values_;
  BufferRef splits_;
  std::vector<Tensor> tensors_;
  std::vector<ObjectPtr> objects_;
};

bool parse_block(const BlockCall& call) {
  const Column& records = call.inputs[0];
  if (records.kind() != Column::Kind::dense || records.row_dims().rank() != 0) return false;
  const auto& plan = *static_cast<const ExamplePlan*>(call.state);
  std::vector<FeatureColumn> columns;
  columns.reserve(plan.features().size());
  for (size_t i = 0; i < plan.features().size(); ++i) columns.emplace_back(plan, i, call.rows);
  const auto* texts = records.entries<BytesView>();
  const size_t known = call.errors->size();
  size_t next = 0;  // of the rows that failed before
  for (int64_t r = 0; r < call.rows; ++r) {
    bool good = next == known || (*call.errors)[next].row != r;
    if (good) {
      good = guard_row(call, r, [&] {
        const std::span<const FeatureView> views = plan.parse(texts[r].view());
        naming_keys(texts[r].view(), [&] {
          for (FeatureColumn& column : columns) column.read(r, views, records.buffer());
        });
      });
    } else {
      ++next;
    }
    if (good) continue;
    for (FeatureColumn& column : columns) column.set_failed(r);
  }
  for (size_t i = 0; i < columns.size(); ++i) call.outputs[i] = columns[i].finish(records.buffer());
  return true;
}

}  // namespace

void add_parse_example_op(OpRegistry* registry) {
  OpDef op;
  op.name = "parse_example";
  op.params = {required("serialized", Param::Kind::tensor), required("features", Param::Kind::any)};
  op.doc =
      "features of a tf.train.Example record, or of a vector of them: {key: dtype or feature(...)}";
  op.infer = infer_parse;
  op.row = parse_row;
  op.block = parse_block;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const ExamplePlan>(read_features(attrs["features"], "features"));
  };
  op.can_fail = true;
  op.cost_ns = 500;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
