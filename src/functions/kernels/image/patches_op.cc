// extract_patches: the windows of an image, each as one row of values.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "data/checked_product.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

// Two sizes, for rows and columns, given as such or as TensorFlow's [1, rows, columns, 1].
struct Sides {
  int64_t rows = 1, columns = 1;
};

Sides read_sides(const Attrs& attrs, const char* name) {
  const Attr& attr = attrs[name];
  if (attr.is_none()) return {};
  std::vector<int64_t> sides = attr.as_ints();
  if (sides.size() == 4 && sides[0] == 1 && sides[3] == 1) sides = {sides[1], sides[2]};
  if (sides.size() != 2 || sides[0] < 1 || sides[1] < 1) {
    throw TypeError{-1, name, "must be two positive sizes: rows, columns"};
  }
  return {sides[0], sides[1]};
}

struct Patches {
  Sides size, step, spread;
  bool same = false;

  explicit Patches(const Attrs& attrs)
      : size(read_sides(attrs, "sizes")),
        step(read_sides(attrs, "strides")),
        spread(read_sides(attrs, "rates")) {
    const std::string padding = attrs["padding"].as_string();
    same = padding == "SAME";
    if (!same && padding != "VALID") {
      throw TypeError{-1, "padding", "is \"" + padding + "\", expected \"VALID\" or \"SAME\""};
    }
  }
  int64_t reach(int64_t count, int64_t apart) const { return (count - 1) * apart + 1; }
  int64_t places(int64_t side, int64_t count, int64_t by, int64_t apart) const {
    if (side < 0) return Shape::kUnknown;
    const int64_t room = same ? side - 1 : side - reach(count, apart);
    return room < 0 ? 0 : room / by + 1;
  }
  // Rows or columns of zeros in front.
  int64_t front(int64_t side, int64_t out, int64_t count, int64_t by, int64_t apart) const {
    return same ? std::max<int64_t>(0, (out - 1) * by + reach(count, apart) - side) / 2 : 0;
  }
};

Spec infer(const InferContext& context) {
  const LeafSpec& image = infer_image(context, 0);
  const Patches patches(context.attrs);
  if (!image.shape.has_rank()) return Spec::of(image);
  std::vector<int64_t> sizes = image.shape.sizes();
  int64_t* last = sizes.data() + sizes.size() - 3;
  last[0] = patches.places(last[0], patches.size.rows, patches.step.rows, patches.spread.rows);
  last[1] =
      patches.places(last[1], patches.size.columns, patches.step.columns, patches.spread.columns);
  if (last[2] >= 0) last[2] = checked_product({last[2], patches.size.rows, patches.size.columns});
  return Spec::tensor(image.dtype, Shape(std::move(sizes)));
}

void row(const RowCall& call) {
  const Tensor& image = call.inputs[0];
  const Images images = images_in("extract_patches", image);
  const ImageSize& in = images.size;
  const Patches p(call.attrs);
  const int64_t rows = p.places(in.height, p.size.rows, p.step.rows, p.spread.rows);
  const int64_t columns = p.places(in.width, p.size.columns, p.step.columns, p.spread.columns);
  const int64_t top = p.front(in.height, rows, p.size.rows, p.step.rows, p.spread.rows);
  const int64_t left = p.front(in.width, columns, p.size.columns, p.step.columns, p.spread.columns);
  const int64_t pixel = in.channels * dtype_size(image.dtype());
  Images out = images;
  out.size.channels = checked_product({in.channels, p.size.rows, p.size.columns});
  std::byte* to = call.outputs[0].allocate(out.dims(rows, columns));
  for (int64_t place = 0; place < images.count * rows * columns; ++place) {
    const int64_t i = place / (rows * columns);
    const int64_t y0 = place / columns % rows * p.step.rows - top;
    const int64_t x0 = place % columns * p.step.columns - left;
    for (int64_t a = 0; a < p.size.rows; ++a) {
      for (int64_t b = 0; b < p.size.columns; ++b, to += pixel) {
        const int64_t y = y0 + a * p.spread.rows, x = x0 + b * p.spread.columns;
        if (y < 0 || x < 0 || y >= in.height || x >= in.width) {
          std::memset(to, 0, static_cast<size_t>(pixel));
        } else {
          std::memcpy(to, image.data() + ((i * in.height + y) * in.width + x) * pixel,
                      static_cast<size_t>(pixel));
        }
      }
    }
  }
}

}  // namespace

void add_patches_op(OpRegistry* registry) {
  registry->add(
      image_op("extract_patches",
               {required("image", Param::Kind::tensor), required("sizes", Param::Kind::any),
                option("strides", Param::Kind::any, {}), option("rates", Param::Kind::any, {}),
                option("padding", Param::Kind::text, Attr::text("VALID"))},
               "The windows of `sizes` [rows, columns], `strides` apart, each as one "
               "pixel of all their values.",
               infer, row, 2e5));
}

}  // namespace penstock
