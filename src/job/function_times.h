// Costs of the ops of each function of a pipeline.
#pragma once

#include <string>
#include <vector>

#include "functions/function_costs.h"
#include "job/traced_run.h"

namespace penstock {

struct FunctionReport {
  std::string stage;     // "map"; in a nested pipeline "interleave > map"
  std::string function;  // the parameter: "f"
  int64_t rows = 0;      // measured
  double nanoseconds_per_row = 0;
  std::vector<OpCost> ops;
};

// Measures the stages whose functions take an element, the source's first, then those of nested
// pipelines after the stage that makes them, unless they use its values. Measures each alone, on
// the first rows of its input. Throws their errors, and CANCELLED if the observer stops a run.
std::vector<FunctionReport> measure_functions(const PlanPtr& plan, const RunOptions& options,
                                              RunObserver* observer = nullptr);

}  // namespace penstock
