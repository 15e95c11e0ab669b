#include "functions/kernels/control/control.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "data/ragged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {

std::vector<Spec> control_structures(const OpDef& op, std::span<const FunctionPtr> bodies) {
  const Spec& input = bodies[0]->input;
  if (!op.loop.items || !op.loop.state) return {input};
  return {input.items[1], input.items[0]};  // x, init; the body takes (state, item)
}

LeafSpec axis_item_leaf(const LeafSpec& leaf) {
  if (leaf.kind == LeafSpec::Kind::ragged) {
    LeafSpec out = leaf;
    out.shape = leaf.shape.without_front();
    if (--out.ragged_rank == 0) out.kind = LeafSpec::Kind::tensor;
    return out;
  }
  if (!leaf.is_tensor() || leaf.shape.is_scalar())
    throw "is " + leaf.text() + ", expected a tensor of items along an axis";
  return LeafSpec::tensor(leaf.dtype, leaf.shape.without_front());
}

Spec item_spec(const Spec& spec) {
  std::vector<LeafSpec> leaves = spec.leaves();
  if (leaves.empty()) throw std::string("holds no tensor");
  for (LeafSpec& leaf : leaves) leaf = axis_item_leaf(leaf);
  return spec.with_leaves(leaves);
}

namespace {

// Items whose first size alone is unknown become ragged, all others one tensor.
bool stacks(const LeafSpec& item) {
  if (!item.is_tensor()) return false;
  return item.shape.is_static() || !item.shape.without_front().is_static();
}

}  // namespace

LeafSpec collected_leaf(const LeafSpec& item, int64_t items) {
  if (item.kind == LeafSpec::Kind::ragged)
    return ragged_leaf(item.dtype, item.shape.with_front(items), item.ragged_rank + 1);
  if (!item.is_tensor()) throw "gives " + item.text() + ", expected tensors";
  if (item.shape.is_static()) return LeafSpec::tensor(item.dtype, item.shape.with_front(items));
  if (!item.shape.has_rank())
    throw "gives " + item.text() + ": the rank must be known to put items together; reshape them";
  if (stacks(item)) return LeafSpec::tensor(item.dtype, item.shape.with_front(items));
  return ragged_leaf(item.dtype, item.shape.with_front(items), 1);
}

RowId in_round(const RowId& row, int64_t round) {
  RowId out = row;
  const auto next = static_cast<uint64_t>(round + 1);
  out.round = static_cast<uint32_t>(row.round == 0 ? next : mix(row.round, next));
  return out;
}

Items::Items(std::string_view op, std::span<const Tensor> leaves) : leaves_(leaves) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    const RaggedTensor* ragged = as_ragged(leaves[i]);
    if (!ragged && leaves[i].dims().rank() == 0) fail_row(op, "a scalar has no items");
    const int64_t n = ragged ? ragged->rows() : leaves[i].dims()[0];
    if (i > 0 && n != count_) {
      fail_row(op, "the tensors must have as many items: " + std::to_string(count_) + " and " +
                       std::to_string(n));
    }
    count_ = n;
  }
}

void Items::append(int64_t i, std::vector<Tensor>* out) const {
  for (const Tensor& leaf : leaves_) {
    const RaggedTensor* ragged = as_ragged(leaf);
    out->push_back(ragged ? ragged_row(*ragged, i) : leaf.item(i));
  }
}

void Collector::add(std::string_view op, Tensor value) {
  if (item_.is_tensor() && !item_.shape.admits(value.dims())) {
    fail_row(op, "an item has shape " + value.dims().text() + ", expected " + item_.shape.text());
  }
  if (stacks(item_) && !values_.empty() && value.dims() != values_[0].dims()) {
    fail_row(op, "an item has shape " + value.dims().text() + ", the first one " +
                     values_[0].dims().text() + ": to stack them, bring them to one shape");
  }
  values_.push_back(std::move(value));
}

void Collector::finish(OutputSlot* slot) {
  if (stacks(item_)) return finish_dense(slot);
  finish_ragged(slot);
}

void Collector::finish_dense(OutputSlot* slot) const {
  const auto count = static_cast<int64_t>(values_.size());
  Dims dims{count};  // sizes that no item tells are 0
  for (const int64_t size : item_.shape.sizes()) dims.push_back(std::max<int64_t>(size, 0));
  if (count > 0) dims = values_[0].dims().with_front(count);
  check_size("map_fn", dims, item_.dtype);
  std::byte* out = slot->allocate(dims);
  for (const Tensor& value : values_) {
    if (value.data_bytes() == 0) continue;
    std::memcpy(out, value.data(), static_cast<size_t>(value.data_bytes()));
    out += value.data_bytes();
    share_strings(slot, value);
  }
}

void Collector::finish_ragged(OutputSlot* slot) const {
  const auto inner_rank =
      static_cast<size_t>(item_.kind == LeafSpec::Kind::ragged ? item_.ragged_rank : 0);
  std::vector<ChargedVector<int64_t>> ends(inner_rank + 1, {0});  // bounded: axes
  int64_t count = 0;
  std::vector<const Tensor*> pieces;
  for (const Tensor& value : values_) {
    const RaggedTensor* ragged = as_ragged(value);
    ends[0].push_back(ends[0].back() + (ragged ? ragged->rows() : value.dims()[0]));
    for (size_t axis = 0; ragged && axis < inner_rank; ++axis) {
      const Tensor& splits = ragged->splits()[axis];
      const int64_t base = ends[axis + 1].back();
      for (int64_t i = 1; i < splits.entries_count(); ++i)
        ends[axis + 1].push_back(base + splits.entry<int64_t>(i));
    }
    pieces.push_back(ragged ? &ragged->values() : &value);
    count += pieces.back()->dims()[0];
  }
  std::vector<int64_t> sizes = item_.shape.sizes();
  sizes.erase(sizes.begin(), sizes.begin() + static_cast<int64_t>(inner_rank));
  sizes[0] = count;
  Tensor all = Tensor::make(item_.dtype, Dims(std::span<const int64_t>(sizes)));
  std::byte* out = all.mutable_data();
  for (const Tensor* piece : pieces) {
    if (piece->data_bytes() == 0) continue;
    std::memcpy(out, piece->data(), static_cast<size_t>(piece->data_bytes()));
    out += piece->data_bytes();
    share_strings(&all.mutable_buffer(), piece->buffer(), item_.dtype);
  }
  std::vector<Tensor> splits;
  for (const ChargedVector<int64_t>& e : ends)
    splits.push_back(Tensor::vector<int64_t>(std::span(e)));
  slot->set(make_ragged(std::move(splits), std::move(all)));
}

}  // namespace penstock
