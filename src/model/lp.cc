#include "model/lp.h"

#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>

#include "base/error.h"

namespace penstock {
namespace {

double clp_bound(double bound) {
  return std::isinf(bound) ? (bound > 0 ? COIN_DBL_MAX : -COIN_DBL_MAX) : bound;
}

}  // namespace

int LpModel::add_variable(double objective, double low, double high) {
  objective_.push_back(objective);
  low_.push_back(low);
  high_.push_back(high);
  return static_cast<int>(objective_.size()) - 1;
}

int LpModel::add_row(std::vector<std::pair<int, double>> terms, double low, double high) {
  for (const auto& [variable, coefficient] : terms) {
    PENSTOCK_CHECK(variable >= 0 && static_cast<size_t>(variable) < objective_.size());
  }
  rows_.push_back({std::move(terms), low, high});
  return static_cast<int>(rows_.size()) - 1;
}

std::optional<LpSolution> LpModel::maximise() const {
  const int columns = static_cast<int>(objective_.size());
  CoinPackedMatrix matrix(/*colordered=*/false, 0, 0);
  matrix.setDimensions(0, columns);
  std::vector<double> row_low, row_high, low, high, cost;
  for (const Row& row : rows_) {
    std::vector<int> index;
    std::vector<double> value;
    for (const auto& [variable, coefficient] : row.terms) {
      index.push_back(variable);
      value.push_back(coefficient);
    }
    matrix.appendRow(static_cast<int>(index.size()), index.data(), value.data());
    row_low.push_back(clp_bound(row.low));
    row_high.push_back(clp_bound(row.high));
  }
  for (size_t i = 0; i < objective_.size(); ++i) {
    low.push_back(clp_bound(low_[i]));
    high.push_back(clp_bound(high_[i]));
    cost.push_back(
        -objective_[i]);  // minimise: CLP's prices then have the sign that its manual gives
  }
  ClpSimplex clp;
  clp.setLogLevel(0);
  clp.loadProblem(matrix, low.data(), high.data(), cost.data(), row_low.data(), row_high.data());
  clp.setOptimizationDirection(1);
  clp.primal();
  if (!clp.isProvenOptimal()) return std::nullopt;
  LpSolution out;
  out.objective = -clp.objectiveValue();
  const double* values = clp.primalColumnSolution();
  out.values.assign(values, values + columns);
  const double* prices = clp.dualRowSolution();
  for (size_t i = 0; i < rows_.size(); ++i) out.prices.push_back(std::abs(prices[i]));
  return out;
}

}  // namespace penstock
