// The policy of `--tune live`: one model, jumps to what it plans, and looks whether that helped.
//
// It looks at the counters of a window of time. While the consumer waits it raises what limits the
// rate, all at once; some windows later it compares the rates, and moves back what did not help.
// While the consumer does not wait for a while, it gives back calls that nobody needs. A move that
// failed is not tried again for a time, which doubles with each failure; so does the patience
// before giving back, whenever what was given back is soon needed again. Both make it stop where a
// consumer or a machine goes up and down.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "model/latency.h"
#include "optimizer/tuner_plan.h"

namespace penstock {
namespace {

constexpr double kShortest = 0.1, kLongest = 0.8;  // seconds between two looks
constexpr int kQuietLooks = 5;                     // before it looks less often
constexpr int kUnexplainedLooks = 4;               // at idle cores, before something is tried
constexpr double kFewElements = 8;                 // a window has at least these,
constexpr double kLongWindow = 0.8;                // or this many seconds
constexpr double kWaits = 0.05;                    // share of the time: below it demand is met
constexpr double kHelped = 1.02;                   // measured gain of a move that stays
constexpr double kSettleSeconds = 0.15, kTrialSeconds = 0.3;
constexpr double kHeadroom = 1.25;  // of the rate that is kept when giving back
constexpr double kPatience = 3, kMostPatience = 60;
constexpr double kFirstBan = 5, kMostBan = 300;
constexpr double kPhase = 1.5;  // costs or rates differ by more: another phase

class LivePolicy final : public TunerPolicy {
 public:
  std::vector<TunerMove> decide(const TunerView& view) override;
  double next_seconds() const override { return period_; }
  const std::vector<TunerDecision>& decisions() const override { return decisions_; }

 private:
  // Moves that are being judged.
  struct Trial {
    std::vector<TunerMove> back;        // restores what was before
    bool more = false;                  // adds, else gives back
    double rate = 0, asking_share = 0;  // before
    std::vector<size_t> decisions;      // counted from the first one ever
  };
  using Key = std::vector<std::pair<size_t, Tuned>>;
  struct Ban {
    double until = 0, seconds = kFirstBan;
  };

  static Key key_of(const std::vector<TunerMove>& moves) {
    Key out;
    for (const TunerMove& m : moves) out.emplace_back(m.stage, m.what);
    return out;
  }
  std::vector<TunerMove> judge(const TunerView& view, const TunerCosts& costs);
  std::vector<TunerMove> look(const TunerView& view, const TunerCosts& costs);
  std::vector<TunerMove> raise(const TunerView& view, const TunerCosts& costs);
  std::vector<TunerMove> lower(const TunerView& view, const TunerCosts& costs);
  TunerPlan longer_buffers(const TunerView& view, const TunerCosts& costs) const;
  std::vector<TunerMove> make(const TunerView& view, const TunerCosts& costs, const TunerPlan& plan,
                              bool more);
  TunerDecision* decision(size_t number) {
    const size_t dropped = made_ - decisions_.size();
    return number < dropped ? nullptr : &decisions_[number - dropped];
  }
  void notice_phase(const TunerView& view, const TunerCosts& costs);

