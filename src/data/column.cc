#include "data/column.h"

#include <algorithm>

#include "base/error.h"
#include "data/checked_product.h"
#include "data/object_column.h"

namespace penstock {
namespace {

class GatheredObjects final : public ObjectRows {
 public:
  explicit GatheredObjects(std::vector<ObjectPtr> rows) : rows_(std::move(rows)) {}
  int64_t rows() const override { return static_cast<int64_t>(rows_.size()); }
  ObjectPtr row(int64_t i) const override { return rows_[static_cast<size_t>(i)]; }

 private:
  std::vector<ObjectPtr> rows_;
};

template <int kBytes>
void gather_fixed(const std::byte* from, std::span<const int32_t> indices, std::byte* to) {
  for (const int32_t i : indices) {
    std::memcpy(to, from + static_cast<int64_t>(i) * kBytes, kBytes);
    to += kBytes;
  }
}

void gather_rows(const std::byte* from, int64_t row_bytes, std::span<const int32_t> indices,
                 std::byte* to) {
  switch (row_bytes) {
    case 1: return gather_fixed<1>(from, indices, to);
    case 2: return gather_fixed<2>(from, indices, to);
    case 4: return gather_fixed<4>(from, indices, to);
    case 8: return gather_fixed<8>(from, indices, to);
    case 16: return gather_fixed<16>(from, indices, to);
    default: break;
  }
  for (const int32_t i : indices) {
    std::memcpy(to, from + i * row_bytes, static_cast<size_t>(row_bytes));
    to += row_bytes;
  }
}

}  // namespace

Column Column::dense(DType dtype, const Dims& row_dims, int64_t rows) {
  BufferRef buffer =
      allocate_buffer(checked_product({rows, row_dims.entries(), dtype_size(dtype)}));
  std::byte* data = buffer.data();
  return dense(dtype, row_dims, rows, std::move(buffer), data);
}

Column Column::dense(DType dtype, const Dims& row_dims, int64_t rows, BufferRef buffer,
                     std::byte* data) {
  Column out;
  out.dtype_ = dtype;
  out.rows_ = rows;
  out.row_dims_ = row_dims;
  out.buffer_ = std::move(buffer);
  out.data_ = data;
  return out;
}

Column Column::constant(Tensor value, int64_t rows) {
  if (value.object()) {
    return object_column(std::vector<ObjectPtr>(static_cast<size_t>(rows), value.object()));
  }
  Column out = dense(value.dtype(), value.dims(), rows, value.buffer(), value.mutable_data());
  out.kind_ = Kind::constant;
  return out;
}

Column Column::ragged(Tensor values, BufferRef splits, int64_t rows) {
  Column out = dense(values.dtype(), values.dims().without_front(), rows, values.buffer(),
                     values.mutable_data());
  out.kind_ = Kind::ragged;
  out.splits_ = reinterpret_cast<const int64_t*>(splits.data());
  out.splits_buffer_ = std::move(splits);
  return out;
}

Column Column::variable(DType dtype, std::vector<Tensor> rows) {
  Column out;
  out.kind_ = Kind::variable;
  out.dtype_ = dtype;
  out.rows_ = static_cast<int64_t>(rows.size());
  out.variable_ = std::make_shared<const std::vector<Tensor>>(std::move(rows));
  return out;
}

Column Column::object(std::shared_ptr<const ObjectRows> objects) {
  Column out;
  out.kind_ = Kind::object;
  out.dtype_ = DType::bytes;
  out.rows_ = objects->rows();
  out.objects_ = std::move(objects);
  return out;
}

Dims Column::dims_of(int64_t i) const {
  switch (kind_) {
    case Kind::dense:
    case Kind::constant: return row_dims_;
    case Kind::ragged: return row_dims_.with_front(splits_[i + 1] - splits_[i]);
    case Kind::variable: return (*variable_)[static_cast<size_t>(first_ + i)].dims();
    case Kind::object: break;
  }
  return {};
}

const std::byte* Column::row_data(int64_t i) const {
  switch (kind_) {
    case Kind::dense: return data_ + i * row_bytes();
    case Kind::constant: return data_;
    case Kind::ragged: return data_ + splits_[i] * row_bytes();
    case Kind::variable: return (*variable_)[static_cast<size_t>(first_ + i)].data();
    case Kind::object: break;
  }
  return nullptr;
}

Tensor Column::row(int64_t i) const {
  PENSTOCK_DCHECK(i >= 0 && i < rows_);
  if (kind_ == Kind::object) return Tensor(objects_->row(first_ + i));
  if (kind_ == Kind::variable) return (*variable_)[static_cast<size_t>(first_ + i)];
  return {dtype_, dims_of(i), buffer_, const_cast<std::byte*>(row_data(i))};
}

Column Column::slice(int64_t begin, int64_t rows) const {
  PENSTOCK_DCHECK(begin >= 0 && rows >= 0 && begin + rows <= rows_);
  Column out = *this;
  out.rows_ = rows;
  if (kind_ == Kind::dense) out.data_ += begin * row_bytes();
  if (kind_ == Kind::ragged) out.splits_ += begin;
  out.first_ += begin;
  return out;
}

Column Column::gather(std::span<const int32_t> indices) const {
  const auto n = static_cast<int64_t>(indices.size());
  switch (kind_) {
    case Kind::dense: {
      Column out = dense(dtype_, row_dims_, n);
      if (dtype_ == DType::bytes) out.buffer_.keep_all_of(buffer_), out.buffer_.keep(buffer_);
      gather_rows(data_, row_bytes(), indices, out.data_);
      return out;
    }
    case Kind::constant: {
      Column out = *this;
      out.rows_ = n;
      return out;
    }
    case Kind::ragged:
    case Kind::variable: {
      std::vector<Tensor> rows;
      rows.reserve(indices.size());
      for (const int32_t i : indices) rows.push_back(row(i));
      return variable(dtype_, std::move(rows));
    }
    case Kind::object: break;
  }
  std::vector<ObjectPtr> rows;
  for (const int32_t i : indices) rows.push_back(objects_->row(first_ + i));
  return object_column(std::move(rows));
}

Column Column::expanded() const {
  if (kind_ != Kind::constant) return *this;
  Column out = dense(dtype_, row_dims_, rows_);
  if (dtype_ == DType::bytes) out.buffer_.keep(buffer_);
  for (int64_t i = 0; i < rows_ && row_bytes() > 0; ++i) {
    std::memcpy(out.data_ + i * row_bytes(), data_, static_cast<size_t>(row_bytes()));
  }
  return out;
}

Column Column::grouped(int64_t n) const {
  PENSTOCK_CHECK(kind_ == Kind::dense && rows_ % n == 0);
  Column out = *this;
  out.rows_ = rows_ / n;
  out.row_dims_ = row_dims_.with_front(n);
  return out;
}

int64_t Column::payload_bytes() const {
  if (rows_ == 0) return 0;
  switch (kind_) {
    case Kind::object: return 0;
    case Kind::constant: return row(0).payload_bytes();
    case Kind::dense: return entries_bytes(data_, dtype_, rows_ * row_dims_.entries());
    case Kind::ragged:
      return entries_bytes(row_data(0), dtype_,
                           (splits_[rows_] - splits_[0]) * row_dims_.entries());
    case Kind::variable: break;
  }
  int64_t bytes = 0;
  const auto* rows = variable_->data() + first_;
  for (int64_t i = 0; i < rows_; ++i) bytes += rows[i].payload_bytes();
  return bytes;
}

Column object_column(std::vector<ObjectPtr> rows) {
  return Column::object(std::make_shared<GatheredObjects>(std::move(rows)));
}

void ColumnBuilder::append(const Column& column) {
  if (column.rows() == 0) return;
  rows_ += column.rows();
  if (!pieces_.empty()) {
    Column& last = pieces_.back();
    const bool adjacent = last.kind_ == Column::Kind::dense &&
                          column.kind_ == Column::Kind::dense && last.buffer_ == column.buffer_ &&
                          last.row_dims_ == column.row_dims_ &&
                          last.data_ + last.rows_ * last.row_bytes() == column.data_;
    if (adjacent) {
      last.rows_ += column.rows_;
      return;
    }
  }
  pieces_.push_back(column);
}

void ColumnBuilder::clear() {
  pieces_.clear();
  rows_ = 0;
}

Column ColumnBuilder::take(int64_t rows) {
  PENSTOCK_CHECK(rows <= rows_);
  rows_ -= rows;
  if (!pieces_.empty() && pieces_[0].rows() == rows) {
    Column out = std::move(pieces_[0]);
    pieces_.erase(pieces_.begin());
    return out;
  }
  RecycledVector<Column> out;
  size_t used = 0;
  while (rows > 0) {
    Column& piece = pieces_[used];
    if (piece.rows() <= rows) {
      rows -= piece.rows();
      out.push_back(std::move(piece));
      ++used;
    } else {
      out.push_back(piece.slice(0, rows));
      piece = piece.slice(rows, piece.rows() - rows);
      rows = 0;
    }
  }
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(used));
  return join(std::move(out));  // may throw: the rows are already gone
}

