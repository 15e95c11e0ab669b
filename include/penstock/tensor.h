// What elements are made of: arrays of numbers or strings, with a type and a shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/error.h"
#include "penstock/spec.h"

namespace penstock {

// The Type whose entries are T's.
template <typename T>
inline constexpr bool is_entry = false;
template <typename T>
struct TypeOf;
#define PENSTOCK_ENTRY(T, NAME)               \
  template <>                                 \
  inline constexpr bool is_entry<T> = true;   \
  template <>                                 \
  struct TypeOf<T> {                          \
    static constexpr Type value = Type::NAME; \
  };
PENSTOCK_ENTRY(bool, boolean)
PENSTOCK_ENTRY(uint8_t, uint8)
PENSTOCK_ENTRY(uint16_t, uint16)
PENSTOCK_ENTRY(uint32_t, uint32)
PENSTOCK_ENTRY(uint64_t, uint64)
PENSTOCK_ENTRY(int8_t, int8)
PENSTOCK_ENTRY(int16_t, int16)
PENSTOCK_ENTRY(int32_t, int32)
PENSTOCK_ENTRY(int64_t, int64)
PENSTOCK_ENTRY(float, float32)
PENSTOCK_ENTRY(double, float64)
#undef PENSTOCK_ENTRY
template <typename T>
concept ArrayEntry = is_entry<T>;

// Keeps the memory of entries alive; copies share it.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(const SharedBytes& other);
  SharedBytes& operator=(SharedBytes other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedBytes();
  void swap(SharedBytes& other) noexcept { std::swap(buffer_, other.buffer_); }

 private:
  friend struct ArrayAccess;
  void* buffer_ = nullptr;  // a reference to a buffer (data/buffer.h)
};

// A tensor: entries in row-major order. Copies share the entries and keep them alive; nobody may
// write to them. All functions are thread-safe.
class Array {
 public:
  Array() = default;  // int64[0]
  Array(const Array&) = default;
  Array& operator=(const Array&) = default;
  // Leaves an array without entries.
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() = default;

  // Copies. `shape` {} with one value is a scalar; throws INVALID_ARGUMENT when the sizes differ.
  template <ArrayEntry T>
  static Array scalar(T value) {
    return make(TypeOf<T>::value, {}, &value, 1);
  }
  template <ArrayEntry T>
  static Array of(std::span<const T> values, std::vector<int64_t> shape) {
    return make(TypeOf<T>::value, std::move(shape), values.data(), values.size());
  }
  // Rank 1.
  template <ArrayEntry T>
    requires(!std::is_same_v<T, bool>)
  static Array of(const std::vector<T>& values) {
    return of<T>(std::span<const T>(values), {static_cast<int64_t>(values.size())});
  }
  static Array text(std::string_view value);
  static Array texts(std::span<const std::string> values);  // rank 1
  static Array texts(std::span<const std::string> values, std::vector<int64_t> shape);

  Type type() const { return type_; }
  // Sizes of the axes; valid as long as this array.
  std::span<const int64_t> shape() const { return {sizes_.data(), rank_}; }
  int64_t entries() const { return entries_; }
  // The entries; for bytes use text() and texts().
  const std::byte* data() const { return data_; }
  // The entries; throws INVALID_ARGUMENT unless the type is T's. Valid as long as a copy of this
  // array lives.
  template <ArrayEntry T>
  std::span<const T> as() const {
    check_type(TypeOf<T>::value);
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(entries_)};
  }
  // The one entry; throws unless there is exactly one of that type.
  template <ArrayEntry T>
  T value() const {
    check_single();
    return as<T>()[0];
  }
  std::string_view text() const;                // one string
  std::vector<std::string_view> texts() const;  // all entries of type bytes
  // Same type, shape and entries; NaN equals NaN.
  bool same(const Array& other) const;

 private:
  friend struct ArrayAccess;
  static Array make(Type type, std::vector<int64_t> shape, const void* values, size_t count);
  void check_type(Type wanted) const;
  void check_single() const;

  void swap(Array& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(rank_, other.rank_);
    sizes_.swap(other.sizes_);
    std::swap(entries_, other.entries_);
    std::swap(data_, other.data_);
    owner_.swap(other.owner_);
  }

  static constexpr size_t kMostRank = 8;
  Type type_ = Type::int64;
  uint32_t rank_ = 1;
  std::array<int64_t, kMostRank> sizes_{};
  int64_t entries_ = 0;
  const std::byte* data_ = nullptr;
  SharedBytes owner_;
};

struct ElementRows;  // a block of elements
struct ElementNode;  // a place in the structure of an element

// A ragged tensor: item i of axis k is [splits[k][i], splits[k][i + 1]) of axis k + 1, and the last
// splits cut `values`. Splits are int64 vectors that start with 0 and ascend, outermost first.
struct RaggedArray {
  std::vector<Array> splits;
  Array values;
};

// A sparse tensor: entry i is at indices[i].
struct SparseArray {
  Array indices;  // int64 [n, rank]
  Array values;   // [n]
  Array shape;    // int64 [rank]
};

// One element of a dataset, or a part of one: a tensor, a tuple, a dict. A light handle that keeps
// its data alive: it may outlive the iterator and the dataset. All functions are thread-safe.
class Element {
 public:
  using Kind = ElementSpec::Kind;

  Element() = default;  // none
  Element(const Element&) = default;
  Element& operator=(const Element&) = default;
  // Leaves none.
  Element(Element&& other) noexcept
      : rows_(std::move(other.rows_)),
        row_(other.row_),
        node_(std::exchange(other.node_, nullptr)) {}
  Element& operator=(Element&& other) noexcept {
    rows_.swap(other.rows_);
    std::swap(row_, other.row_);
    std::swap(node_, other.node_);
    return *this;
  }
  ~Element() = default;
  Kind kind() const;
  size_t size() const;  // of a tuple or dict
  std::vector<std::string> keys() const;
  // A part; throws NOT_FOUND or OUT_OF_RANGE.
  Element operator[](size_t i) const;
  Element operator[](int i) const { return (*this)[static_cast<size_t>(i)]; }
  Element operator[](std::string_view key) const;
  Element operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  // False for an optional value that is missing; true for all else.
  bool has_value() const;
  // Throws unless it is a tensor, or an optional value that is there.
  Array array() const;
  // Throw unless it is a ragged or a sparse tensor. The arrays share the element's bytes.
  RaggedArray ragged() const;
  SparseArray sparse() const;
  // All arrays in it, in reading order, without optional values that are missing and nested
  // datasets. A ragged tensor has its splits, then its values; a sparse one has its indices, values
  // and shape.
  std::vector<Array> arrays() const;
  template <ArrayEntry T>
  std::span<const T> as() const {  // valid as long as a copy of this element lives
    return array().template as<T>();
  }
  template <ArrayEntry T>
  T value() const {
    return array().template value<T>();
  }
  std::string text() const { return std::string(array().text()); }
  // Same structure and tensors. Nested datasets are never the same.
  bool same(const Element& other) const;
  ElementSpec spec() const;

 private:
  friend struct ElementAccess;
  void check_kind(Kind wanted, const char* what) const;
  std::shared_ptr<const ElementRows> rows_;
  int64_t row_ = 0;
  const ElementNode* node_ = nullptr;
};

}  // namespace penstock
