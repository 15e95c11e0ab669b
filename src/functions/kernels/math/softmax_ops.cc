// softmax and log_softmax along an axis, computed in double.

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/families.h"
#include "functions/kernels/math/axiswise.h"
#include "functions/kernels/math/entrywise.h"

namespace penstock {
namespace {

template <typename T, bool logarithm>
void run_line(const T* in, T* out, int64_t n, int64_t step, ChargedVector<double>* held) {
  ChargedVector<double>& e = *held;
  double top = static_cast<double>(in[0]), sum = 0;
  for (int64_t k = 1; k < n; ++k) top = std::max(top, static_cast<double>(in[k * step]));
  for (int64_t k = 0; k < n; ++k) {
    const double v = static_cast<double>(in[k * step]) - top;
    sum += e[static_cast<size_t>(k)] = std::exp(v);
    if (logarithm) e[static_cast<size_t>(k)] = v;
  }
  const double log_sum = logarithm ? std::log(sum) : 0;
  for (int64_t k = 0; k < n; ++k) {
    const double v = e[static_cast<size_t>(k)];
    out[k * step] = static_cast<T>(logarithm ? v - log_sum : v / sum);
  }
}

template <bool logarithm>
void run(const AxisCall& call) {
  const Around& a = call.around;
  ChargedVector<double> held(static_cast<size_t>(a.size));
  const auto lines = [&]<typename T>(TypeTag<T>) {
    for (int64_t i = 0; i < a.lines(); ++i) {
      run_line<T, logarithm>(reinterpret_cast<const T*>(call.in) + a.line(i),
                             reinterpret_cast<T*>(call.out) + a.line(i), a.size, a.inner, &held);
    }
  };
  if (call.dtype == DType::float64) return lines(TypeTag<double>{});
  lines(TypeTag<float>{});
}

constexpr AxisKernel kSoftmax{"softmax", run<false>};
constexpr AxisKernel kLogSoftmax{"log_softmax", run<true>};

template <const AxisKernel& kernel>
void add(OpRegistry* registry, std::string doc) {
  OpDef op = axis_op<kernel>(std::move(doc), -1);
  op.infer = [](const InferContext& context) {
    const LeafSpec& type = infer_number(context, 0);
    if (!is_float(type.dtype))
      context.fail(0, "is " + type.text() + ", expected floats; cast it: float32(x)");
    return infer_axiswise(context);
  };
  op.cost_ns = 200;
  registry->add(std::move(op));
}

}  // namespace

void add_softmax_ops(OpRegistry* registry) {
  add<kSoftmax>(registry, "exp(x) over its sum along an axis");
  add<kLogSoftmax>(registry, "the logarithm of softmax(x), without overflow");
}

}  // namespace penstock
