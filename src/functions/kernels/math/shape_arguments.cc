#include "functions/kernels/math/shape_arguments.h"

#include <algorithm>
#include <cstring>

#include "data/charged.h"

namespace penstock {
namespace {

template <typename T>
void fill_array(std::byte* out, const std::byte* value, int64_t n) {
  T v;
  std::memcpy(&v, value, sizeof v);
  std::fill_n(reinterpret_cast<T*>(out), n, v);
}

}  // namespace

void fail_row(std::string_view op, const std::string& what) {
  throw Error(Code::invalid_argument, std::string(op) + ": " + what);
}

const LeafSpec& infer_integers(const InferContext& context, int i, int rank) {
  const LeafSpec& type = context.tensor(i);
  // `[]` has no dtype of its own.
  const bool empty = type.shape.is_static() && type.shape.entries() == 0;
  if (!is_integer(type.dtype) && !(empty && is_number(type.dtype))) {
    context.fail(i, "is " + type.text() + ", expected integers");
  }
  if (rank >= 0) context.check_rank(i, rank);
  return type;
}

Shape shape_from_input(const InferContext& context, int i) {
  const LeafSpec& type = infer_integers(context, i, 1);
  if (!type.shape.has_rank() || type.shape[0] == Shape::kUnknown) return Shape::unknown_rank();
  if (type.shape[0] > kMaxRank) {
    context.fail(i, "describes " + std::to_string(type.shape[0]) + " axes, at most " +
                        std::to_string(kMaxRank) + " are possible");
  }
  std::vector<int64_t> known = context.known_ints(i);  // bounded: axes
  if (known.empty()) known = context.inputs[static_cast<size_t>(i)].partial;
  if (known.empty()) return Shape::of_rank(static_cast<int>(type.shape[0]));
  for (int64_t& size : known) size = size < 0 ? Shape::kUnknown : size;
  return Shape(std::move(known));
}

ChargedVector<int64_t> read_ints(const Tensor& tensor) {
  ChargedVector<int64_t> out;
  for (int64_t i = 0; i < tensor.entries_count(); ++i) out.push_back(integer_at(tensor, i));
  return out;
}

Dims read_dims(std::string_view op, const Tensor& tensor, bool allow_unknown) {
  if (tensor.dims().rank() != 1)
    fail_row(op, "a shape must be a vector, got shape " + tensor.dims().text());
  if (tensor.entries_count() > kMaxRank) {
    fail_row(op, "at most " + std::to_string(kMaxRank) +
                     " axes are possible: " + std::to_string(tensor.entries_count()));
  }
  Dims out;
  for (int64_t i = 0; i < tensor.entries_count(); ++i) {
    const int64_t size = integer_at(tensor, i);
    if (size < 0 && !(allow_unknown && size == -1)) {
      fail_row(op, "a size must not be negative: " + std::to_string(size));
    }
    out.push_back(size);
  }
  return out;
}

std::vector<int64_t> attr_ints(const Attr& attr) {
  if (attr.is_tensor() && attr.tensor().dims().rank() == 0) return {attr.as_int()};
  return attr.as_ints();
}

std::vector<int64_t> infer_ints(const InferContext& context, std::string_view attr) {
  try {
    return attr_ints(context.attrs[attr]);
  } catch (const Error& e) {
    throw TypeError{-1, std::string(attr), e.message()};
  }
}

int infer_axis(const InferContext&, std::string_view attr, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  throw TypeError{-1, std::string(attr),
                  "is " + std::to_string(axis) + ", out of range for rank " + std::to_string(rank)};
}

int row_axis(std::string_view op, int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  fail_row(op,
           "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
}

void share_strings(BufferRef* keeper, const BufferRef& from, DType dtype) {
  if (dtype != DType::bytes) return;
  keeper->keep(from);
  keeper->keep_all_of(from);
}

void share_strings(OutputSlot* slot, const Tensor& from) {
  if (slot->dtype() != DType::bytes) return;
  slot->keep(from.buffer());
  slot->keep_all_of(from.buffer());
}

void fill_entries(std::byte* out, const std::byte* value, int64_t entry_bytes, int64_t n) {
  switch (entry_bytes) {
    case 1: return fill_array<uint8_t>(out, value, n);
    case 2: return fill_array<uint16_t>(out, value, n);
    case 4: return fill_array<uint32_t>(out, value, n);
    case 8: return fill_array<uint64_t>(out, value, n);
    default: return fill_array<BytesView>(out, value, n);
  }
}

void check_size(std::string_view op, const Dims& dims, DType dtype) {
  constexpr int64_t kMostBytes = int64_t{1} << 46;
  int64_t bytes = dtype_size(dtype);
  for (const int64_t size : dims.sizes()) {
    if (size == 0) return;
  }
  for (const int64_t size : dims.sizes()) {
    if (size > kMostBytes / bytes) {
      throw Error(Code::resource_exhausted,
                  std::string(op) + ": the result is too large: " + dims.text());
    }
    bytes *= size;
  }
}

}  // namespace penstock
