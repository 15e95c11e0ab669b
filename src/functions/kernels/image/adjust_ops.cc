// Brightness, contrast, saturation, hue and gamma by given amounts and by random ones. Integers are
// worked on as floats in [0, 1] and saturate.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/color_pixels.h"

namespace penstock {
namespace {

void brighten(const char* op, const RowCall& call, float delta) {
  change_values(op, call, [delta](float* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) values[i] += delta;
  });
}

// Away from the mean of each channel of each image.
void change_contrast(const char* op, const RowCall& call, float factor) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in(op, image);
  const int64_t channels = images.size.channels, pixels = images.size.height * images.size.width;
  const int64_t bytes = images.size.elements() * dtype_size(image.dtype());
  std::byte* to = call.outputs[0].allocate(image.dims());
  if (bytes == 0) return;
  ChargedVector<double> mean(static_cast<size_t>(channels));
  for (int64_t n = 0; n < images.count; ++n) {
    const std::byte* from = image.data() + n * bytes;
    std::ranges::fill(mean, 0.0);
    // A first pass for the means; what it writes is overwritten.
    change_pixels(
        image.dtype(), from, pixels, channels,
        [&](float* values, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            for (size_t c = 0; c < mean.size(); ++c) mean[c] += static_cast<double>(*values++);
          }
        },
        to + n * bytes);
    for (double& value : mean) value /= static_cast<double>(pixels);
    change_pixels(
        image.dtype(), from, pixels, channels,
        [&](float* values, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            for (size_t c = 0; c < mean.size(); ++c, ++values) {
              const auto middle = static_cast<float>(mean[c]);
              *values = (*values - middle) * factor + middle;
            }
          }
        },
        to + n * bytes);
  }
}

void saturate(const char* op, const RowCall& call, float factor) {
  change_image(op, call, 3, [factor](float* pixels, int64_t count) {
    for (int64_t i = 0; i < count; ++i, pixels += 3) {
      Hsv hsv = rgb_to_hsv(pixels);
      hsv.saturation = std::clamp(hsv.saturation * factor, 0.0f, 1.0f);
      hsv_to_rgb(hsv, pixels);
    }
  });
}

void turn_hue(const char* op, const RowCall& call, float delta) {
  change_image(op, call, 3, [delta](float* pixels, int64_t count) {
    for (int64_t i = 0; i < count; ++i, pixels += 3) {
      Hsv hsv = rgb_to_hsv(pixels);
      hsv.hue += delta;
      hsv.hue -= std::floor(hsv.hue);
      hsv_to_rgb(hsv, pixels);
    }
  });
}

float amount(const RowCall& call, size_t i = 1) {
  return static_cast<float>(number_at(call.inputs[i]));
}

void brightness_row(const RowCall& call) { brighten("adjust_brightness", call, amount(call)); }
void contrast_row(const RowCall& call) { change_contrast("adjust_contrast", call, amount(call)); }
void saturation_row(const RowCall& call) { saturate("adjust_saturation", call, amount(call)); }

void hue_row(const RowCall& call) {
  const float delta = amount(call);
  if (!(delta >= -1 && delta <= 1)) {
    throw Error(Code::invalid_argument,
                "adjust_hue: delta must be in [-1, 1]: " + std::to_string(delta));
  }
  turn_hue("adjust_hue", call, delta);
}

void gamma_row(const RowCall& call) {
  const float gamma = amount(call), gain = amount(call, 2);
  if (!(gamma >= 0)) {
    throw Error(Code::invalid_argument,
                "adjust_gamma: gamma must not be negative: " + std::to_string(gamma));
  }
  change_values("adjust_gamma", call, [gain, gamma](float* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) values[i] = gain * std::pow(values[i], gamma);
  });
}

// The random amount between inputs 1 and 2, or around 0 up to input 1.
float draw(const char* op, const RowCall& call, bool symmetric) {
  const float low = symmetric ? -amount(call) : amount(call);
  const float high = symmetric ? amount(call) : amount(call, 2);
  if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high) || (!symmetric && low < 0)) {
    throw Error(Code::invalid_argument,
                std::string(op) + ": expected " +
                    (symmetric ? "a largest change that is not negative" : "0 <= lower <= upper") +
                    ", got " + std::to_string(symmetric ? high : low) +
                    (symmetric ? "" : " and " + std::to_string(high)));
  }
  return low + row_stream(call).next_float() * (high - low);
}

