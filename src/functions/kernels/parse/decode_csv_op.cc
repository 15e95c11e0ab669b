// decode_csv: the fields of a line, each of its column's dtype.

#include <algorithm>
#include <cstring>
#include <deque>

#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/csv_line.h"
#include "functions/kernels/parse/parse_family.h"
#include "functions/kernels/text/number_text.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

struct CsvColumn {
  DType dtype;
  bool required;
  Tensor fallback;
};

[[noreturn]] void refuse(const std::string& what) { throw TypeError{-1, "columns", what}; }

CsvColumn read_column(const Attr& attr) {
  CsvColumn out{DType::bytes, true, {}};
  if (attr.kind() == Attr::Kind::dtype) {
    out.dtype = attr.as_dtype();
  } else if (attr.is_tensor() && attr.tensor().entries_count() == 0) {
    out = {attr.tensor().dtype(), true, {}};  // tf.data's way to write a required column
  } else if (attr.is_tensor() && attr.tensor().entries_count() == 1) {
    out = {attr.tensor().dtype(), false, attr.tensor()};
  } else {
    refuse("must be a list of dtypes (required columns) and default values");
  }
  if (out.dtype != DType::bytes && !is_number(out.dtype)) refuse("has a column of bool");
  return out;
}

std::vector<CsvColumn> read_columns(const Attr& attr) {
  std::vector<CsvColumn> out;
  if (attr.is_tensor()) {
    const Tensor& t = attr.tensor();
    const Tensor flat = t.reshaped({t.entries_count()});
    for (int64_t i = 0; i < flat.entries_count(); ++i)
      out.push_back({t.dtype(), false, flat.item(i)});
  } else {
    for (const Attr& item : attr.items()) out.push_back(read_column(item));
  }
  if (out.empty()) refuse("names no column");
  return out;
}

class CsvPlan {
 public:
  explicit CsvPlan(const Attrs& attrs)
      : columns_(read_columns(attrs["columns"])),
        line_(attrs["field_delim"].as_string()[0], attrs["use_quote_delim"].as_bool()),
        absent_(attrs["na_value"].as_string()) {
    if (!attrs["select_cols"].is_none()) selected_ = attr_ints(attrs["select_cols"]);
  }
  const std::vector<CsvColumn>& columns() const { return columns_; }

  // Writes the row's entries to at[column]; strings that had doubled quotes are kept by keepers.
  // Throws Error.
  void read(std::string_view record, std::span<std::byte* const> at,
            std::span<BufferRef* const> keepers) const {
    ChargedVector<std::string_view> fields;
    std::deque<ChargedString> unquoted;  // bounded: fields with quotes in them, counted one by one
    try {
      line_.cut(record, &fields, &unquoted);
    } catch (const Error& error) {
      fail_row("decode_csv", error.message());
    }
    const size_t wanted = columns_.size();
    if (selected_.empty() && fields.size() != wanted) {
      fail_row("decode_csv", "expected " + std::to_string(wanted) + " fields, found " +
                                 std::to_string(fields.size()) + ": " + quoted(record));
    }
    for (size_t i = 0; i < wanted; ++i) {
      const auto field = selected_.empty() ? i : static_cast<size_t>(selected_[i]);
      if (field >= fields.size()) {
        fail_row("decode_csv", "field " + std::to_string(field) + " is wanted, there are " +
                                   std::to_string(fields.size()) + ": " + quoted(record));
      }
      read_field(i, field, fields[field], !unquoted.empty(), at[i], keepers[i]);
    }
  }

 private:
  void read_field(size_t column, size_t field, std::string_view text, bool copy, std::byte* out,
                  BufferRef* keeper) const {
    const CsvColumn& c = columns_[column];
    if (text.empty() || (!absent_.empty() && text == absent_)) {
      if (c.required)
        fail_row("decode_csv", "field " + std::to_string(field) + " is required, but empty");
      std::memcpy(out, c.fallback.data(), static_cast<size_t>(dtype_size(c.dtype)));
      if (c.dtype == DType::bytes) keeper->keep(c.fallback.buffer());
    } else if (c.dtype != DType::bytes) {
      if (read_number(text, c.dtype, out)) return;
      fail_row("decode_csv", "field " + std::to_string(field) + " is no " +
                                 std::string(dtype_name(c.dtype)) + ": " + quoted(text));
    } else {
      if (copy) {
        const Tensor own = Tensor::of_bytes(text);
        keeper->keep(own.buffer());
        *reinterpret_cast<BytesView*>(out) = own.entry<BytesView>();
      } else {
        *reinterpret_cast<BytesView*>(out) = {text.data(), static_cast<int64_t>(text.size())};
      }
    }
  }

