// decode_raw: the bytes of strings as numbers.

#include <algorithm>
#include <cstring>

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/parse/parse_family.h"

namespace penstock {
namespace {

Spec infer_raw(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (dtype == DType::bytes)
    throw TypeError{-1, "dtype", "is bytes, expected a number dtype or bool"};
  int64_t entries = Shape::kUnknown;
  if (const Attr& fixed = context.attrs["fixed_length"]; !fixed.is_none()) {
    const int64_t length = fixed.is_tensor() ? fixed.as_int() : 0;
    if (length <= 0 || length % dtype_size(dtype) != 0) {
      throw TypeError{-1, "fixed_length",
                      "must be a positive multiple of " + std::to_string(dtype_size(dtype)) +
                          " bytes: " + std::to_string(length)};
    }
    entries = length / dtype_size(dtype);
  }
  if (!type.shape.has_rank()) return Spec::tensor(dtype, Shape::unknown_rank());
  std::vector<int64_t> sizes = type.shape.sizes();
  sizes.push_back(entries);
  return Spec::tensor(dtype, Shape(std::move(sizes)));
}

// The bytes that each string gives: all of them alike, or cut and filled up to a fixed length.
int64_t bytes_of(const RowCall& call, int64_t entry) {
  if (const Attr& fixed = call.attrs["fixed_length"]; !fixed.is_none()) return fixed.as_int();
  const Tensor& input = call.inputs[0];
  const int64_t bytes = input.entries_count() == 0 ? 0 : input.entry<BytesView>().size;
  if (bytes % entry != 0) {
    fail_row("decode_raw", std::to_string(bytes) + " bytes are no multiple of " +
                               std::to_string(entry) + ", the size of " +
                               std::string(dtype_name(call.outputs[0].dtype())));
  }
  for (int64_t i = 0; i < input.entries_count(); ++i) {
    if (const int64_t size = input.entry<BytesView>(i).size; size != bytes) {
      fail_row("decode_raw", "strings of different sizes: " + std::to_string(bytes) + " and " +
                                 std::to_string(size) + " bytes");
    }
  }
  return bytes;
}

void raw_row(const RowCall& call) {
  const Tensor& input = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  const int64_t entry = dtype_size(slot.dtype()), bytes = bytes_of(call, entry);
  Dims dims = input.dims();
  dims.push_back(bytes / entry);
  std::byte* const begin = slot.allocate(dims);
  std::byte* to = begin;
  for (int64_t i = 0; i < input.entries_count(); ++i, to += bytes) {
    const BytesView text = input.entry<BytesView>(i);
    const int64_t n = std::min(text.size, bytes);
    if (n > 0) std::memcpy(to, text.data, static_cast<size_t>(n));
    std::fill_n(to + n, bytes - n, std::byte{0});
  }
  if (slot.dtype() == DType::boolean) {
    for (std::byte* b = begin; b != to; ++b) *b = std::byte{*b != std::byte{0}};
  } else if (entry > 1 && !call.attrs["little_endian"].as_bool()) {
    for (std::byte* b = begin; b != to; b += entry) std::reverse(b, b + entry);
  }
}

}  // namespace

void add_decode_raw_op(OpRegistry* registry) {
  OpDef op;
  op.name = "decode_raw";
  op.params = {required("bytes", Param::Kind::tensor), required("dtype", Param::Kind::dtype),
               option("little_endian", Param::Kind::boolean, Attr::boolean(true)),
               option("fixed_length", Param::Kind::any, {})};
  op.doc =
      "the bytes of a string as numbers: [?]; cut or filled with zeros to fixed_length bytes where "
      "that is given";
  op.infer = infer_raw;
  op.row = raw_row;
  op.can_fail = true;
  op.cost_ns = 150;
  op.group = "parse";
  registry->add(std::move(op));
}

}  // namespace penstock
