// Files of pictures as ops: decoders by content, the shape of a picture, and what a file is.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/exif.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

int64_t infer_channels(const InferContext& context) {
  const int64_t channels = context.attrs["channels"].as_int();
  if (channels == 0) return Shape::kUnknown;
  if (channels == 1 || channels == 3 || channels == 4) return channels;
  throw TypeError{-1, "channels",
                  "must be 0 (as stored), 1, 3 or 4, is " + std::to_string(channels)};
}

DType infer_dtype(const InferContext& context, std::initializer_list<DType> allowed) {
  const DType dtype = context.attrs["dtype"].as_dtype();
  if (std::ranges::count(allowed, dtype) > 0) return dtype;
  std::string names;  // bounded: names of formats
  for (const DType one : allowed) {
    names += std::string(names.empty() ? "" : " or ") + std::string(dtype_name(one));
  }
  throw TypeError{-1, "dtype", "is " + std::string(dtype_name(dtype)) + ", expected " + names};
}

Spec infer_image_file(const InferContext& context) {
  check_contents(context, 0);
  const int64_t channels = infer_channels(context);
  const DType dtype = infer_dtype(context, {DType::uint8, DType::uint16, DType::float32});
  if (context.attrs["expand_animations"].as_bool()) {
    return Spec::tensor(dtype, Shape::unknown_rank());
  }
  return Spec::tensor(dtype, Shape{Shape::kUnknown, Shape::kUnknown, channels});
}

Spec infer_png(const InferContext& context) {
  check_contents(context, 0);
  const int64_t channels = infer_channels(context);
  return Spec::tensor(infer_dtype(context, {DType::uint8, DType::uint16}),
                      Shape{Shape::kUnknown, Shape::kUnknown, channels});
}

Spec infer_bytes_image(const InferContext& context) {
  check_contents(context, 0);
  return Spec::tensor(DType::uint8,
                      Shape{Shape::kUnknown, Shape::kUnknown, infer_channels(context)});
}

Spec infer_frames(const InferContext& context) {
  check_contents(context, 0);
  return Spec::tensor(DType::uint8, Shape{Shape::kUnknown, Shape::kUnknown, Shape::kUnknown, 3});
}

ImageDecoding read_options(const RowCall& call, const char* who) {
  ImageDecoding options{.who = who, .max_pixels = call.attrs["max_pixels"].as_int()};
  if (const Attr* channels = call.attrs.find("channels")) {
    options.channels = static_cast<int>(channels->as_int());
  }
  return options;
}

// The dims of an output of `frames` pictures that lie one below the other.
Dims frame_dims(ImageSize all, int64_t frames, bool with_frames) {
  if (!with_frames) return {all.height, all.width, all.channels};
  return {frames, all.height / frames, all.width, all.channels};
}

bool moves(std::string_view file) {
  const ImageFormat format = image_format(file);
  return format == ImageFormat::gif || format == ImageFormat::webp;
}

// Wide pixels of a PNG file come from it; other formats have 8 bits, which are shifted up.
void decode_wide(const RowCall& call, ImageDecoding options, bool expand) {
  const std::string_view file = bytes_at(call.inputs[0]);
  options.wide = image_format(file) == ImageFormat::png;
  const bool real = call.outputs[0].dtype() == DType::float32;
  ChargedVector<uint8_t> raw;
  int64_t frames = 1;
  ImageSize all;
  decode_image_file(file, options, !expand, &frames, [&](ImageSize size) {
    all = size;
    raw.resize(static_cast<size_t>(size.elements() * (options.wide ? 2 : 1)));
    return raw.data();
  });
  std::byte* to = call.outputs[0].allocate(frame_dims(all, frames, expand && moves(file)));
  for (int64_t i = 0; i < all.elements(); ++i) {
    uint16_t value = raw[static_cast<size_t>(options.wide ? 0 : i)];
    if (options.wide) std::memcpy(&value, raw.data() + 2 * i, 2);
    if (real) {
      reinterpret_cast<float*>(to)[i] =
          static_cast<float>(value) * (1.0f / (options.wide ? 65535.0f : 255.0f));
    } else {
      reinterpret_cast<uint16_t*>(to)[i] = options.wide ? value : static_cast<uint16_t>(value << 8);
    }
  }
}

void decode_bytes(const RowCall& call, const ImageDecoding& options, bool expand) {
  const std::string_view file = bytes_at(call.inputs[0]);
  int64_t frames = 1;
  decode_image_file(file, options, !expand, &frames, [&](ImageSize size) {
    return call.outputs[0].allocate_as<uint8_t>(frame_dims(size, frames, expand && moves(file)));
  });
}

