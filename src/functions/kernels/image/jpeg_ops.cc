// decode_jpeg, decode_and_crop_jpeg and the shape of a JPEG file as ops.
#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

#include <algorithm>
#include <string>
#include <vector>

#include "functions/kernels/image/exif.h"
#include "functions/kernels/image/pixels.h"

namespace penstock {
namespace {

// The size of the last axis for the attribute `channels`.
int64_t infer_channels(const InferContext& context) {
  const int64_t channels = context.attrs["channels"].as_int();
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4) {
    throw TypeError{-1, "channels",
                    "must be 0 (as stored), 1, 3 or, for other formats than JPEG, 4, is " +
                        std::to_string(channels)};
  }
  return channels == 0 ? Shape::kUnknown : channels;
}

void check_options(const InferContext& context) {
  const int64_t ratio = context.attrs["ratio"].as_int();
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    throw TypeError{-1, "ratio", "must be 1, 2, 4 or 8, is " + std::to_string(ratio)};
  }
  const std::string method = context.attrs["dct_method"].as_string();
  if (!method.empty() && method != "INTEGER_ACCURATE" && method != "INTEGER_FAST") {
    throw TypeError{-1, "dct_method",
                    "is \"" + method + "\", expected \"INTEGER_ACCURATE\" or \"INTEGER_FAST\""};
  }
}

Spec infer_decode(const InferContext& context) {
  check_contents(context, 0);
  check_options(context);
  return Spec::tensor(DType::uint8,
                      Shape{Shape::kUnknown, Shape::kUnknown, infer_channels(context)});
}

Spec infer_decode_and_crop(const InferContext& context) {
  check_contents(context, 0);
  check_options(context);
  check_integers(context, 1, 4, "y, x, height, width");
  int64_t height = Shape::kUnknown, width = Shape::kUnknown;
  if (const std::vector<int64_t> window = context.known_ints(1); window.size() == 4) {
    if (window[0] < 0 || window[1] < 0 || window[2] <= 0 || window[3] <= 0) {
      context.fail(1, "must be y, x, height, width with y, x >= 0 and height, width > 0");
    }
    height = window[2];
    width = window[3];
  }
  return Spec::tensor(DType::uint8, Shape{height, width, infer_channels(context)});
}

JpegDecoding read_options(const RowCall& call, const char* who) {
  const Attrs& attrs = call.attrs;
  return {.channels = static_cast<int>(attrs["channels"].as_int()),
          .ratio = static_cast<int>(attrs["ratio"].as_int()),
          .fast_dct = attrs["dct_method"].as_string() == "INTEGER_FAST",
          .fancy_upsampling = attrs["fancy_upscaling"].as_bool(),
          .max_pixels = attrs["max_pixels"].as_int(),
          .who = who};
}

// A PNG, GIF or WebP file by any name is decoded as what it is.
bool other_format(const Tensor& contents) {
  const ImageFormat format = image_format(bytes_at(contents));
  return format != ImageFormat::jpeg && format != ImageFormat::bmp &&
         format != ImageFormat::unknown;
}

// A JPEG file holds no alpha, what else comes by its name may.
void check_jpeg_channels(const JpegDecoding& options) {
  if (options.channels != 4) return;
  throw Error(Code::invalid_argument,
              std::string(options.who) + ": channels=4 is not for JPEG files: use 0, 1 or 3");
}

void decode_other(const Tensor& contents, const JpegDecoding& options, PixelSink allocate) {
  int64_t frames = 1;
  decode_image_file(bytes_at(contents),
                    {.who = options.who,
                     .channels = options.channels,
                     .max_pixels = options.max_pixels,
                     .one_picture = true},
                    true, &frames, allocate);
}

void decode_row(const RowCall& call) {
  const JpegDecoding options = read_options(call, "decode_jpeg");
  const Tensor& contents = call.inputs[0];
  const int orientation =
      call.attrs["exif_orientation"].as_bool() ? exif_orientation(bytes_at(contents)) : 1;
  ChargedVector<uint8_t> stored;
  ImageSize stored_size;
  const auto allocate = [&](ImageSize size) {
    if (orientation == 1)
      return call.outputs[0].allocate_as<uint8_t>({size.height, size.width, size.channels});
    stored_size = size;
    stored.resize(static_cast<size_t>(size.elements()));
    return stored.data();
  };
  if (other_format(contents)) {
    decode_other(contents, options, allocate);
  } else {
    check_jpeg_channels(options);
    thread_jpeg_decoder().decode(bytes_at(contents), options, allocate);
  }
  if (orientation == 1) return;
  const ImageSize size = upright_size(stored_size, orientation);
  turn_upright(stored.data(), stored_size, size.channels, orientation,
               call.outputs[0].allocate_as<uint8_t>({size.height, size.width, size.channels}));
}

