// searchsorted, bucketize, histogram, bincount. NaN counts as the largest number.

#include <algorithm>
#include <cmath>

#include "functions/kernels/families.h"
#include "functions/kernels/math/convert.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/ordering.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/op_def.h"

namespace penstock {
namespace {

// Where each of m values goes in a line of n sorted entries.
template <typename T>
void search_line(const T* line, int64_t n, const T* values, int64_t m, bool right, int64_t* out) {
  const auto before = [](const T& a, const T& b) { return comes_before(a, b); };
  for (int64_t i = 0; i < m; ++i) {
    out[i] = (right ? std::upper_bound(line, line + n, values[i], before)
                    : std::lower_bound(line, line + n, values[i], before)) -
             line;
  }
}

void check_same_dtype(const InferContext& context) {
  const LeafSpec &a = context.tensor(0), &b = context.tensor(1);
  if (a.dtype == DType::bytes && b.dtype == DType::bytes) return;
  infer_number(context, 0);
  infer_number(context, 1);
  infer_promoted(context, 1, 0);
}

DType search_dtype(DType a, DType b) {
  return a == DType::bytes ? a : compute_dtype(promote(a, b).value_or(a));
}

Spec infer_searchsorted(const InferContext& context) {
  check_same_dtype(context);
  const std::string side = context.attrs["side"].as_string();
  if (side != "left" && side != "right")
    throw TypeError{-1, "side", "is \"" + side + "\", expected \"left\" or \"right\""};
  const Shape &sorted = context.tensor(0).shape, &values = context.tensor(1).shape;
  if (sorted.is_scalar()) context.fail(0, "is a scalar, expected sorted entries");
  bool fits = !sorted.has_rank() || !values.has_rank() || sorted.rank() == 1 ||
              sorted.rank() == values.rank();
  for (int i = 0; fits && sorted.has_rank() && values.has_rank() && i + 1 < sorted.rank(); ++i)
    fits = sorted[i] == values[i] || sorted[i] < 0 || values[i] < 0;
  if (!fits) context.fail(1, "has shape " + values.text() + ", the sorted ones " + sorted.text());
  return Spec::tensor(DType::int64, values);
}

// One line of sorted entries for all values, or one for each line of them.
void searchsorted_row(const RowCall& call) {
  const DType dtype = search_dtype(call.inputs[0].dtype(), call.inputs[1].dtype());
  const Tensor sorted = dtype == DType::bytes ? call.inputs[0] : converted(call.inputs[0], dtype);
  const Tensor values = dtype == DType::bytes ? call.inputs[1] : converted(call.inputs[1], dtype);
  const Dims &s = sorted.dims(), &v = values.dims();
  bool fits = s.rank() == 1 || (s.rank() > 1 && s.rank() == v.rank());
  for (int i = 0; fits && i + 1 < s.rank(); ++i) fits = s[i] == v[i];
  if (!fits)
    fail_row("searchsorted", "values of shape " + v.text() + " for sorted ones of " + s.text());
  auto* out = call.outputs[0].allocate_as<int64_t>(v);
  const bool right = call.attrs["side"].as_string() == "right";
  const int64_t n = s[s.rank() - 1];
  const int64_t m = s.rank() == 1 ? v.entries() : v[v.rank() - 1];
  const int64_t lines = s.rank() == 1 ? 1 : m == 0 ? 0 : v.entries() / m;
  visit_ordered(dtype, [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < lines; ++i)
      search_line(sorted.entries<T>() + i * n, n, values.entries<T>() + i * m, m, right,
                  out + i * m);
  });
}

Spec infer_bucketize(const InferContext& context) {
  infer_number(context, 0);
  infer_number(context, 1);
  context.check_rank(1, 1);
  return Spec::tensor(DType::int64, context.tensor(0).shape);
}

// In double, so that whole boundaries suit floats.
void bucketize_row(const RowCall& call) {
  const Tensor x = converted(call.inputs[0], DType::float64);
  const Tensor boundaries = converted(call.inputs[1], DType::float64);
  const auto* line = boundaries.entries<double>();
  const int64_t n = boundaries.entries_count();
  if (boundaries.dims().rank() != 1 || !std::is_sorted(line, line + n))
    fail_row("bucketize", "the boundaries must be a vector in ascending order");
  search_line(line, n, x.entries<double>(), x.entries_count(), true,
              call.outputs[0].allocate_as<int64_t>(x.dims()));
}

Spec infer_counts(const InferContext& context, int size_input) {
  infer_integers(context, size_input, 0);
  const std::vector<int64_t> n = context.known_ints(size_input);
  return Spec::tensor(DType::int64, {n.empty() || n[0] < 0 ? Shape::kUnknown : n[0]});
}

Spec infer_histogram(const InferContext& context) {
  infer_number(context, 0);
  infer_number(context, 1);
  context.check_rank(1, 1);
  return infer_counts(context, 2);
}

void histogram_row(const RowCall& call) {
  const Tensor x = converted(call.inputs[0], DType::float64);
  const Tensor range = converted(call.inputs[1], DType::float64);
  const int64_t bins = integer_at(call.inputs[2]);
  if (range.entries_count() != 2 || !(range.entry<double>(0) < range.entry<double>(1)))
    fail_row("histogram", "the range must be [low, high], low below high");
  if (bins < 1)
    fail_row("histogram", "the number of bins must be positive: " + std::to_string(bins));
  check_size("histogram", {bins}, DType::int64);
  auto* out = call.outputs[0].allocate_as<int64_t>({bins});
  std::fill_n(out, bins, int64_t{0});
  const double low = range.entry<double>(0), width = range.entry<double>(1) - low;
  for (int64_t i = 0; i < x.entries_count(); ++i) {
    const double at = (x.entry<double>(i) - low) / width * static_cast<double>(bins);
    const double last = static_cast<double>(bins - 1);
    ++out[static_cast<int64_t>(at < 0 ? 0 : at < last ? std::floor(at) : last)];
  }
}

Spec infer_bincount(const InferContext& context) {
  infer_integers(context, 0, -1);
  infer_integers(context, 1, 0);
  return Spec::tensor(DType::int64, {Shape::kUnknown});
}

void bincount_row(const RowCall& call) {
  const Tensor& x = call.inputs[0];
  int64_t bins = std::max<int64_t>(0, integer_at(call.inputs[1]));
  for (int64_t i = 0; i < x.entries_count(); ++i) {
    const int64_t v = integer_at(x, i);
    if (v < 0) fail_row("bincount", "a number must not be negative: " + std::to_string(v));
    if (v >= int64_t{1} << 32) fail_row("bincount", "a number is too large: " + std::to_string(v));
    bins = std::max(bins, v + 1);
  }
  check_size("bincount", {bins}, DType::int64);
  auto* out = call.outputs[0].allocate_as<int64_t>({bins});
  std::fill_n(out, bins, int64_t{0});
  for (int64_t i = 0; i < x.entries_count(); ++i) ++out[integer_at(x, i)];
}

}  // namespace

