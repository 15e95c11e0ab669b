// The live tuner on real runs.

#include "job/live_tuner.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>

#include "data/digest.h"
#include "datasets/datasets.h"
#include "job/run_view.h"
#include "job/traced_run.h"
#include "job/tuner_thread.h"
#include "plan/build.h"

namespace penstock {
namespace {

PlanPtr plan_of(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

struct Prepared {
  PlanPtr plan;
  Tuning tuning;
};
Prepared prepared(const std::string& text) {
  Prepared out;
  PrepareOptions options;
  options.threads = 2;
  out.tuning.live = true;
  out.plan = prepare_plan(plan_of(text), options, nullptr, &out.tuning.filled);
  return out;
}

RunOptions two_threads() {
  RunOptions options;
  options.threads = 2;
  return options;
}

const char* const kCheap = "range(30000) | map(x -> x * x + 1) | filter(x -> x % 3 > 0) | batch(8)";

// Draws moves of values that nobody fixed.
class RandomPolicy {
 public:
  explicit RandomPolicy(uint64_t seed) : random_(seed) {}
  std::vector<TunerMove> decide(const TunerView& view) {
    std::vector<TunerMove> out;
    for (size_t i = 0; i < view.stages.size(); ++i) {
      const auto to = 1 + static_cast<int64_t>(random_() % 5);
      if (view.stages[i].calls.movable) out.push_back({i, Tuned::calls, to});
      if (view.stages[i].rows_ahead.movable) out.push_back({i, Tuned::rows_ahead, to});
    }
    return out;
  }

 private:
  std::mt19937_64 random_;
};

TEST_CASE("run view: shows stages, what may move, and what moves") {
  const Prepared p = prepared(
      "range(8) | interleave(i -> range(i) | map(y -> y + 1), cycle_length=2) "
      "| map(x -> x + 1, num_parallel_calls=2) | filter(x -> x > 2) | batch(4) | prefetch()");
  BlockIterator iterator(p.plan, two_threads(), std::make_shared<PipelineState>());
  RunView view(&iterator.run(), p.tuning.filled);
  Block block;
  REQUIRE(iterator.next(&block, 100));
  const TunerView v = view.read(0.5, 1);
  CHECK(v.asking_seconds == 0.5);
  REQUIRE(v.stages.size() == 6);
  CHECK(v.stages[0].user == -1);
  CHECK(v.stages[0].rows_ahead.movable);
  CHECK(v.stages[0].calls.most == 0);
  CHECK(v.stages[1].elements > 0);
  CHECK(v.stages[2].runs_with == 3);  // the filter runs with the map below it
  CHECK(!v.stages[3].calls.movable);  // the user wrote its calls
  CHECK(v.stages[3].calls.now == 2);
  CHECK(v.stages[4].calls.movable);  // the interleave
  CHECK(v.stages[4].user == 3);
  CHECK(v.stages[5].calls.most == 0);
  view.move({4, Tuned::calls, 2});
  view.move({0, Tuned::rows_ahead, 7});
  CHECK(view.read(0, 1).stages[4].calls.now == 2);
  CHECK(view.read(0, 1).stages[0].rows_ahead.now == 7);
}

TEST_CASE("run view: what was filled in for the user may move") {
  const Prepared p = prepared("range(10) | map(x -> fill([100000], 1.0 * x)) | batch(2)");
  REQUIRE(p.tuning.filled.size() == 1);
  BlockIterator iterator(p.plan, two_threads(), std::make_shared<PipelineState>());
  RunView view(&iterator.run(), p.tuning.filled);
  RunView strict(&iterator.run(), {});
  const auto movable = [](const TunerView& v) {
    return std::ranges::count_if(v.stages, [](const TunedStage& s) { return s.calls.movable; });
  };
  CHECK(movable(view.read(0, 1)) == 1);
  CHECK(movable(strict.read(0, 1)) == 0);
}

TEST_CASE("live tuner: any moves give the same elements in the same order") {
  const uint64_t seed = std::random_device{}();
  INFO("seed ", seed);
  for (const std::string& text :
       {std::string(kCheap),
        std::string(
            "range(60) | interleave(i -> range(i * 9) | map(y -> y + i), cycle_length=5) "
            "| shuffle(20, seed=3) | map(x -> x * 2) | batch(3) | prefetch() | repeat(2)")}) {
    CAPTURE(text);
    const Prepared p = prepared(text);
    StreamDigest still(p.plan->spec), moved(p.plan->spec);
    TraceLimits limits;
    limits.digest = &still;
    traced_run(p.plan, two_threads(), std::make_shared<PipelineState>(), limits);
    BlockIterator iterator(p.plan, two_threads(), std::make_shared<PipelineState>());
    RunView view(&iterator.run(), p.tuning.filled);
    RandomPolicy policy(seed);
    for (Block block; iterator.next(&block, 64);) {
      moved.add(block);
      for (const TunerMove& m : policy.decide(view.read(0, 1))) view.move(m);
    }
    CHECK(moved.ordered().text() == still.ordered().text());
  }
}

TEST_CASE("live tuner: a tuned run has decisions, even if there are none; another has not") {
  Prepared p = prepared(kCheap);
  TraceLimits limits;
  limits.tuning = p.tuning;
  CHECK(traced_run(p.plan, two_threads(), std::make_shared<PipelineState>(), limits)
            .trace.decisions.has_value());
  limits.tuning.live = false;
  CHECK(!traced_run(p.plan, two_threads(), std::make_shared<PipelineState>(), limits)
             .trace.decisions.has_value());
}

TEST_CASE("live tuner: runs come, are cancelled and go, several at a time") {
  const Prepared p = prepared(kCheap);
  for (int i = 0; i < 200; ++i) {
    BlockIterator a(p.plan, two_threads(), std::make_shared<PipelineState>());
    BlockIterator b(p.plan, two_threads(), std::make_shared<PipelineState>());
    const LiveTuner first(&a.run(), p.tuning), second(&b.run(), p.tuning);
    Block block;
    a.next(&block, 10);
    if (i % 2 == 0) b.cancel();
  }
  CHECK(LiveTuner::thread_cpu_seconds() >= 0);
}

namespace {

// Keeps how many runs the fifth look counted.
struct FifthLook final : TunerThread::Client {
  explicit FifthLook(bool asks) : in_use(asks) {}
  TunerLook tune(int counted) override {
    if (++looks == 5) {
      runs = counted;
      runs.notify_all();
    }
    return {0.1, in_use};
  }
  const bool in_use;
  int looks = 0;
  std::atomic<int> runs{0};
};

}  // namespace

TEST_CASE("live tuner: a run that nobody asks for elements takes no share of the cores") {
  FifthLook idle(false), busy(true);
  REQUIRE(TunerThread::add(&idle));
  REQUIRE(TunerThread::add(&busy));
  busy.runs.wait(0);
  idle.runs.wait(0);
  TunerThread::remove(&idle);
  TunerThread::remove(&busy);
  CHECK(busy.runs == 1);
  CHECK(idle.runs == 2);  // it counts itself while it is looked at
}

TEST_CASE("live tuner: a forked child leaves the parent's runs alone and tunes its own") {
  const Prepared p = prepared(kCheap);
  BlockIterator iterator(p.plan, two_threads(), std::make_shared<PipelineState>());
  auto inherited = std::make_unique<LiveTuner>(&iterator.run(), p.tuning);
  REQUIRE(inherited->is_live());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    inherited.reset();
    TraceLimits limits;
    limits.tuning = p.tuning;
    const TracedRun run =
        traced_run(p.plan, two_threads(), std::make_shared<PipelineState>(), limits);
    _exit(run.trace.decisions && run.trace.interval.ended ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("live tuner: what a look costs") {
  const Prepared p = prepared("range(1000000) | interleave(i -> range(9) | map(y -> y + i), "
                              "cycle_length=5) | map(x -> x + 1) "
                              "| filter(x -> x > 2) | map(x -> x * 2) | shuffle(100) | batch(8) | "
                              "map(x -> x + 1) | prefetch()");
  BlockIterator iterator(p.plan, two_threads(), std::make_shared<PipelineState>());
  RunView view(&iterator.run(), p.tuning.filled);
  const auto policy = live_policy();
  constexpr int kLooks = 1000;
  int64_t spent = 0, moves = 0;
  for (int i = 0; i < kLooks; ++i) {
    Block block;
    REQUIRE(iterator.next(&block, 10));
    const int64_t start = thread_cpu_ns();
    TunerView v = view.read(i * 0.09, 1);
    v.seconds = i * 0.1;  // as if the looks were a tenth of a second apart
    moves += std::ssize(policy->decide(v));
    spent += thread_cpu_ns() - start;
  }
  const double us = static_cast<double>(spent) / kLooks * 1e-3;
  MESSAGE("a look takes ", us, " us of CPU time, ten a second ", us * 10 / 1e6 * 100,
          " % of a core; ", moves, " moves");
  CHECK(policy->decisions().size() <= TunerPolicy::kKeptDecisions);
  CHECK(moves >= std::ssize(policy->decisions()));
}

}  // namespace
}  // namespace penstock
