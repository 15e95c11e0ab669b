// encode_jpeg, encode_png, and the round trip through JPEG that makes a picture worse.
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"
#include "functions/kernels/image/jpeg_encode.h"

namespace penstock {
namespace {

const LeafSpec& infer_pixels(const InferContext& context, std::initializer_list<int64_t> channels) {
  const LeafSpec& image = infer_image(context, 0);
  if (!image.shape.has_rank()) return image;
  const int64_t last = image.shape[image.shape.rank() - 1];
  bool good = image.shape.rank() == 3 && last == Shape::kUnknown;
  for (const int64_t one : channels) good = good || (image.shape.rank() == 3 && last == one);
  if (!good) context.fail(0, "is " + image.text() + ", expected one image of 1 or 3 channels");
  return image;
}

void check_uint8(const InferContext& context, const LeafSpec& image) {
  if (image.dtype == DType::uint8) return;
  context.fail(0, "is " + image.text() + ", expected uint8[?, ?, 3]; convert it first: " +
                      "convert_image_dtype(image, uint8)");
}

int64_t infer_quality(const InferContext& context) {
  const int64_t quality = context.attrs["quality"].as_int();
  if (quality >= 0 && quality <= 100) return quality;
  throw TypeError{-1, "quality", "must be 0 to 100, is " + std::to_string(quality)};
}

Spec infer_encode_jpeg(const InferContext& context) {
  check_uint8(context, infer_pixels(context, {1, 3}));
  infer_quality(context);
  const std::string format = context.attrs["format"].as_string();
  if (!format.empty() && format != "rgb" && format != "grayscale") {
    throw TypeError{-1, "format", "is \"" + format + "\", expected \"rgb\" or \"grayscale\""};
  }
  return Spec::tensor(DType::bytes, Shape{});
}

ImageSize one_image(const char* op, const Tensor& image) {
  if (image.dims().rank() == 3) return {image.dims()[0], image.dims()[1], image.dims()[2]};
  throw Error(Code::invalid_argument,
              std::string(op) + ": expected one image, got shape " + image.dims().text());
}

void encode_jpeg_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const ImageSize size = one_image("encode_jpeg", image);
  const std::string format = call.attrs["format"].as_string();
  if ((format == "rgb" && size.channels != 3) || (format == "grayscale" && size.channels != 1)) {
    throw Error(Code::invalid_argument, "encode_jpeg: format \"" + format + "\" does not fit " +
                                            std::to_string(size.channels) + " channels");
  }
  const int step = call.attrs["chroma_downsampling"].as_bool() ? 2 : 1;
  JpegEncoding encoding{.quality = std::max(1, static_cast<int>(call.attrs["quality"].as_int())),
                        .chroma_columns = step,
                        .chroma_rows = step,
                        .progressive = call.attrs["progressive"].as_bool()};
  encoding.optimize = call.attrs["optimize_size"].as_bool();
  // The file, and where several passes are made the coefficients of all pixels.
  const bool held = encoding.progressive || encoding.optimize;
  const Charge work(size.elements() * (held ? 3 : 1));
  call.outputs[0].set(Tensor::of_bytes(encode_jpeg(image.entries<uint8_t>(), size, encoding)));
}

Spec infer_encode_png(const InferContext& context) {
  const LeafSpec& image = infer_pixels(context, {1, 2, 3, 4});
  if (image.dtype != DType::uint16) check_uint8(context, image);
  const int64_t level = context.attrs["compression"].as_int();
  if (level < -1 || level > 9) {
    throw TypeError{-1, "compression", "must be -1 to 9, is " + std::to_string(level)};
  }
  return Spec::tensor(DType::bytes, Shape{});
}

void encode_png_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Charge file(image.data_bytes());
  call.outputs[0].set(Tensor::of_bytes(
      encode_png(image.data(), one_image("encode_png", image), image.dtype() == DType::uint16,
                 static_cast<int>(call.attrs["compression"].as_int()))));
}

Spec infer_worse(const InferContext& context) {
  const LeafSpec& image = infer_pixels(context, {1, 3});
  check_uint8(context, image);
  check_number(context, 1);
  return Spec::of(image);
}

void worse_row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const ImageSize size = one_image("adjust_jpeg_quality", image);
  const auto quality = static_cast<int>(number_at(call.inputs[1]));
  const Charge work(size.elements());
  const std::string file =
      encode_jpeg(image.entries<uint8_t>(), size, quality, true);  // bounded: counted above
  thread_jpeg_decoder().decode(
      file, {.channels = static_cast<int>(size.channels), .who = "adjust_jpeg_quality"},
      [&call](ImageSize decoded) {
        return call.outputs[0].allocate_as<uint8_t>(
            {decoded.height, decoded.width, decoded.channels});
      });
}

}  // namespace

void add_encode_ops(OpRegistry* registry) {
  const Param image = required("image", Param::Kind::tensor);
  registry->add(image_op("encode_jpeg",
                         {image, option("quality", Param::Kind::integer, Attr::integer(95)),
                          option("format", Param::Kind::text, Attr::text("")),
                          option("progressive", Param::Kind::boolean, Attr::boolean(false)),
                          option("optimize_size", Param::Kind::boolean, Attr::boolean(false)),
                          option("chroma_downsampling", Param::Kind::boolean, Attr::boolean(true))},
                         "A JPEG file of a grey or RGB uint8 image.", infer_encode_jpeg,
                         encode_jpeg_row, 1.5e6));
  registry->add(image_op("encode_png",
                         {image, option("compression", Param::Kind::integer, Attr::integer(-1))},
                         "A PNG file of a uint8 or uint16 image of 1 to 4 channels.",
                         infer_encode_png, encode_png_row, 2e7));
  registry->add(image_op("adjust_jpeg_quality",
                         {image, required("jpeg_quality", Param::Kind::tensor)},
                         "The image, encoded as JPEG of this quality (1 to 100) and decoded again.",
                         infer_worse, worse_row, 2.5e6));
}

}  // namespace penstock
