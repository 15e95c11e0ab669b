// Linear programs: maximise an objective under rows and bounds.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace penstock {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

struct LpSolution {
  double objective = 0;
  std::vector<double> values;  // of the variables
  std::vector<double>
      prices;  // of the rows: gain in the objective when a binding bound is relaxed by one
};

class LpModel {
 public:
  // Adds a variable in [low, high] with weight `objective`; returns its index.
  int add_variable(double objective, double low = 0, double high = kNoBound);
  // Adds low <= sum of coefficient * variable <= high; returns the row's index.
  int add_row(std::vector<std::pair<int, double>> terms, double low, double high);
  // Returns nothing if the program is infeasible or unbounded.
  std::optional<LpSolution> maximise() const;

 private:
  struct Row {
    std::vector<std::pair<int, double>> terms;
    double low, high;
  };
  std::vector<double> objective_, low_, high_;
  std::vector<Row> rows_;
};

}  // namespace penstock
