#include "cluster/all_reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace penstock::cluster {
namespace {

constexpr int32_t kRunSteps = 60;  // steps of the run that the interval is for
constexpr double kNormal90 = 1.645;
// Errors of a configuration that the constants were not fitted to, from leaving out one family of
// recordings after the other (docs/cluster-model.md).
constexpr double kModelError = 0.014;
constexpr double kGivenStepError = 0.006;  // if the step of one rank was measured
// Error of a collective's time, where buckets are larger than those of the recordings.
constexpr double kLargeBucketError = 0.015;
constexpr int64_t kLargeBucket_bytes = 4 << 20;
constexpr double kMessage_s = 2.8e-4;    // one message between two ranks
constexpr double kShaper_bytes = 65536;  // burst of a link, unless the rig gives one

// Bytes that a collective sends over each rank's link, and the number of messages in sequence.
struct Cost {
  double bytes = 0;
  double messages = 0;
};

Cost cost_of(const Op& op, int32_t workers, bool tree) {
  const auto bytes = static_cast<double>(op.bytes);
  if (workers == 1) return {};
  const auto rounds = static_cast<double>(std::bit_width(static_cast<uint32_t>(workers - 1)));
  if (op.resource == Resource::broadcast) return {rounds * bytes, rounds};
  if (tree) return {2 * rounds * bytes, 2 * rounds};
  const double messages = 2.0 * (workers - 1);
  return {messages / workers * bytes, messages};
}

void check_same(const Profile& profile) {
  const Step& first = profile.steps[0];
  for (const Step& s : profile.steps) {
    const bool same = std::ranges::equal(s.ops, first.ops, [](const Op& a, const Op& b) {
      return a.resource == b.resource && a.deps == b.deps;
    });
    if (!same) {
      throw Error(Code::invalid_argument,
                  "predict: " + profile.source +
                      ": steps differ in their collectives: ranks cannot be joined");
    }
  }
}

// Times of one step on all ranks; each rank runs a step drawn from the profile.
class StepRun {
 public:
  StepRun(const Profile& profile, const Question& q, int32_t workers)
      : profile_(profile),
        q_(q),
        most_credit_(q.rig.burst_bytes < 0 ? kShaper_bytes : q.rig.burst_bytes),
        order_(topological_order(profile.steps[0])),
        workers_(static_cast<size_t>(workers)),
        drawn_(workers_),
        lane_s_(workers_),
        end_s_(order_.size() * workers_) {
    for (int32_t r = 0; q.feed.rate > 0 && r < workers; ++r) feeds_.emplace_back(q.feed, q.seed, r);
  }

  double seconds(RandomStream* random) {
    for (const Step*& s : drawn_) s = &profile_.steps[random->next_below(profile_.steps.size())];
    for (size_t r = 0; r < workers_; ++r)
      lane_s_[r] = feeds_.empty() ? 0 : feeds_[r].take(clock_s_) - clock_s_;
    network_s_ = 0;
    credit_ = most_credit_;
    for (const int32_t i : order_) run(static_cast<size_t>(i));
    const double step_s = *std::ranges::max_element(end_s_);
    clock_s_ += step_s;
    ++step_;
    return step_s;
  }
  // Returns the share of all ranks' steps that waited for their input.
  double starved() const {
    double taken = 0, waited = 0;
    for (const FeedQueue& f : feeds_) {
      taken += static_cast<double>(f.taken());
      waited += static_cast<double>(f.waited());
    }
    return taken > 0 ? waited / taken : 0;
  }
  double network_busy_s = 0, worker_busy_s = 0;  // worker_busy_s: of one rank, mean
  std::vector<Span>* spans = nullptr;            // null: not recorded
  bool all_ranks = false;                        // spans of all ranks, else of the first

 private:
  double ready_s(size_t op, size_t rank) const {
    double out = 0;
    for (const int32_t d : drawn_[rank]->ops[op].deps)
      out = std::max(out, end_s_[static_cast<size_t>(d) * workers_ + rank]);
    return out;
  }

