#include "data/tensor.h"

#include "base/error.h"
#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {

Tensor Tensor::make(DType dtype, Dims dims) {
  BufferRef buffer = allocate_buffer(dims.entries() * dtype_size(dtype));
  std::byte* data = buffer.data();
  return {dtype, dims, std::move(buffer), data};
}

Tensor Tensor::of_bytes(std::string_view value) {
  const std::string_view values[] = {value};
  return of_strings(values).reshaped({});
}

// Views first, then the characters, in one buffer.
Tensor Tensor::of_strings(std::span<const std::string_view> values) {
  size_t characters = 0;
  for (const std::string_view v : values) characters += v.size();
  const size_t head = values.size() * sizeof(BytesView);
  BufferRef buffer = allocate_buffer(static_cast<int64_t>(head + characters));
  auto* views = reinterpret_cast<BytesView*>(buffer.data());
  char* at = reinterpret_cast<char*>(buffer.data()) + head;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) std::memcpy(at, values[i].data(), values[i].size());
    views[i] = {at, static_cast<int64_t>(values[i].size())};
    at += values[i].size();
  }
  std::byte* data = buffer.data();
  return {DType::bytes, Dims{static_cast<int64_t>(values.size())}, std::move(buffer), data};
}

int64_t entries_bytes(const std::byte* data, DType dtype, int64_t count) {
  int64_t bytes = count * dtype_size(dtype);
  if (dtype != DType::bytes) return bytes;
  const auto* views = reinterpret_cast<const BytesView*>(data);
  for (int64_t i = 0; i < count; ++i) bytes += views[i].size;
  return bytes;
}

int64_t Tensor::payload_bytes() const {
  return object_ ? 0 : entries_bytes(data_, dtype_, entries_count());
}

Tensor Tensor::reshaped(const Dims& dims) const {
  PENSTOCK_DCHECK(dims.entries() == dims_.entries());
  Tensor out = *this;
  out.dims_ = dims;
  return out;
}

Tensor Tensor::item(int64_t i) const {
  const Dims dims = dims_.without_front();
  return {dtype_, dims, buffer_, data_ + i * dims.entries() * dtype_size(dtype_)};
}

Tensor Tensor::copy() const {
  if (object_) return *this;
  if (dtype_ == DType::bytes) {
    std::vector<std::string_view> values;
    for (int64_t i = 0; i < entries_count(); ++i) values.push_back(entry<BytesView>(i).view());
    return of_strings(values).reshaped(dims_);
  }
  Tensor out = make(dtype_, dims_);
  if (data_bytes() > 0) std::memcpy(out.data_, data_, static_cast<size_t>(data_bytes()));
  return out;
}

namespace {

bool same_parts(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].same(b[i])) return false;
  }
  return true;
}

// Compares ragged, sparse and optional tensors by contents, other objects by identity.
bool same_object(const Tensor& a, const Tensor& b) {
  const RaggedTensor *r = as_ragged(a), *s = as_ragged(b);
  if (r && s) return r->values().same(s->values()) && same_parts(r->splits(), s->splits());
  const SparseTensor *x = as_sparse(a), *y = as_sparse(b);
  if (x && y) {
    return same_parts({x->indices(), x->values(), x->shape()},
                      {y->indices(), y->values(), y->shape()});
  }
  const OptionalTensor *v = as_optional(a), *w = as_optional(b);
  if (v && w) {
    return v->dtype() == w->dtype() && v->has_value() == w->has_value() &&
           (v->has_value() ? v->value().same(w->value()) : v->shape() == w->shape());
  }
  return a.object() == b.object();
}

}  // namespace

bool Tensor::same(const Tensor& other) const {
  if (object_ || other.object_) return same_object(*this, other);
  if (dtype_ != other.dtype_ || !(dims_ == other.dims_)) return false;
  return visit_dtype(dtype_, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < entries_count(); ++i) {
      if constexpr (std::is_same_v<T, BytesView>) {
        if (entry<T>(i).view() != other.entry<T>(i).view()) return false;
      } else if constexpr (std::is_floating_point_v<T>) {
        const T a = entry<T>(i), b = other.entry<T>(i);
        if (std::memcmp(&a, &b, sizeof a) != 0 && !(a != a && b != b)) return false;
      } else {
        if (std::memcmp(&entry<T>(i), &other.entry<T>(i), sizeof(T)) != 0) return false;
      }
    }
    return true;
  });
}

double number_at(const Tensor& tensor, int64_t i) {
  return visit_dtype(tensor.dtype(), [&]<typename T>(TypeTag<T>) -> double {
    if constexpr (std::is_same_v<T, BytesView>) {
      throw Error(Code::invalid_argument, "expected a number, got bytes");
    } else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      return static_cast<double>(to_float(tensor.entry<T>(i)));
    } else {
      return static_cast<double>(tensor.entry<T>(i));
    }
  });
}

int64_t integer_at(const Tensor& tensor, int64_t i) {
  return visit_dtype(tensor.dtype(), [&]<typename T>(TypeTag<T>) -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(tensor.entry<T>(i));
    } else {
      throw Error(Code::invalid_argument,
                  "expected an integer, got " + std::string(dtype_name(tensor.dtype())));
    }
  });
}

std::string_view bytes_at(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() != DType::bytes || tensor.object()) {
    throw Error(Code::invalid_argument,
                "expected bytes, got " + std::string(dtype_name(tensor.dtype())));
  }
  return tensor.entry<BytesView>(i).view();
}

}  // namespace penstock