  std::vector<CsvColumn> columns_;
  CsvLine line_;
  std::string absent_;             // bounded: written in the pipeline
  std::vector<int64_t> selected_;  // bounded: written in the pipeline
};

Spec infer_csv(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  const std::vector<CsvColumn> columns = read_columns(context.attrs["columns"]);
  if (context.attrs["field_delim"].as_string().size() != 1)
    throw TypeError{-1, "field_delim", "must be one character"};
  if (!context.attrs["select_cols"].is_none()) {
    const std::vector<int64_t> selected = infer_ints(context, "select_cols");
    if (selected.size() != columns.size()) {
      throw TypeError{-1, "select_cols",
                      "names " + std::to_string(selected.size()) + " columns, but columns has " +
                          std::to_string(columns.size())};
    }
    if (selected[0] < 0 || !std::ranges::is_sorted(selected, std::ranges::less_equal{}))
      throw TypeError{-1, "select_cols", "must ascend"};
  }
  std::vector<Spec> items;
  for (const CsvColumn& column : columns) items.push_back(Spec::tensor(column.dtype, type.shape));
  return Spec::tuple(std::move(items));
}

void csv_row(const RowCall& call) {
  const auto& plan = *static_cast<const CsvPlan*>(call.state);
  const Tensor& in = call.inputs[0];
  std::vector<Tensor> outs;
  std::vector<std::byte*> at;
  std::vector<BufferRef*> keepers;
  for (const CsvColumn& column : plan.columns())
    outs.push_back(Tensor::make(column.dtype, in.dims()));
  for (Tensor& out : outs) {
    share_strings(&out.mutable_buffer(), in.buffer(), out.dtype());
    at.push_back(out.mutable_data());
    keepers.push_back(&out.mutable_buffer());
  }
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    plan.read(bytes_at(in, i), at, keepers);
    for (size_t k = 0; k < at.size(); ++k) at[k] += dtype_size(outs[k].dtype());
  }
  for (size_t k = 0; k < outs.size(); ++k) call.outputs[k].set(std::move(outs[k]));
}

bool csv_block(const BlockCall& call) {
  const auto& plan = *static_cast<const CsvPlan*>(call.state);
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense || in.row_dims().rank() != 0) return false;
  std::vector<std::byte*> at;
  std::vector<BufferRef*> keepers;
  for (size_t k = 0; k < plan.columns().size(); ++k) {
    Column& out = call.outputs[k] = Column::dense(plan.columns()[k].dtype, {}, call.rows);
    share_strings(&out.mutable_buffer(), in.buffer(), out.dtype());
    at.push_back(out.mutable_data());
    keepers.push_back(&out.mutable_buffer());
  }
  for (int64_t row = 0; row < call.rows; ++row) {
    const auto* record = in.entries<BytesView>() + row;
    const bool good = guard_row(call, row, [&] { plan.read(record->view(), at, keepers); });
    for (size_t k = 0; k < at.size(); ++k) {
      const int64_t bytes = dtype_size(plan.columns()[k].dtype);
      if (!good) std::memset(at[k], 0, static_cast<size_t>(bytes));
      at[k] += bytes;
    }
  }
  return true;
}

}  // namespace

void add_decode_csv_op(OpRegistry* registry) {
  OpDef op;
  op.name = "decode_csv";
  op.params = {required("records", Param::Kind::tensor),
               required("columns", Param::Kind::any),
               option("field_delim", Param::Kind::text, Attr::text(",")),
               option("use_quote_delim", Param::Kind::boolean, Attr::boolean(true)),
               option("na_value", Param::Kind::text, Attr::text("")),
               option("select_cols", Param::Kind::any, {})};
  op.doc =
      "the fields of a line of CSV, a tuple: each column is a dtype (required) or the value where "
      "the field is empty";
  op.infer = infer_csv;
  op.row = csv_row;
  op.block = csv_block;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const CsvPlan>(attrs);
  };
  op.can_fail = true;
  op.cost_ns = 500;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
