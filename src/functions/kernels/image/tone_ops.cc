// invert, posterize, solarize, solarize_add, equalize and autocontrast: each value on its own, by a
// table, as Pillow's ImageOps does them.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "functions/kernels/image/color_pixels.h"

namespace penstock {
namespace {

using Table = ByteTable;

template <class F>
Table make_table(F f) {
  Table table;
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = static_cast<uint8_t>(f(i));
  return table;
}

void apply_table(const RowCall& call, const Table& table) {
  const Tensor& image = call.inputs[0];
  auto* to = call.outputs[0].allocate_as<uint8_t>(image.dims());
  look_up(image.entries<uint8_t>(), image.entries_count(), table, to);
}

template <class F>
void change_reals(const RowCall& call, F f) {
  const Tensor& image = call.inputs[0];
  auto* to = call.outputs[0].allocate_as<float>(image.dims());
  const auto* from = image.entries<float>();
  for (int64_t i = 0, n = image.entries_count(); i < n; ++i) to[i] = f(from[i]);
}

bool is_bytes(const RowCall& call) { return call.inputs[0].dtype() == DType::uint8; }

void invert_row(const RowCall& call) {
  if (!is_bytes(call)) return change_reals(call, [](float value) { return 1 - value; });
  apply_table(call, make_table([](int value) { return 255 - value; }));
}

void solarize_row(const RowCall& call) {
  const double least = number_at(call.inputs[1]);
  if (!is_bytes(call)) {
    const auto real = static_cast<float>(least);
    return change_reals(call, [real](float value) { return value < real ? value : 1 - value; });
  }
  apply_table(call, make_table([least](int value) { return value < least ? value : 255 - value; }));
}

void solarize_add_row(const RowCall& call) {
  const double addition = number_at(call.inputs[1]), below = number_at(call.inputs[2]);
  apply_table(call, make_table([&](int value) {
                if (!(value < below)) return value;
                return static_cast<int>(std::clamp(value + addition, 0.0, 255.0));
              }));
}

void posterize_row(const RowCall& call) {
  const int64_t bits = integer_at(call.inputs[1]);
  if (bits < 0 || bits > 8) {
    throw Error(Code::invalid_argument, "posterize: bits must be 0 to 8: " + std::to_string(bits));
  }
  apply_table(call, make_table([bits](int value) { return value & ~((1 << (8 - bits)) - 1); }));
}

using Histogram = std::array<int64_t, 256>;

// A table for each channel of each image, made from its histogram.
template <class F>
void by_histogram(const char* op, const RowCall& call, F table_of) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in(op, image);
  const int64_t channels = images.size.channels;
  const int64_t pixels = images.size.height * images.size.width;
  auto* to = call.outputs[0].allocate_as<uint8_t>(image.dims());
  for (int64_t n = 0; n < images.count; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t first = n * images.size.elements() + c;
      const uint8_t* from = image.entries<uint8_t>() + first;
      Histogram counts{};
      for (int64_t i = 0; i < pixels; ++i) ++counts[from[i * channels]];
      const Table table = table_of(counts);
      for (int64_t i = 0; i < pixels; ++i) to[first + i * channels] = table[from[i * channels]];
    }
  }
}

void equalize_row(const RowCall& call) {
  by_histogram("equalize", call, [](const Histogram& counts) {
    int64_t total = 0, last = 0;
    for (const int64_t count : counts) {
      total += count;
      if (count > 0) last = count;
    }
    const int64_t step = (total - last) / 255;
    if (step == 0) return make_table([](int value) { return value; });
    int64_t below = step / 2;
    return make_table([&](int value) {
      const int64_t level = std::min<int64_t>(below / step, 255);
      below += counts[static_cast<size_t>(value)];
      return static_cast<int>(level);
    });
  });
}

void autocontrast_row(const RowCall& call) {
  by_histogram("autocontrast", call, [](const Histogram& counts) {
    int low = 0, high = 255;
    while (low < 255 && counts[static_cast<size_t>(low)] == 0) ++low;
    while (high > 0 && counts[static_cast<size_t>(high)] == 0) --high;
    if (high <= low) return make_table([](int value) { return value; });
    const double scale = 255.0 / (high - low), offset = -low * scale;
    return make_table(
        [&](int value) { return std::clamp(static_cast<int>(value * scale + offset), 0, 255); });
  });
}

Spec infer_bytes(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.dtype != DType::uint8) context.fail(0, "is " + image.text() + ", expected uint8");
  for (size_t i = 1; i < context.inputs.size(); ++i) check_number(context, static_cast<int>(i));
  return Spec::of(image);
}

Spec infer_levels(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (image.dtype != DType::uint8 && image.dtype != DType::float32) {
    context.fail(0, "is " + image.text() + ", expected uint8, or float32 in [0, 1]");
  }
  for (size_t i = 1; i < context.inputs.size(); ++i) check_number(context, static_cast<int>(i));
  return Spec::of(image);
}

Spec infer_bits(const InferContext& context) {
  if (!is_integer(context.tensor(1).dtype)) context.fail(1, "must be an integer");
  return infer_bytes(context);
}

}  // namespace

void add_tone_ops(OpRegistry* registry) {
  const auto tensor = [](const char* name) { return required(name, Param::Kind::tensor); };
  const Param image = tensor("image");
  registry->add(image_op("invert", {image}, "255 - image (uint8), 1 - image (float32).",
                         infer_levels, invert_row, 3e4));
  registry->add(image_op("solarize", {image, tensor("threshold")},
                         "The image with values of at least threshold inverted.", infer_levels,
                         solarize_row, 3e4));
  registry->add(image_op(
      "solarize_add",
      {image, tensor("addition"), optional("threshold", Param::Kind::tensor, Attr::integer(128))},
      "The uint8 image with addition added to values below threshold.", infer_bytes,
      solarize_add_row, 3e4));
  registry->add(image_op("posterize", {image, tensor("bits")},
                         "The uint8 image with only the highest bits of each value.", infer_bits,
                         posterize_row, 3e4));
  registry->add(image_op("equalize", {image},
                         "The uint8 image with each channel's values spread evenly.", infer_bytes,
                         equalize_row, 3e5));
  registry->add(image_op("autocontrast", {image},
                         "The uint8 image with each channel stretched to 0 to 255.", infer_bytes,
                         autocontrast_row, 3e5));
}

}  // namespace penstock
