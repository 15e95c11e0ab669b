#include "job/stage_costs.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "model/model.h"

namespace penstock {

std::vector<StageCost> stage_costs(const Trace& a, const Trace& b) {
  std::vector<StageCost> out;
  for (const StageModel& s : analyze(a).stages) out.push_back({s.label, s.demand_seconds, {}});
  for (const StageModel& s : analyze(b).stages) {
    const auto same = std::ranges::find_if(
        out, [&](const StageCost& c) { return c.stage == s.label && c.a && !c.b; });
    if (same == out.end())
      out.push_back({s.label, {}, s.demand_seconds});
    else
      same->b = s.demand_seconds;
  }
  std::ranges::stable_sort(out, std::greater(),
                           [](const StageCost& c) { return std::abs(c.difference()); });
  return out;
}

}  // namespace penstock
