#include "functions/kernels/text/string_lists.h"

#include "data/charged.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/string_map.h"

namespace penstock {
namespace {

size_t size_of(const ListParts& parts, DType dtype) {
  if (dtype == DType::bytes) return parts.strings.size();
  return dtype == DType::int32 ? parts.codes.size() : parts.offsets.size();
}

void truncate(ListParts* parts, size_t size) {
  parts->strings.resize(std::min(parts->strings.size(), size));
  parts->codes.resize(std::min(parts->codes.size(), size));
  parts->offsets.resize(std::min(parts->offsets.size(), size));
}

Tensor values_of(const ListParts& parts, DType dtype, const StringLists& lists,
                 const BufferRef& texts) {
  if (dtype == DType::int32) return Tensor::vector<int32_t>(parts.codes);
  if (dtype == DType::int64) return Tensor::vector<int64_t>(parts.offsets);
  Tensor out = Tensor::vector<BytesView>(parts.strings);
  share_strings(&out.mutable_buffer(), texts, DType::bytes);
  if (lists.kept()) out.mutable_buffer().keep(*lists.kept());
  return out;
}

// Splits that cut the axes of a dense tensor: what makes it ragged.
std::vector<Tensor> uniform_splits(const Dims& dims) {
  std::vector<Tensor> out;
  int64_t outer = dims.rank() > 0 ? dims[0] : 1;
  for (int axis = 1; axis < dims.rank(); ++axis) {
    ChargedVector<int64_t> splits;
    for (int64_t i = 0; i <= outer; ++i) splits.push_back(i * dims[axis]);
    out.push_back(Tensor::vector<int64_t>(splits));
    outer *= dims[axis];
  }
  return out;
}

}  // namespace

LeafSpec infer_lists(const InferContext& context, DType dtype) {
  const LeafSpec& type = context.inputs[0].type;
  if (type.kind == LeafSpec::Kind::ragged && type.dtype == DType::bytes) {
    std::vector<int64_t> sizes = type.shape.sizes();
    sizes.push_back(Shape::kUnknown);
    return ragged_leaf(dtype, Shape(std::move(sizes)), static_cast<int>(type.shape.rank()));
  }
  context.tensor_of(0, DType::bytes);
  if (!type.shape.has_rank()) {
    context.fail(0, "is " + type.text() + ", expected a known rank; say it: reshape(x, [])");
  }
  if (type.shape.is_scalar()) return LeafSpec::tensor(dtype, {Shape::kUnknown});
  std::vector<int64_t> sizes{type.shape[0]};
  sizes.resize(type.shape.sizes().size() + 1, Shape::kUnknown);
  return ragged_leaf(dtype, Shape(std::move(sizes)), type.shape.rank());
}

void string_lists_row(const RowCall& call) {
  const auto& lists = *static_cast<const StringLists*>(call.state);
  const RaggedTensor* ragged = as_ragged(call.inputs[0]);
  const Tensor& in = ragged ? ragged->values() : call.inputs[0];
  const DType first = call.outputs[0].dtype();
  ListParts parts;
  ChargedVector<int64_t> splits{0};
  for (int64_t i = 0; i < in.entries_count(); ++i) {
    lists.append(in.entry<BytesView>(i).view(), &parts);
    splits.push_back(static_cast<int64_t>(size_of(parts, first)));
  }
  std::vector<Tensor> axes = ragged ? ragged->splits() : std::vector<Tensor>();
  for (Tensor& uniform : uniform_splits(in.dims())) axes.push_back(std::move(uniform));
  axes.push_back(Tensor::vector<int64_t>(splits));
  for (OutputSlot& slot : call.outputs) {
    Tensor values = values_of(parts, slot.dtype(), lists, in.buffer());
    slot.set(in.dims().rank() == 0 && !ragged ? std::move(values)
                                              : make_ragged(axes, std::move(values)));
  }
}

bool string_lists_block(const BlockCall& call) {
  const auto& lists = *static_cast<const StringLists*>(call.state);
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense || in.row_dims().rank() != 0) return false;
  const auto* texts = in.entries<BytesView>();
  const DType first = call.output_dtypes[0];
  BufferRef splits = allocate_buffer((call.rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
  auto* offsets = reinterpret_cast<int64_t*>(splits.data());
  ListParts parts;
  offsets[0] = 0;
  for (int64_t row = 0; row < call.rows; ++row) {
    if (!guard_row(call, row, [&] { lists.append(texts[row].view(), &parts); }))
      truncate(&parts, static_cast<size_t>(offsets[row]));
    offsets[row + 1] = static_cast<int64_t>(size_of(parts, first));
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    call.outputs[i] = Column::ragged(values_of(parts, call.output_dtypes[i], lists, in.buffer()),
                                     splits, call.rows);
  }
  return true;
}

OpDef string_lists_op(std::string name, std::string doc, std::vector<Param> params,
                      std::vector<DType> outputs,
                      std::shared_ptr<const StringLists> (*make)(const Attrs&)) {
  OpDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.params = {required("s", Param::Kind::tensor)};
  op.params.insert(op.params.end(), params.begin(), params.end());
  op.infer = [outputs](const InferContext& context) {
    std::vector<Spec> items;
    for (const DType dtype : outputs) items.push_back(Spec::of(infer_lists(context, dtype)));
    return items.size() == 1 ? items[0] : Spec::tuple(std::move(items));
  };
  op.row = string_lists_row;
  op.block = string_lists_block;
  op.prepare = [make](const Attrs& attrs) -> std::shared_ptr<const void> { return make(attrs); };
  op.cost_ns = 300;
  op.group = "text";
  return op;
}

}  // namespace penstock