void add_search_ops(OpRegistry* registry) {
  OpDef searchsorted =
      op_def("searchsorted",
             "where each value goes in sorted entries: before equal ones, or right of "
             "them; NaN behind all",
             {tensor_param("sorted"), tensor_param("values"),
              optional("side", Param::Kind::text, Attr::text("left"))},
             infer_searchsorted, searchsorted_row, {"order", 150, true});
  searchsorted.literals_from = 0;
  registry->add(std::move(searchsorted));
  registry->add(op_def("bucketize",
                       "the bucket of each entry: i where boundaries[i - 1] <= x < boundaries[i]; "
                       "NaN is in the last",
                       {tensor_param("x"), tensor_param("boundaries")}, infer_bucketize,
                       bucketize_row, {"order", 100, true}));
  registry->add(op_def(
      "histogram",
      "how many entries fall in each of equal bins of [low, high]; others count at its ends, "
      "NaN at the upper",
      {tensor_param("x"), tensor_param("range"),
       optional("bins", Param::Kind::tensor, Attr::integer(100))},
      infer_histogram, histogram_row, {"order", 200, true}));
  registry->add(
      op_def("bincount", "how often each number 0, 1, ... occurs, up to the largest",
             {tensor_param("x"), optional("minlength", Param::Kind::tensor, Attr::integer(0))},
             infer_bincount, bincount_row, {"order", 200, true}));
}

}  // namespace penstock
