// dct of types 1 to 4, and the cepstral coefficients made with it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/audio/audio_ops.h"

namespace penstock {
namespace {

// y = x matrix, [n, n]; as in scipy.fft.dct.
ChargedVector<double> make_matrix(int64_t n, int64_t type, bool ortho) {
  ChargedVector<double> out(static_cast<size_t>(n * n));
  const auto size = static_cast<double>(n);
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      const auto k = static_cast<double>(row), i = static_cast<double>(column);
      const bool end = column == 0 || (type == 1 && column == n - 1);
      double value = 0;
      switch (type) {
        case 1: value = std::numbers::pi * k * i / (size - 1); break;
        case 2: value = std::numbers::pi * k * (2 * i + 1) / (2 * size); break;
        case 3: value = std::numbers::pi * (2 * k + 1) * i / (2 * size); break;
        default: value = std::numbers::pi * (2 * k + 1) * (2 * i + 1) / (4 * size); break;
      }
      value = std::cos(value) * ((type == 1 || type == 3) && end ? 1 : 2);
      if (ortho && type == 2) value *= std::sqrt((row == 0 ? 1 : 2) / (4 * size));
      if (ortho && type == 3) value *= column == 0 ? 1 / std::sqrt(size) : std::sqrt(0.5 / size);
      if (ortho && type == 4) value *= std::sqrt(0.5 / size);
      out[static_cast<size_t>(column * n + row)] = value;
    }
  }
  return out;
}

// The matrix of the call before is kept where it is of a usual size: rows are mostly as long as
// each other, and to make one costs more than to multiply by it.
std::shared_ptr<const ChargedVector<double>> dct_matrix(int64_t n, int64_t type, bool ortho) {
  struct Kept {
    int64_t n = 0, type = 0;
    bool ortho = false;
    std::shared_ptr<const ChargedVector<double>> matrix;
  };
  thread_local Kept kept;
  if (kept.n == n && kept.type == type && kept.ortho == ortho) return kept.matrix;
  constexpr int64_t kMostKept = 512;
  std::optional<ScopedPool> pool;
  if (n <= kMostKept) pool.emplace(nullptr);  // it outlives the run
  auto made = std::make_shared<const ChargedVector<double>>(make_matrix(n, type, ortho));
  if (n <= kMostKept) kept = {n, type, ortho, made};
  return made;
}

bool is_ortho(const Attrs& attrs) {
  const Attr& norm = attrs["norm"];
  if (norm.is_none()) return false;
  if (norm.as_string() == "ortho") return true;
  throw TypeError{-1, "norm", "is \"" + norm.as_string() + "\", expected none or \"ortho\""};
}

Spec infer_dct(const InferContext& context) {
  const LeafSpec& signal = infer_signal(context, 0, 1);
  const int64_t type = context.attrs["type"].as_int();
  if (type < 1 || type > 4) throw TypeError{-1, "type", "must be 1 to 4"};
  if (is_ortho(context.attrs) && type == 1) throw TypeError{-1, "norm", "is not for type 1"};
  return Spec::of(signal);
}

void multiply(const Tensor& signal, const ChargedVector<double>& matrix, int64_t n, double scale,
              float* to) {
  ChargedVector<double> sums(static_cast<size_t>(n));
  for (int64_t s = 0; s < signal.entries_count() / n; ++s) {
    const float* from = signal.entries<float>() + s * n;
    std::ranges::fill(sums, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(from[i]);
      const double* line = matrix.data() + i * n;
      for (size_t k = 0; k < sums.size(); ++k) sums[k] += line[k] * value;
    }
    for (const double sum : sums) *to++ = static_cast<float>(sum * scale);
  }
}

int64_t last_axis(const char* op, const Tensor& signal, int64_t least) {
  check_signal(op, signal, 1);
  const int64_t n = signal.dims()[signal.dims().rank() - 1];
  if (n >= least && n <= 1 << 14) return n;
  throw Error(Code::invalid_argument, std::string(op) + ": expected " + std::to_string(least) +
                                          " to 16384 values, got " + std::to_string(n));
}

void dct_row(const RowCall& call) {
  const int64_t type = call.attrs["type"].as_int();
  const int64_t n = last_axis("dct", call.inputs[0], type == 1 ? 2 : 1);
  multiply(call.inputs[0], *dct_matrix(n, type, is_ortho(call.attrs)), n, 1,
           call.outputs[0].allocate_as<float>(call.inputs[0].dims()));
}

Spec infer_mfccs(const InferContext& context) { return Spec::of(infer_signal(context, 0, 1)); }

void mfccs_row(const RowCall& call) {
  const int64_t n = last_axis("mfccs_from_log_mel_spectrograms", call.inputs[0], 1);
  multiply(call.inputs[0], *dct_matrix(n, 2, false), n, 1 / std::sqrt(2.0 * static_cast<double>(n)),
           call.outputs[0].allocate_as<float>(call.inputs[0].dims()));
}

}  // namespace

void add_dct_ops(OpRegistry* registry) {
  registry->add(audio_op("dct",
                         {required("signal", Param::Kind::tensor),
                          optional("type", Param::Kind::integer, Attr::integer(2)),
                          option("norm", Param::Kind::any, {})},
                         "The cosine transform of the last axis, of type 1 to 4; norm: none or "
                         "\"ortho\".",
                         infer_dct, dct_row, 2e4));
  registry->add(audio_op("mfccs_from_log_mel_spectrograms",
                         {required("log_mel", Param::Kind::tensor)},
                         "dct of type 2 / sqrt(2 * mel bins).", infer_mfccs, mfccs_row, 2e5));
}

}  // namespace penstock
