// Boxes [y0, x0, y1, x1], rows of float32[n, 4]: overlap, suppression, matching, and boxes through
// flips and crops.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

const LeafSpec& infer_boxes(const InferContext& context, int i) {
  const LeafSpec& boxes = context.tensor_of(i, DType::float32);
  const Shape& shape = boxes.shape;
  const bool good =
      !shape.has_rank() || (shape.rank() == 2 && (shape[1] == 4 || shape[1] == Shape::kUnknown));
  if (!good) context.fail(i, "is " + boxes.text() + ", expected float32[?, 4]: y0, x0, y1, x1");
  return boxes;
}

int64_t count_of(const char* op, const Tensor& boxes) {
  if (boxes.dims().rank() == 2 && boxes.dims()[1] == 4) return boxes.dims()[0];
  throw Error(Code::invalid_argument,
              std::string(op) + ": expected boxes [n, 4], got shape " + boxes.dims().text());
}

// Corners may come in either order; boxes without area overlap nothing.
float overlap(const float* a, const float* b) {
  const auto side = [](const float* box, int i) { return std::minmax(box[i], box[i + 2]); };
  const auto [ay0, ay1] = side(a, 0);
  const auto [ax0, ax1] = side(a, 1);
  const auto [by0, by1] = side(b, 0);
  const auto [bx0, bx1] = side(b, 1);
  const float area_a = (ay1 - ay0) * (ax1 - ax0), area_b = (by1 - by0) * (bx1 - bx0);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(0.0f, std::min(ay1, by1) - std::max(ay0, by0));
  const float width = std::max(0.0f, std::min(ax1, bx1) - std::max(ax0, bx0));
  const float both = height * width;
  return both / (area_a + area_b - both);
}

int64_t rows_of(const LeafSpec& type) {
  return type.shape.has_rank() ? type.shape[0] : Shape::kUnknown;
}

Spec infer_iou(const InferContext& context) {
  const LeafSpec &a = infer_boxes(context, 0), &b = infer_boxes(context, 1);
  return Spec::tensor(DType::float32, Shape{rows_of(a), rows_of(b)});
}

void iou_row(const RowCall& call) {
  const Tensor &a = call.inputs[0], &b = call.inputs[1];
  const int64_t rows = count_of("box_iou", a), columns = count_of("box_iou", b);
  auto* to = call.outputs[0].allocate_as<float>({rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      *to++ = overlap(a.entries<float>() + 4 * i, b.entries<float>() + 4 * j);
    }
  }
}

Spec infer_suppress(const InferContext& context) {
  infer_boxes(context, 0);
  context.tensor_of(1, DType::float32);
  context.check_rank(1, 1);
  check_number(context, 2);
  const double threshold = context.attrs["iou_threshold"].as_float();
  if (!(threshold >= 0 && threshold <= 1)) {
    throw TypeError{-1, "iou_threshold", "must be in [0, 1]"};
  }
  return Spec::tensor(DType::int32, Shape{Shape::kUnknown});
}

void suppress_row(const RowCall& call) {
  constexpr const char* kOp = "non_max_suppression";
  const float* boxes = call.inputs[0].entries<float>();
  const float* scores = call.inputs[1].entries<float>();
  const int64_t count = count_of(kOp, call.inputs[0]);
  if (call.inputs[1].entries_count() != count) {
    throw Error(Code::invalid_argument,
                std::string(kOp) + ": " + std::to_string(count) + " boxes but " +
                    std::to_string(call.inputs[1].entries_count()) + " scores");
  }
  const auto most = static_cast<size_t>(std::max<int64_t>(0, integer_at(call.inputs[2])));
  const auto threshold = static_cast<float>(call.attrs["iou_threshold"].as_float());
  const auto least = static_cast<float>(call.attrs["score_threshold"].as_float());
  ChargedVector<int32_t> order(static_cast<size_t>(count)), kept;
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int32_t i) { return !(scores[i] > least); });
  std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  for (const int32_t i : order) {
    if (kept.size() >= most) break;
    const bool covered = std::ranges::any_of(kept, [&](int32_t j) {
      return overlap(boxes + 4 * int64_t{i}, boxes + 4 * int64_t{j}) > threshold;
    });
    if (!covered) kept.push_back(i);
  }
  call.outputs[0].set(Tensor::vector<int32_t>(kept));
}

Spec infer_match(const InferContext& context) {
  const LeafSpec& similarity = context.tensor_of(0, DType::float32);
  context.check_rank(0, 2);
  return Spec::tensor(DType::int64, Shape{rows_of(similarity)});
}

