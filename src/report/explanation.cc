#include "report/explanation.h"

#include "report/table.h"

namespace penstock {
namespace {

std::string exposed(const Analysis& a) {
  const Verdict& v = a.verdict;
  if (v.exposed_seconds >= v.step_seconds) {  // the consumer did no work
    return human_seconds(v.step_seconds) + " per element (" + human_rate(a.rate) +
           ", drained without a consumer)";
  }
  return human_seconds(v.exposed_seconds) + " of each " + human_seconds(v.step_seconds) +
         " step (" + human_percent(v.exposed_seconds / v.step_seconds) + ") wait for input";
}

}  // namespace

std::string verdict_line(const Analysis& a, const ExplainOptions& options) {
  const Verdict& v = a.verdict;
  if (v.step_seconds <= 0) return "no verdict: " + v.reason;
  if (!v.input_bound) return "not input-bound: " + v.reason + "; nothing to change";
  std::string out = "input-bound: " + exposed(a) + "; " + v.reason;
  const bool loses = options.predicted_rate && options.predicted_rate->value <= a.rate;
  if (!options.plan.empty() && !loses) {
    out += "; best change: " + options.plan[0].change;
    if (!options.plan[0].gain.empty()) out += " (" + options.plan[0].gain + ")";
  }
  return out;
}

bool nothing_wrong(const Analysis& a) {
  return a.verdict.step_seconds > 0 && !a.verdict.input_bound;
}

}  // namespace penstock
