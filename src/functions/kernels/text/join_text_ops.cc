// Strings joined: join (entry by entry, or along the last axis), reduce_join,
// unsorted_segment_join.

#include <algorithm>
#include <array>

#include "data/charged.h"
#include "functions/kernels/math/broadcast.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

Spec infer_join(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs strings");
  Shape shape = context.tensor_of(0, DType::bytes).shape;
  if (context.inputs.size() == 1) {
    if (!shape.has_rank() || shape.rank() == 0) return Spec::tensor(DType::bytes, shape);
    std::vector<int64_t> sizes = shape.sizes();
    sizes.pop_back();
    return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
  }
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) {
    bool ok = true;
    shape = broadcast_shapes(shape, context.tensor_of(i, DType::bytes).shape, &ok);
    if (!ok)
      context.fail(i, "has shape " + context.tensor(i).shape.text() + ", which does not broadcast");
  }
  return Spec::tensor(DType::bytes, std::move(shape));
}

void join_row(const RowCall& call) {
  const std::string sep = call.attrs["sep"].as_string();
  const Tensor& first = call.inputs[0];
  Dims dims = first.dims();
  std::vector<Tensor> parts(call.inputs.begin(), call.inputs.end());
  int64_t length = static_cast<int64_t>(parts.size());
  const bool along_axis = parts.size() == 1 && dims.rank() > 0;
  if (along_axis) {
    length = dims[dims.rank() - 1];
    dims = Dims(dims.sizes().first(static_cast<size_t>(dims.rank() - 1)));
  }
  for (size_t i = 1; i < parts.size(); ++i) dims = broadcast_dims("join", dims, parts[i].dims());
  // Entry numbers of each part, broadcast.
  std::vector<ChargedVector<int64_t>> at(along_axis ? 0 : parts.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const std::array<Extents, 2> extents{Extents(parts[i].dims()), Extents(dims)};
    const auto plan = BroadcastPlan::make(extents);
    at[i].resize(static_cast<size_t>(dims.entries()));
    const int64_t step = plan->steps(0);
    plan->for_each_run([&](int64_t to, int64_t n, const auto& from) {
      for (int64_t k = 0; k < n; ++k) at[i][static_cast<size_t>(to + k)] = from[0] + k * step;
    });
  }
  StringWriter writer(dims.entries());
  for (int64_t e = 0; e < dims.entries(); ++e) {
    for (int64_t k = 0; k < length; ++k) {
      if (k > 0) writer.chars() += sep;
      const auto part = static_cast<size_t>(k);
      writer.chars() +=
          (along_axis ? first.entry<BytesView>(e * length + k)
                      : parts[part].entry<BytesView>(at[part][static_cast<size_t>(e)]))
              .view();
    }
    writer.finish_entry();
  }
  Tensor out = Tensor::make(DType::bytes, dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

// -- reduce_join: along the first of the axes first

std::vector<int64_t> axes_of(const Attrs& attrs, int rank) {
  if (!attrs["axis"].is_none()) return attr_ints(attrs["axis"]);
  std::vector<int64_t> all;  // bounded: axes
  for (int axis = rank; axis-- > 0;) all.push_back(axis);
  return all;
}

Spec infer_reduce_join(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (!context.attrs["axis"].is_none()) infer_ints(context, "axis");
  if (!type.shape.has_rank()) return Spec::tensor(DType::bytes, Shape::unknown_rank());
  const bool keep = context.attrs["keepdims"].as_bool();
  std::vector<bool> joined(static_cast<size_t>(type.shape.rank()), false);  // bounded: axes
  for (const int64_t axis : axes_of(context.attrs, type.shape.rank())) {
    const auto at = static_cast<size_t>(infer_axis(context, "axis", axis, type.shape.rank()));
    if (joined[at]) throw TypeError{-1, "axis", "names axis " + std::to_string(axis) + " twice"};
    joined[at] = true;
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i]) sizes.push_back(type.shape.sizes()[i]);
    if (joined[i] && keep) sizes.push_back(1);
  }
  return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
}

// How far apart neighbours along each axis are.
std::vector<int64_t> strides_of(const Dims& dims) {
  std::vector<int64_t> out(static_cast<size_t>(dims.rank()), 1);  // bounded: axes
  for (int i = dims.rank() - 1; i-- > 0;)
    out[static_cast<size_t>(i)] = out[static_cast<size_t>(i) + 1] * dims[i + 1];
  return out;
}

// Calls f(offset) for each index over `axes`, the last one fastest.
template <typename F>
void walk(const Dims& dims, const std::vector<int64_t>& strides, std::span<const int> axes,
          int64_t offset, F&& f) {
  if (axes.empty()) return f(offset);
  for (int64_t i = 0; i < dims[axes[0]]; ++i) {
    walk(dims, strides, axes.subspan(1), offset + i * strides[static_cast<size_t>(axes[0])], f);
  }
}

