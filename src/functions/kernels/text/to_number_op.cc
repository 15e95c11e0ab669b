// to_number: the number that a text holds.

#include <algorithm>

#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/text/number_text.h"
#include "functions/kernels/text/parse_number.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

template <typename T>
bool read_entry(std::string_view text, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    return parse_float(text, out);
  } else {
    return parse_integer(text, out);
  }
}

// False at an entry that is no number, which `*bad` is set to.
bool parse_entries(const BytesView* in, int64_t n, DType dtype, std::byte* out, int64_t* bad) {
  return visit_number(dtype, [&]<typename T>(TypeTag<T>) {
    T* to = reinterpret_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) {
      if (read_entry(in[i].view(), &to[i])) continue;
      *bad = i;
      return false;
    }
    return true;
  });
}

Error not_a_number(const BytesView& text, DType dtype) {
  const std::string what = is_integer(dtype)
                               ? "not an integer of dtype " + std::string(dtype_name(dtype))
                               : "not a number";
  return Error(Code::invalid_argument, "to_number: " + what + ": " + quoted(text.view()));
}

Spec infer_to_number(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (type.dtype != DType::bytes) {
    context.fail(0, "is " + type.text() +
                        ", expected bytes; cast it: " + std::string(dtype_name(dtype)) + "(x)");
  }
  if (!is_number(dtype))
    throw TypeError{-1, "dtype", "is " + std::string(dtype_name(dtype)) + ", expected numbers"};
  return Spec::tensor(dtype, type.shape);
}

void to_number_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  OutputSlot& slot = call.outputs[0];
  const DType compute = compute_dtype(slot.dtype());
  const int64_t n = in.entries_count();
  std::byte* out = slot.allocate(in.dims());
  Tensor held;
  if (compute != slot.dtype()) held = Tensor::make(compute, in.dims());
  int64_t bad = 0;
  if (!parse_entries(in.entries<BytesView>(), n, compute,
                     compute == slot.dtype() ? out : held.mutable_data(), &bad)) {
    throw not_a_number(in.entry<BytesView>(bad), slot.dtype());
  }
  if (compute != slot.dtype()) convert_entries(compute, held.data(), slot.dtype(), out, n);
}

bool to_number_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  const DType dtype = call.output_dtypes[0];
  if (in.kind() != Column::Kind::dense || compute_dtype(dtype) != dtype) return false;
  const int64_t n = in.row_dims().entries(), bytes = n * dtype_size(dtype);
  Column out = Column::dense(dtype, in.row_dims(), call.rows);
  for (int64_t row = 0; row < call.rows; ++row) {
    const auto* texts = in.entries<BytesView>() + row * n;
    std::byte* to = out.mutable_data() + row * bytes;
    int64_t bad = 0;
    if (parse_entries(texts, n, dtype, to, &bad)) continue;
    std::fill_n(to, bytes, std::byte{0});
    call.errors->push_back({row, std::make_shared<const Error>(not_a_number(texts[bad], dtype))});
  }
  call.outputs[0] = std::move(out);
  return true;
}

}  // namespace

bool read_number(std::string_view text, DType dtype, std::byte* out) {
  const DType compute = compute_dtype(dtype);
  return visit_number(compute, [&]<typename T>(TypeTag<T>) {
    T value{};
    if (!read_entry(text, &value)) return false;
    convert_entries(compute, reinterpret_cast<const std::byte*>(&value), dtype, out, 1);
    return true;
  });
}

void add_to_number_op(OpRegistry* registry) {
  OpDef to_number;
  to_number.name = "to_number";
  to_number.params = {required("s", Param::Kind::tensor),
                      optional("dtype", Param::Kind::dtype, Attr::of(DType::float32))};
  to_number.doc =
      "the number that s holds; white space around it, hexadecimal floats, inf and nan are read";
  to_number.infer = infer_to_number;
  to_number.row = to_number_row;
  to_number.block = to_number_block;
  to_number.elementwise = true;
  to_number.can_fail = true;
  to_number.cost_ns = 80;
  to_number.group = "text";
  registry->add(std::move(to_number));
}

}  // namespace penstock
