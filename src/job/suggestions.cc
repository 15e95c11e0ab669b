#include "job/suggestions.h"

#include "report/table.h"

namespace penstock {

ExplainOptions suggestions(const Analysis& analysis) {
  ExplainOptions out;
  if (analysis.rate <= 0 || analysis.best.rate <= 1.05 * analysis.rate || analysis.best.rate > 1e15)
    return out;
  out.plan.push_back(
      {"give each stage the threads it can use (penstock optimize writes the plan)",
       human_ratio(analysis.best.rate / analysis.rate) + ", " + human_rate(analysis.best.rate)});
  out.predicted_rate =
      Estimate{0.9 * analysis.best.rate, analysis.best.rate, 1.1 * analysis.best.rate};
  return out;
}

}  // namespace penstock
