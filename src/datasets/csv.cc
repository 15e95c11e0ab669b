// csv(filenames, columns): the rows of delimited text as tuples of typed columns.
//
// `columns` is a list with an entry a column: a dtype where a value is required, or the value that
// stands for a missing one, or feature(dtype, kind="optional"), whose values may be missing.
// Missing is what is empty, quoted or not, or equal to na_value. A row that does not fit is an
// error at its place and the next row follows.

#include <algorithm>

#include "data/optional.h"
#include "datasets/csv_decoder.h"
#include "datasets/datasets.h"
#include "datasets/fields.h"
#include "datasets/records.h"

namespace penstock {
namespace {

std::vector<Attr> entries_of(const Attr& list) {
  if (!list.is_tensor()) return list.items();
  std::vector<Attr> out;
  if (list.tensor().dims().rank() == 1) {
    for (int64_t i = 0; i < list.tensor().entries_count(); ++i)
      out.push_back(Attr::of(list.tensor().item(i)));
  }
  return out;
}

CsvColumn column_of(const Attr& attr) {
  CsvColumn out;
  if (attr.kind() == Attr::Kind::dtype) {
    out.dtype = attr.as_dtype();
  } else if (const auto dtype = optional_scalar(attr)) {
    out.dtype = *dtype;
    out.required = false;
    out.is_optional = true;
  } else if (attr.is_tensor() && attr.tensor().dims().rank() <= 1 &&
             attr.tensor().entries_count() <= 1) {
    out.dtype = attr.tensor().dtype();
    out.required = attr.tensor().entries_count() == 0;
    if (!out.required) out.fallback = attr.tensor();
  } else {
    NodeDraft::fail("columns", "an entry must be a dtype, a default value or "
                               "feature(dtype, kind=\"optional\")");
  }
  if (out.dtype != DType::bytes && !is_integer(out.dtype) && out.dtype != DType::float32 &&
      out.dtype != DType::float64) {
    NodeDraft::fail("columns", "must be bytes, integers, float32 or float64: " +
                                   std::string(dtype_name(out.dtype)));
  }
  return out;
}

// Indices of the fields that columns are made of; empty: all, in order.
std::vector<int64_t> selected_fields(const Attrs& args, size_t columns) {
  const bool select = !args["select_cols"].is_none(), exclude = !args["exclude_cols"].is_none();
  if (select && exclude) NodeDraft::fail("exclude_cols", "give either select_cols or exclude_cols");
  if (!select && !exclude) return {};
  const std::string param = select ? "select_cols" : "exclude_cols";
  std::vector<int64_t> fields = args[param].as_ints();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] < 0 || fields[i] > 1'000'000)
      NodeDraft::fail(param, "no index of a field: " + std::to_string(fields[i]));
    if (i > 0 && fields[i] <= fields[i - 1])
      NodeDraft::fail(param, "must ascend: " + std::to_string(fields[i]) + " follows " +
                                 std::to_string(fields[i - 1]));
  }
  if (select && fields.size() != columns) {
    NodeDraft::fail(param, "has " + std::to_string(fields.size()) + " fields for " +
                               std::to_string(columns) + " columns");
  }
  if (select) return fields;
  std::vector<int64_t> out;
  for (int64_t i = 0; out.size() < columns; ++i) {
    if (!std::ranges::binary_search(fields, i)) out.push_back(i);
  }
  return out;
}

CsvLayout layout_of(const Attrs& args) {
  CsvLayout out;
  for (const Attr& entry : entries_of(args["columns"])) out.columns.push_back(column_of(entry));
  if (out.columns.empty())
    NodeDraft::fail("columns", "expected a list of dtypes and default values");
  const std::string delimiter = args["field_delim"].as_string();
  if (delimiter.size() != 1 || std::string_view("\n\r\"").find(delimiter) != std::string::npos)
    NodeDraft::fail("field_delim", "must be one character, no quote and no line end");
  out.rows.delimiter = delimiter[0];
  out.rows.quotes = args["use_quote_delim"].as_bool();
  out.rows.header = args["header"].as_bool();
  out.na_value = args["na_value"].as_string();
  out.fields = selected_fields(args, out.columns.size());
  out.exact = args["exclude_cols"].is_none() && out.fields.empty();
  return out;
}

}  // namespace

OperatorDef csv_operator() {
  RecordsFormat format;
  format.name = "csv";
  format.doc = "Rows of delimited text as tuples of typed columns.";
  format.leading = {required("columns", Param::Kind::any)};
  format.options = {option("header", Param::Kind::boolean, Attr::boolean(false)),
                    option("field_delim", Param::Kind::text, Attr::text(",")),
                    option("use_quote_delim", Param::Kind::boolean, Attr::boolean(true)),
                    option("na_value", Param::Kind::text, Attr::text("")),
                    option("select_cols", Param::Kind::any, {}),
                    option("exclude_cols", Param::Kind::any, {})};
  format.spec = [](const NodeDraft& draft) {
    std::vector<Spec> items;
    for (const CsvColumn& c : layout_of(draft.node.args).columns)
      items.push_back(
          Spec::of(c.is_optional ? optional_leaf(c.dtype, {}) : LeafSpec::tensor(c.dtype, {})));
    return Spec::tuple(std::move(items));
  };
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs& args) {
    return open_rows(std::move(path), options, layout_of(args).rows);
  };
  format.decoder = [](const Attrs& args) { return make_csv_decoder(layout_of(args)); };
  return records_operator(std::move(format));
}

}  // namespace penstock
