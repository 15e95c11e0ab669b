// format: a text with values put in, large tensors shortened.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "data/charged.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

// As few digits as read back the same, of two tries.
template <typename T>
std::string short_float(T value, int few, int enough) {
  if (std::isnan(value)) return "nan";
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*g", few, static_cast<double>(value));
  if (static_cast<T>(std::strtod(text.data(), nullptr)) != value)
    std::snprintf(text.data(), text.size(), "%.*g", enough, static_cast<double>(value));
  return text.data();
}

ChargedString entry_text(const Tensor& t, int64_t i) {
  return visit_dtype(t.dtype(), [&]<typename T>(TypeTag<T>) -> ChargedString {
    const T& v = t.entry<T>(i);
    if constexpr (std::is_same_v<T, BytesView>) {
      ChargedString out;
      append_quoted(v.view(), &out);
      return out;
    } else if constexpr (std::is_same_v<T, bool>) {
      return v ? "1" : "0";
    } else if constexpr (std::is_integral_v<T>) {
      return ChargedString(std::to_string(v));
    } else if constexpr (std::is_same_v<T, double>) {
      return ChargedString(short_float(v, 15, 17));
    } else if constexpr (std::is_same_v<T, float>) {
      return ChargedString(short_float(v, 6, 9));
    } else {
      return ChargedString(short_float(to_float(v), 6, 9));
    }
  });
}

// Items `end` at either end of each axis; all when end is negative.
void append_axis(const Tensor& t, int axis, int64_t index, int64_t end, ChargedString* out) {
  const int rank = t.dims().rank();
  if (axis == rank) return void(*out += entry_text(t, index));
  auto space = [&] {
    if (axis == rank - 1) return void(*out += ' ');
    out->append(static_cast<size_t>(rank - 1 - axis), '\n');
    out->append(static_cast<size_t>(axis) + 1, ' ');
  };
  int64_t step = 1;
  for (int i = axis + 1; i < rank; ++i) step *= t.dims()[i];
  const int64_t n = t.dims()[axis];
  const bool all = end < 0 || n <= 2 * end;
  *out += '[';
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) space();
    if (!all && i == end) {
      *out += "...";
      i = n - end - 1;
      continue;
    }
    append_axis(t, axis + 1, index + i * step, end, out);
  }
  *out += ']';
}

// The template's pieces between the places.
std::vector<std::string> pieces_of(const Attrs& attrs) {
  const std::string text = attrs["template"].as_string();
  const std::string place = attrs["placeholder"].as_string();
  std::vector<std::string> out;  // bounded: written in the pipeline
  size_t at = 0;
  for (size_t found; !place.empty() && (found = text.find(place, at)) != std::string::npos;
       at = found + place.size()) {
    out.push_back(text.substr(at, found - at));
  }
  out.push_back(text.substr(at));
  return out;
}

Spec infer_format(const InferContext& context) {
  if (context.attrs["placeholder"].as_string().empty())
    throw TypeError{-1, "placeholder", "must not be empty"};
  const size_t places = pieces_of(context.attrs).size() - 1;
  if (places != context.inputs.size()) {
    throw TypeError{-1, "template",
                    "has " + std::to_string(places) + " places for " +
                        std::to_string(context.inputs.size()) + " values"};
  }
  for (int i = 0; i < static_cast<int>(context.inputs.size()); ++i) context.tensor(i);
  return Spec::tensor(DType::bytes, {});
}

void format_row(const RowCall& call) {
  const std::vector<std::string> pieces = pieces_of(call.attrs);
  ChargedString out(pieces[0]);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    append_axis(call.inputs[i], 0, 0, call.attrs["summarize"].as_int(), &out);
    out += pieces[i + 1];
  }
  call.outputs[0].set(Tensor::of_bytes(out));
}

}  // namespace

void add_format_op(OpRegistry* registry) {
  OpDef op;
  op.name = "format";
  op.params = {required("template", Param::Kind::text), required("values", Param::Kind::tensors),
               option("placeholder", Param::Kind::text, Attr::text("{}")),
               option("summarize", Param::Kind::integer, Attr::integer(3))};
  op.doc =
      "the template with each placeholder replaced by a value; of axes longer than twice summarize "
      "(-1: none) only the ends";
  op.infer = infer_format;
  op.row = format_row;
  op.cost_ns = 500;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace penstock
