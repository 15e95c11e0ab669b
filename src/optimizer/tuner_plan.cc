#include "optimizer/tuner_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace penstock {
namespace {

constexpr double kWorthMoving = 1.03;  // less gain than that is noise
constexpr double kWorthAStep = 1.004;  // of several that are made at once
constexpr double kNear = 2;            // limits up to this times the lowest rate count
constexpr double kMemoryShare = 0.5;   // the rest is for shuffles, batches and the consumer
constexpr int64_t kRowsWhenMoved = 2;  // of a buffer that was off

std::string per_second(double rate) {
  const auto digits = rate < 10 ? 1 : 0;
  std::string text = std::to_string(rate);
  return text.substr(0, text.find('.') + (digits == 0 ? 0 : 2)) + "/s";
}

std::string reason(const TunerLimit& limit) {
  const std::string rate = per_second(limit.rate);
  switch (limit.kind) {
    case TunerLimit::Kind::consumer: return "the consumer's thread limits the rate to " + rate;
    case TunerLimit::Kind::pull: return "one thread makes its input, at most " + rate;
    case TunerLimit::Kind::calls: return "its calls limit the rate to " + rate;
    case TunerLimit::Kind::cores: break;
  }
  return "the cores limit the rate to " + rate;
}

// More calls than cores bring nothing: tasks of the pool never wait for storage.
int64_t most_calls(const TunerView& view, size_t stage) {
  return std::min<int64_t>(view.stages[stage].calls.most, view.cores);
}

bool fits(const TunerView& view, const TunerCosts& costs) {
  return planned_bytes(view, costs) <= kMemoryShare * static_cast<double>(view.memory_bytes);
}

// Returns the move that takes work off the threads of `limit`; false if none can.
bool relieve(const TunerView& view, const TunerCosts& costs, const TunerLimit& limit,
             TunerMove* out) {
  if (limit.kind == TunerLimit::Kind::cores) return false;
  if (limit.kind == TunerLimit::Kind::calls) {
    const TunedValue& calls = view.stages[limit.stage].calls;
    if (calls.movable && calls.now < most_calls(view, limit.stage)) {
      *out = {limit.stage, Tuned::calls, calls.now + 1};
      return true;
    }
  }
  // A stage goes to threads of its own: the heaviest that may.
  double heaviest = 0;
  for (const size_t i : limit.stages) {
    const TunedStage& s = view.stages[i];
    const bool calls = s.calls.movable && s.calls.now <= 1 && most_calls(view, i) >= 2;
    const bool rows = s.calls.most == 0 && s.rows_ahead.movable && s.rows_ahead.now == 0;
    if (!calls && !rows) continue;
    const double relief = calls ? costs.busy_seconds[i] : 0;
    if (heaviest > 0 && relief <= heaviest) continue;
    heaviest = std::max(relief, 1e-12);
    *out = calls ? TunerMove{i, Tuned::calls, 2} : TunerMove{i, Tuned::rows_ahead, kRowsWhenMoved};
  }
  return heaviest > 0;
}

// Returns the lowest limit that a move relieves, and the move.
std::optional<TunerLimit> relieved(const TunerView& view, const TunerCosts& costs,
                                   TunerMove* move) {
  const std::vector<TunerLimit> limits = tuner_limits(view, costs, true);
  for (const TunerLimit& limit : limits) {
    if (limit.rate > kNear * limits.front().rate) break;
    if (relieve(view, costs, limit, move)) return limit;
  }
  return {};
}

void set(TunerView* view, const TunerMove& move) {
  tuned_value(view->stages[move.stage], move.what).now = move.to;
}

// Moves from `from` to `to`, with the reasons in `why`, one for each stage.
std::vector<PlannedMove> difference(const TunerView& from, TunerView to,
                                    const std::vector<std::string>& why) {
  std::vector<PlannedMove> out;
  for (size_t i = 0; i < from.stages.size(); ++i) {
    TunedStage before = from.stages[i];
    for (const Tuned what : {Tuned::calls, Tuned::rows_ahead}) {
      const int64_t now = tuned_value(to.stages[i], what).now;
      if (tuned_value(before, what).now != now) out.push_back({{i, what, now}, why[i]});
    }
  }
  return out;
}

}  // namespace

