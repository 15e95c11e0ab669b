// x[i], x[1:3], x[:, -2:] of a ragged tensor.

#include <algorithm>
#include <functional>

#include "data/charged.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/ragged/ragged_family.h"
#include "functions/kernels/ragged/ragged_rows.h"

namespace penstock {
namespace {

struct Slice {
  Attr begin, end, step;

  // The items of n that it takes, as Python does.
  void append_items(int64_t base, int64_t n, ChargedVector<int64_t>* out) const {
    const int64_t by = step.is_none() ? 1 : step.as_int();
    if (by == 0) fail_row("subscript", "the step of a slice must not be zero: 0");
    auto bound = [&](const Attr& a, int64_t otherwise) {
      if (a.is_none()) return otherwise;
      const int64_t v = a.as_int() < 0 ? a.as_int() + n : a.as_int();
      return std::clamp<int64_t>(v, by > 0 ? 0 : -1, by > 0 ? n : n - 1);
    };
    const int64_t first = bound(begin, by > 0 ? 0 : n - 1), last = bound(end, by > 0 ? n : -1);
    for (int64_t i = first; by > 0 ? i < last : i > last; i += by) out->push_back(base + i);
  }
};

// At most an index or a slice of rows, then a slice of the entries of each row.
struct RaggedPieces {
  Attr row;  // not none: an index
  Slice rows;
  bool cuts_rows = false;
  Slice inner;
};

[[noreturn]] void refuse(const std::string& what) { throw TypeError{-1, "pieces", what}; }

// The next of the inputs behind the tensor for each piece that was no constant.
class PieceReader {
 public:
  explicit PieceReader(std::function<Attr(size_t)> dynamic) : dynamic_(std::move(dynamic)) {}
  Attr read(const Attr& a) {
    if (a.is_none()) return a;
    if (!a.is_tensor()) refuse("must be integers for a ragged tensor");
    return a.tensor().dtype() == DType::bytes ? dynamic_(next_++) : a;
  }

 private:
  std::function<Attr(size_t)> dynamic_;
  size_t next_ = 1;
};

Slice slice_of(const Attr& piece, PieceReader* reader) {
  const auto& fields = piece.items();
  Slice out;
  out.begin = reader->read(fields.at(1));
  out.end = reader->read(fields.at(2));
  out.step = reader->read(fields.at(3));
  if (out.step.is_tensor() && out.step == fields.at(3) && out.step.as_int() == 0)
    refuse("has a step of 0");
  return out;
}

RaggedPieces pieces_of(const Attr& attr, PieceReader reader) {
  RaggedPieces out;
  const auto& pieces = attr.items();
  if (pieces.empty() || pieces.size() > 2) refuse("are 1 or 2 for a ragged tensor");
  const std::string first = pieces[0].items().at(0).as_string();
  if (first == "index") {
    out.row = reader.read(pieces[0].items().at(1));
  } else if (first == "slice") {
    out.rows = slice_of(pieces[0], &reader);
  } else {
    refuse("are an index or slices for a ragged tensor");
  }
  if (pieces.size() == 1) return out;
  if (pieces[1].items().at(0).as_string() != "slice" || !out.row.is_none())
    refuse("behind a slice of rows are a slice; take a row first: x[i][j]");
  out.cuts_rows = true;
  out.inner = slice_of(pieces[1], &reader);
  return out;
}

Spec infer_subscript(const InferContext& context) {
  LeafSpec leaf = infer_ragged(context, 0);
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) infer_integers(context, i, 0);
  // What comes with the rows is taken for 1, which fits everywhere.
  const RaggedPieces pieces =
      pieces_of(context.attrs["pieces"], PieceReader([](size_t) { return Attr::integer(1); }));
  if (pieces.cuts_rows && leaf.ragged_rank != 1)
    context.fail(0, "is " + leaf.text() + ", expected one ragged axis");
  std::vector<int64_t> sizes = leaf.shape.sizes();
  if (pieces.row.is_none()) {
    sizes[0] = Shape::kUnknown;
    if (pieces.cuts_rows) sizes[1] = Shape::kUnknown;
    leaf.shape = Shape(std::move(sizes));
    return Spec::of(std::move(leaf));
  }
  const Shape rest = leaf.shape.without_front();
  if (leaf.ragged_rank == 1) return Spec::tensor(leaf.dtype, rest);
  return Spec::of(ragged_leaf(leaf.dtype, rest, leaf.ragged_rank - 1));
}

void subscript_row(const RowCall& call) {
  const RaggedTensor& x = ragged_input(call, 0);
  const RaggedPieces pieces =
      pieces_of(call.attrs["pieces"],
                PieceReader([&](size_t i) { return Attr::integer(integer_at(call.inputs[i])); }));
  if (!pieces.row.is_none()) {
    const int64_t given = pieces.row.as_int(), row = given < 0 ? given + x.rows() : given;
    if (row < 0 || row >= x.rows())
      fail_row("subscript", "row " + std::to_string(given) + " of " + std::to_string(x.rows()));
    return call.outputs[0].set(ragged_row(x, row));
  }
  ChargedVector<int64_t> rows;
  pieces.rows.append_items(0, x.rows(), &rows);
  if (!pieces.cuts_rows) return call.outputs[0].set(gather_rows(x, rows));
  ChargedVector<int64_t> splits{0}, items;
  for (const int64_t row : rows) {
    pieces.inner.append_items(x.begin(row), x.length(row), &items);
    splits.push_back(static_cast<int64_t>(items.size()));
  }
  call.outputs[0].set(
      make_ragged({Tensor::vector<int64_t>(splits)}, gather_items(x.values(), items)));
}

}  // namespace

void add_ragged_subscript_op(OpRegistry* registry) {
  OpDef op = ragged_op("ragged_subscript", "x[i], x[1:3], x[:, -2:] of a ragged tensor",
                       infer_subscript, subscript_row,
                       {required("x", Param::Kind::tensor), required("pieces", Param::Kind::any)});
  op.can_fail = true;
  registry->add(std::move(op));
}

}  // namespace penstock
