// The live tuner's policy on simulated pipelines, in virtual time.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "optimizer/simulated_pipeline.h"
#include "optimizer/tuner_model.h"

namespace penstock {
namespace {

constexpr double kMs = 1e-3;

SimulatedStage map_of(double ms, double variation = 0, int64_t calls = 1) {
  SimulatedStage s;
  s.cpu_seconds = ms * kMs;
  s.variation = variation;
  s.has_calls = true;
  s.calls = calls;
  s.bytes = 1000;
  return s;
}
SimulatedStage source_of(double ms) {
  SimulatedStage s;
  s.cpu_seconds = ms * kMs;
  return s;
}
SimulatedStage buffer_of(int64_t rows) {
  SimulatedStage s;
  s.rows_ahead = rows;
  s.bytes = 1000;
  return s;
}
SimulatedPipeline pipeline_of(std::vector<SimulatedStage> stages, int cores) {
  SimulatedPipeline p;
  p.stages = std::move(stages);
  p.cores = cores;
  return p;
}

TEST_CASE("tuner model: threads, calls, cores and the consumer limit the rate") {
  SimulatedPipeline p = pipeline_of({map_of(3), map_of(1), source_of(0.5)}, 4);
  CHECK(simulate(p, nullptr, 10).rate() == doctest::Approx(1 / 4.5e-3).epsilon(0.01));
  p.stages[0].calls = 2;  // pulls 1.5 ms, one at a time, and computes 3 ms
  CHECK(simulate(p, nullptr, 10).rate() == doctest::Approx(2 / 4.5e-3).epsilon(0.01));
  p.stages[0].calls = 4;
  CHECK(simulate(p, nullptr, 10).rate() == doctest::Approx(1 / 1.5e-3).epsilon(0.01));
  p.stages[1].calls = 2;
  CHECK(simulate(p, nullptr, 10).rate() == doctest::Approx(4 / 4.5e-3).epsilon(0.03));
  p.consumer = [](double) { return 5e-3; };
  CHECK(simulate(p, nullptr, 10).rate() == doctest::Approx(1 / 5e-3).epsilon(0.01));
}

TEST_CASE("live policy: comes to 95 % of the best setting of drawn pipelines") {
  constexpr uint64_t seed = 1;  // the bounds are on shares of a sample; bench/tuner.cc draws others
  INFO("seed ", seed);
  constexpr int kPipelines = 30;
  std::vector<double> shares, seconds;
  for (uint64_t i = 0; i < kPipelines; ++i) {
    const SimulatedPipeline p = drawn_pipeline(seed + i, 4);
    const double best = exhaustive_rate(p, 2);
    const auto policy = live_policy();
    const SimulatedRun run = simulate(p, policy.get(), 8);
    shares.push_back(run.rate(4, 8) / best);
    double plateau = 8;
    for (double at = 7.5; at >= 0 && run.rate(at, at + 0.5) >= 0.85 * run.rate(4, 8); at -= 0.1)
      plateau = at;
    seconds.push_back(plateau);
  }
  std::ranges::sort(shares);
  std::ranges::sort(seconds);
  std::string text;
  for (const double q : {0.0, 0.1, 0.25, 0.5, 0.75, 1.0}) {
    const auto at = static_cast<size_t>(q * (kPipelines - 1));
    text += " " + std::to_string(shares[at]) + " (" + std::to_string(seconds[at]) + " s)";
  }
  MESSAGE("share of the best rate (time to the plateau) at 0, 10, 25, 50, 75, 100 %:", text);
  CHECK(shares[kPipelines / 2] >= 0.95);
  CHECK(shares[kPipelines / 10] >= 0.85);
  CHECK(shares[0] >= 0.7);
  CHECK(seconds[kPipelines * 9 / 10] <= 1.5);
}

int64_t calls_at(const SimulatedRun& run, double seconds, size_t stage) {
  for (const SimulatedRun::Sample& s : run.samples) {
    if (s.seconds >= seconds - 1e-9) return s.values[stage];
  }
  return run.samples.back().values[stage];
}

TEST_CASE("live policy: adds until the consumer's demand is met, and gives back when it falls") {
  SimulatedPipeline p = pipeline_of({map_of(4), source_of(0.05)}, 8);
  p.consumer = [](double seconds) { return (seconds < 10 ? 1.0 : 20.0) * kMs; };
  const auto policy = live_policy();
  const SimulatedRun run = simulate(p, policy.get(), 30);
  CHECK(run.rate(3, 10) > 0.95 * 1000);
  CHECK(calls_at(run, 9, 0) >= 4);
  CHECK(calls_at(run, 9, 0) <= 6);
  CHECK(run.stages[0].calls == 2);
  CHECK(run.rate(15, 30) > 0.99 * 50);
}

TEST_CASE("live policy: a consumer that goes up and down is followed a few times only") {
  for (const double period : {1.0, 4.0, 12.0, 30.0}) {
    CAPTURE(period);
    SimulatedPipeline p = pipeline_of({map_of(4), source_of(0.05)}, 8);
    p.consumer = [period](double seconds) {
      return (std::fmod(seconds, period) < period / 2 ? 1.0 : 20.0) * kMs;
    };
    const auto policy = live_policy();
    const SimulatedRun run = simulate(p, policy.get(), 300);
    MESSAGE("period ", period, " s: ", run.changes, " changes in 300 s");
    CHECK(run.changes <= 45);  // 600, 150, 50 and 20 steps of the consumer
  }
}

TEST_CASE("live policy: notices within 2 s that a stage became slower, and which") {
  SimulatedPipeline p = pipeline_of({map_of(1), map_of(1), source_of(0.01)}, 8);
  p.consumer = [](double) { return 1.2 * kMs; };
  for (const size_t slow : {0u, 1u}) {
    CAPTURE(slow);
    p.slowdown = [slow](size_t stage, double seconds) {
      return seconds > 20 && stage == slow ? 4.0 : 1.0;
    };
    const auto policy = live_policy();
    const SimulatedRun run = simulate(p, policy.get(), 30);
    CHECK(run.rate(10, 20) > 0.95 / (1.2 * kMs));
    CHECK(run.rate(22, 30) > 0.95 / (1.2 * kMs));
    // Notices a consumer that became faster, too.
    p.slowdown = [](size_t, double) { return 1.0; };
    SimulatedPipeline faster = p;
    faster.consumer = [](double seconds) { return (seconds < 20 ? 10 : 0.4) * kMs; };
    const auto again = live_policy();
    CHECK(simulate(faster, again.get(), 30).rate(22, 30) > 0.9 / (0.4 * kMs));
  }
}

// Keeps the calls of a pipeline as they are, whatever a policy says.
class Deaf final : public TunerPolicy {
 public:
  explicit Deaf(TunerPolicy* inner) : inner_(*inner) {}
  std::vector<TunerMove> decide(const TunerView& view) override {
    TunerView shown = view;
    for (const TunerMove& m : said_) tuned_value(shown.stages[m.stage], m.what).now = m.to;
    for (const TunerMove& m : inner_.decide(shown)) said_.push_back(m);
    return {};
  }
  double next_seconds() const override { return inner_.next_seconds(); }
  const std::vector<TunerDecision>& decisions() const override { return inner_.decisions(); }