// The decoded picture turned the way up that the file says.
void turn_result(OutputSlot* slot, Tensor stored, int orientation) {
  const Dims& dims = stored.dims();
  const ImageSize size{dims[0], dims[1], dims[2]};
  const ImageSize upright = upright_size(size, orientation);
  turn_upright(reinterpret_cast<const uint8_t*>(stored.data()), size,
               dims[2] * dtype_size(stored.dtype()), orientation,
               reinterpret_cast<uint8_t*>(
                   slot->allocate({upright.height, upright.width, upright.channels})));
}

void image_file_row(const RowCall& call) {
  const ImageDecoding options = read_options(call, "decode_image");
  const bool expand = call.attrs["expand_animations"].as_bool();
  const int orientation =
      call.attrs["exif_orientation"].as_bool() ? exif_orientation(bytes_at(call.inputs[0])) : 1;
  if (orientation != 1 && !(expand && moves(bytes_at(call.inputs[0])))) {
    Tensor stored;
    OutputSlot slot(call.outputs[0].dtype(), &stored);
    const RowCall plain{call.attrs, call.state, call.inputs, std::span(&slot, 1), call.row};
    if (slot.dtype() == DType::uint8) {
      decode_bytes(plain, options, expand);
    } else {
      decode_wide(plain, options, expand);
    }
    return turn_result(&call.outputs[0], std::move(stored), orientation);
  }
  if (call.outputs[0].dtype() == DType::uint8) return decode_bytes(call, options, expand);
  decode_wide(call, options, expand);
}

void png_row(const RowCall& call) {
  ImageDecoding options = read_options(call, "decode_png");
  options.one_picture = true;
  if (image_format(bytes_at(call.inputs[0])) == ImageFormat::bmp) {
    refuse_format(options.who, "PNG", bytes_at(call.inputs[0]));
  }
  if (call.outputs[0].dtype() == DType::uint8) return decode_bytes(call, options, false);
  decode_wide(call, options, false);
}

void bmp_row(const RowCall& call) {
  decode_bmp(bytes_at(call.inputs[0]), read_options(call, "decode_bmp"), [&](ImageSize size) {
    return call.outputs[0].allocate_as<uint8_t>({size.height, size.width, size.channels});
  });
}

void webp_row(const RowCall& call) {
  const ImageDecoding options = read_options(call, "decode_webp");
  const std::string_view file = bytes_at(call.inputs[0]);
  const ImageFormat format = image_format(file);
  if (format == ImageFormat::bmp || format == ImageFormat::unknown)
    refuse_format(options.who, "WebP", file);
  decode_bytes(call, options, false);
}

void gif_row(const RowCall& call) {
  ImageDecoding options = read_options(call, "decode_gif");
  options.channels = 3;
  const std::string_view file = bytes_at(call.inputs[0]);
  int64_t frames = 1;
  if (image_format(file) == ImageFormat::bmp) refuse_format(options.who, "GIF", file);
  decode_image_file(file, options, false, &frames, [&](ImageSize size) {
    return call.outputs[0].allocate_as<uint8_t>(frame_dims(size, frames, true));
  });
}

}  // namespace

void add_decode_ops(OpRegistry* registry) {
  const Param contents = required("contents", Param::Kind::tensor);
  const Param channels = optional("channels", Param::Kind::integer, Attr::integer(0));
  const Param dtype = option("dtype", Param::Kind::dtype, Attr::of(DType::uint8));
  registry->add(image_op(
      "decode_image",
      {contents, channels, dtype,
       option("expand_animations", Param::Kind::boolean, Attr::boolean(true)),
       option("exif_orientation", Param::Kind::boolean, Attr::boolean(false)), max_pixels_option()},
      "Pixels of a JPEG, PNG, GIF, BMP or WebP file; GIF and WebP give [frames, height, width, "
      "channels] unless expand_animations=false, which gives the first frame; exif_orientation: "
      "turned the "
      "way up that the file says.",
      infer_image_file, image_file_row, 1.5e6));
  registry->add(image_op("decode_png", {contents, channels, dtype, max_pixels_option()},
                         "Pixels of a PNG file (or of a JPEG, GIF or WebP file), uint8 or uint16; "
                         "channels: 0 as stored, 1 grey, 3 RGB, 4 with alpha.",
                         infer_png, png_row, 3e6));
  registry->add(image_op("decode_bmp", {contents, channels, max_pixels_option()},
                         "Pixels of an uncompressed BMP file.", infer_bytes_image, bmp_row, 2e5));
  registry->add(image_op(
      "decode_webp", {contents, channels, max_pixels_option()},
      "Pixels of a WebP file (or of a JPEG, PNG or GIF file), of the first frame when it moves.",
      infer_bytes_image, webp_row, 3e6));
  registry->add(image_op("decode_gif", {contents, max_pixels_option()},
                         "The frames of a GIF file as RGB [frames, height, width, 3]; of another "
                         "picture its only one.",
                         infer_frames, gif_row, 2e6));
}

}  // namespace penstock
