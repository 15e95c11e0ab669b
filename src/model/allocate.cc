#include "model/allocate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/lp.h"

namespace penstock {
namespace {

// Returns the demand in core seconds per root element; 0 if the stage costs nothing.
double demand(const StageDemand& s) {
  return std::isinf(s.rate_per_core) ? 0 : 1 / s.rate_per_core;
}

}  // namespace

double allocation_rate(std::span<const StageDemand> stages, double cores) {
  double total = 0, rate = kNoBound;
  for (const StageDemand& s : stages) {
    if (s.rate_per_core <= 0) return 0;
    total += demand(s);
    if (s.sequential) rate = std::min(rate, s.rate_per_core);
  }
  return total > 0 ? std::min(rate, cores / total) : rate;
}

Allocation allocate_cores(std::span<const StageDemand> stages, double cores) {
  PENSTOCK_CHECK(cores > 0);
  Allocation out;
  out.cores.assign(stages.size(), 0);
  double total = 0;
  for (const StageDemand& s : stages) {
    if (s.rate_per_core <= 0) return out;
    total += demand(s);
  }
  if (total <= 0) {
    out.rate = kNoBound;
    return out;
  }
  // Rates are in units of the rate that one core reaches for the whole pipeline, so that all
  // coefficients are at most 1 for any size of element.
  LpModel lp;
  const int rate = lp.add_variable(1);
  std::vector<int> theta;
  std::vector<std::pair<int, double>> sum;
  for (const StageDemand& s : stages) {
    theta.push_back(lp.add_variable(0, 0, s.sequential ? 1 : kNoBound));
    sum.emplace_back(theta.back(), 1);
    lp.add_row({{theta.back(), 1}, {rate, -demand(s) / total}}, 0, kNoBound);
  }
  const int core_row = lp.add_row(std::move(sum), -kNoBound, cores);
  const std::optional<LpSolution> solution = lp.maximise();
  PENSTOCK_CHECK(solution.has_value());  // all zeros is feasible, and the cores bound it
  out.rate = solution->objective / total;
  out.core_price = solution->prices[static_cast<size_t>(core_row)] / total;
  double slowest = out.rate * (1 + 1e-9);
  for (size_t i = 0; i < stages.size(); ++i) {
    // Give each stage the least that carries the rate: with cores to spare the solver may give them
    // to any stage.
    out.cores[i] = out.rate * demand(stages[i]);
    if (stages[i].sequential && stages[i].rate_per_core <= slowest) {
      slowest = stages[i].rate_per_core;
      out.binding = static_cast<int>(i);
    }
  }
  if (cores / total <= slowest && out.core_price > 0) out.binding = -1;
  return out;
}

}  // namespace penstock