void decode_and_crop_row(const RowCall& call) {
  const bool check_rest = call.attrs["check_rest"].as_bool();
  // It stands for both then: what is wrong with the file is said in the same words.
  JpegDecoding options = read_options(call, check_rest ? "decode_jpeg" : "decode_and_crop_jpeg");
  options.check_rest = check_rest;
  int64_t window[4];
  read_integers("decode_and_crop_jpeg", call.inputs[1], window);
  const auto [y, x, height, width] = window;
  const auto allocate = [&call](ImageSize size) {
    return call.outputs[0].allocate_as<uint8_t>({size.height, size.width, size.channels});
  };
  if (!other_format(call.inputs[0])) {
    check_jpeg_channels(options);
    thread_jpeg_decoder().decode_window(bytes_at(call.inputs[0]), y, x, height, width, options,
                                        allocate);
    return;
  }
  ChargedVector<uint8_t> whole;
  ImageSize size;
  decode_other(call.inputs[0], options, [&](ImageSize decoded) {
    size = decoded;
    whole.resize(static_cast<size_t>(size.elements()));
    return whole.data();
  });
  crop(whole.data(), size, 1, y, x, height, width, allocate({height, width, size.channels}));
}

Spec infer_shape(const InferContext& context) {
  check_contents(context, 0);
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (dtype != DType::int32 && dtype != DType::int64) {
    throw TypeError{-1, "dtype", "must be int32 or int64, is " + std::string(dtype_name(dtype))};
  }
  return Spec::tensor(dtype, Shape{3});
}

void shape_row(const RowCall& call) {
  const ImageSize size = jpeg_shape(bytes_at(call.inputs[0]));
  const int64_t sizes[3] = {size.height, size.width, size.channels};
  OutputSlot& slot = call.outputs[0];
  if (slot.dtype() == DType::int64) {
    std::copy_n(sizes, 3, slot.allocate_as<int64_t>({3}));
  } else {
    auto* to = slot.allocate_as<int32_t>({3});
    for (int i = 0; i < 3; ++i) to[i] = static_cast<int32_t>(sizes[i]);
  }
}

}  // namespace

void add_jpeg_ops(OpRegistry* registry) {
  std::vector<Param> params{required("contents", Param::Kind::tensor),
                            optional("channels", Param::Kind::integer, Attr::integer(0)),
                            option("ratio", Param::Kind::integer, Attr::integer(1)),
                            option("fancy_upscaling", Param::Kind::boolean, Attr::boolean(true)),
                            option("dct_method", Param::Kind::text, Attr::text("")),
                            max_pixels_option()};
  std::vector<Param> whole = params;
  whole.push_back(option("exif_orientation", Param::Kind::boolean, Attr::boolean(false)));
  registry->add(image_op("decode_jpeg", std::move(whole),
                         "Pixels of a JPEG file (or of a PNG, GIF or WebP file); channels: 0 as "
                         "stored, 1 grey, 3 RGB; ratio 2, 4 or 8: so much smaller; "
                         "exif_orientation: turned the way up that the file says.",
                         infer_decode, decode_row, 1.2e6));
  params.insert(params.begin() + 1, required("crop_window", Param::Kind::tensor));
  params.push_back(option("check_rest", Param::Kind::boolean, Attr::boolean(false)));
  registry->add(
      image_op("decode_and_crop_jpeg", params,
               "Pixels of the window [y, x, height, width] of a JPEG file; decodes little else. "
               "check_rest: refuses what decode_jpeg refuses, damage outside the window, too.",
               infer_decode_and_crop, decode_and_crop_row, 8e5));
  for (const char* name : {"extract_jpeg_shape", "jpeg_shape"}) {
    OpDef shape = image_op(name,
                           {required("contents", Param::Kind::tensor),
                            option("dtype", Param::Kind::dtype, Attr::of(DType::int32))},
                           "Height, width and channels of a JPEG file, from its headers alone.",
                           infer_shape, shape_row, 300);
    shape.large_rows = false;
    registry->add(std::move(shape));
  }
}

}  // namespace penstock