 private:
  TunerPolicy& inner_;
  std::vector<TunerMove> said_;
};

TEST_CASE("live policy: moves back what did not help, and tries it again ever later") {
  const SimulatedPipeline p = pipeline_of({map_of(4), source_of(0.05)}, 4);
  const auto policy = live_policy();
  Deaf deaf(policy.get());  // as if another program had the other cores
  simulate(p, &deaf, 60);
  const std::vector<TunerDecision>& decisions = policy->decisions();
  REQUIRE(!decisions.empty());
  CHECK(decisions.size() <= 5);
  for (size_t i = 0; i < decisions.size(); ++i) {
    CAPTURE(i);
    CHECK(decisions[i].rolled_back);
    CHECK(*decisions[i].measured_gain == doctest::Approx(1).epsilon(0.05));
    CHECK(decisions[i].predicted_gain > 1.5);
    if (i > 1)
      CHECK(decisions[i].seconds - decisions[i - 1].seconds >
            1.5 * (decisions[i - 1].seconds - decisions[i - 2].seconds));
  }
}

TEST_CASE("live policy: what the user wrote stays, and decisions say what they did") {
  SimulatedPipeline p = pipeline_of({map_of(4, 0, 2), map_of(2), source_of(0.05)}, 8);
  p.stages[0].fixed = true;
  const auto policy = live_policy();
  const SimulatedRun run = simulate(p, policy.get(), 10);
  CHECK(run.stages[0].calls == 2);
  CHECK(run.stages[1].calls > 1);
  for (const TunerDecision& d : policy->decisions()) {
    CHECK(d.stage == 1);
    CHECK(d.value == "calls");
    CHECK(!d.why.empty());
    CHECK((d.rolled_back || d.measured_gain.value_or(2) > 1));
  }
  p.stages[1].fixed = true;
  const auto other = live_policy();
  CHECK(simulate(p, other.get(), 10).changes == 0);
  CHECK(other->decisions().empty());
}

TEST_CASE("live policy: keeps its budgets while the consumer stops and goes") {
  const uint64_t seed = std::random_device{}();
  INFO("seed ", seed);
  std::mt19937_64 random(seed);
  int64_t plans = 0;
  for (uint64_t i = 0; i < 80; ++i) {
    SimulatedPipeline p = drawn_pipeline(seed + i, 4);
    p.stages.insert(p.stages.begin(), buffer_of(2));
    for (SimulatedStage& s : p.stages) s.bytes = 1 + static_cast<int64_t>(random() % 100'000);
    p.memory_bytes = 400'000 + static_cast<int64_t>(random() % 10'000'000);
    const double stop = static_cast<double>(random() % 3000) * kMs;
    p.consumer = [stop](double seconds) {
      return seconds > 1 && std::fmod(seconds, 5) < 0.1 ? stop : 0.5 * kMs;
    };
    const auto policy = live_policy();
    const SimulatedRun run = simulate(p, policy.get(), 6);
    plans += run.changes > 0;
    double start = 0;  // what the values need that nobody may lower
    for (const SimulatedRun::Sample& s : run.samples) {
      start = std::max(start, run.samples.front().planned_bytes);
      CAPTURE(i);
      CHECK(s.planned_bytes <= std::max(static_cast<double>(p.memory_bytes) / 2 * 1.01, start));
      for (size_t k = 0; k < s.values.size(); ++k) {
        if (!p.stages[k].has_calls) continue;
        CHECK(s.values[k] >= 1);
        CHECK(s.values[k] <= p.cores);
      }
    }
  }
  CHECK(plans > 40);
}

TEST_CASE("live policy: the same counters give the same moves") {
  const SimulatedPipeline p = drawn_pipeline(5, 4);
  const auto a = live_policy(), b = live_policy();
  const SimulatedRun first = simulate(p, a.get(), 5), second = simulate(p, b.get(), 5);
  CHECK(first.elements == second.elements);
  CHECK(first.changes == second.changes);
}

}  // namespace
}  // namespace penstock
