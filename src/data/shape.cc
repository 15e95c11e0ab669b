#include "data/shape.h"

#include <algorithm>

#include "base/error.h"
#include "data/checked_product.h"

namespace penstock {
namespace {

std::string join_sizes(std::span<const int64_t> sizes) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i) out += ", ";
    out += sizes[i] < 0 ? "?" : std::to_string(sizes[i]);
  }
  return out + "]";
}

int checked_rank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxRank))
    throw Error(Code::invalid_argument, "shape: rank above 8");
  return static_cast<int>(rank);
}

// Products of a shape's sizes fit in an int64, as do those of any of its axes: views and strides
// need no checks of their own.
void check_products(std::span<const int64_t> sizes) {
  if (!are_shape_sizes(sizes))
    throw Error(Code::invalid_argument, "shape: too many entries: " + join_sizes(sizes));
}

}  // namespace

Dims::Dims(std::span<const int64_t> sizes) : rank_(checked_rank(sizes.size())) {
  std::ranges::copy(sizes, sizes_.begin());
  check_products(sizes);
}

void Dims::push_back(int64_t size) {
  rank_ = checked_rank(static_cast<size_t>(rank_) + 1);
  sizes_[static_cast<size_t>(rank_ - 1)] = size;
  check_products(sizes());
}

Dims Dims::with_front(int64_t size) const {
  Dims out;
  out.rank_ = checked_rank(static_cast<size_t>(rank_) + 1);
  out.sizes_[0] = size;
  std::ranges::copy(sizes(), out.sizes_.begin() + 1);
  check_products(out.sizes());
  return out;
}

// The full shape was checked, so this one needs no check.
Dims Dims::without_front() const {
  Dims out;
  out.rank_ = rank_ - 1;
  std::ranges::copy(sizes().subspan(1), out.sizes_.begin());
  return out;
}

bool Dims::operator==(const Dims& other) const {
  return std::ranges::equal(sizes(), other.sizes());
}

std::string Dims::text() const { return join_sizes(sizes()); }

Shape Shape::unknown_rank() {
  Shape out;
  out.has_rank_ = false;
  return out;
}

bool Shape::is_static() const {
  return has_rank_ && std::ranges::none_of(sizes_, [](int64_t s) { return s < 0; });
}

Dims Shape::dims() const {
  PENSTOCK_CHECK(is_static());
  return Dims(std::span<const int64_t>(sizes_));
}

int64_t Shape::entries() const { return is_static() ? checked_product(sizes_) : -1; }

Shape Shape::with_front(int64_t size) const {
  Shape out = *this;
  if (has_rank_) out.sizes_.insert(out.sizes_.begin(), size);
  return out;
}

Shape Shape::without_front() const {
  Shape out = *this;
  if (has_rank_) out.sizes_.erase(out.sizes_.begin());
  return out;
}

bool Shape::admits(const Dims& dims) const {
  if (!has_rank_) return true;
  if (rank() != dims.rank()) return false;
  for (int i = 0; i < dims.rank(); ++i) {
    if ((*this)[i] >= 0 && (*this)[i] != dims[i]) return false;
  }
  return true;
}

Shape Shape::join(const Shape& a, const Shape& b) {
  if (!a.has_rank_ || !b.has_rank_ || a.rank() != b.rank()) return unknown_rank();
  Shape out = a;
  for (size_t i = 0; i < out.sizes_.size(); ++i) {
    if (out.sizes_[i] != b.sizes_[i]) out.sizes_[i] = kUnknown;
  }
  return out;
}

std::string Shape::text() const { return has_rank_ ? join_sizes(sizes_) : "[...]"; }

}  // namespace penstock