  // Returns the time on the link. The link is a token bucket: while idle it saves up to
  // burst_bytes.
  double carry_s(const Cost& cost, double start_s) {
    const double rate = q_.rig.server_rate;
    credit_ = std::min(most_credit_, credit_ + (start_s - network_s_) * rate);
    const double free = std::min(credit_, cost.bytes);
    credit_ -= free;
    return std::max((cost.bytes - free) / rate, cost.messages * kMessage_s);
  }

  size_t recorded() const { return spans == nullptr ? 0 : all_ranks ? workers_ : 1; }
  void record(size_t rank, PlannedOp::Kind kind, int32_t way, size_t op, double start_s,
              double end_s, double amount) {
    spans->push_back({static_cast<int32_t>(rank), step_, kind, way, static_cast<int32_t>(op), 0,
                      clock_s_ + start_s, clock_s_ + end_s, amount});
  }

  void run(size_t i) {
    const Op& op = drawn_[0]->ops[i];
    if (is_collective(op.resource)) {
      double start_s = network_s_;
      for (size_t r = 0; r < workers_; ++r) start_s = std::max(start_s, ready_s(i, r));
      const Cost cost = cost_of(op, static_cast<int32_t>(workers_), q_.tree);
      const double cost_s = carry_s(cost, start_s);
      network_busy_s += cost_s;
      network_s_ = start_s + cost_s;
      for (size_t r = 0; r < recorded(); ++r) {
        for (const int32_t way : {0, 1})
          record(r, PlannedOp::Kind::transfer, way, i, start_s, network_s_, cost.bytes);
      }
      std::fill_n(end_s_.begin() + static_cast<ptrdiff_t>(i * workers_), workers_, network_s_);
      return;
    }
    for (size_t r = 0; r < workers_; ++r) {
      const double duration_s = drawn_[r]->ops[i].duration_s * q_.rig.compute_factor;
      lane_s_[r] = std::max(lane_s_[r], ready_s(i, r)) + duration_s;
      worker_busy_s += duration_s / static_cast<double>(workers_);
      end_s_[i * workers_ + r] = lane_s_[r];
      if (r < recorded())
        record(r, PlannedOp::Kind::worker, 0, i, lane_s_[r] - duration_s, lane_s_[r], duration_s);
    }
  }

