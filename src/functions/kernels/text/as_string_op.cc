// as_string: numbers as text.

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "data/charged.h"
#include "functions/kernels/math/promotion.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/c_locale.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

struct NumberFormat {
  std::string flags;  // bounded: written in the pipeline; of printf, with the width
  int64_t precision;  // -1: printf's 6
  char conversion;
  bool plain;  // all as by default: no printf

  explicit NumberFormat(const Attrs& attrs) : precision(attrs["precision"].as_int()) {
    const std::string fill = attrs["fill"].as_string();
    const int64_t width = attrs["width"].as_int();
    flags = fill + (width >= 0 ? std::to_string(width) : "");
    conversion = attrs["scientific"].as_bool() ? 'e' : attrs["shortest"].as_bool() ? 'g' : 'f';
    plain = flags.empty() && precision < 0 && conversion == 'f';
  }

  void append_float(double v, ChargedString* out) const {
    std::array<char, 400> text;
    if (plain) {
      if (std::isnan(v)) return void(*out += "nan");
      const auto end =
          std::to_chars(text.data(), text.data() + text.size(), v, std::chars_format::fixed, 6).ptr;
      out->append(text.data(), end);
      return;
    }
    const std::string dot = precision >= 0 ? "." + std::to_string(precision) : "";
    append_printf("%" + flags + dot + conversion, std::isnan(v) ? std::fabs(v) : v, out);
  }
  template <typename T>
  void append_integer(T v, ChargedString* out) const {
    if (plain) {
      std::array<char, 24> text;
      out->append(text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr);
    } else if constexpr (std::is_signed_v<T>) {
      append_printf("%" + flags + "lld", static_cast<long long>(v), out);
    } else {
      append_printf("%" + flags + "llu", static_cast<unsigned long long>(v), out);
    }
  }

 private:
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  template <typename T>
  static void append_printf(const std::string& format, T v, ChargedString* out) {
    const locale_t before = uselocale(c_locale());
    const int n = std::snprintf(nullptr, 0, format.c_str(), v);
    const size_t begin = out->size();
    out->resize(begin + static_cast<size_t>(n) + 1);
    std::snprintf(out->data() + begin, static_cast<size_t>(n) + 1, format.c_str(), v);
    out->pop_back();
    uselocale(before);
  }
#pragma GCC diagnostic pop
};

void append_entries(const NumberFormat& format, DType dtype, const std::byte* in, int64_t n,
                    StringWriter* writer) {
  visit_dtype(dtype, [&]<typename T>(TypeTag<T>) {
    const T* from = reinterpret_cast<const T*>(in);
    for (int64_t i = 0; i < n; ++i) {
      ChargedString* out = &writer->chars();
      if constexpr (std::is_same_v<T, bool>) {
        *out += from[i] ? "true" : "false";
      } else if constexpr (std::is_same_v<T, BytesView>) {
        *out += from[i].view();
      } else if constexpr (std::is_integral_v<T>) {
        format.append_integer(from[i], out);
      } else if constexpr (std::is_floating_point_v<T>) {
        format.append_float(static_cast<double>(from[i]), out);
      } else {
        format.append_float(static_cast<double>(to_float(from[i])), out);
      }
      writer->finish_entry();
    }
  });
}

Spec infer_as_string(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const std::string fill = context.attrs["fill"].as_string();
  if (fill.size() > 1 || std::string_view(" +-0#").find(fill) == std::string_view::npos) {
    throw TypeError{-1, "fill", "must be one of \" \", \"+\", \"-\", \"0\", \"#\""};
  }
  const int64_t precision = context.attrs["precision"].as_int(),
                width = context.attrs["width"].as_int();
  const bool scientific = context.attrs["scientific"].as_bool(),
             shortest = context.attrs["shortest"].as_bool();
  if (precision < -1 || precision > 1000)
    throw TypeError{-1, "precision", "must lie between -1 and 1000"};
  if (width < -1 || width > 1000) throw TypeError{-1, "width", "must lie between -1 and 1000"};
  if (scientific && shortest) throw TypeError{-1, "shortest", "excludes scientific"};
  if ((precision >= 0 || scientific || shortest) && !is_float(type.dtype)) {
    context.fail(0, "is " + type.text() + ": precision, scientific and shortest are for floats");
  }
  if (width >= 0 && !is_number(type.dtype))
    context.fail(0, "is " + type.text() + ": width is for numbers");
  return Spec::tensor(DType::bytes, type.shape);
}

void as_string_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  Tensor out = Tensor::make(DType::bytes, in.dims());
  StringWriter writer(in.entries_count());
  append_entries(*static_cast<const NumberFormat*>(call.state), in.dtype(), in.data(),
                 in.entries_count(), &writer);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

bool as_string_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  const int64_t n = call.rows * in.row_dims().entries();
  Column out = Column::dense(DType::bytes, in.row_dims(), call.rows);
  StringWriter writer(n);
  append_entries(*static_cast<const NumberFormat*>(call.state), in.dtype(), in.data(), n, &writer);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0] = std::move(out);
  return true;
}

}  // namespace

void add_as_string_op(OpRegistry* registry) {
  OpDef as_string;
  as_string.name = "as_string";
  as_string.params = {required("x", Param::Kind::tensor),
                      option("precision", Param::Kind::integer, Attr::integer(-1)),
                      option("scientific", Param::Kind::boolean, Attr::boolean(false)),
                      option("shortest", Param::Kind::boolean, Attr::boolean(false)),
                      option("width", Param::Kind::integer, Attr::integer(-1)),
                      option("fill", Param::Kind::text, Attr::text(""))};
  as_string.doc = "x as text: floats with six decimals (%f), integers, true and false; fill is a "
                  "flag of printf";
  as_string.infer = infer_as_string;
  as_string.row = as_string_row;
  as_string.block = as_string_block;
  as_string.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const NumberFormat>(attrs);
  };
  as_string.elementwise = true;
  as_string.cost_ns = 150;
  as_string.group = "text";
  registry->add(std::move(as_string));
}

}  // namespace penstock