  std::optional<TunerView> start_;  // of the window
  std::optional<Trial> trial_;
  double changed_at_ = -1;
  std::map<Key, Ban> bans_;
  double met_since_ = -1;  // the consumer has not waited since then
  double patience_ = kPatience;
  double gave_back_at_ = -1e9;
  double phase_rate_ = 0, phase_work_ = 0;
  int other_phase_ = 0;  // windows in a row
  int quiet_ = 0;
  int unexplained_ = 0;  // looks in a row at idle cores
  double period_ = kShortest;
  std::vector<TunerDecision> decisions_;
  size_t made_ = 0;
};

std::vector<TunerMove> LivePolicy::decide(const TunerView& view) {
  if (!start_ || start_->stages.size() != view.stages.size()) {
    start_ = view;
    return {};
  }
  // Elements under way when values moved say nothing of them.
  if (trial_ && view.seconds < changed_at_ + kSettleSeconds) {
    start_ = view;
    return {};
  }
  const double seconds = view.seconds - start_->seconds;
  const auto elements = static_cast<double>(view.stages[0].elements - start_->stages[0].elements);
  if (elements < 1 || seconds <= 0) {
    if (seconds > kLongWindow) start_ = view;  // the consumer has stopped: nothing is measured
    return {};
  }
  if (trial_ && seconds < kTrialSeconds) return {};
  if (elements < kFewElements && seconds < kLongWindow) return {};
  const TunerCosts costs = tuner_costs(*start_, view);
  start_ = view;
  notice_phase(view, costs);
  std::vector<TunerMove> moves = trial_ ? judge(view, costs) : std::vector<TunerMove>();
  if (moves.empty() && !trial_) moves = look(view, costs);
  if (!moves.empty()) {
    changed_at_ = view.seconds;
    quiet_ = 0;
    period_ = kShortest;
  } else if (++quiet_ >= kQuietLooks) {
    quiet_ = 0;
    period_ = std::min(kLongest, 2 * period_);
  }
  return moves;
}

// Moves that failed may succeed in another phase: the cache became warm, storage slowed down.
void LivePolicy::notice_phase(const TunerView& view, const TunerCosts& costs) {
  double work = 0;
  for (const double s : costs.busy_seconds) work += s;
  const auto differs = [](double a, double b) {
    return a > b * kPhase + 1e-12 || b > a * kPhase + 1e-12;
  };
  const bool other = differs(work, phase_work_) || (!trial_ && differs(costs.rate, phase_rate_));
  other_phase_ = other ? other_phase_ + 1 : 0;
  if (phase_rate_ > 0 && other_phase_ < 2) return;
  phase_rate_ = costs.rate;
  phase_work_ = work;
  other_phase_ = 0;
  period_ = kShortest;
  for (auto& [key, ban] : bans_) ban.until = std::min(ban.until, view.seconds + kFirstBan / 4);
}

std::vector<TunerMove> LivePolicy::look(const TunerView& view, const TunerCosts& costs) {
  if (const TunerPlan fit = plan_to_fit(view, costs); !fit.moves.empty())
    return make(view, costs, fit, false);
  if (costs.asking_share > kWaits) {
    met_since_ = -1;
    return raise(view, costs);
  }
  if (met_since_ < 0) met_since_ = view.seconds;
  if (view.seconds - met_since_ < patience_) return {};
  met_since_ = view.seconds;
  return lower(view, costs);
}

std::vector<TunerMove> LivePolicy::raise(const TunerView& view, const TunerCosts& costs) {
  TunerPlan plan = plan_more(view, costs);
  if (plan.moves.empty()) plan = longer_buffers(view, costs);
  if (plan.moves.empty()) {
    plan = plan_probe(view, costs);
    unexplained_ = plan.moves.empty() ? 0 : unexplained_ + 1;
    if (unexplained_ < kUnexplainedLooks) return {};
  }
  unexplained_ = 0;
  if (plan.moves.empty()) return {};
  std::vector<TunerMove> moves;
  for (const PlannedMove& m : plan.moves) moves.push_back(m.move);
  const auto ban = bans_.find(key_of(moves));
  if (ban != bans_.end() && view.seconds < ban->second.until) return {};
  // Calls given back are needed again: waits longer the next time.
  if (view.seconds - gave_back_at_ < 2 * patience_ + kPatience)
    patience_ = std::min(kMostPatience, 2 * patience_);
  gave_back_at_ = -1e9;
  return make(view, costs, plan, true);
}

// The pipeline makes more than the consumer takes, and the consumer waits all the same: elements
// come at irregular times, and a longer buffer evens them out.
TunerPlan LivePolicy::longer_buffers(const TunerView& view, const TunerCosts& costs) const {
  constexpr double kEnough = 1.05, kWorthMemory = 1.02, kIrregular = 1;
  TunerPlan out;
  const double made = predicted_rate(view, costs, false);
  const double wanted = costs.consumer_seconds > 0 ? 1 / costs.consumer_seconds : 0;
  if (wanted <= 0 || made < kEnough * wanted || costs.asking_share > 0.5) return out;
  for (size_t i = 0; i < view.stages.size(); ++i) {
    const TunedValue& rows = view.stages[i].rows_ahead;
    if (view.stages[i].calls.most > 0 || !rows.movable || rows.now < 1) continue;
    if (view.stages[i].user >= 0) continue;  // not the consumer's own buffer
    const Flow from{made, kIrregular}, to{wanted, kIrregular};
    const double gain = buffered_rate(from, to, 2 * rows.now) / buffered_rate(from, to, rows.now);
    TunerView longer = view;
    longer.stages[i].rows_ahead.now *= 2;
    if (gain < kWorthMemory || 2 * rows.now > rows.most) continue;
    if (2 * planned_bytes(longer, costs) > static_cast<double>(view.memory_bytes)) continue;
    out.gain = gain;
    out.moves.push_back({{i, Tuned::rows_ahead, 2 * rows.now}, "elements come at irregular times"});
    return out;
  }
  return out;
}

std::vector<TunerMove> LivePolicy::lower(const TunerView& view, const TunerCosts& costs) {
  const TunerPlan plan = plan_less(view, costs, kHeadroom * costs.rate);
  if (plan.moves.empty()) return {};
  gave_back_at_ = view.seconds;
  return make(view, costs, plan, false);
}

std::vector<TunerMove> LivePolicy::make(const TunerView& view, const TunerCosts& costs,
                                        const TunerPlan& plan, bool more) {
  Trial trial;
  trial.more = more;
  trial.rate = costs.rate;
  trial.asking_share = costs.asking_share;
  std::vector<TunerMove> moves;
  for (const PlannedMove& m : plan.moves) {
    TunedStage stage = view.stages[m.move.stage];
    const int64_t from = tuned_value(stage, m.move.what).now;
    trial.back.push_back({m.move.stage, m.move.what, from});
    moves.push_back(m.move);
    TunerDecision d;
    d.seconds = view.seconds;
    d.stage = stage.id;
    d.value = tuned_name(m.move.what);
    d.from = from;
    d.to = m.move.to;
    d.why = m.why;
    d.predicted_gain = plan.gain;
    if (decisions_.size() == kKeptDecisions) decisions_.erase(decisions_.begin());
    decisions_.push_back(std::move(d));
    trial.decisions.push_back(made_++);
  }
  trial_ = std::move(trial);
  return moves;
}

std::vector<TunerMove> LivePolicy::judge(const TunerView&, const TunerCosts& costs) {
  const Trial trial = std::move(*trial_);
  trial_.reset();
  const double gain = costs.rate / std::max(1e-12, trial.rate);
  const bool met = costs.asking_share <= kWaits;
  const bool failed = trial.more ? gain < kHelped && !met
                                 : !met && costs.asking_share > trial.asking_share + kWaits;
  for (const size_t number : trial.decisions) {
    if (TunerDecision* d = decision(number)) {
      d->measured_gain = gain;
      d->rolled_back = failed;
    }
  }
  if (!failed) return {};
  if (trial.more) {
    Ban& ban = bans_[key_of(trial.back)];
    ban.until = start_->seconds + ban.seconds;
    ban.seconds = std::min(kMostBan, 2 * ban.seconds);
  } else {
    patience_ = std::min(kMostPatience, 2 * patience_);
    met_since_ = -1;
  }
  return trial.back;
}

}  // namespace

std::unique_ptr<TunerPolicy> live_policy() { return std::make_unique<LivePolicy>(); }

}  // namespace penstock