// Bipartite first: each column's best row gets it, whatever the threshold.
void match_row(const RowCall& call) {
  const Tensor& similarity = call.inputs[0];
  const int64_t rows = similarity.dims()[0], columns = similarity.dims()[1];
  const float* values = similarity.entries<float>();
  const auto high = static_cast<float>(call.attrs["high"].as_float());
  const Attr& low_attr = call.attrs["low"];
  const float low = low_attr.is_none() ? high : static_cast<float>(low_attr.as_float());
  auto* to = call.outputs[0].allocate_as<int64_t>({rows});
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = values + i * columns;
    const float* best = std::max_element(row, row + columns);
    to[i] = columns == 0 || *best < low ? -1 : *best < high ? -2 : best - row;
  }
  if (!call.attrs["force"].as_bool() || rows == 0) return;
  for (int64_t j = 0; j < columns; ++j) {
    int64_t best = 0;
    for (int64_t i = 1; i < rows; ++i) {
      if (values[i * columns + j] > values[best * columns + j]) best = i;
    }
    if (values[best * columns + j] > 0) to[best] = j;
  }
}

template <int kAxis>
void flip_row(const RowCall& call) {
  const Tensor& boxes = call.inputs[0];
  const int64_t count = count_of("flip_boxes", boxes);
  auto* to = call.outputs[0].allocate_as<float>({count, 4});
  std::copy_n(boxes.entries<float>(), 4 * count, to);
  for (int64_t i = 0; i < count; ++i, to += 4) {
    const float first = to[kAxis];
    to[kAxis] = 1 - to[kAxis + 2];
    to[kAxis + 2] = 1 - first;
  }
}

Spec infer_crop(const InferContext& context) {
  const LeafSpec& boxes = infer_boxes(context, 0);
  const LeafSpec& window = context.tensor_of(1, DType::float32);
  if (window.shape.has_rank() && window.shape.rank() != 1) {
    context.fail(1, "is " + window.text() + ", expected float32[4]: y0, x0, y1, x1");
  }
  return Spec::tensor(DType::float32, Shape{rows_of(boxes), 4});
}

void crop_row(const RowCall& call) {
  const Tensor &boxes = call.inputs[0], &window = call.inputs[1];
  const int64_t count = count_of("crop_boxes", boxes);
  const float* w = window.entries<float>();
  if (window.entries_count() != 4 || !(w[2] > w[0]) || !(w[3] > w[1])) {
    throw Error(Code::invalid_argument,
                "crop_boxes: window must be y0, x0, y1, x1 with an area, got shape " +
                    window.dims().text());
  }
  const bool clip = call.attrs["clip"].as_bool();
  auto* to = call.outputs[0].allocate_as<float>({count, 4});
  for (int64_t i = 0; i < 4 * count; ++i) {
    const int axis = static_cast<int>(i % 2);
    const float value = (boxes.entries<float>()[i] - w[axis]) / (w[axis + 2] - w[axis]);
    to[i] = clip ? std::clamp(value, 0.0f, 1.0f) : value;
  }
}

Spec infer_same_boxes(const InferContext& context) { return Spec::of(infer_boxes(context, 0)); }

}  // namespace

void add_box_ops(OpRegistry* registry) {
  const Param boxes = required("boxes", Param::Kind::tensor);
  const auto add = [registry](const char* name, std::vector<Param> params, const char* doc,
                              Spec (*infer)(const InferContext&), RowKernel row, double cost_ns) {
    OpDef op = image_op(name, std::move(params), doc, infer, row, cost_ns);
    op.large_rows = false;
    registry->add(std::move(op));
  };
  add("box_iou", {boxes, required("others", Param::Kind::tensor)},
      "Intersection over union of each box [y0, x0, y1, x1] with each of the others.", infer_iou,
      iou_row, 2000);
  add("non_max_suppression",
      {boxes, required("scores", Param::Kind::tensor),
       required("max_output_size", Param::Kind::tensor),
       option("iou_threshold", Param::Kind::floating, Attr::floating(0.5)),
       option("score_threshold", Param::Kind::floating, Attr::floating(-INFINITY))},
      "Places of the boxes by falling score that overlap no better one by more than "
      "iou_threshold.",
      infer_suppress, suppress_row, 5000);
  add("match_boxes",
      {required("similarity", Param::Kind::tensor),
       option("high", Param::Kind::floating, Attr::floating(0.5)),
       option("low", Param::Kind::any, {}),
       option("force", Param::Kind::boolean, Attr::boolean(true))},
      "For each row its best column when at least high, -1 below low, -2 between; force: each "
      "column's best row gets it.",
      infer_match, match_row, 5000);
  add("flip_boxes_left_right", {boxes}, "Boxes in [0, 1] of the mirrored image.", infer_same_boxes,
      flip_row<1>, 100);
  add("flip_boxes_up_down", {boxes}, "Boxes in [0, 1] of the image upside down.", infer_same_boxes,
      flip_row<0>, 100);
  add("crop_boxes",
      {boxes, required("window", Param::Kind::tensor),
       option("clip", Param::Kind::boolean, Attr::boolean(true))},
      "Boxes seen from a window [y0, x0, y1, x1] of the image; clip: cut at its border.",
      infer_crop, crop_row, 100);
}

}  // namespace penstock
