// csv(filenames, columns): the rows of delimited text as typed columns.
//
// `columns` is a list with an entry a column: a dtype where a value is required, or the value that
// stands for a missing one (alone or in a list of its own, as tf.data's record_defaults have it),
// or feature(dtype, kind="optional"), whose values may be missing. Elements are tuples then. A dict
// names the columns, and elements are dicts: with header=true the names are looked up in the header
// of each file, without it they are the fields in order. Without `columns` names and dtypes come
// from the first file's header and first rows, and are written into the plan.
//
// Missing is what is empty, quoted or not, or equal to na_value. A row that does not fit is an
// error at its position and the next row follows.

#include <algorithm>

#include "data/optional.h"
#include "datasets/csv_decoder.h"
#include "datasets/csv_header.h"
#include "datasets/datasets.h"
#include "datasets/fields.h"
#include "datasets/records.h"

namespace penstock {
namespace {

std::vector<Attr> entries_of(const Attr& list) {
  if (!list.is_tensor()) return list.items();
  std::vector<Attr> out;
  if (const int rank = list.tensor().dims().rank(); rank == 1 || rank == 2) {
    for (int64_t i = 0; i < list.tensor().dims()[0]; ++i)
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

// select_cols or exclude_cols.
std::vector<int64_t> field_indices(const Attrs& args, const std::string& param) {
  std::vector<int64_t> fields = args[param].as_ints();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] < 0 || fields[i] > 1'000'000)
      NodeDraft::fail(param, "no index of a field: " + std::to_string(fields[i]));
    if (i > 0 && fields[i] <= fields[i - 1])
      NodeDraft::fail(param, "must ascend: " + std::to_string(fields[i]) + " follows " +
                                 std::to_string(fields[i - 1]));
  }
  return fields;
}

// Sets the fields that columns are made of, and how many a row has.
void choose_fields(const Attrs& args, CsvLayout* out) {
  const size_t columns = out->columns.size();
  const bool select = !args["select_cols"].is_none(), exclude = !args["exclude_cols"].is_none();
  if (select && exclude) NodeDraft::fail("exclude_cols", "give either select_cols or exclude_cols");
  if ((select || exclude) && !out->names.empty()) {
    NodeDraft::fail(select ? "select_cols" : "exclude_cols",
                    "is of columns without names; those with names are looked up in the header");
  }
  out->least_fields = out->most_fields = columns;
  if (select) {
    out->fields = field_indices(args, "select_cols");
    if (out->fields.size() != columns) {
      NodeDraft::fail("select_cols", "has " + std::to_string(out->fields.size()) + " fields for " +
                                         std::to_string(columns) + " columns");
    }
    out->least_fields = static_cast<size_t>(out->fields.back()) + 1;
    out->most_fields = SIZE_MAX;
  }
  if (!exclude) return;
  const std::vector<int64_t> excluded = field_indices(args, "exclude_cols");
  const auto is_excluded = [&](int64_t i) { return std::ranges::binary_search(excluded, i); };
  for (int64_t i = 0; out->fields.size() < columns; ++i) {
    if (!is_excluded(i)) out->fields.push_back(i);
  }
  // Besides the columns a row has nothing that is not excluded.
  int64_t most = out->fields.back() + 1;
  out->least_fields = static_cast<size_t>(most);
  while (is_excluded(most)) ++most;
  out->most_fields = static_cast<size_t>(most);
}

RowLayout rows_of(const Attrs& args) {
  RowLayout out;
  const std::string delimiter = args["field_delim"].as_string();
  if (delimiter.size() != 1 || std::string_view("\n\r\"").find(delimiter) != std::string::npos)
    NodeDraft::fail("field_delim", "must be one character, no quote and no line end");
  out.delimiter = delimiter[0];
  out.quotes = args["use_quote_delim"].as_bool();
  out.header = args["header"].as_bool();
  return out;
}

CsvLayout layout_of(const Attrs& args) {
  CsvLayout out;
  const Attr& columns = args["columns"];
  for (const Attr& entry : entries_of(columns)) out.columns.push_back(column_of(entry));
  if (out.columns.empty())
    NodeDraft::fail("columns", "expected a list or a dict of dtypes and default values");
  out.rows = rows_of(args);
  if (columns.kind() == Attr::Kind::dict && out.rows.header) out.names = columns.keys();
  out.na_value = args["na_value"].as_string();
  out.reading = reader_options(args);
  choose_fields(args, &out);
  return out;
}

// Writes the columns that the first file has into the plan.
void guess_columns(NodeDraft& draft) {
  const Attrs& args = draft.node.args;
  if (!args["columns"].is_none()) return;
  if (!args["header"].as_bool()) {
    NodeDraft::fail("columns", "must say what the columns are, such as [int64, \"\"]; names and "
                               "dtypes are taken from the file with header=true");
  }
  if (args["filenames"].has_capture())
    NodeDraft::fail("columns", "must be given where the file is not known before the start");
  CsvLayout layout;
  layout.rows = rows_of(args);
  layout.na_value = args["na_value"].as_string();
  layout.reading = reader_options(args);
  std::vector<std::string> names;
  std::vector<Attr> dtypes;
  try {
    const std::vector<std::string> files = files_of(args["filenames"]);
    if (files.empty()) NodeDraft::fail("filenames", "at least one file is needed");
    for (CsvGuess& guess : guess_csv_columns(files[0], layout)) {
      if (std::ranges::find(names, guess.name) != names.end()) {
        NodeDraft::fail("columns",
                        "must be given: the header has two columns `" + guess.name + "`");
      }
      names.push_back(std::move(guess.name));
      // A text that is missing is an empty one.
      dtypes.push_back(guess.dtype == DType::bytes ? Attr::text("") : Attr::of(guess.dtype));
    }
  } catch (const Error& e) {
    constexpr std::string_view kReader = "csv: ";  // the message will begin with it as it is
    NodeDraft::fail("filenames",
                    e.message().substr(e.message().starts_with(kReader) ? kReader.size() : 0),
                    e.code());
  }
  draft.node.args.set("columns", Attr::dict(std::move(names), std::move(dtypes)));
}

Spec spec_of(const Attrs& args) {
  std::vector<Spec> items;
  for (const CsvColumn& c : layout_of(args).columns)
    items.push_back(
        Spec::of(c.is_optional ? optional_leaf(c.dtype, {}) : LeafSpec::tensor(c.dtype, {})));
  const Attr& columns = args["columns"];
  return columns.kind() == Attr::Kind::dict ? Spec::dict(columns.keys(), std::move(items))
                                            : Spec::tuple(std::move(items));
}

}  // namespace

OperatorDef csv_operator() {
  RecordsFormat format;
  format.name = "csv";
  format.doc = "Rows of delimited text as typed columns: tuples, or dicts by name.";
  format.leading = {optional("columns", Param::Kind::any, {})};
  format.options = {option("header", Param::Kind::boolean, Attr::boolean(false)),
                    option("field_delim", Param::Kind::text, Attr::text(",")),
                    option("use_quote_delim", Param::Kind::boolean, Attr::boolean(true)),
                    option("na_value", Param::Kind::text, Attr::text("")),
                    option("select_cols", Param::Kind::any, {}),
                    option("exclude_cols", Param::Kind::any, {})};
  format.least_buffer_size = 1;
  format.complete = guess_columns;
  format.spec = [](const NodeDraft& draft) { return spec_of(draft.node.args); };
  format.reader = [](std::string path, const ReaderOptions& options, const Attrs& args) {
    const CsvLayout layout = layout_of(args);
    if (!layout.names.empty()) read_csv_header(path, layout);  // throws where a name is not there
    return open_rows(std::move(path), options, layout.rows);
  };
  format.decoder = [](const Attrs& args) { return make_csv_decoder(layout_of(args)); };
  return records_operator(std::move(format));
}

}  // namespace penstock
