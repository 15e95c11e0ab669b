// One component of a block: `rows` tensors of one dtype, stored by column.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "data/tensor.h"

namespace penstock {

// Rows that are objects (nested datasets): an immutable sequence that can be cut and gathered
// without knowledge of the objects.
class ObjectRows {
 public:
  virtual ~ObjectRows() = default;
  virtual int64_t rows() const = 0;
  virtual ObjectPtr row(int64_t i) const = 0;
};

// A cheap handle: copies and slices share the rows. Shared rows must not be written.
//
// dense     all rows have shape row_dims, contiguous; with dtype bytes the entries are views into
//           buffers that the column's buffer keeps
// constant  one row, repeated
// ragged    row i is values[splits[i] .. splits[i+1]], each of shape row_dims: rows differ in their
//           first size only
// variable  each row a tensor of its own shape
// object    see ObjectRows
class Column {
 public:
  enum class Kind : uint8_t { dense, constant, ragged, variable, object };

  Column() = default;
  // Returns uninitialised rows from the current pool.
  static Column dense(DType dtype, const Dims& row_dims, int64_t rows);
  // Returns rows over existing bytes.
  static Column dense(DType dtype, const Dims& row_dims, int64_t rows, BufferRef buffer,
                      std::byte* data);
  static Column constant(Tensor value, int64_t rows);
  // values: [total, ...row_dims]; splits: rows + 1 ascending offsets, int64.
  static Column ragged(Tensor values, BufferRef splits, int64_t rows);
  static Column variable(DType dtype, std::vector<Tensor> rows);
  static Column object(std::shared_ptr<const ObjectRows> objects);

  Kind kind() const { return kind_; }
  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }
  // dense, constant: shape of a row; ragged: shape of a row without its first axis.
  const Dims& row_dims() const { return row_dims_; }
  int64_t row_bytes() const { return row_dims_.entries() * dtype_size(dtype_); }  // dense, constant
  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return data_; }
  const BufferRef& buffer() const { return buffer_; }
  BufferRef& mutable_buffer() { return buffer_; }
  template <typename T>
  const T* entries() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_entries() {
    return reinterpret_cast<T*>(data_);
  }
  const int64_t* splits() const { return splits_; }

  // Shape of row i; its tensor, which shares the bytes; the start of its entries (not for object).
  Dims dims_of(int64_t i) const;
  Tensor row(int64_t i) const;
  const std::byte* row_data(int64_t i) const;
  // Returns rows [begin, begin + rows).
  Column slice(int64_t begin, int64_t rows) const;
  Column gather(std::span<const int32_t> indices) const;
  // Returns constant columns as dense ones; all others unchanged.
  Column expanded() const;
  // Groups dense rows: [rows / n] rows of shape [n, ...row_dims]. REQUIRES dense.
  Column grouped(int64_t n) const;
  // Returns the bytes of the rows, strings included; a constant row counts once.
  int64_t payload_bytes() const;

 private:
  friend class ColumnBuilder;
  Kind kind_ = Kind::dense;
  DType dtype_ = DType::int64;
  int64_t rows_ = 0;
  Dims row_dims_;
  std::byte* data_ = nullptr;
  BufferRef buffer_;
  const int64_t* splits_ = nullptr;
  BufferRef splits_buffer_;
  int64_t first_ = 0;  // variable, object: start of this slice
  std::shared_ptr<const std::vector<Tensor>> variable_;
  std::shared_ptr<const ObjectRows> objects_;
};

// Joins pieces of columns into one. The result is dense if all pieces are dense with one row shape;
// there is no copy if they are adjacent in one buffer.
class ColumnBuilder {
 public:
  void append(const Column& column);
  int64_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  // Returns true if the rows so far and to come can be one dense column of a single shape.
  const RecycledVector<Column>& pieces() const { return pieces_; }
  // Returns the first `rows` rows; the others stay.
  Column take(int64_t rows);
  void clear();

 private:
  static Column join(RecycledVector<Column> pieces);
  RecycledVector<Column> pieces_;
  int64_t rows_ = 0;
};

}  // namespace penstock
