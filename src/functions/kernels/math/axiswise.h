// Ops that make, line by line along one axis, a line of as many entries: cumsum, softmax, sort.
// Rows of a block are one more axis in front.
#pragma once

#include <string>
#include <string_view>

#include "functions/kernels/math/around.h"
#include "functions/op.h"

namespace penstock {

// Halves come and go as float32.
struct AxisCall {
  DType dtype;
  const std::byte* in;
  std::byte* out;
  Around around;
  const Attrs& attrs;
};

struct AxisKernel {
  std::string_view name;
  void (*run)(const AxisCall& call);
};

void run_axis_row(const AxisKernel& kernel, const RowCall& call);
bool run_axis_block(const AxisKernel& kernel, const BlockCall& call);

template <const AxisKernel& kernel>
void axis_row(const RowCall& call) {
  run_axis_row(kernel, call);
}
template <const AxisKernel& kernel>
bool axis_block(const BlockCall& call) {
  return run_axis_block(kernel, call);
}

// Numbers (or, with `bytes`, strings) of any shape that has the axis; gives their dtype and shape.
Spec infer_axiswise(const InferContext& context, bool bytes = false);

// An op of x, axis and `options`.
OpDef axis_op(const AxisKernel& kernel, std::string doc, int64_t axis, std::vector<Param> options,
              RowKernel row, BlockKernel block);
template <const AxisKernel& kernel>
OpDef axis_op(std::string doc, int64_t axis, std::vector<Param> options = {}) {
  return axis_op(kernel, std::move(doc), axis, std::move(options), axis_row<kernel>,
                 axis_block<kernel>);
}

}  // namespace penstock
