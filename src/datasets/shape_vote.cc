#include "datasets/shape_vote.h"

#include <algorithm>

#include "data/object_list.h"
#include "data/ragged.h"

namespace penstock {
namespace {

bool leaves_open(const LeafSpec& leaf) {
  const Shape& shape = leaf.shape;
  switch (leaf.kind) {
    case LeafSpec::Kind::tensor:
    case LeafSpec::Kind::dataset: return !shape.is_static();
    case LeafSpec::Kind::sparse: return !shape.has_rank();
    case LeafSpec::Kind::ragged:
      return !shape.has_rank() ||
             std::any_of(shape.sizes().begin() + leaf.ragged_rank + 1, shape.sizes().end(),
                         [](int64_t size) { return size < 0; });
    case LeafSpec::Kind::optional: break;
  }
  return false;
}

Dims without_axes(Dims dims, int axes) {
  for (; axes > 0 && dims.rank() > 0; --axes) dims = dims.without_front();
  return dims;
}

Dims dims_in_batch(const LeafSpec& leaf, const Column& column, int64_t row) {
  if (column.kind() == Column::Kind::object || column.kind() == Column::Kind::constant) {
    const Tensor value = column.row(row);
    if (const RaggedTensor* ragged = as_ragged(value))
      return ragged->values().dims().without_front();
    if (const SparseTensor* sparse = as_sparse(value)) return Dims{sparse->shape().entries_count()};
    if (const auto* list = dynamic_cast<const ObjectList*>(value.object().get()))
      return list->dims();
    if (value.object()) return {};
  }
  const Dims dims = column.dims_of(row);
  return leaf.kind == LeafSpec::Kind::ragged ? without_axes(dims, leaf.ragged_rank + 1) : dims;
}

std::string text_of(const RowShapes::Shapes& shapes) {
  if (shapes.size() == 1) return shapes[0].text();
  std::string out = "(";
  for (size_t i = 0; i < shapes.size(); ++i) out += (i ? ", " : "") + shapes[i].text();
  return out + ")";
}

ErrorPtr misfit_error(const RowShapes::Shapes& own, const RowShapes::Shapes& others) {
  return std::make_shared<const Error>(Code::invalid_argument,
                                       "an element has shape " + text_of(own) +
                                           ", the others of its batch " + text_of(others) +
                                           "; use padded_batch");
}

}  // namespace

RowShapes::RowShapes(const std::vector<LeafSpec>& leaves) {
  for (size_t c = 0; c < leaves.size(); ++c) {
    if (leaves_open(leaves[c])) looked_at_.push_back({c, leaves[c]});
  }
}

RowShapes::Shapes RowShapes::of(const Block& rows, int64_t row) const {
  Shapes out;
  for (const Component& c : looked_at_)
    out.push_back(dims_in_batch(c.leaf, rows.columns[c.column], row));
  return out;
}

int64_t RowShapes::run(const Block& rows, int64_t row, const Shapes& shapes) const {
  int64_t end = rows.rows;
  for (size_t i = 0; i < looked_at_.size(); ++i) {
    const Component& c = looked_at_[i];
    const Column& column = rows.columns[c.column];
    const bool uniform =
        column.kind() == Column::Kind::dense || column.kind() == Column::Kind::constant;
    int64_t at = row;
    if (uniform) {
      if (dims_in_batch(c.leaf, column, at) == shapes[i]) at = end;
    } else {
      while (at < end && dims_in_batch(c.leaf, column, at) == shapes[i]) ++at;
    }
    end = at;
  }
  return end - row;
}

bool RowShapes::agree(const Block& rows, std::span<const int64_t> groups) const {
  if (!may_differ()) return true;
  int64_t at = 0, run_end = 0;
  for (const int64_t count : groups) {
    const int64_t end = at + count;
    if (run_end < end) run_end = at + run(rows, at, of(rows, at));
    if (run_end < end) return false;
    at = end;
  }
  return true;
}

bool ShapeVote::Less::operator()(const RowShapes::Shapes& a, const RowShapes::Shapes& b) const {
  return std::ranges::lexicographical_compare(a, b, [](const Dims& x, const Dims& y) {
    return std::ranges::lexicographical_compare(x.sizes(), y.sizes());
  });
}

void ShapeVote::add(const RowShapes::Shapes& shapes, int64_t rows) {
  if (rows == 0) return;
  const size_t id = known_.emplace(shapes, shapes_.size()).first->second;
  if (id == shapes_.size()) {
    shapes_.push_back(shapes);
    counts_.push_back(0);
  }
  counts_[id] += rows;
  ids_.insert(ids_.end(), static_cast<size_t>(rows), id);
  if (counts_[id] > counts_[leader_] || (counts_[id] == counts_[leader_] && id < leader_))
    leader_ = id;
}

ShapeVote::Verdict ShapeVote::decide() {
  Verdict out;
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] == leader_) {
      out.kept.push_back(static_cast<int32_t>(i));
    } else {
      out.misfits.push_back(
          {static_cast<int64_t>(i), misfit_error(shapes_[ids_[i]], shapes_[leader_])});
    }
  }
  known_.clear();
  shapes_.clear();
  counts_.clear();
  ids_.clear();
  leader_ = 0;
  return out;
}

}  // namespace penstock