void random_brightness_row(const RowCall& call) {
  brighten("random_brightness", call, draw("random_brightness", call, true));
}
void random_contrast_row(const RowCall& call) {
  change_contrast("random_contrast", call, draw("random_contrast", call, false));
}
void random_saturation_row(const RowCall& call) {
  saturate("random_saturation", call, draw("random_saturation", call, false));
}
void random_hue_row(const RowCall& call) {
  const float delta = draw("random_hue", call, true);
  if (amount(call) > 0.5f) {
    throw Error(Code::invalid_argument,
                "random_hue: max_delta must be at most 0.5: " + std::to_string(amount(call)));
  }
  turn_hue("random_hue", call, delta);
}

template <int kChannels>
Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_colors(context, kChannels);
  for (size_t i = 1; i < context.inputs.size(); ++i) check_number(context, static_cast<int>(i));
  return Spec::of(image);
}

// A known amount outside [low, high] is refused at build.
void check_amount(const InferContext& context, double low, double high, const char* range) {
  const Tensor* constant = context.inputs[1].constant;
  if (constant == nullptr) return;
  const double value = number_at(*constant);
  if (!(value >= low && value <= high)) context.fail(1, std::string("must be ") + range);
}

Spec infer_hue(const InferContext& context) {
  Spec spec = infer<3>(context);
  check_amount(context, -1, 1, "in [-1, 1]");
  return spec;
}
Spec infer_delta(const InferContext& context) {
  Spec spec = infer<0>(context);
  check_amount(context, 0, INFINITY, "at least 0");
  return spec;
}

}  // namespace

void add_adjust_ops(OpRegistry* registry) {
  const auto tensor = [](const char* name) { return required(name, Param::Kind::tensor); };
  const Param image = tensor("image");
  registry->add(image_op("adjust_brightness", {image, tensor("delta")},
                         "The image with delta added (of full scale 1).", infer<0>, brightness_row,
                         1e5));
  registry->add(image_op("adjust_contrast", {image, tensor("factor")},
                         "Each channel's distance from its mean times factor.", infer<0>,
                         contrast_row, 3e5));
  registry->add(image_op("adjust_saturation", {image, tensor("factor")},
                         "The RGB image with its saturation times factor.", infer<3>,
                         saturation_row, 8e5));
  registry->add(image_op("adjust_hue", {image, tensor("delta")},
                         "The RGB image with its hue turned by delta (1: once around).", infer_hue,
                         hue_row, 8e5));
  registry->add(image_op("adjust_gamma",
                         {image, optional("gamma", Param::Kind::tensor, Attr::floating(1)),
                          optional("gain", Param::Kind::tensor, Attr::floating(1))},
                         "gain * image ** gamma, the image in [0, 1].", infer<0>, gamma_row, 2e6));

  const auto add_random = [&](const char* name, std::vector<Param> params, const char* doc,
                              Spec (*spec)(const InferContext&), RowKernel row, double cost_ns) {
    registry->add(random_image_op(name, std::move(params), doc, spec, row, cost_ns));
  };
  add_random("random_brightness", {image, tensor("max_delta")},
             "adjust_brightness by a uniform delta in [-max_delta, max_delta).", infer_delta,
             random_brightness_row, 1e5);
  add_random("random_contrast", {image, tensor("lower"), tensor("upper")},
             "adjust_contrast by a uniform factor in [lower, upper).", infer<0>,
             random_contrast_row, 3e5);
  add_random("random_saturation", {image, tensor("lower"), tensor("upper")},
             "adjust_saturation by a uniform factor in [lower, upper).", infer<3>,
             random_saturation_row, 8e5);
  add_random("random_hue", {image, tensor("max_delta")},
             "adjust_hue by a uniform delta in [-max_delta, max_delta), at most 0.5.", infer<3>,
             random_hue_row, 8e5);
}

}  // namespace penstock
