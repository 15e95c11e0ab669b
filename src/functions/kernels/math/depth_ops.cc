// space_to_depth, depth_to_space: square blocks of pixels as channels, and back.

#include "data/checked_product.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// The sizes after the move of [..., height, width, channels]; -1 stays. Throws a message.
template <typename Sizes>
void move_blocks(Sizes* sizes, int rank, int64_t block, bool to_depth) {
  if (block < 2) throw "block_size must be 2 or more: " + std::to_string(block);
  constexpr int64_t kMostBlock = 1 << 20;
  if (block > kMostBlock) throw "block_size is too large: " + std::to_string(block);
  if (rank < 3) throw std::string("expected [..., height, width, channels]");
  const auto divide = [&](int axis, int64_t by) {
    int64_t& size = (*sizes)[static_cast<size_t>(rank - axis)];
    if (size >= 0 && size % by != 0)
      throw "size " + std::to_string(size) + " is no multiple of " + std::to_string(by);
    if (size >= 0) size /= by;
  };
  const auto multiply = [&](int axis, int64_t by) {
    int64_t& size = (*sizes)[static_cast<size_t>(rank - axis)];
    if (size >= 0) size = checked_product({size, by});
  };
  if (to_depth) {
    divide(3, block);
    divide(2, block);
    multiply(1, block * block);
  } else {
    divide(1, block * block);
    multiply(3, block);
    multiply(2, block);
  }
}

template <bool to_depth>
Spec infer(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  if (!type.shape.has_rank()) return Spec::tensor(type.dtype, type.shape);
  std::vector<int64_t> sizes = type.shape.sizes();
  try {
    move_blocks(&sizes, type.shape.rank(), context.attrs["block_size"].as_int(), to_depth);
  } catch (const std::string& what) {
    context.fail(0, "is " + type.text() + ": " + what);
  }
  return Spec::tensor(type.dtype, Shape(std::move(sizes)));
}

template <bool to_depth>
void run_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  const Dims& dims = x.dims();
  const int rank = dims.rank();
  const int64_t block = call.attrs["block_size"].as_int();
  std::vector<int64_t> sizes(dims.sizes().begin(), dims.sizes().end());
  try {
    move_blocks(&sizes, rank, block, to_depth);
  } catch (const std::string& what) {
    fail_row(to_depth ? "space_to_depth" : "depth_to_space", what + ": shape " + dims.text());
  }
  const StridedView all = StridedView::of(dims);
  StridedView view;
  for (int i = 0; i + 3 < rank; ++i) view.push_back(dims[i], all.stride[static_cast<size_t>(i)]);
  const int64_t y = all.stride[static_cast<size_t>(rank - 3)],
                x_step = all.stride[static_cast<size_t>(rank - 2)], channels = dims[rank - 1];
  if (to_depth) {
    view.push_back(dims[rank - 3] / block, y * block);
    view.push_back(dims[rank - 2] / block, x_step * block);
    view.push_back(block, y);
    view.push_back(block, x_step);
    view.push_back(channels, 1);
  } else {
    const int64_t depth = channels / (block * block);
    view.push_back(dims[rank - 3], y);
    view.push_back(block, depth * block);
    view.push_back(dims[rank - 2], x_step);
    view.push_back(block, depth);
    view.push_back(depth, 1);
  }
  set_strided(&call.outputs[0], x, view, Dims(std::span<const int64_t>(sizes)));
}

}  // namespace

void add_depth_ops(OpRegistry* registry) {
  const auto params = [] {
    return std::vector<Param>{tensor_param("x"), required("block_size", Param::Kind::integer)};
  };
  registry->add(op_def("space_to_depth", "square blocks of pixels as channels of one pixel",
                       params(), infer<true>, run_row<true>, {"shape", 200, true}));
  registry->add(op_def("depth_to_space", "channels as square blocks of pixels", params(),
                       infer<false>, run_row<false>, {"shape", 200, true}));
}

}  // namespace penstock