  const Profile& profile_;
  const Question& q_;
  double most_credit_;
  std::vector<int32_t> order_;
  size_t workers_;
  std::vector<const Step*> drawn_;
  std::vector<double> lane_s_;
  std::vector<FeedQueue> feeds_;  // by rank; empty without a limit
  std::vector<double> end_s_;     // by op, then rank
  double clock_s_ = 0;            // end of the last step
  int32_t step_ = 0;              // number of the current step
  double network_s_ = 0;          // end of the last collective
  double credit_ = 0;             // bytes in the token bucket
};

struct Times {
  double mean_s = 0, spread = 0;  // of a step; the spread as a share
};

Times times_of(StepRun* run, const Question& q, int32_t workers) {
  RandomStream random(q.seed, 0, static_cast<uint64_t>(workers));
  const auto steps = static_cast<double>(q.steps) * q.replications;
  double total_s = 0, squares = 0;
  for (double k = 0; k < steps; ++k) {
    const double s = run->seconds(&random);
    total_s += s;
    squares += s * s;
  }
  const double mean_s = total_s / steps;
  return {mean_s, std::sqrt(std::max(0.0, squares / steps - mean_s * mean_s)) / mean_s};
}

// Returns whether the step has a bucket larger than the constants were fitted to.
bool has_large_bucket(const Profile& profile) {
  return std::ranges::any_of(profile.steps[0].ops, [](const Op& op) {
    return op.resource == Resource::all_reduce && op.bytes > kLargeBucket_bytes;
  });
}

Point simulate_point(const Profile& profile, const Question& q, int32_t workers) {
  StepRun run(profile, q, workers);
  const auto [mean_s, spread] = times_of(&run, q, workers);
  const double total_s = mean_s * static_cast<double>(q.steps) * q.replications;
  const double network_use = run.network_busy_s / total_s;
  const double missed =
      std::hypot(q.step_time_s > 0 ? kGivenStepError : kModelError,
                 has_large_bucket(profile) ? kLargeBucketError * network_use : 0) *
      (1 - run.starved());
  const double half = kNormal90 * std::hypot(spread / std::sqrt(kRunSteps), missed);
  Point out;
  out.workers = workers;
  out.servers = 0;
  out.steps_per_s = out.unfed_steps_per_s = 1 / mean_s;
  out.starved = run.starved();
  if (out.starved > 0) {
    Question unfed = q;
    unfed.feed = {};
    StepRun free(profile, unfed, workers);
    out.unfed_steps_per_s = 1 / times_of(&free, unfed, workers).mean_s;
  }
  out.low = out.steps_per_s * std::max(0.0, 1 - half);
  out.high = out.steps_per_s * (1 + half);
  out.worker_use = run.worker_busy_s / total_s;
  out.downlink_use = out.uplink_use = network_use;
  out.binds = out.uplink_use > out.worker_use ? "uplink" : "worker";
  return out;
}

// Scales computing so that a rank alone takes the step time that was measured, if one was.
void scale_to_step_time(const Profile& profile, Question* q) {
  if (q->step_time_s <= 0) return;
  double mean_s = 0;
  for (const Step& s : profile.steps) {
    for (const Op& op : s.ops) mean_s += op.duration_s / static_cast<double>(profile.steps.size());
  }
  q->rig.compute_factor = mean_s > 0 ? q->step_time_s / mean_s : 1;
}

}  // namespace

std::vector<Point> all_reduce_points(const Profile& profile, const Question& question,
                                     const std::function<void(Point*)>& ready) {
  check_same(profile);
  if (!(question.rig.server_rate > 0))
    throw Error(Code::invalid_argument, "predict: the link rate must be positive: 0");
  // A rank alone spends no time in collectives.
  const bool computes = std::ranges::any_of(profile.steps, [](const Step& s) {
    return std::ranges::any_of(
        s.ops, [](const Op& op) { return !is_collective(op.resource) && op.duration_s > 0; });
  });
  if (!computes && std::ranges::find(question.workers, 1) != question.workers.end()) {
    throw Error(Code::invalid_argument, "predict: " + profile.source +
                                            ": no op of a rank computes: one rank takes no time");
  }
  Question q = question;
  scale_to_step_time(profile, &q);
  std::vector<Point> out;
  for (const int32_t w : q.workers) {
    out.push_back(simulate_point(profile, q, w));
    if (ready) ready(&out.back());
  }
  return out;
}

Outcome replay_two_ranks(const Step& step, double rate) {
  Profile one;
  one.steps = {step};
  Question q;
  q.rig.server_rate = rate;
  q.rig.burst_bytes = 0;
  Outcome out;
  StepRun run(one, q, 2);
  run.spans = &out.spans;
  RandomStream random(q.seed, 0, 0);
  out.end_s = run.seconds(&random);
  return out;
}

Outcome replay_ranks(const Profile& profile, const Question& question, int32_t workers,
                     int32_t steps) {
  check_same(profile);
  Question q = question;
  scale_to_step_time(profile, &q);
  Outcome out;
  StepRun run(profile, q, workers);
  run.spans = &out.spans;
  run.all_ranks = true;
  RandomStream random(q.seed, 0, static_cast<uint64_t>(workers));
  for (int32_t k = 0; k < steps; ++k) out.end_s += run.seconds(&random);
  return out;
}

}  // namespace penstock::cluster