void reduce_join_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  const Dims& dims = in.dims();
  const std::string separator = call.attrs["separator"].as_string();
  std::vector<int> joined, kept;  // bounded: axes
  for (const int64_t axis : axes_of(call.attrs, dims.rank())) {
    const int at = row_axis("reduce_join", axis, dims.rank());
    if (std::ranges::find(joined, at) != joined.end())
      fail_row("reduce_join", "axis " + std::to_string(axis) + " is named twice");
    joined.insert(joined.begin(), at);
  }
  Dims out_dims;
  for (int i = 0; i < dims.rank(); ++i) {
    const bool join = std::ranges::find(joined, i) != joined.end();
    if (!join) kept.push_back(i);
    if (!join) out_dims.push_back(dims[i]);
    if (join && call.attrs["keepdims"].as_bool()) out_dims.push_back(1);
  }
  const std::vector<int64_t> strides = strides_of(dims);
  StringWriter writer(out_dims.entries());
  walk(dims, strides, kept, 0, [&](int64_t offset) {
    bool first = true;
    walk(dims, strides, joined, offset, [&](int64_t at) {
      if (!first) writer.chars() += separator;
      first = false;
      writer.chars() += in.entry<BytesView>(at).view();
    });
    writer.finish_entry();
  });
  Tensor out = Tensor::make(DType::bytes, out_dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

// -- unsorted_segment_join

Spec infer_segment_join(const InferContext& context) {
  context.tensor_of(0, DType::bytes);
  infer_integers(context, 1, -1);
  const int64_t n = context.attrs["num_segments"].as_int();
  if (n < 0) throw TypeError{-1, "num_segments", "must not be negative: " + std::to_string(n)};
  return Spec::tensor(DType::bytes, {n});
}

void segment_join_row(const RowCall& call) {
  const Tensor &in = call.inputs[0], &ids = call.inputs[1];
  const std::string separator = call.attrs["separator"].as_string();
  const int64_t n = call.attrs["num_segments"].as_int();
  if (in.dims() != ids.dims()) {
    fail_row("unsorted_segment_join",
             "strings of shape " + in.dims().text() + ", ids of " + ids.dims().text());
  }
  // Each segment's strings in a list: where it begins, and what follows each string.
  ChargedVector<int64_t> first(static_cast<size_t>(n), -1), last(first.size(), -1);
  ChargedVector<int64_t> next(static_cast<size_t>(in.entries_count()), -1);
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    const int64_t id = integer_at(ids, i);
    if (id < 0) continue;
    if (id >= n)
      fail_row("unsorted_segment_join",
               "segment " + std::to_string(id) + " of " + std::to_string(n));
    const auto at = static_cast<size_t>(id);
    (first[at] < 0 ? first[at] : next[static_cast<size_t>(last[at])]) = i;
    last[at] = i;
  }
  StringWriter writer(n);
  for (const int64_t begin : first) {
    for (int64_t i = begin; i >= 0; i = next[static_cast<size_t>(i)]) {
      if (i != begin) writer.chars() += separator;
      writer.chars() += in.entry<BytesView>(i).view();
    }
    writer.finish_entry();
  }
  Tensor out = Tensor::make(DType::bytes, {n});
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

OpDef join_op(std::string name, std::string doc, Spec (*infer)(const InferContext&),
              RowKernel row) {
  OpDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.can_fail = true;  // shapes that were not known at build
  op.cost_ns = 150;
  op.group = "text";
  return op;
}

}  // namespace

void add_join_text_ops(OpRegistry* registry) {
  OpDef join =
      join_op("join", "strings joined entry by entry; one tensor alone along its last axis",
              infer_join, join_row);
  join.params = {required("parts", Param::Kind::tensors),
                 option("sep", Param::Kind::text, Attr::text(""))};
  join.lifts_ragged = true;
  registry->add(std::move(join));
  OpDef reduce = join_op("reduce_join", "s joined along the axes (none: all), in their order",
                         infer_reduce_join, reduce_join_row);
  reduce.params = {required("s", Param::Kind::tensor), optional("axis", Param::Kind::any, {}),
                   option("separator", Param::Kind::text, Attr::text("")),
                   option("keepdims", Param::Kind::boolean, Attr::boolean(false))};
  registry->add(std::move(reduce));
  OpDef segments = join_op("unsorted_segment_join",
                           "the strings of each of num_segments ids joined; negative ids are left "
                           "out",
                           infer_segment_join, segment_join_row);
  segments.params = {required("s", Param::Kind::tensor), required("ids", Param::Kind::tensor),
                     required("num_segments", Param::Kind::integer),
                     option("separator", Param::Kind::text, Attr::text(""))};
  registry->add(std::move(segments));
}

}  // namespace penstock
