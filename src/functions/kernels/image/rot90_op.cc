// rot90: quarter turns.
#include <cstring>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

int64_t quarter_turns(int64_t k) { return ((k % 4) + 4) % 4; }

Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  check_number(context, 1);
  const Shape& shape = image.shape;
  if (!shape.has_rank()) return Spec::of(image);
  const int64_t height = shape[shape.rank() - 3], width = shape[shape.rank() - 2];
  const std::vector<int64_t> k = context.known_ints(1);
  if (k.empty() && height != width) {
    return Spec::tensor(image.dtype, with_image_size(shape, Shape::kUnknown, Shape::kUnknown));
  }
  const bool turned = !k.empty() && quarter_turns(k[0]) % 2 == 1;
  return Spec::tensor(image.dtype,
                      with_image_size(shape, turned ? width : height, turned ? height : width));
}

// Output pixels of row y come from source pixels `step` apart, from `first` on.
template <size_t kBytes>
void copy_row(const std::byte* first, int64_t step, int64_t width, size_t bytes, std::byte* to) {
  const size_t pixel = kBytes != 0 ? kBytes : bytes;
  for (int64_t x = 0; x < width; ++x, to += pixel) std::memcpy(to, first + x * step, pixel);
}

void row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("rot90", image);
  const int64_t k = quarter_turns(integer_at(call.inputs[1]));
  if (k == 0) return call.outputs[0].set(image);
  const int64_t height = images.size.height, width = images.size.width;
  const int64_t pixel = images.size.channels * dtype_size(image.dtype());
  const int64_t rows = k == 2 ? height : width, columns = k == 2 ? width : height;
  std::byte* to = call.outputs[0].allocate(images.dims(rows, columns));
  for (int64_t i = 0; i < images.count; ++i) {
    const std::byte* from = image.data() + i * height * width * pixel;
    for (int64_t y = 0; y < rows; ++y, to += columns * pixel) {
      // Where the output's (y, 0) lies in the source, and the way to (y, 1).
      const int64_t at = k == 1   ? width - 1 - y
                         : k == 2 ? (height - 1 - y) * width + width - 1
                                  : (height - 1) * width + y;
      const int64_t step = k == 1 ? width : k == 2 ? -1 : -width;
      const auto bytes = static_cast<size_t>(pixel);
      if (pixel == 3) {
        copy_row<3>(from + at * pixel, step * pixel, columns, bytes, to);
      } else {
        copy_row<0>(from + at * pixel, step * pixel, columns, bytes, to);
      }
    }
  }
}

}  // namespace

void add_rot90_op(OpRegistry* registry) {
  registry->add(image_op("rot90",
                         {required("image", Param::Kind::tensor),
                          optional("k", Param::Kind::tensor, Attr::integer(1))},
                         "The image turned counter-clockwise by k quarters.", infer, row, 1e5));
}

}  // namespace penstock
