#include "api/user_rows.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "api/element.h"

namespace penstock {
namespace {

std::string text_of(DType dtype, const std::string& shape) {
  return std::string(dtype_name(dtype)) + shape;
}

Column to_column(DType dtype, std::vector<Tensor> rows) {
  const Dims dims = rows[0].dims();
  const auto count = static_cast<int64_t>(rows.size());
  const bool one_shape =
      std::ranges::all_of(rows, [&](const Tensor& t) { return t.dims() == dims; });
  if (dtype == DType::bytes && one_shape && dims.rank() == 0) {
    std::vector<std::string_view> views;
    for (const Tensor& t : rows) views.push_back(bytes_at(t));
    Tensor all = Tensor::of_strings(views);
    return Column::dense(dtype, dims, count, all.buffer(), all.mutable_data());
  }
  constexpr int64_t kSmall = 64 << 10;
  const int64_t bytes = rows[0].data_bytes();
  if (dtype == DType::bytes || !one_shape || bytes > kSmall)
    return Column::variable(dtype, std::move(rows));
  Column out = Column::dense(dtype, dims, count);
  for (size_t i = 0; i < rows.size() && bytes > 0; ++i) {
    std::memcpy(out.mutable_data() + i * static_cast<size_t>(bytes), rows[i].data(),
                static_cast<size_t>(bytes));
  }
  return out;
}

}  // namespace

Shape to_shape(const ArrayType& type) {
  if (!type.shape) return Shape::unknown_rank();
  if (type.shape->size() > static_cast<size_t>(kMaxRank)) {
    throw Error(Code::invalid_argument, "an array type has rank " +
                                            std::to_string(type.shape->size()) + ", at most " +
                                            std::to_string(kMaxRank) + " is possible");
  }
  for (const int64_t size : *type.shape) {
    if (size < -1)
      throw Error(Code::invalid_argument,
                  "a size of an array type must be -1 (unknown) or more: " + std::to_string(size));
  }
  return Shape(*type.shape);
}

DType to_checked_dtype(Type type) {
  const int number = static_cast<int>(type);
  if (number < kDTypeCount) return to_dtype(type);
  throw Error(Code::invalid_argument, "no Type has the number " + std::to_string(number));
}

ArrayType to_array_type(DType dtype, const Shape& shape) {
  ArrayType out;
  out.type = to_type(dtype);
  out.shape = shape.has_rank() ? std::optional(shape.sizes()) : std::nullopt;
  return out;
}

Spec to_spec(const ElementType& element) {
  std::vector<Spec> items;
  for (const ArrayType& part : element.parts)
    items.push_back(Spec::tensor(to_checked_dtype(part.type), to_shape(part)));
  if (!element.keys.empty()) {
    if (element.keys.size() != items.size()) {
      throw Error(Code::invalid_argument, "the element type has " + std::to_string(items.size()) +
                                              " parts and " + std::to_string(element.keys.size()) +
                                              " keys");
    }
    return Spec::dict(element.keys, std::move(items));
  }
  return items.size() == 1 ? items[0] : Spec::tuple(std::move(items));
}

ElementType to_element_type(const Spec& spec) {
  ElementType out;
  for (const LeafSpec& leaf : spec.leaves())
    out.parts.push_back(to_array_type(leaf.dtype, leaf.shape));
  if (spec.kind == Spec::Kind::dict && spec.keys.size() == out.parts.size()) out.keys = spec.keys;
  return out;
}

std::vector<Tensor> checked_row(const std::vector<Array>& row, std::span<const LeafSpec> declared) {
  if (row.size() != declared.size()) {
    throw Error(Code::invalid_argument, "gave " + std::to_string(row.size()) +
                                            " arrays, declared " + std::to_string(declared.size()));
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < row.size(); ++i) {
    Tensor t = ArrayAccess::tensor(row[i]);
    if (t.dtype() != declared[i].dtype || !declared[i].shape.admits(t.dims())) {
      throw Error(Code::invalid_argument, "array " + std::to_string(i) + " is " +
                                              text_of(t.dtype(), t.dims().text()) + ", declared " +
                                              declared[i].text());
    }
    out.push_back(std::move(t));
  }
  return out;
}

void UserRows::add(const std::vector<Array>& row) {
  std::vector<Tensor> tensors = checked_row(row, leaves_);
  for (size_t i = 0; i < tensors.size(); ++i) columns_[i].push_back(std::move(tensors[i]));
  ++count_;
}

void UserRows::finish(Block* out, const Origin& origin) {
  out->clear();
  out->rows = std::exchange(count_, 0);
  for (size_t i = 0; i < columns_.size(); ++i)
    out->columns.push_back(to_column(leaves_[i].dtype, std::exchange(columns_[i], {})));
  out->origin = origin;
}

}  // namespace penstock
