// x[1:3, ..., ::-1, none, i] as in Python.

#include <algorithm>

#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/math/strided.h"

namespace penstock {
namespace {

// A number of a piece: left out, written, or the next dynamic input.
struct Part {
  enum class Kind : uint8_t { none, fixed, dynamic };
  Kind kind = Kind::none;
  int64_t value = 0;  // fixed: the number; dynamic: which input
};

struct Piece {
  enum class Kind : uint8_t { index, slice, ellipsis, newaxis };
  Kind kind;
  Part begin, end, step;  // an index is in begin
};

struct Pieces final {
  std::vector<Piece> pieces;
  int axes = 0;  // that they take one by one
  int inputs = 1;
  bool has_ellipsis = false;
};

Pieces parse_pieces(const Attr& attr) {
  Pieces out;
  auto part = [&](const Attr& a) -> Part {
    if (a.is_none()) return {};
    if (a.is_tensor() && a.tensor().dtype() == DType::bytes)
      return {Part::Kind::dynamic, out.inputs++};
    return {Part::Kind::fixed, a.as_int()};
  };
  for (const Attr& item : attr.items()) {
    const auto& fields = item.items();
    const std::string kind = fields.at(0).as_string();
    if (kind == "index") {
      out.pieces.push_back({Piece::Kind::index, part(fields.at(1)), {}, {}});
      ++out.axes;
    } else if (kind == "slice") {
      Piece piece{Piece::Kind::slice, {}, {}, {}};
      piece.begin = part(fields.at(1));
      piece.end = part(fields.at(2));
      piece.step = part(fields.at(3));
      out.pieces.push_back(piece);
      ++out.axes;
    } else if (kind == "ellipsis") {
      out.pieces.push_back({Piece::Kind::ellipsis, {}, {}, {}});
      out.has_ellipsis = true;
    } else {
      out.pieces.push_back({Piece::Kind::newaxis, {}, {}, {}});
    }
  }
  return out;
}

struct Range {
  int64_t begin, count;
};

// Python's slice.indices.
Range clamped(int64_t size, bool has_begin, int64_t begin, bool has_end, int64_t end,
              int64_t step) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto place = [&](int64_t v) { return std::clamp(v < 0 ? v + size : v, low, high); };
  const int64_t from = has_begin ? place(begin) : step > 0 ? low : high;
  const int64_t to = has_end ? place(end) : step > 0 ? high : low;
  if (step > 0) return {from, from < to ? (to - from - 1) / step + 1 : 0};
  return {from, from > to ? (from - to - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1 : 0};
}

[[noreturn]] void fail_index(int64_t index, int64_t size) {
  fail_row("subscript",
           "index " + std::to_string(index) + " is out of range for size " + std::to_string(size));
}

// `value(part)` gives the number of a part that is not none.
template <typename F>
StridedView make_view(const Pieces& pieces, const Dims& dims, F&& value, Dims* out) {
  if (pieces.axes > dims.rank()) {
    fail_row("subscript", std::to_string(pieces.axes) + " subscripts for shape " + dims.text());
  }
  const StridedView all = StridedView::of(dims);
  StridedView view;
  int axis = 0;
  auto keep = [&] {
    view.push_back(dims[axis], all.stride[static_cast<size_t>(axis)]);
    out->push_back(dims[axis++]);
  };
  for (const Piece& piece : pieces.pieces) {
    switch (piece.kind) {
      case Piece::Kind::newaxis: out->push_back(1); continue;
      case Piece::Kind::ellipsis:
        for (int k = dims.rank() - pieces.axes; k > 0; --k) keep();
        continue;
      case Piece::Kind::index: {
        const int64_t index = value(piece.begin), size = dims[axis];
        if (index < -size || index >= size) fail_index(index, size);
        view.first += (index < 0 ? index + size : index) * all.stride[static_cast<size_t>(axis++)];
        continue;
      }
      case Piece::Kind::slice: {
        const auto given = [&](const Part& p) { return p.kind != Part::Kind::none; };
        const int64_t step = given(piece.step) ? value(piece.step) : 1;
        if (step == 0) fail_row("subscript", "the step of a slice must not be zero: 0");
        const Range range =
            clamped(dims[axis], given(piece.begin), given(piece.begin) ? value(piece.begin) : 0,
                    given(piece.end), given(piece.end) ? value(piece.end) : 0, step);
        const int64_t stride = all.stride[static_cast<size_t>(axis++)];
        view.first += range.count > 0 ? range.begin * stride : 0;
        view.push_back(range.count, range.count > 1 ? step * stride : 0);
        out->push_back(range.count);
      }
    }
  }
  while (axis < dims.rank()) keep();
  return view;
}

Pieces checked_pieces(const InferContext& context) {
  try {
    return parse_pieces(context.attrs["pieces"]);
  } catch (const std::exception&) {  // only a plan from outside is damaged so
    throw TypeError{-1, "pieces", "are no subscripts"};
  }
}

Spec infer_subscript(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Pieces pieces = checked_pieces(context);
  if (pieces.inputs != static_cast<int>(context.inputs.size())) {
    throw TypeError{-1, "pieces",
                    "are no subscripts of " + std::to_string(context.inputs.size()) + " tensors"};
  }
  int ellipses = 0, axes_out = 0;
  for (const Piece& p : pieces.pieces) {
    ellipses += p.kind == Piece::Kind::ellipsis;
    axes_out += p.kind == Piece::Kind::newaxis ? 1 : p.kind == Piece::Kind::index ? -1 : 0;
  }
  if (ellipses > 1) context.fail("only one `...` is possible");
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) infer_integers(context, i, 0);
  const Shape& shape = type.shape;
  if (!shape.has_rank()) return Spec::tensor(type.dtype, Shape::unknown_rank());
  if (pieces.axes > shape.rank()) {
    context.fail(
        0, "is " + type.text() + ": " + std::to_string(pieces.axes) + " subscripts are too many");
  }
  if (shape.rank() + axes_out > kMaxRank) context.fail("the result has more than 8 axes");
  auto known = [&](const Part& p, int64_t* value) {
    if (p.kind == Part::Kind::none) return true;
    if (p.kind == Part::Kind::fixed) return *value = p.value, true;
    const std::vector<int64_t> ints = context.known_ints(static_cast<int>(p.value));
    return ints.size() == 1 ? (*value = ints[0], true) : false;
  };
  std::vector<int64_t> out;  // bounded: axes
  int axis = 0;
  for (const Piece& p : pieces.pieces) {
    if (p.kind == Piece::Kind::newaxis) {
      out.push_back(1);
    } else if (p.kind == Piece::Kind::ellipsis) {
      for (int k = shape.rank() - pieces.axes; k > 0; --k) out.push_back(shape[axis++]);
    } else if (p.kind == Piece::Kind::index) {
      int64_t index = 0;
      const int64_t size = shape[axis++];
      if (size != Shape::kUnknown && known(p.begin, &index) && (index < -size || index >= size)) {
        context.fail("index " + std::to_string(index) + " is out of range for size " +
                     std::to_string(size));
      }
    } else {
      int64_t begin = 0, end = 0, step = 1;
      const bool begins = known(p.begin, &begin), ends = known(p.end, &end);
      const bool fixed = known(p.step, &step) && begins && ends;
      if (step == 0) context.fail("the step of a slice must not be zero: 0");
      const bool has_begin = p.begin.kind != Part::Kind::none,
                 has_end = p.end.kind != Part::Kind::none;
      const int64_t size = shape[axis++];
      const bool whole =
          !has_begin && !has_end && known(p.step, &step) && (step == 1 || step == -1);
      if (fixed && size != Shape::kUnknown) {
        out.push_back(clamped(size, has_begin, begin, has_end, end, step).count);
      } else {
        out.push_back(whole ? size : Shape::kUnknown);
      }
    }
  }
  while (axis < shape.rank()) out.push_back(shape[axis++]);
  return Spec::tensor(type.dtype, Shape(std::move(out)));
}

void subscript_row(const RowCall& call) {
  const Pieces& pieces = *static_cast<const Pieces*>(call.state);
  const Tensor& x = call.inputs[0];
  Dims dims;
  auto value = [&](const Part& p) {
    return p.kind == Part::Kind::fixed ? p.value
                                       : integer_at(call.inputs[static_cast<size_t>(p.value)]);
  };
  const StridedView view = make_view(pieces, x.dims(), value, &dims);
  set_strided(&call.outputs[0], x, view, dims);
}

bool subscript_block(const BlockCall& call) {
  const Pieces& pieces = *static_cast<const Pieces*>(call.state);
  const Column& x = call.inputs[0];
  if (x.kind() != Column::Kind::dense && x.kind() != Column::Kind::constant) return false;
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].kind() != Column::Kind::constant) return false;
  }
  if (call.rows == 0) return false;
  auto value = [&](const Part& p) {
    return p.kind == Part::Kind::fixed
               ? p.value
               : integer_at(call.inputs[static_cast<size_t>(p.value)].row(0));
  };
  try {
    Dims dims;
    const StridedView view = make_view(pieces, x.row_dims(), value, &dims);
    return set_strided_block(call, view, dims);
  } catch (const Error&) {
    return false;  // each row is to say so
  }
}

}  // namespace

void add_subscript_ops(OpRegistry* registry) {
  OpDef op;
  op.name = "subscript";
  op.params = {required("x", Param::Kind::tensor), required("pieces", Param::Kind::any)};
  op.doc = "x[...]: indices, slices, `...` and none as in Python";
  op.infer = infer_subscript;
  op.row = subscript_row;
  op.block = subscript_block;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const Pieces>(parse_pieces(attrs["pieces"]));
  };
  op.can_fail = true;
  op.cost_ns = 40;
  op.group = "shape";
  op.touches = Touches::outputs;
  registry->add(std::move(op));
}

}  // namespace penstock
