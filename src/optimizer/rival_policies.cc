#include "optimizer/rival_policies.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "model/latency.h"
#include "optimizer/tuner_model.h"

namespace penstock {
namespace {

constexpr double kLookSeconds = 0.1;

bool may_move(const TunedStage& s) { return s.calls.movable && s.calls.most > 1; }

// Base of the rivals: they measure the costs since the last look, and keep no decisions.
class Rival : public TunerPolicy {
 public:
  std::vector<TunerMove> decide(const TunerView& view) final {
    const bool measured = before_ && view.stages[0].elements > before_->stages[0].elements;
    if (before_ && !measured) return {};
    std::vector<TunerMove> moves;
    if (measured) moves = plan(view, tuner_costs(*before_, view));
    before_ = view;
    return moves;
  }
  double next_seconds() const override { return kLookSeconds; }
  const std::vector<TunerDecision>& decisions() const final { return none_; }

 protected:
  virtual std::vector<TunerMove> plan(const TunerView& view, const TunerCosts& costs) = 0;

 private:
  std::optional<TunerView> before_;
  std::vector<TunerDecision> none_;
};

class Heuristic final : public Rival {
  std::vector<TunerMove> plan(const TunerView& view, const TunerCosts&) override {
    std::vector<TunerMove> out;
    for (size_t i = 0; i < view.stages.size(); ++i) {
      const TunedStage& s = view.stages[i];
      if (may_move(s) && s.calls.now < view.cores) out.push_back({i, Tuned::calls, view.cores});
    }
    return out;
  }
};

class Local final : public Rival {
  std::vector<TunerMove> plan(const TunerView& view, const TunerCosts& costs) override {
    size_t busiest = view.stages.size();
    double most = 0;
    for (size_t i = 0; i < view.stages.size(); ++i) {
      const TunedStage& s = view.stages[i];
      if (!may_move(s) || s.calls.now >= view.cores) continue;
      const double busy = costs.busy_seconds[i] / static_cast<double>(s.calls.now);
      if (busy > most) {
        most = busy;
        busiest = i;
      }
    }
    if (busiest == view.stages.size()) return {};
    return {{busiest, Tuned::calls, view.stages[busiest].calls.now + 1}};
  }
};

class RandomWalk final : public Rival {
 public:
  explicit RandomWalk(uint64_t seed) : random_(seed) {}

 private:
  std::vector<TunerMove> plan(const TunerView& view, const TunerCosts& costs) override {
    if (last_ && costs.rate < rate_) {
      const std::vector<TunerMove> back{*std::exchange(last_, std::nullopt)};
      return back;
    }
    rate_ = costs.rate;
    std::vector<size_t> free;
    for (size_t i = 0; i < view.stages.size(); ++i) {
      if (may_move(view.stages[i])) free.push_back(i);
    }
    if (free.empty()) return {};
    const size_t i = free[random_() % free.size()];
    const int64_t now = view.stages[i].calls.now;
    const int64_t to = std::clamp<int64_t>(random_() % 2 == 0 ? now + 1 : now - 1, 1, view.cores);
    if (to == now) return {};
    last_ = TunerMove{i, Tuned::calls, now};
    return {{i, Tuned::calls, to}};
  }

  std::mt19937_64 random_;
  std::optional<TunerMove> last_;  // undoes it
  double rate_ = 0;
};

class Autotune final : public Rival {
 public:
  explicit Autotune(bool everything) : everything_(everything) {}
  double next_seconds() const override { return period_; }

 private:
  static constexpr double kMostSeconds = 60, kWorth = 1e-6;  // ms

  // The pipeline as a line of tf.data's iterators, from the source to the root.
  static double latency(const TunerView& view, const TunerCosts& costs) {
    std::vector<LatencyStage> line;
    for (size_t i = view.stages.size(); i-- > 0;) {
      const TunedStage& s = view.stages[i];
      LatencyStage l;
      l.own_ms = costs.busy_seconds[i] * 1e3;
      l.kind = line.empty() ? LatencyStage::Kind::source : LatencyStage::Kind::synchronous;
      if (!line.empty() && s.calls.most > 0) {
        l.kind = LatencyStage::Kind::parallel_map;
        l.parallelism = l.buffer_size = s.calls.now;
      }
      line.push_back(l);
    }
    // All algorithms but STAGE_BASED take the consumer for infinitely fast.
    constexpr double kFastest = 1e9;
    return tfdata_latencies(line, kFastest).back().output_ms;
  }

  std::vector<TunerMove> plan(const TunerView& view, const TunerCosts& costs) override {
    period_ = std::min(kMostSeconds, 2 * period_);
    double processing = 0;
    for (const double s : costs.busy_seconds) processing += s * 1e3;
    TunerView at = view;
    for (TunedStage& s : at.stages) {
      if (may_move(s)) s.calls.now = 1;
    }
    for (;;) {
      const double now = latency(at, costs);
      if (!everything_ && now < processing / view.cores) break;
      TunedStage* best = nullptr;
      double gain = -std::numeric_limits<double>::infinity();
      for (TunedStage& s : at.stages) {
        if (!may_move(s) || s.calls.now >= view.cores) continue;
        ++s.calls.now;
        const double less = now - latency(at, costs);
        --s.calls.now;
        if (less > gain) {
          gain = less;
          best = &s;
        }
      }
      if (!best || gain < -kWorth) break;
      ++best->calls.now;
    }
    std::vector<TunerMove> out;
    for (size_t i = 0; i < at.stages.size(); ++i) {
      if (at.stages[i].calls.now != view.stages[i].calls.now)
        out.push_back({i, Tuned::calls, at.stages[i].calls.now});
    }
    return out;
  }

  const bool everything_;
  double period_ = kLookSeconds;
};

}  // namespace

std::unique_ptr<TunerPolicy> heuristic_policy() { return std::make_unique<Heuristic>(); }
std::unique_ptr<TunerPolicy> local_policy() { return std::make_unique<Local>(); }
std::unique_ptr<TunerPolicy> random_walk_policy(uint64_t seed) {
  return std::make_unique<RandomWalk>(seed);
}
std::unique_ptr<TunerPolicy> autotune_policy(bool everything) {
  return std::make_unique<Autotune>(everything);
}

}  // namespace penstock