Column ColumnBuilder::join(RecycledVector<Column> pieces) {
  if (pieces.size() == 1) return std::move(pieces[0]);
  int64_t rows = 0;
  bool uniform = true, objects = !pieces.empty();
  for (const Column& p : pieces) {
    rows += p.rows();
    objects &= p.kind() == Column::Kind::object;
    uniform &= (p.kind() == Column::Kind::dense || p.kind() == Column::Kind::constant) &&
               p.row_dims() == pieces[0].row_dims();
  }
  if (objects) {
    std::vector<ObjectPtr> all;
    for (const Column& p : pieces) {
      for (int64_t i = 0; i < p.rows(); ++i) all.push_back(p.row(i).object());
    }
    return object_column(std::move(all));
  }
  if (!uniform || pieces.empty()) {
    std::vector<Tensor> all;
    all.reserve(static_cast<size_t>(rows));
    for (const Column& p : pieces) {
      for (int64_t i = 0; i < p.rows(); ++i) all.push_back(p.row(i));
    }
    const auto tensors = std::ranges::find_if(  // pieces without values are object columns
        pieces, [](const Column& p) { return p.kind() != Column::Kind::object; });
    return Column::variable(tensors == pieces.end() ? DType::int64 : tensors->dtype(),
                            std::move(all));
  }
  Column out = Column::dense(pieces[0].dtype(), pieces[0].row_dims(), rows);
  std::byte* to = out.mutable_data();
  for (const Column& p : pieces) {
    const Column piece = p.expanded();
    if (out.dtype() == DType::bytes) out.mutable_buffer().keep(piece.buffer());
    const auto bytes = static_cast<size_t>(piece.rows() * piece.row_bytes());
    if (bytes > 0) std::memcpy(to, piece.data(), bytes);
    to += bytes;
  }
  return out;
}

}  // namespace penstock
