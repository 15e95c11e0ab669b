#include "model/latency.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace penstock {

double mm1k_empty(double producer_rate, double consumer_rate, int64_t slots) {
  const double ratio = producer_rate / consumer_rate;
  const double n = static_cast<double>(slots);
  if (std::abs(ratio - 1) < 1e-9) return 1 / (n + 1);
  if (ratio > 1) {  // the same divided by ratio^(n+1), which may be too large for a double
    const double inverse = std::pow(1 / ratio, n + 1);
    return (ratio - 1) * inverse / (1 - inverse);
  }
  return (1 - ratio) / (1 - std::pow(ratio, n + 1));
}

std::vector<StageLatency> tfdata_latencies(const std::vector<LatencyStage>& stages,
                                           double consumer_rate) {
  using Kind = LatencyStage::Kind;
  std::vector<StageLatency> out(stages.size());
  double rate = consumer_rate;
  for (size_t i = stages.size(); i-- > 0;) {
    const LatencyStage& s = stages[i];
    PENSTOCK_CHECK((s.kind == Kind::source) == (i == 0));
    out[i].consumer_rate = rate;
    rate *= s.inputs_per_element;
    if (s.kind == Kind::interleave) rate /= static_cast<double>(s.cycle_length);
  }
  constexpr double kMsPerSecond = 1e3;
  double input_ms = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const LatencyStage& s = stages[i];
    StageLatency& l = out[i];
    const auto parallelism = static_cast<double>(s.parallelism);
    switch (s.kind) {
      case Kind::source:
      case Kind::synchronous:
        l.producer_ms = s.inputs_per_element * input_ms + s.own_ms;
        l.output_ms = l.producer_ms;
        break;
      case Kind::interleave: l.producer_ms = input_ms / parallelism + s.own_ms; break;
      case Kind::parallel_map: l.producer_ms = input_ms + s.own_ms / parallelism; break;
      case Kind::prefetch: l.producer_ms = input_ms; break;
    }
    if (s.kind != Kind::source && s.kind != Kind::synchronous) {
      l.output_ms = l.producer_ms <= 0 ? 0
                                       : l.producer_ms * mm1k_empty(kMsPerSecond / l.producer_ms,
                                                                    l.consumer_rate, s.buffer_size);
    }
    input_ms = l.output_ms;
  }
  return out;
}

namespace {

// Calls f(own time of the stage for one element of the root, threads) for each stage.
template <typename F>
void visit_root_times(const std::vector<LatencyStage>& stages, F&& f) {
  double per_root = 1;  // elements of the stage for one of the root
  for (size_t i = stages.size(); i-- > 0;) {
    const LatencyStage& s = stages[i];
    // The interleave above reads several of its inputs at once.
    const bool many = i + 1 < stages.size() && stages[i + 1].kind == LatencyStage::Kind::interleave;
    f(per_root * s.own_ms, many ? stages[i + 1].parallelism : s.parallelism);
    per_root *= s.inputs_per_element;
  }
}

}  // namespace

double sequential_ms(const std::vector<LatencyStage>& stages) {
  double out = 0;
  visit_root_times(stages, [&](double ms, int64_t) { out += ms; });
  return out;
}

double pipelined_ms(const std::vector<LatencyStage>& stages) {
  double out = 0;
  visit_root_times(stages, [&](double ms, int64_t threads) {
    out = std::max(out, ms / static_cast<double>(threads));
  });
  return out;
}

double buffered_rate(const Flow& producer, const Flow& consumer, int64_t slots) {
  const double least = std::min(producer.rate, consumer.rate);
  if (!std::isfinite(producer.rate) || !std::isfinite(consumer.rate)) return least;
  const double drift = producer.rate - consumer.rate;
  const double variance = producer.rate * producer.variation + consumer.rate * consumer.variation;
  // The element that the producer holds when the buffer is full is one slot more.
  const double width = static_cast<double>(slots) + 1;
  if (variance <= 0) return least;
  const double exponent = 2 * drift * width / variance;
  // Rate at which the consumer is stopped at the lower wall.
  const double stopped = std::abs(exponent) < 1e-6 ? variance / (2 * width)
                                                   : drift / std::expm1(std::min(exponent, 700.0));
  return std::clamp(consumer.rate - stopped, 0.0, least);
}

}  // namespace penstock
