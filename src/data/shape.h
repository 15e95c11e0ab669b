// Shapes: concrete ones (Dims) and static ones, which may be partly unknown (Shape).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace penstock {

inline constexpr int kMaxRank = 8;

// A concrete shape, rank 0 to 8. Sizes are >= 0.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> sizes) : Dims(std::span(sizes.begin(), sizes.size())) {}
  explicit Dims(std::span<const int64_t> sizes);  // throws if the rank is above 8

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return sizes_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> sizes() const { return {sizes_.data(), static_cast<size_t>(rank_)}; }
  int64_t entries() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= sizes_[static_cast<size_t>(i)];
    return n;
  }
  void push_back(int64_t size);
  // [size, ...this]
  Dims with_front(int64_t size) const;
  Dims without_front() const;
  bool operator==(const Dims& other) const;
  std::string text() const;  // "[2, 3]"

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

// A static shape: unknown rank, or a rank with sizes, some of which may be unknown (-1).
class Shape {
 public:
  static constexpr int64_t kUnknown = -1;
  Shape() = default;  // rank 0
  Shape(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  explicit Shape(const Dims& dims) : sizes_(dims.sizes().begin(), dims.sizes().end()) {}
  static Shape unknown_rank();
  static Shape of_rank(int rank) {
    return Shape(std::vector<int64_t>(static_cast<size_t>(rank), kUnknown));
  }

  bool has_rank() const { return has_rank_; }
  int rank() const { return has_rank_ ? static_cast<int>(sizes_.size()) : -1; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  bool is_static() const;   // everything known
  Dims dims() const;        // REQUIRES is_static()
  int64_t entries() const;  // -1 when not static
  bool is_scalar() const { return has_rank_ && sizes_.empty(); }

  Shape with_front(int64_t size) const;  // unknown rank stays unknown
  Shape without_front() const;
  // Returns true if a tensor of `dims` may have this shape.
  bool admits(const Dims& dims) const;
  // Returns the most specific shape that covers both; unknown rank if the ranks differ.
  static Shape join(const Shape& a, const Shape& b);
  bool operator==(const Shape& other) const {
    return has_rank_ == other.has_rank_ && sizes_ == other.sizes_;
  }
  std::string text() const;  // "[?, 3]", "[...]" for unknown rank

 private:
  std::vector<int64_t> sizes_;
  bool has_rank_ = true;
};

}  // namespace penstock
