// match_anchors: match_boxes(box_iou(anchors, boxes)) without the table of overlaps, which for the
// anchors of five levels is larger than the picture.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/wide.h"
#include "data/charged.h"
#include "functions/kernels/image/image_ops.h"

namespace penstock {
namespace {

// So many anchors at once that all of this stays in the first cache.
constexpr int64_t kTile = 1024;
constexpr int64_t kLanes = 16;

// Anchors side by side, corners in order.
struct Tile {
  alignas(64) std::array<float, kTile> y0, x0, y1, x1, area, overlap, best;
  alignas(64) std::array<int32_t, kTile> place;
};

void load(const float* boxes, int64_t count, Tile* t) {
  for (int64_t i = 0; i < kTile; ++i) {
    const auto at = static_cast<size_t>(i);
    const float* b = boxes + 4 * std::min(i, count - 1);
    t->y0[at] = std::min(b[0], b[2]);
    t->y1[at] = std::max(b[0], b[2]);
    t->x0[at] = std::min(b[1], b[3]);
    t->x1[at] = std::max(b[1], b[3]);
    t->area[at] = (t->y1[at] - t->y0[at]) * (t->x1[at] - t->x0[at]);
    t->best[at] = -1;
    t->place[at] = 0;
  }
}

// The arithmetic of box_iou with one box, and the best box of each anchor so far.
PENSTOCK_WIDE void compare(Tile* tile, const float* b, int32_t place) {
  const float y0 = std::min(b[0], b[2]), y1 = std::max(b[0], b[2]);
  const float x0 = std::min(b[1], b[3]), x1 = std::max(b[1], b[3]);
  const float area = (y1 - y0) * (x1 - x0);
  Tile& t = *tile;
  for (size_t i = 0; i < kTile; ++i) {
    const float bottom = t.y1[i] < y1 ? t.y1[i] : y1, top = t.y0[i] < y0 ? y0 : t.y0[i];
    const float right = t.x1[i] < x1 ? t.x1[i] : x1, left = t.x0[i] < x0 ? x0 : t.x0[i];
    const float height = bottom - top, width = right - left;
    const float both = (height > 0 ? height : 0.0f) * (width > 0 ? width : 0.0f);
    const float ratio = both / (t.area[i] + area - both);
    const float overlap = ((t.area[i] <= 0) | (area <= 0)) ? 0.0f : ratio;
    t.overlap[i] = overlap;
    const bool better = overlap > t.best[i];
    t.best[i] = better ? overlap : t.best[i];
    t.place[i] = better ? place : t.place[i];
  }
}

PENSTOCK_WIDE float largest(const Tile& t) {
  std::array<float, kLanes> lanes;
  lanes.fill(-1);
  for (size_t i = 0; i < kTile; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k)
      lanes[k] = t.overlap[i + k] > lanes[k] ? t.overlap[i + k] : lanes[k];
  }
  return *std::ranges::max_element(lanes);
}

int64_t rows_of(const LeafSpec& type) {
  return type.shape.has_rank() ? type.shape[0] : Shape::kUnknown;
}

Spec infer(const InferContext& context) {
  for (int i = 0; i < 2; ++i) {
    const LeafSpec& boxes = context.tensor_of(i, DType::float32);
    const Shape& shape = boxes.shape;
    const bool good =
        !shape.has_rank() || (shape.rank() == 2 && (shape[1] == 4 || shape[1] == Shape::kUnknown));
    if (!good) context.fail(i, "is " + boxes.text() + ", expected float32[?, 4]: y0, x0, y1, x1");
  }
  return Spec::tensor(DType::int64, Shape{rows_of(context.tensor(0))});
}

int64_t count_of(const Tensor& boxes) {
  if (boxes.dims().rank() == 2 && boxes.dims()[1] == 4) return boxes.dims()[0];
  throw Error(Code::invalid_argument,
              "match_anchors: expected boxes [n, 4], got shape " + boxes.dims().text());
}

void match_row(const RowCall& call) {
  const Tensor &anchors = call.inputs[0], &boxes = call.inputs[1];
  const int64_t rows = count_of(anchors), columns = count_of(boxes);
  const auto high = static_cast<float>(call.attrs["high"].as_float());
  const Attr& low_attr = call.attrs["low"];
  const float low = low_attr.is_none() ? high : static_cast<float>(low_attr.as_float());
  auto* to = call.outputs[0].allocate_as<int64_t>({rows});
  // Of each box: its best anchor and how much that overlaps.
  ChargedVector<float> most(static_cast<size_t>(columns), 0.0f);
  ChargedVector<int64_t> at(static_cast<size_t>(columns), -1);
  const auto tile = std::make_unique<Tile>();
  for (int64_t first = 0; first < rows; first += kTile) {
    const int64_t count = std::min(kTile, rows - first);
    load(anchors.entries<float>() + 4 * first, count, tile.get());
    for (int64_t j = 0; j < columns; ++j) {
      const auto box = static_cast<size_t>(j);
      compare(tile.get(), boxes.entries<float>() + 4 * j, static_cast<int32_t>(j));
      const float here = largest(*tile);
      if (!(here > most[box])) continue;
      most[box] = here;
      at[box] = first + (std::ranges::find(tile->overlap, here) - tile->overlap.begin());
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto a = static_cast<size_t>(i);
      const float best = tile->best[a];
      to[first + i] = columns == 0 || best < low ? -1 : best < high ? -2 : tile->place[a];
    }
  }
  if (!call.attrs["force"].as_bool()) return;
  for (size_t j = 0; j < at.size(); ++j) {
    if (at[j] >= 0) to[at[j]] = static_cast<int64_t>(j);
  }
}

}  // namespace

void add_match_anchors_op(OpRegistry* registry) {
  OpDef op =
      image_op("match_anchors",
               {required("anchors", Param::Kind::tensor), required("boxes", Param::Kind::tensor),
                option("high", Param::Kind::floating, Attr::floating(0.5)),
                option("low", Param::Kind::any, {}),
                option("force", Param::Kind::boolean, Attr::boolean(true))},
               "match_boxes(box_iou(anchors, boxes)) in one pass: the box of each anchor "
               "[y0, x0, y1, x1] that overlaps by at least high, -1 below low, -2 between.",
               infer, match_row, 1e5);
  op.large_rows = false;
  registry->add(std::move(op));
}

}  // namespace penstock
