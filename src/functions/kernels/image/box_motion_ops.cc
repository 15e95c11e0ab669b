// Boxes [y0, x0, y1, x1] in [0, 1] through what moves an image: rot90_boxes, pad_boxes and those of
// affine, rotate, shear and translate. A resize leaves such boxes as they are.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

Spec infer_boxes(const InferContext& context) {
  const LeafSpec& boxes = context.tensor_of(0, DType::float32);
  const Shape& shape = boxes.shape;
  const bool good =
      !shape.has_rank() || (shape.rank() == 2 && (shape[1] == 4 || shape[1] == Shape::kUnknown));
  if (!good) context.fail(0, "is " + boxes.text() + ", expected float32[?, 4]: y0, x0, y1, x1");
  return Spec::tensor(DType::float32,
                      Shape{shape.has_rank() ? shape[0] : Shape::kUnknown, int64_t{4}});
}

int64_t count_of(const char* op, const Tensor& boxes) {
  if (boxes.dims().rank() == 2 && boxes.dims()[1] == 4) return boxes.dims()[0];
  throw Error(Code::invalid_argument,
              std::string(op) + ": expected boxes [n, 4], got shape " + boxes.dims().text());
}

void rot90_row(const RowCall& call) {
  const int64_t count = count_of("rot90_boxes", call.inputs[0]);
  const float* from = call.inputs[0].entries<float>();
  auto* to = call.outputs[0].allocate_as<float>({count, 4});
  const int64_t turns = ((call.attrs["k"].as_int() % 4) + 4) % 4;
  for (int64_t i = 0; i < count; ++i, from += 4, to += 4) {
    float y0 = from[0], x0 = from[1], y1 = from[2], x1 = from[3];
    for (int64_t turn = 0; turn < turns; ++turn) {  // the right side becomes the top
      const float top = 1 - x1, bottom = 1 - x0;
      x0 = y0, x1 = y1, y0 = top, y1 = bottom;
    }
    to[0] = y0, to[1] = x0, to[2] = y1, to[3] = x1;
  }
}

// Two finite numbers.
struct Pair {
  double y, x;
  Pair(const char* op, const char* name, const Tensor& given, double least) {
    if (given.entries_count() != 2 || !is_number(given.dtype())) {
      throw Error(
          Code::invalid_argument,
          std::string(op) + ": " + name + " must be two numbers, got shape " + given.dims().text());
    }
    y = number_at(given, 0);
    x = number_at(given, 1);
    if (std::isfinite(y) && std::isfinite(x) && y >= least && x >= least) return;
    throw Error(Code::invalid_argument, std::string(op) + ": " + name + " must be two numbers of " +
                                            std::to_string(static_cast<int64_t>(least)) +
                                            " or more");
  }
};

Spec infer_pad(const InferContext& context) {
  for (int i = 1; i < 4; ++i) check_integers(context, i, 2, "height, width");
  return infer_boxes(context);
}

void pad_row(const RowCall& call) {
  constexpr const char* kOp = "pad_boxes";
  const int64_t count = count_of(kOp, call.inputs[0]);
  const Pair size(kOp, "size", call.inputs[1], 1), target(kOp, "target", call.inputs[3], 1);
  const Pair offset(kOp, "offset", call.inputs[2], -1e9);
  const float* from = call.inputs[0].entries<float>();
  auto* to = call.outputs[0].allocate_as<float>({count, 4});
  for (int64_t i = 0; i < 4 * count; ++i) {
    const bool vertical = i % 2 == 0;
    const double pixels = static_cast<double>(from[i]) * (vertical ? size.y : size.x);
    const double moved =
        (pixels + (vertical ? offset.y : offset.x)) / (vertical ? target.y : target.x);
    to[i] = static_cast<float>(std::clamp(moved, 0.0, 1.0));
  }
}

// As the image ops have it: output pixel (x, y) is source pixel (a x + b y + c, d x + e y + f).
struct Matrix {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};

