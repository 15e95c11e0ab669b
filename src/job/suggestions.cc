#include "job/suggestions.h"

#include <algorithm>
#include <vector>

#include "report/table.h"

namespace penstock {
namespace {

constexpr double kWorthChanging = 1.05;  // smaller gains are within the noise of a trace
constexpr double kWorthThreads = 0.05;   // of the CPU time: a cheaper stage needs no more threads

// Returns the rate that the cores, the disk and the consumer allow, with every knob free: no
// promise is above a ceiling of the same report, but for those of the threads it adds.
double promise_of(const Analysis& a) {
  double out = a.best.rate;
  for (const Ceiling& c : a.ceilings) {
    if (c.kind != Ceiling::Kind::threads) out = std::min(out, c.rate);
  }
  return out;
}

// Returns the stages that hold the rate below the promise with fewer threads than they could use.
std::vector<const StageModel*> short_of_threads(const Analysis& a, double promise) {
  std::vector<const StageModel*> out;
  for (const ThreadModel& group : a.threads) {
    if (group.width >= a.cores || group.demand_seconds <= 0) continue;
    if (group.width / group.demand_seconds >= promise) continue;
    for (const int id : group.stages) {
      const StageModel& s = a.stages[static_cast<size_t>(id)];
      const bool inlined = a.trace.stages[static_cast<size_t>(id)].inlined;
      if (!s.sequential && !inlined && s.demand_seconds >= kWorthThreads * a.demand_seconds)
        out.push_back(&s);
    }
  }
  std::ranges::stable_sort(out, std::greater(), &StageModel::demand_seconds);
  return out;
}

std::string more_threads(const std::vector<const StageModel*>& stages) {
  constexpr size_t kMostNames = 2;
  std::string out = "give " + stages[0]->label;
  for (size_t i = 1; i < std::min(stages.size(), kMostNames); ++i)
    out += " and " + stages[i]->label;
  if (stages.size() > kMostNames)
    out += " and " + std::to_string(stages.size() - kMostNames) + " more";
  return out + " more threads than " + std::to_string(stages[0]->limit) +
         " (penstock optimize writes the plan)";
}

// Returns what helps where threads do not; no gain is predicted for it.
std::string remedy(const Analysis& a) {
  const Verdict& v = a.verdict;
  const std::string label =
      v.stage >= 0 ? a.stages[static_cast<size_t>(v.stage)].label : std::string();
  switch (v.holder) {
    case Verdict::Holder::storage:
      return "read from faster storage, more files at once, or less: cache what " + label +
             " reads";
    case Verdict::Holder::other_programs:
      return "leave this job its cores: end or move the other programs";
    case Verdict::Holder::lock:
      return "run less code under the lock in " + label +
             ": write it with operations of the pipeline, or run it in other processes "
             "(ps.py_map(f, processes=4)); more threads wait for the same lock";
    case Verdict::Holder::cpu:
      return "spend less CPU in " + label +
             " (penstock optimize tries rewrites and a cache), or add cores";
    case Verdict::Holder::stage: {
      const StageTrace& s = a.trace.stages[static_cast<size_t>(v.stage)];
      if (s.bytes_read > 0 && s.inputs.empty())
        return "read more files at once: " + label + " reads one after the other";
      if (a.stages[static_cast<size_t>(v.stage)].sequential)
        return "do less in " + label + ": it runs in one thread, whatever its knobs";
      return "spend less CPU in " + label +
             " (penstock optimize tries rewrites and a cache): it has all threads it can use";
    }
    case Verdict::Holder::consumer:
    case Verdict::Holder::unclear: break;
  }
  return {};
}

}  // namespace

ExplainOptions suggestions(const Analysis& analysis) {
  ExplainOptions out;
  if (analysis.rate <= 0 || !analysis.verdict.input_bound) return out;
  const double promise = promise_of(analysis);
  const std::vector<const StageModel*> stages = short_of_threads(analysis, promise);
  // Threads help only if nothing else holds the rate.
  const bool held_elsewhere = analysis.verdict.holder == Verdict::Holder::storage ||
                              analysis.verdict.holder == Verdict::Holder::other_programs ||
                              analysis.verdict.holder == Verdict::Holder::lock;
  const bool worth = promise > kWorthChanging * analysis.rate && promise < 1e15;
  if (worth && !stages.empty() && !held_elsewhere) {
    out.plan.push_back({more_threads(stages), "up to " + human_ratio(promise / analysis.rate) +
                                                  ", " + human_rate(promise)});
    out.predicted_rate = Estimate{analysis.rate, promise, promise};
    return out;
  }
  if (std::string change = remedy(analysis); !change.empty())
    out.plan.push_back({std::move(change), {}});
  return out;
}

}  // namespace penstock
