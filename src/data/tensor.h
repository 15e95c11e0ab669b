// One tensor, sharing its bytes: a constant, a row of a column, an element that the user holds.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "data/buffer.h"
#include "data/dtype.h"
#include "data/shape.h"

namespace penstock {

// A value that is not a tensor: a nested dataset, a handle. Immutable, shared between threads.
class Object {
 public:
  virtual ~Object() = default;
};
using ObjectPtr = std::shared_ptr<const Object>;

// Returns the bytes of `count` entries, and of the characters of strings among them.
int64_t entries_bytes(const std::byte* data, DType dtype, int64_t count);

// Entries in row-major order at data(). Copies share them; a shared tensor must not be written. A
// tensor that holds an object has dtype bytes, rank 0 and no data.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Dims dims, BufferRef buffer, std::byte* data)
      : dtype_(dtype), dims_(dims), data_(data), buffer_(std::move(buffer)) {}
  explicit Tensor(ObjectPtr object) : dtype_(DType::bytes), object_(std::move(object)) {}

  // Returns uninitialised entries from the current pool.
  static Tensor make(DType dtype, Dims dims);
  template <typename T>
  static Tensor scalar(T value) {
    Tensor out = make(DTypeOf<T>::value, {});
    *out.mutable_entries<T>() = value;
    return out;
  }
  static Tensor of_bytes(std::string_view value);
  template <typename T>
  static Tensor vector(std::span<const T> values) {
    Tensor out = make(DTypeOf<T>::value, {static_cast<int64_t>(values.size())});
    if (!values.empty()) std::memcpy(out.data_, values.data(), values.size_bytes());
    return out;
  }
  static Tensor of_strings(std::span<const std::string_view> values);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t entries_count() const { return dims_.entries(); }
  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return data_; }
  int64_t data_bytes() const { return dims_.entries() * dtype_size(dtype_); }
  // Returns data_bytes plus the bytes of string entries.
  int64_t payload_bytes() const;
  const BufferRef& buffer() const { return buffer_; }
  BufferRef& mutable_buffer() { return buffer_; }
  const ObjectPtr& object() const { return object_; }

  template <typename T>
  const T* entries() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_entries() {
    return reinterpret_cast<T*>(data_);
  }
  template <typename T>
  const T& entry(int64_t i = 0) const {
    return entries<T>()[i];
  }

  // Returns the same entries with other dims. REQUIRES the same number of entries.
  Tensor reshaped(const Dims& dims) const;
  // Returns item i along axis 0.
  Tensor item(int64_t i) const;
  // Returns the entries in a buffer of their own (strings too), so that no larger buffer stays
  // alive.
  Tensor copy() const;
  // Returns whether dtype, dims and entries are equal; NaN equals NaN.
  bool same(const Tensor& other) const;

 private:
  DType dtype_ = DType::int64;
  Dims dims_{0};
  std::byte* data_ = nullptr;
  BufferRef buffer_;
  ObjectPtr object_;
};

// Returns an entry of any integer or float tensor, converted; throws for other dtypes.
int64_t integer_at(const Tensor& tensor, int64_t i = 0);
double number_at(const Tensor& tensor, int64_t i = 0);
std::string_view bytes_at(const Tensor& tensor, int64_t i = 0);

}  // namespace penstock