TunerPlan plan_more(const TunerView& view, const TunerCosts& costs) {
  const double now = predicted_rate(view, costs);
  TunerView at = view, best = view;
  std::vector<std::string> why(view.stages.size());
  double best_rate = now;
  const auto most_steps = static_cast<size_t>(view.cores) * 8 * view.stages.size();
  for (size_t step = 0; step < most_steps; ++step) {
    TunerMove move;
    const std::optional<TunerLimit> limit = relieved(at, costs, &move);
    if (!limit) break;
    set(&at, move);
    if (!fits(at, costs)) break;
    if (why[move.stage].empty()) why[move.stage] = reason(*limit);
    const double rate = predicted_rate(at, costs);
    if (rate > best_rate * kWorthAStep) {
      best_rate = rate;
      best = at;
    }
  }
  TunerPlan out;
  if (now <= 0 || best_rate < kWorthMoving * now) return out;
  out.gain = best_rate / now;
  out.moves = difference(view, best, why);
  return out;
}

TunerPlan plan_probe(const TunerView& view, const TunerCosts& costs) {
  constexpr double kBusy = 0.9;
  double used = 0;  // threads, those included that wait for a core which another program has
  for (const double busy : costs.busy_seconds) used += busy * costs.rate;
  if (used > kBusy * view.cores) return {};
  for (const TunerLimit& limit : tuner_limits(view, costs, true)) {
    TunerMove move;
    if (!relieve(view, costs, limit, &move)) continue;
    TunerView at = view;
    set(&at, move);
    if (!fits(at, costs)) return {};
    const double gain = predicted_rate(at, costs) / predicted_rate(view, costs);
    return {{{move, "cores are idle, and nothing explains it: tried"}}, std::max(1.0, gain)};
  }
  return {};
}

TunerPlan plan_less(const TunerView& view, const TunerCosts& costs, double rate) {
  TunerView at = view;
  for (size_t i = 0; i < at.stages.size(); ++i) {
    TunedValue& calls = at.stages[i].calls;
    while (calls.movable && calls.now > 1) {
      --calls.now;
      // One call moves the work into the thread of the user, which may be the consumer's.
      if (predicted_rate(at, costs, false) >= rate &&
          (calls.now > 1 || costs.busy_seconds[i] * rate < 0.02))
        continue;
      ++calls.now;
      break;
    }
  }
  const std::vector<std::string> why(
      view.stages.size(),
      "the consumer takes less than the pipeline makes, " + per_second(costs.rate));
  return {difference(view, at, why), 1};
}

TunerPlan plan_to_fit(const TunerView& view, const TunerCosts& costs) {
  TunerView at = view;
  while (!fits(at, costs)) {
    TunedValue* largest = nullptr;
    double most = 0;
    for (size_t i = 0; i < at.stages.size(); ++i) {
      TunedStage& s = at.stages[i];
      const double calls = static_cast<double>(s.calls.now) * costs.block_bytes[i];
      const double rows = static_cast<double>(s.rows_ahead.now) * costs.row_bytes[i];
      if (s.calls.movable && s.calls.now > 1 && calls > most) {
        most = calls;
        largest = &s.calls;
      }
      if (s.rows_ahead.movable && s.rows_ahead.now > 1 && rows > most) {
        most = rows;
        largest = &s.rows_ahead;
      }
    }
    if (!largest) break;
    largest->now = std::max<int64_t>(1, largest->now / 2);
  }
  return {difference(view, at,
                     std::vector<std::string>(view.stages.size(), "the memory budget is small")),
          1};
}

}  // namespace penstock
