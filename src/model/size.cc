#include "model/size.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

// A trace holds means but no variances. Assume that record sizes vary by their mean at most (images
// 0.6, text 0.9), and means of whole files of one data set by about a tenth.
constexpr double kElementSpread = 1.0;
constexpr double kFileSpread = 0.1;
constexpr double kTwoSided95 = 1.96;

const StageTrace& at(const Trace& trace, int id) { return trace.stages[static_cast<size_t>(id)]; }

Estimate around(double value, double relative) {
  return {std::max(0.0, value * (1 - relative)), value, value * (1 + relative)};
}

// Returns the relative half width of a mean over n of a population, of which `share` was seen.
double sampling_error(double n, double files, double share) {
  if (share >= 1 || n <= 0) return 0;
  double variance = kElementSpread * kElementSpread / n;
  if (files > 0) variance += kFileSpread * kFileSpread / files;
  return kTwoSided95 * std::sqrt(variance * (1 - share));
}

StageSize of_count(const StageTrace& s, Estimate elements, double byte_error) {
  StageSize out;
  const double each =
      s.elements > 0 ? static_cast<double>(s.bytes) / static_cast<double>(s.elements) : 0;
  out.elements = elements;
  out.bytes = around(elements.value * each, byte_error);
  if (!elements.exact()) {
    out.bytes.low = std::min(out.bytes.low, elements.low * each);
    out.bytes.high = std::max(out.bytes.high, elements.high * each);
  }
  out.extent = out.elements.exact() && out.bytes.exact() ? Extent::exact : Extent::estimated;
  return out;
}

}  // namespace

std::vector<int> closure(const Trace& trace, int id) {
  std::vector<bool> in(trace.stages.size(), false);
  in[static_cast<size_t>(id)] = true;
  // Inputs and nested stages come after the stage that they belong to: one pass.
  for (size_t i = static_cast<size_t>(id); i < trace.stages.size(); ++i) {
    const StageTrace& s = trace.stages[i];
    if (s.parent >= id && in[static_cast<size_t>(s.parent)]) in[i] = true;
    if (!in[i]) continue;
    for (const int input : s.inputs) in[static_cast<size_t>(input)] = true;
  }
  std::vector<int> out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

std::vector<bool> repeated_stages(const Trace& trace) {
  std::vector<bool> out(trace.stages.size(), false);
  for (size_t i = 0; i < trace.stages.size(); ++i) {
    const StageTrace& s = trace.stages[i];
    if (s.parent >= 0 && out[static_cast<size_t>(s.parent)]) out[i] = true;
    if (!out[i] && !s.repeats) continue;
    for (const int input : s.inputs) out[static_cast<size_t>(input)] = true;
  }
  return out;
}

double files_read_share(const Trace& trace, int id) {
  double read = 0, total = 0;
  for (const int i : closure(trace, id)) {
    const StageTrace& s = at(trace, i);
    if (s.bytes_read == 0 || !s.inputs.empty()) continue;  // files of functions are no sample
    if (s.source_bytes == 0) return 0;
    read += static_cast<double>(s.bytes_read);
    total += static_cast<double>(s.source_bytes);
  }
  return total > 0 ? read / total : 0;
}

StageSize stage_size(const Trace& trace, int id, const std::vector<StageSize>& sizes,
                     bool repeated) {
  const StageTrace& s = at(trace, id);
  const auto n = static_cast<double>(s.elements);
  StageSize out;
  if (s.cardinality == -1) {
    out.extent = Extent::infinite;
    return out;
  }
  if (s.cardinality == 0) return of_count(s, {}, 0);
  if (s.elements == 0) return out;
  if (s.parent < 0 && s.cardinality > 0) {
    const auto count = static_cast<double>(s.cardinality);
    return of_count(s, {count, count, count}, s.fixed_size ? 0 : sampling_error(n, 0, n / count));
  }
  if (trace.interval.ended && !repeated) return of_count(s, {n, n, n}, 0);

  const std::vector<int> below = closure(trace, id);
  if (!std::ranges::all_of(below, [&](int i) { return at(trace, i).scales; })) return out;
  if (const double share = files_read_share(trace, id); share > 0) {
    double files = 0;
    for (const int i : below) {
      if (at(trace, i).inputs.empty()) files += static_cast<double>(at(trace, i).files_opened);
    }
    const double error = sampling_error(n, files, share);
    return of_count(s, around(n / share, error), error);
  }
  if (s.inputs.size() == 1 && s.parent < 0) {
    const size_t input = static_cast<size_t>(s.inputs[0]);
    const auto seen = static_cast<double>(trace.stages[input].elements);
    const StageSize& size = sizes[input];
    if (seen > 0 && (size.extent == Extent::exact || size.extent == Extent::estimated)) {
      const double ratio = n / seen;
      const double share = seen / std::max(size.elements.value, 1.0);
      // A filter's ratio is a proportion; other ratios vary like sizes do.
      const double spread = s.stateless && !s.keeps_rows
                                ? std::sqrt(std::max(0.0, 1 - ratio) / (ratio * seen))
                                : 1 / std::sqrt(seen);
      const double error = share >= 1 ? 0 : kTwoSided95 * spread * std::sqrt(1 - share);
      Estimate elements = around(size.elements.value * ratio, error);
      elements.low = std::min(elements.low, size.elements.low * ratio);
      elements.high = std::max(elements.high, size.elements.high * ratio);
      if (s.stateless) elements.high = std::min(elements.high, size.elements.high);
      return of_count(s, elements, s.fixed_size ? 0 : sampling_error(n, 0, share));
    }
  }
  return out;
}

CacheVerdict cache_verdict(const Trace& trace, int id, const StageSize& size,
                           int64_t memory_bytes) {
  const StageTrace& s = at(trace, id);
  if (s.sink) return CacheVerdict::sink;
  if (s.caches) return CacheVerdict::cached;
  if (s.parent >= 0) return CacheVerdict::nested;
  const std::vector<int> below = closure(trace, id);
  if (std::ranges::any_of(below, [&](int i) { return at(trace, i).random; }))
    return CacheVerdict::random;
  if (size.extent == Extent::infinite) return CacheVerdict::infinite;
  if (s.nested_output) return CacheVerdict::datasets;
  if (size.extent == Extent::unknown) return CacheVerdict::unknown_size;
  return size.bytes.value > static_cast<double>(memory_bytes) ? CacheVerdict::too_large
                                                              : CacheVerdict::yes;
}

}  // namespace penstock
