// explain --functions: the cost of each op of each function of a pipeline.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/pipeline.h"
#include "functions/function_costs.h"

namespace penstock::cli {

struct FunctionReport {
  std::string stage;     // "map"; in a nested pipeline "interleave > map"
  std::string function;  // the parameter: "f"
  int64_t rows = 0;      // measured
  double nanoseconds_per_row = 0;
  std::vector<OpCost> ops;
};

// Measures the stages whose functions take an element, the source's first, then those of nested
// pipelines after the stage that makes them, unless they use its values. Measures each alone, on
// the first rows of its input. Throws their errors.
std::vector<FunctionReport> measure_functions(const PlanPtr& plan, const RunOptions& options);

std::string functions_text(const std::vector<FunctionReport>& reports);
nlohmann::json functions_json(const std::vector<FunctionReport>& reports);

}  // namespace penstock::cli
