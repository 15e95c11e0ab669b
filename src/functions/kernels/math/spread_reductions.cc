// reduce_variance, reduce_std, reduce_logsumexp, norm: of floats, in double, in two passes.

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/entrywise.h"
#include "functions/kernels/math/reduce_axes.h"

namespace penstock {
namespace {

struct Spread {
  double centre = 0, sum = 0;
};

// Calls f(entries, spreads, out) with T the entries' type.
template <typename F>
void visit_spreads(const ReduceCall& call, F&& f) {
  ChargedVector<Spread> spreads(static_cast<size_t>(call.walk.results));
  const auto run = [&]<typename T>(TypeTag<T>) {
    f(reinterpret_cast<const T*>(call.in), spreads.data(), reinterpret_cast<T*>(call.out));
  };
  if (call.dtype == DType::float64) return run(TypeTag<double>{});
  run(TypeTag<float>{});
}

template <bool root>
void run_variance(const ReduceCall& call) {
  visit_spreads(call, [&]<typename T>(const T* in, Spread* spreads, T* out) {
    const Walk& w = call.walk;
    const auto n = static_cast<double>(w.reduced);
    reduce(in, w, spreads, [](Spread s, T v) {
      s.sum += static_cast<double>(v);
      return s;
    });
    for (int64_t i = 0; i < w.results; ++i) spreads[i] = {spreads[i].sum / n, 0};
    reduce(in, w, spreads, [](Spread s, T v) {
      const double d = static_cast<double>(v) - s.centre;
      s.sum += d * d;
      return s;
    });
    for (int64_t i = 0; i < w.results; ++i) {
      const double variance = spreads[i].sum / n;
      out[i] = static_cast<T>(root ? std::sqrt(variance) : variance);
    }
  });
}

void run_logsumexp(const ReduceCall& call) {
  visit_spreads(call, [&]<typename T>(const T* in, Spread* spreads, T* out) {
    const Walk& w = call.walk;
    std::fill_n(spreads, w.results, Spread{-std::numeric_limits<double>::infinity(), 0});
    reduce(in, w, spreads, [](Spread s, T v) {
      s.centre = std::max(s.centre, static_cast<double>(v));
      return s;
    });
    for (int64_t i = 0; i < w.results; ++i) {
      if (!std::isfinite(spreads[i].centre)) spreads[i].centre = 0;  // inf - inf is no number
    }
    reduce(in, w, spreads, [](Spread s, T v) {
      s.sum += std::exp(static_cast<double>(v) - s.centre);
      return s;
    });
    for (int64_t i = 0; i < w.results; ++i)
      out[i] = static_cast<T>(std::log(spreads[i].sum) + spreads[i].centre);
  });
}

void run_norm(const ReduceCall& call) {
  visit_spreads(call, [&]<typename T>(const T* in, Spread* spreads, T* out) {
    reduce(in, call.walk, spreads, [](Spread s, T v) {
      s.sum += static_cast<double>(v) * static_cast<double>(v);
      return s;
    });
    for (int64_t i = 0; i < call.walk.results; ++i)
      out[i] = static_cast<T>(std::sqrt(spreads[i].sum));
  });
}

constexpr ReduceKernel kVariance{"reduce_variance", run_variance<false>};
constexpr ReduceKernel kStd{"reduce_std", run_variance<true>};
constexpr ReduceKernel kLogsumexp{"reduce_logsumexp", run_logsumexp};
constexpr ReduceKernel kNorm{"norm", run_norm};

template <const ReduceKernel& kernel>
void add(OpRegistry* registry, std::string doc) {
  OpDef op = reduce_op<kernel>(std::move(doc));
  op.infer = [](const InferContext& context) {
    const LeafSpec& type = infer_number(context, 0);
    if (!is_float(type.dtype))
      context.fail(0, "is " + type.text() + ", expected floats; cast it: float32(x)");
    return Spec::tensor(type.dtype, infer_reduced(context, type.shape));
  };
  op.cost_ns = 120;
  registry->add(std::move(op));
}

}  // namespace

void add_spread_reduction_ops(OpRegistry* registry) {
  add<kVariance>(registry, "the mean of the squared distances from the mean, NaN of nothing");
  add<kStd>(registry, "the square root of reduce_variance");
  add<kLogsumexp>(registry, "log(sum(exp(x))) without overflow, -inf of nothing");
  add<kNorm>(registry, "the square root of the sum of squares");
}

}  // namespace penstock
