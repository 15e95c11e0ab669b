#include "optimizer/tuner_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace penstock {
namespace {

// Limits that lie close together slow each other down, since times vary: two equal ones cost a
// tenth. Measured on simulated pipelines.
constexpr double kSharpness = 6;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool has_calls(const TunedStage& s) { return s.calls.most > 0; }
// Another thread pulls its inputs, and several may compute its blocks.
bool is_parallel(const TunedStage& s) { return has_calls(s) && s.calls.now > 1; }
// Another thread pulls its inputs.
bool is_ahead(const TunedStage& s) {
  return is_parallel(s) || (!has_calls(s) && s.rows_ahead.now > 0);
}

// Places in which stages work: threads that one part of the pipeline occupies.
class Places {
 public:
  using Kind = TunerLimit::Kind;
  using Place = std::pair<Kind, size_t>;

  explicit Places(const TunerView& view) : view_(view) {
    for (size_t i = 0; i < view.stages.size(); ++i) of_.push_back(find(i));
  }
  const Place& of(size_t stage) const { return of_[stage]; }

 private:
  size_t head(size_t i) const {
    const int with = view_.stages[i].runs_with;
    return with >= 0 ? static_cast<size_t>(with) : i;
  }
  Place find(size_t i) const {
    const size_t own = head(i);
    if (is_parallel(view_.stages[own])) return {Kind::calls, own};
    const int user = view_.stages[i].user;
    if (user < 0) return {Kind::consumer, 0};
    const size_t pulls = head(static_cast<size_t>(user));
    if (is_ahead(view_.stages[pulls])) return {Kind::pull, pulls};
    return of_[static_cast<size_t>(user)];
  }

  const TunerView& view_;
  std::vector<Place> of_;
};

}  // namespace

TunerCosts tuner_costs(const TunerView& before, const TunerView& after) {
  TunerCosts out;
  out.elements = static_cast<double>(after.stages[0].elements - before.stages[0].elements);
  const double seconds = std::max(1e-9, after.seconds - before.seconds);
  out.rate = out.elements / seconds;
  for (size_t i = 0; i < after.stages.size(); ++i) {
    const TunedStage& now = after.stages[i];
    const TunedStage then = i < before.stages.size() ? before.stages[i] : TunedStage();
    out.busy_seconds.push_back(std::max(0.0, now.busy_seconds - then.busy_seconds) / out.elements);
    const auto bytes = static_cast<double>(now.bytes);
    out.block_bytes.push_back(bytes / static_cast<double>(std::max<int64_t>(1, now.blocks)));
    out.row_bytes.push_back(bytes / static_cast<double>(std::max<int64_t>(1, now.elements)));
  }
  const double asking = std::clamp(after.asking_seconds - before.asking_seconds, 0.0, seconds);
  out.asking_share = asking / seconds;
  out.consumer_seconds = (seconds - asking) / out.elements;
  out.cpu_share = after.cpu_share;
  return out;
}

std::vector<TunerLimit> tuner_limits(const TunerView& view, const TunerCosts& costs,
                                     bool with_consumer) {
  using Kind = TunerLimit::Kind;
  const Places places(view);
  std::map<Places::Place, std::pair<double, std::vector<size_t>>> work;
  double cpu = 0;
  for (size_t i = 0; i < view.stages.size(); ++i) {
    auto& [busy, stages] = work[places.of(i)];
    busy += costs.busy_seconds[i];
    stages.push_back(i);
    cpu += costs.busy_seconds[i] * costs.cpu_share;
  }
  if (with_consumer) work[{Kind::consumer, 0}].first += costs.consumer_seconds;
  std::vector<TunerLimit> out;
  const auto add = [&](Kind kind, size_t stage, double threads, double busy,
                       const std::vector<size_t>& stages) {
    out.push_back({kind, stage, busy > 0 ? threads / busy : kInfinite, stages});
  };
  for (const auto& [place, of] : work) {
    const auto& [kind, stage] = place;
    if (kind != Kind::calls) {
      add(kind, stage, 1, of.first, of.second);
      continue;
    }
    // A call pulls its block before it computes it.
    const auto pulls = work.find({Kind::pull, stage});
    double busy = of.first;
    std::vector<size_t> stages = of.second;
    if (pulls != work.end()) {
      busy += pulls->second.first;
      stages.insert(stages.end(), pulls->second.second.begin(), pulls->second.second.end());
    }
    add(kind, stage, static_cast<double>(view.stages[stage].calls.now), busy, stages);
  }
  add(Kind::cores, 0, view.cores, cpu, {});
  std::ranges::stable_sort(out, {}, &TunerLimit::rate);
  return out;
}

double predicted_rate(const TunerView& view, const TunerCosts& costs, bool with_consumer) {
  const std::vector<TunerLimit> limits = tuner_limits(view, costs, with_consumer);
  const double lowest = limits.front().rate;
  if (lowest <= 0 || lowest == kInfinite) return lowest;
  double sum = 0;
  for (const TunerLimit& l : limits) sum += std::pow(lowest / l.rate, kSharpness);
  return lowest * std::pow(sum, -1 / kSharpness);
}

double planned_bytes(const TunerView& view, const TunerCosts& costs) {
  double out = 0;
  for (size_t i = 0; i < view.stages.size(); ++i) {
    const TunedStage& s = view.stages[i];
    // A stage has room for twice its calls, and one block more for the consumer.
    if (is_parallel(s)) out += static_cast<double>(2 * s.calls.now + 1) * costs.block_bytes[i];
    if (s.rows_ahead.movable && is_ahead(s))
      out += static_cast<double>(s.rows_ahead.now) * costs.row_bytes[i];
  }
  return out;
}

}  // namespace penstock
