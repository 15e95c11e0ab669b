#include "data/shape.h"

#include <algorithm>

#include "base/error.h"

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

}  // namespace

Dims::Dims(std::span<const int64_t> sizes) {
  for (const int64_t size : sizes) push_back(size);
}

void Dims::push_back(int64_t size) {
  if (rank_ == kMaxRank) throw Error(Code::invalid_argument, "shape: rank above 8");
  sizes_[static_cast<size_t>(rank_++)] = size;
}

Dims Dims::with_front(int64_t size) const {
  Dims out{size};
  for (const int64_t s : sizes()) out.push_back(s);
  return out;
}

Dims Dims::without_front() const { return Dims(sizes().subspan(1)); }

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

int64_t Shape::entries() const { return is_static() ? dims().entries() : -1; }

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
