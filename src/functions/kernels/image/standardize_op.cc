// per_image_standardization and psnr: what looks at a whole image's values.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/math/convert.h"

namespace penstock {
namespace {

Spec infer_standardize(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  if (!is_number(image.dtype)) context.fail(0, "is " + image.text() + ", expected numbers");
  return Spec::tensor(DType::float32, image.shape);
}

void standardize(const float* from, int64_t count, float* to) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(from[i]);
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double off = static_cast<double>(from[i]) - mean;
    squares += off * off;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(count));
  const auto divisor =
      static_cast<float>(std::max(deviation, 1 / std::sqrt(static_cast<double>(count))));
  const auto middle = static_cast<float>(mean);
  for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - middle) / divisor;
}

void standardize_row(const RowCall& call) {
  const Tensor image = to_float32(call.inputs[0]);
  const Images images = images_in("per_image_standardization", image);
  auto* to = call.outputs[0].allocate_as<float>(image.dims());
  const int64_t count = images.size.elements();
  for (int64_t i = 0; i < images.count && count > 0; ++i) {
    standardize(image.entries<float>() + i * count, count, to + i * count);
  }
}

Spec infer_psnr(const InferContext& context) {
  const LeafSpec &a = infer_image(context, 0), &b = infer_image(context, 1);
  if (a.dtype != b.dtype || !is_number(a.dtype)) {
    context.fail(1, "is " + b.text() + ", expected numbers like " + a.text());
  }
  check_number(context, 2);
  if (!a.shape.has_rank()) return Spec::tensor(DType::float32, Shape::unknown_rank());
  if (a.shape.rank() == 3) return Spec::tensor(DType::float32, Shape{});
  return Spec::tensor(DType::float32, Shape{a.shape[0]});
}

// Of `count` entries from `first` on; in four sums, which do not wait for each other.
double squared_distance(const Tensor& a, const Tensor& b, int64_t first, int64_t count) {
  constexpr int64_t kPiece = 1024;
  double x[kPiece], y[kPiece], sums[4] = {};
  const int64_t entry = dtype_size(a.dtype());
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t now = std::min(kPiece, count - done), at = (first + done) * entry;
    convert_entries(a.dtype(), a.data() + at, DType::float64, reinterpret_cast<std::byte*>(x), now);
    convert_entries(b.dtype(), b.data() + at, DType::float64, reinterpret_cast<std::byte*>(y), now);
    for (int64_t i = 0; i < now; ++i) {
      const double off = x[i] - y[i];
      sums[i % 4] += off * off;
    }
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
}

void psnr_row(const RowCall& call) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  const Images images = images_in("psnr", a);
  if (!(a.dims() == b.dims())) {
    throw Error(Code::invalid_argument,
                "psnr: shapes differ: " + a.dims().text() + " and " + b.dims().text());
  }
  const double most = number_at(call.inputs[2]);
  auto* to = call.outputs[0].allocate_as<float>(images.batch ? Dims{images.count} : Dims{});
  const int64_t count = images.size.elements();
  for (int64_t n = 0; n < images.count; ++n) {
    const double noise = squared_distance(a, b, n * count, count) / static_cast<double>(count);
    to[n] = static_cast<float>(20 * std::log10(most) - 10 * std::log10(noise));
  }
}

}  // namespace

void add_standardize_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  registry->add(image_op("per_image_standardization", {image},
                         "(image - mean) / max(deviation, 1 / sqrt(size)), over all of an image.",
                         infer_standardize, standardize_row, 3e5));
  registry->add(image_op(
      "psnr",
      {image, required("other", Param::Kind::tensor), required("max_val", Param::Kind::tensor)},
      "The peak signal to noise ratio of two images, in decibels.", infer_psnr, psnr_row, 1e6));
}

}  // namespace penstock
