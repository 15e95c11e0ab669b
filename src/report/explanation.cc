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

std::string decision_line(const Trace& trace, const TunerDecision& d) {
  std::string out = human_seconds(d.seconds) + " " +
                    trace.stages[static_cast<size_t>(d.stage)].label + ": " + d.value + " " +
                    std::to_string(d.from) + " -> " + std::to_string(d.to) + ": " + d.why +
                    "; predicted " + human_ratio(d.predicted_gain);
  if (d.measured_gain) out += ", measured " + human_ratio(*d.measured_gain);
  if (d.rolled_back) out += ", moved back";
  return out;
}

bool nothing_wrong(const Analysis& a) {
  return a.verdict.step_seconds > 0 && !a.verdict.input_bound;
}

}  // namespace penstock