void transform(const char* op, const RowCall& call, const Matrix& m) {
  const int64_t count = count_of(op, call.inputs[0]);
  const Pair size(op, "size", call.inputs[1], 1);
  const double area = m.a * m.e - m.b * m.d;
  if (!std::isfinite(area) || area == 0)
    throw Error(Code::invalid_argument, std::string(op) + ": the matrix has no inverse");
  const float* from = call.inputs[0].entries<float>();
  auto* to = call.outputs[0].allocate_as<float>({count, 4});
  for (int64_t i = 0; i < count; ++i, from += 4, to += 4) {
    double y0 = INFINITY, x0 = INFINITY, y1 = -INFINITY, x1 = -INFINITY;
    for (int corner = 0; corner < 4; ++corner) {
      const double v = static_cast<double>(from[corner < 2 ? 0 : 2]) * size.y - m.f;
      const double h = static_cast<double>(from[corner % 2 == 0 ? 1 : 3]) * size.x - m.c;
      const double x = (m.e * h - m.b * v) / area / size.x;
      const double y = (m.a * v - m.d * h) / area / size.y;
      y0 = std::min(y0, y), x0 = std::min(x0, x), y1 = std::max(y1, y), x1 = std::max(x1, x);
    }
    const double sides[4] = {y0, x0, y1, x1};
    for (int k = 0; k < 4; ++k) to[k] = static_cast<float>(std::clamp(sides[k], 0.0, 1.0));
  }
}

double amount(const char* op, const RowCall& call) {
  const double value = number_at(call.inputs[2]);
  if (std::isfinite(value)) return value;
  throw Error(Code::invalid_argument, std::string(op) + ": the amount is not finite");
}

void affine_row(const RowCall& call) {
  const Tensor& given = call.inputs[2];
  if (given.entries_count() != 6) {
    throw Error(Code::invalid_argument,
                "affine_boxes: expected a matrix of 6 numbers, got shape " + given.dims().text());
  }
  double m[6];
  for (int i = 0; i < 6; ++i) m[i] = number_at(given, i);
  transform("affine_boxes", call, {m[0], m[1], m[2], m[3], m[4], m[5]});
}

void rotate_row(const RowCall& call) {
  const Pair size("rotate_boxes", "size", call.inputs[1], 1);
  const double angle = amount("rotate_boxes", call) * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double x = size.x / 2, y = size.y / 2;
  transform("rotate_boxes", call,
            {cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y});
}
void shear_x_row(const RowCall& call) {
  transform("shear_x_boxes", call, {.b = amount("shear_x_boxes", call)});
}
void shear_y_row(const RowCall& call) {
  transform("shear_y_boxes", call, {.d = amount("shear_y_boxes", call)});
}
void translate_x_row(const RowCall& call) {
  transform("translate_x_boxes", call, {.c = amount("translate_x_boxes", call)});
}
void translate_y_row(const RowCall& call) {
  transform("translate_y_boxes", call, {.f = amount("translate_y_boxes", call)});
}

Spec infer_affine(const InferContext& context) {
  check_integers(context, 1, 2, "height, width");
  if (!is_number(context.tensor(2).dtype)) context.fail(2, "must be numbers");
  return infer_boxes(context);
}

Spec infer_amount(const InferContext& context) {
  check_number(context, 2);
  return infer_affine(context);
}

}  // namespace

void add_box_motion_ops(OpRegistry* registry) {
  const auto add = [registry](const char* name, std::vector<Param> params, const char* doc,
                              Spec (*infer)(const InferContext&), RowKernel row) {
    OpDef op = image_op(name, std::move(params), doc, infer, row, 200);
    op.large_rows = false;
    registry->add(std::move(op));
  };
  const Param boxes = required("boxes", Param::Kind::tensor);
  const Param size = required("size", Param::Kind::tensor);
  add("rot90_boxes", {boxes, optional("k", Param::Kind::integer, Attr::integer(1))},
      "Boxes in [0, 1] of the image after rot90.", infer_boxes, rot90_row);
  add("pad_boxes",
      {boxes, size, required("offset", Param::Kind::tensor),
       required("target", Param::Kind::tensor)},
      "Boxes in [0, 1] of an image of this size [height, width] put at offset [y, x] (negative: "
      "cut "
      "off) on a canvas of the size target.",
      infer_pad, pad_row);
  const auto move = [&](const char* name, const char* argument, const char* doc,
                        Spec (*infer)(const InferContext&), RowKernel row) {
    add(name, {boxes, size, required(argument, Param::Kind::tensor)}, doc, infer, row);
  };
  move(
      "affine_boxes", "matrix",
      "The boxes around boxes in [0, 1] of an image of this size [height, width] after affine, cut "
      "at its border.",
      infer_affine, affine_row);
  move("rotate_boxes", "angle", "As affine_boxes, after rotate.", infer_amount, rotate_row);
  move("shear_x_boxes", "level", "As affine_boxes, after shear_x.", infer_amount, shear_x_row);
  move("shear_y_boxes", "level", "As affine_boxes, after shear_y.", infer_amount, shear_y_row);
  move("translate_x_boxes", "pixels", "As affine_boxes, after translate_x.", infer_amount,
       translate_x_row);
  move("translate_y_boxes", "pixels", "As affine_boxes, after translate_y.", infer_amount,
       translate_y_row);
}

}  // namespace penstock
