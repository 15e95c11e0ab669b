// Literals of tensors that are not rectangular: ragged([[1], [2, 3]]) and
// sparse(indices=, values=, shape=).

#include <algorithm>

#include "data/ragged.h"
#include "plan/elaborator.h"

namespace penstock {
namespace {

bool is_list(const Sym& sym) {
  return sym.kind == Sym::Kind::list || (sym.is_constant() && sym.tensor.dims().rank() > 0);
}

std::vector<Sym> entries(const Sym& sym) {
  if (!sym.is_constant()) return sym.items;
  std::vector<Sym> out;
  for (int64_t i = 0; i < sym.tensor.dims()[0]; ++i)
    out.push_back(Sym::of(sym.tensor.item(i), sym.weak));
  return out;
}

// Returns true if it holds no value of a row.
bool is_fixed(const Sym& sym) {
  return sym.kind != Sym::Kind::value && std::ranges::all_of(sym.items, is_fixed);
}

int nesting(const Sym& sym) {
  if (!is_list(sym)) return 0;
  int inner = sym.is_constant() ? sym.tensor.dims().rank() - 1 : 0;
  for (const Sym& item : sym.items) inner = std::max(inner, nesting(item));
  return 1 + inner;
}

}  // namespace

Sym Elaborator::ragged_literal(const std::vector<Argument>& arguments, Span span) {
  const std::vector<const Argument*> found =
      match("ragged",
            {required("rows", Param::Kind::any), option("ragged_rank", Param::Kind::integer, {}),
             option("dtype", Param::Kind::dtype, {})},
            arguments, span, nullptr);
  const Sym& rows = found[0]->sym;
  const int depth = nesting(rows);
  if (depth < 2) fail(found[0]->span, "ragged: expected a list of lists");
  const int64_t rank =
      found[1] ? attribute(found[1]->sym, Param::Kind::integer, found[1]->span, false).as_int()
               : depth - 1;
  if (rank < 1 || rank > kMaxRank)
    fail(found[1]->span, "ragged: ragged_rank must be positive: " + std::to_string(rank));
  std::vector<std::vector<int64_t>> splits(static_cast<size_t>(rank), {0});
  std::vector<Sym> level = entries(rows);
  for (std::vector<int64_t>& s : splits) {
    std::vector<Sym> next;
    for (const Sym& item : level) {
      if (!is_list(item)) fail(found[0]->span, "ragged: the entries differ in depth");
      const std::vector<Sym> inner = entries(item);
      next.insert(next.end(), inner.begin(), inner.end());
      s.push_back(static_cast<int64_t>(next.size()));
    }
    level = std::move(next);
  }
  Sym list;
  list.kind = Sym::Kind::list;
  list.items = std::move(level);
  Sym values = tensor(list, found[0]->span);
  if (!values.is_constant()) fail(found[0]->span, "ragged: the entries must be constants");
  values =
      found[2]
          ? coerce(values,
                   attribute(found[2]->sym, Param::Kind::dtype, found[2]->span, false).as_dtype(),
                   found[0]->span)
          : strong(values);
  std::vector<Tensor> axes;
  for (const std::vector<int64_t>& s : splits) axes.push_back(Tensor::vector<int64_t>(s));
  return Sym::of(make_ragged(std::move(axes), values.tensor));
}

Sym Elaborator::sparse_literal(const std::vector<Argument>& arguments, Span span) {
  const std::vector<const Argument*> found =
      match("sparse",
            {required("indices", Param::Kind::tensor), required("values", Param::Kind::tensor),
             required("shape", Param::Kind::tensor)},
            arguments, span, nullptr);
  std::vector<Tensor> parts;
  for (const Argument* a : found) {
    const Sym t = tensor(a->sym, a->span);
    if (!t.is_constant()) fail(a->span, "sparse: must be a constant");
    const bool integers = a != found[1];
    parts.push_back(integers ? coerce(t, DType::int64, a->span).tensor : strong(t).tensor);
  }
  const int64_t rank = parts[2].entries_count();
  if (parts[0].entries_count() == 0) parts[0] = parts[0].reshaped({0, rank});
  Sym out;
  try {
    out = Sym::of(make_sparse(parts[0], parts[1], parts[2]));
  } catch (const Error& e) {
    fail(span, e.message());
  }
  const auto *at = parts[0].entries<int64_t>(), *sizes = parts[2].entries<int64_t>();
  for (int64_t i = 0; i < parts[0].entries_count(); ++i) {
    if (at[i] >= 0 && at[i] < sizes[i % rank]) continue;
    fail(found[0]->span, "sparse: index " + std::to_string(at[i]) + " lies outside the size " +
                             std::to_string(sizes[i % rank]));
  }
  return out;
}

bool Elaborator::ragged_literal_form(const Arguments& arguments, Span span, Sym* out) {
  *out = ragged_literal(arguments, span);
  return true;
}

// Returns false for computed parts: the op of the same name makes a tensor of them.
bool Elaborator::sparse_form(const Arguments& arguments, Span span, Sym* out) {
  if (!std::ranges::all_of(arguments, [](const Argument& a) { return is_fixed(a.sym); }))
    return false;
  *out = sparse_literal(arguments, span);
  return true;
}

}  // namespace penstock
