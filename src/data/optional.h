// Values that may be missing.
//
// A Tensor holds it as an Object, like ragged and sparse tensors: columns cut and gather it without
// knowledge of its contents.
#pragma once

#include <optional>
#include <vector>

#include "data/column.h"
#include "data/spec.h"

namespace penstock {

// A dense tensor of a dtype and a shape, or nothing.
class OptionalTensor final : public Object {
 public:
  OptionalTensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {}
  OptionalTensor(Shape shape, Tensor value)
      : dtype_(value.dtype()), shape_(std::move(shape)), value_(std::move(value)) {}

  bool has_value() const { return value_.has_value(); }
  const Tensor& value() const { return *value_; }  // REQUIRES has_value()
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

 private:
  DType dtype_;
  Shape shape_;  // static shape of the value
  std::optional<Tensor> value_;
};

Tensor make_optional(Tensor value);
Tensor make_missing(DType dtype, Shape shape);
// Returns null if the tensor is not optional.
const OptionalTensor* as_optional(const Tensor& tensor);

// Returns the leaf of a value of this dtype and shape.
LeafSpec optional_leaf(DType dtype, Shape shape);

// Returns a column of row i of `values`, or of nothing if present[i] is 0. Copies no value.
Column optional_column(Column values, Shape shape, std::vector<uint8_t> present);

}  // namespace penstock
