// Columns of other libraries as rows: an op that makes row i of columns in memory, which may be cut
// into chunks and hold lists and strings as Arrow lays them out: offsets into entries. Rows are
// made when they are asked for, so a table that is mapped into memory is not read before.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "code.h"
#include "numpy_api.h"

namespace penstock::python {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

int64_t offset_at(const Array& offsets, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return offsets.type() == Type::int32 ? offsets.as<int32_t>()[at] : offsets.as<int64_t>()[at];
}

std::string_view text_at(const Array& offsets, const Array& data, int64_t i) {
  const int64_t begin = offset_at(offsets, i), end = offset_at(offsets, i + 1);
  return {reinterpret_cast<const char*>(data.data()) + begin, static_cast<size_t>(end - begin)};
}

Array texts_in(const Array& offsets, const Array& data, Range range) {
  std::vector<std::string> out;
  for (int64_t i = range.begin; i < range.end; ++i) out.emplace_back(text_at(offsets, data, i));
  return Array::texts(out);
}

// A part of a column that is contiguous in memory.
struct Chunk {
  int64_t rows = 0;
  std::vector<Array> levels;  // offsets of lists, outermost first
  Array values;               // entries, or bytes of strings
  Array text_offsets;         // of strings
};

struct RowsColumn {
  Type type = Type::int64;
  size_t levels = 0;
  std::vector<int64_t> item;  // shape of an entry
  std::vector<int64_t> ends;  // rows up to the end of each chunk
  std::vector<Chunk> chunks;

  size_t outputs() const { return levels > 1 ? levels : 1; }
};

// The entries of a range, over the chunk's own memory; `owner` keeps that alive.
Array entries_in(const Chunk& chunk, const RowsColumn& column, Range range,
                 const std::shared_ptr<const void>& owner) {
  auto each = static_cast<int64_t>(item_bytes(column.type));
  for (const int64_t size : column.item) each *= size;
  std::vector<int64_t> shape;
  if (column.levels > 0) shape.push_back(range.size());
  shape.insert(shape.end(), column.item.begin(), column.item.end());
  return from_memory(column.type, shape, chunk.values.data() + range.begin * each, [owner] {});
}

// Appends the arrays of one row: the splits of inner lists, then the entries.
void add_row(const RowsColumn& column, int64_t row, const std::shared_ptr<const void>& owner,
             std::vector<Array>* out) {
  const auto after = std::ranges::upper_bound(column.ends, row);
  if (row < 0 || after == column.ends.end())
    throw Error(Code::out_of_range, "there is no row " + std::to_string(row));
  const Chunk& chunk = column.chunks[static_cast<size_t>(after - column.ends.begin())];
  const int64_t first = row - (*after - chunk.rows);
  Range range{first, first + 1};
  for (size_t k = 0; k < column.levels; ++k) {
    const Array& offsets = chunk.levels[k];
    const int64_t begin = offset_at(offsets, range.begin);
    if (k > 0) {
      std::vector<int64_t> splits;
      for (int64_t i = range.begin; i <= range.end; ++i)
        splits.push_back(offset_at(offsets, i) - begin);
      out->push_back(Array::of(splits));
    }
    range = {begin, offset_at(offsets, range.end)};
  }
  if (column.type != Type::bytes) {
    out->push_back(entries_in(chunk, column, range, owner));
  } else if (column.levels == 0) {
    out->push_back(Array::text(text_at(chunk.text_offsets, chunk.values, range.begin)));
  } else {
    out->push_back(texts_in(chunk.text_offsets, chunk.values, range));
  }
}

// (dtype, number of levels, shape of an entry, [(rows, [offsets], entries, offsets of strings)])
RowsColumn to_column(const nb::handle described) {
  RowsColumn out;
  out.type = type_named(nb::cast<std::string>(described[0]));
  out.levels = nb::cast<size_t>(described[1]);
  out.item = nb::cast<std::vector<int64_t>>(described[2]);
  int64_t rows = 0;
  for (const nb::handle part : nb::cast<nb::list>(described[3])) {
    Chunk chunk{nb::cast<int64_t>(part[0]), nb::cast<std::vector<Array>>(part[1]),
                nb::cast<Array>(part[2]), nb::cast<Array>(part[3])};
    out.ends.push_back(rows += chunk.rows);
    out.chunks.push_back(std::move(chunk));
  }
  return out;
}

std::vector<ArrayType> types_of(const std::vector<RowsColumn>& columns) {
  std::vector<ArrayType> out;
  for (const RowsColumn& c : columns) {
    for (size_t k = 1; k < c.levels; ++k) out.push_back({Type::int64, {{-1}}});
    std::vector<int64_t> shape = c.item;
    if (c.levels > 0) shape.insert(shape.begin(), -1);
    out.push_back({c.type, std::move(shape)});
  }
  return out;
}

OwnOp rows_op(const nb::list& described, const std::string& identity) {
  const auto columns = std::make_shared<std::vector<RowsColumn>>();
  for (const nb::handle one : described) columns->push_back(to_column(one));
  OpDefinition op;
  op.name = "column_rows";
  op.doc = "a row of columns in memory";
  op.inputs = {"row"};
  op.infer = [types = types_of(*columns)](std::span<const ArrayType>, const Arguments&) {
    return types;
  };
  op.row = [columns](std::span<const Array> x, const Arguments&) {
    const int64_t row = x[0].value<int64_t>();
    std::vector<Array> out;
    for (const RowsColumn& column : *columns) add_row(column, row, columns, &out);
    return out;
  };
  op.identity = identity;
  op.nanoseconds = 200.0 * static_cast<double>(columns->size());
  return OwnOp(std::move(op));
}

Dataset memory(const std::vector<Array>& columns, const std::vector<std::string>& keys,
               const std::string& identity) {
  return without_gil([&] { return Dataset::from_memory(columns, keys, identity); });
}

}  // namespace

void bind_columns(nb::module_& m) {
  m.def("rows_op", rows_op);
  m.def("texts_of", [](const Array& offsets, const Array& data) {
    return texts_in(offsets, data, {0, std::max<int64_t>(0, offsets.entries() - 1)});
  });
  m.def("memory", memory);
}

}  // namespace penstock::python
