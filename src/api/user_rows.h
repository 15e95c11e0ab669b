// Arrays and types of user code, as tensors, specs and columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/block.h"
#include "data/spec.h"
#include "penstock/extend.h"

namespace penstock {

// Throw INVALID_ARGUMENT for a type that no array can have.
Shape to_shape(const ArrayType& type);
DType to_checked_dtype(Type type);
Spec to_spec(const ElementType& element);

ArrayType to_array_type(DType dtype, const Shape& shape);
// Parts of nested structures in reading order.
ElementType to_element_type(const Spec& spec);

// Returns the arrays of a row as tensors. Throws INVALID_ARGUMENT if they are not as declared.
std::vector<Tensor> checked_row(const std::vector<Array>& row, std::span<const LeafSpec> declared);

// Rows of arrays that are collected into a block.
class UserRows {
 public:
  explicit UserRows(const Spec& spec) : leaves_(spec.leaves()), columns_(leaves_.size()) {}
  // Throws INVALID_ARGUMENT if the row is not as declared, and does not add it.
  void add(const std::vector<Array>& row);
  int64_t count() const { return count_; }
  // Moves the rows out. REQUIRES count() > 0.
  void finish(Block* out, const Origin& origin);

 private:
  const std::vector<LeafSpec> leaves_;
  std::vector<std::vector<Tensor>> columns_;
  int64_t count_ = 0;
};

}  // namespace penstock
