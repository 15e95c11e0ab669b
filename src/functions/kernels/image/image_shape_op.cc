// What a file of a picture is, without decoding it.
#include <string>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

Spec infer_shape(const InferContext& context) {
  check_contents(context, 0);
  return Spec::tensor(DType::int64, Shape{3});
}

void shape_row(const RowCall& call) {
  const std::string_view file = bytes_at(call.inputs[0]);
  ImageSize size;
  if (image_format(file) == ImageFormat::jpeg) {
    size = jpeg_shape(file);
    if (size.channels == 4) size.channels = 3;
  } else {
    int64_t frames = 1;
    decode_image_file(file, {.who = "image_shape"}, true, &frames,
                      [&size](ImageSize found) -> uint8_t* {
                        size = found;
                        return nullptr;
                      });
  }
  auto* to = call.outputs[0].allocate_as<int64_t>({3});
  to[0] = size.height;
  to[1] = size.width;
  to[2] = size.channels;
}

Spec infer_is_jpeg(const InferContext& context) {
  check_contents(context, 0);
  return Spec::tensor(DType::boolean, Shape{});
}

void is_jpeg_row(const RowCall& call) {
  *call.outputs[0].allocate_as<bool>({}) =
      image_format(bytes_at(call.inputs[0])) == ImageFormat::jpeg;
}

}  // namespace

void add_image_shape_ops(OpRegistry* registry) {
  const Param contents = required("contents", Param::Kind::tensor);
  OpDef shape = image_op("image_shape", {contents},
                         "Height, width and channels that decode_image gives for a file, from its "
                         "headers alone; of a moving picture those of one frame.",
                         infer_shape, shape_row, 1000);
  shape.large_rows = false;
  registry->add(std::move(shape));
  OpDef jpeg = image_op("is_jpeg", {contents}, "Whether the bytes begin as a JPEG file does.",
                        infer_is_jpeg, is_jpeg_row, 20);
  jpeg.large_rows = jpeg.can_fail = false;
  registry->add(std::move(jpeg));
}

}  // namespace penstock
