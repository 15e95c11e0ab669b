#include "functions/ragged_columns.h"

#include <algorithm>

namespace penstock {
namespace {

bool same_lengths(const Column& a, const Column& b) {
  if (a.splits() == b.splits()) return true;
  for (int64_t i = 0; i <= a.rows(); ++i) {
    if (a.splits()[i] - a.splits()[0] != b.splits()[i] - b.splits()[0]) return false;
  }
  return true;
}

// The column's entries as rows.
Column entries_of(const Column& column, int64_t total) {
  auto* data = const_cast<std::byte*>(column.data()) + column.splits()[0] * column.row_bytes();
  return Column::dense(column.dtype(), column.row_dims(), total, column.buffer(), data);
}

// Splits from 0, in a buffer of their own.
BufferRef own_splits(const Column& column) {
  BufferRef out = allocate_buffer((column.rows() + 1) * static_cast<int64_t>(sizeof(int64_t)));
  auto* to = reinterpret_cast<int64_t*>(out.data());
  for (int64_t i = 0; i <= column.rows(); ++i) to[i] = column.splits()[i] - column.splits()[0];
  return out;
}

// Errors of entries become errors of their rows, one a row.
void add_row_errors(const Column& like, const std::vector<RowError>& entries,
                    std::vector<RowError>* errors) {
  const int64_t first = like.splits()[0];
  int64_t last = -1;
  for (const RowError& e : entries) {
    const int64_t* after =
        std::upper_bound(like.splits(), like.splits() + like.rows() + 1, first + e.row);
    const int64_t row = after - like.splits() - 1;
    if (row != last) errors->push_back({row, e.error});
    last = row;
  }
}

}  // namespace

bool run_over_ragged_columns(const OpDef& op, const BlockCall& call) {
  if (!op.elementwise) return false;
  const auto is_ragged = [](const Column& c) { return c.kind() == Column::Kind::ragged; };
  const auto like = std::ranges::find_if(call.inputs, is_ragged);
  if (like == call.inputs.end()) return false;
  const int64_t total = like->splits()[call.rows] - like->splits()[0];
  if (total == 0) return false;
  std::vector<Column> inputs;
  for (const Column& column : call.inputs) {
    if (is_ragged(column) && same_lengths(*like, column)) {
      inputs.push_back(entries_of(column, total));
    } else if (column.kind() == Column::Kind::constant && column.row_dims().rank() == 0) {
      inputs.push_back(Column::constant(column.row(0), total));
    } else {
      return false;
    }
  }
  std::vector<Column> outputs(call.outputs.size());
  std::vector<RowError> errors;
  const Origin origin;
  if (!op.block(
          {call.attrs, call.state, total, inputs, outputs, call.output_dtypes, origin, &errors}))
    return false;
  const BufferRef splits = own_splits(*like);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Column flat = outputs[i].expanded();
    Tensor values(flat.dtype(), flat.row_dims().with_front(total), flat.buffer(),
                  const_cast<std::byte*>(flat.data()));
    call.outputs[i] = Column::ragged(std::move(values), splits, call.rows);
  }
  add_row_errors(*like, errors, call.errors);
  return true;
}

Column uniform_as_dense(Column column) {
  constexpr int64_t kLeastRows = 16;
  if (column.kind() != Column::Kind::ragged || column.rows() < kLeastRows) return column;
  const int64_t* splits = column.splits();
  const int64_t length = splits[1] - splits[0];
  if (length == 0) return column;
  for (int64_t i = 1; i < column.rows(); ++i) {
    if (splits[i + 1] - splits[i] != length) return column;
  }
  auto* data = const_cast<std::byte*>(column.data()) + splits[0] * column.row_bytes();
  return Column::dense(column.dtype(), column.row_dims().with_front(length), column.rows(),
                       column.buffer(), data);
}

}  // namespace penstock
