#include "job/stall_runs.h"

#include <algorithm>

#include "io/kept_files.h"
#include "io/page_cache.h"
#include "job/consumed_run.h"
#include "model/model.h"
#include "report/table.h"
#include "trace/placed_nodes.h"

namespace penstock {
namespace {

// Shares of the time. A run of a round has most of the trial's steps, whose files are in memory.
constexpr double kTrialShare = 0.2, kSourceShare = 0.1, kStepShare = 0.6;
constexpr double kFewSteps = 10;
constexpr double kFirstShare = 1;  // the first element may take longer: a shuffle fills before it

double budget_bytes(const RunOptions& run) {
  return static_cast<double>(run.memory_bytes > 0 ? run.memory_bytes
                                                  : usable_memory_bytes() / 4 * 3);
}

std::optional<double> page_cache_share(const std::vector<std::string>& files) {
  CachedBytes all;
  for (const std::string& name : files) {
    const CachedBytes one = in_page_cache(name);
    all.cached += one.cached;
    all.bytes += one.bytes;
  }
  if (all.bytes == 0) return std::nullopt;
  return static_cast<double>(all.cached) / static_cast<double>(all.bytes);
}

class Measurement {
 public:
  Measurement(const LoadedPipeline& pipeline, const StallChoices& choices, RunObserver* observer,
              std::function<void(const std::string&)> say)
      : p_(pipeline),
        observer_(observer),
        say_(say ? std::move(say) : [](const std::string&) {}),
        one_(one_element_again(p_.plan)),
        seconds_(choices.seconds),
        kept_(static_cast<int64_t>(budget_bytes(p_.run_options) / 3)) {
    out_.consumer_seconds = choices.consumer_seconds;
    out_.cold = choices.cold;
  }

  StallReport run() {
    try_out();
    out_.stall = measure_stall([this](StallRun kind) { return sample(kind); },
                               seconds_ * (1 - kTrialShare - kSourceShare));
    run_source();
    return std::move(out_);
  }

 private:
  // Reads the files into memory, and finds how many steps a run may have.
  void try_out() {
    say_("a first run, which fills memory with the files");
    const TracedRun trial = traced_run(p_.plan, p_.run_options, std::make_shared<PipelineState>(),
                                       {.seconds = kTrialShare * seconds_,
                                        .first_seconds = kFirstShare * seconds_,
                                        .tuning = p_.tuning},
                                       observer_);
    if (trial.error) throw *trial.error;
    if (trial.trace.interval.interrupted) throw Error(Code::cancelled, "cancelled");
    trial_ = analyze(trial.trace);
    double steps = static_cast<double>(trial.trace.interval.elements);
    if (kept_.is_full() && kept_.read_bytes() > 0)
      steps *= static_cast<double>(kept_.kept_bytes()) / static_cast<double>(kept_.read_bytes());
    steps = std::max(kStepShare * steps, std::min(steps, kFewSteps));
    if (const double work = out_.consumer_seconds; work > 0)
      steps = std::min(steps, seconds_ / (4 * kStallRuns) / work);
    check_enough(trial.trace.interval);
    out_.steps = std::max<int64_t>(static_cast<int64_t>(steps), 2);
    out_.page_cache = page_cache_share(kept_.names());
  }

  void check_enough(const TraceInterval& t) const {
    if (t.elements >= 2) return;
    const std::string n = std::to_string(t.elements) + (t.elements == 1 ? " element" : " elements");
    throw Error(Code::failed_precondition,
                t.ended
                    ? "the pipeline has " + n + ": two are the least that can be measured"
                    : "the pipeline gave " + n + " in " + human_seconds(kTrialShare * seconds_) +
                          ", which is too few: give more with --seconds");
  }

  StepSample sample(StallRun kind) {
    constexpr const char* kNames[] = {"the whole pipeline runs", "it runs with its files in memory",
                                      "one element is handed over again and again"};
    say_(kNames[static_cast<int>(kind)]);
    const bool in_memory = kind == StallRun::in_memory;
    kept_.keep(in_memory);
    if (in_memory) kept_.count_anew();
    if (out_.cold && kind == StallRun::whole) drop_files();
    ConsumerLimits limits{out_.consumer_seconds, out_.steps};
    // Without work its step takes no time: as many steps would not be seen.
    if (kind == StallRun::one_element && limits.work_seconds <= 0) limits = {0, INT64_MAX, 0.2};
    const ConsumedRun run = consume(kind == StallRun::one_element ? one_ : p_.plan, p_.run_options,
                                    p_.tuning, limits, observer_);
    if (run.error) throw *run.error;
    if (run.is_stopped) throw Error(Code::cancelled, "cancelled");
    if (in_memory) count_memory();
    return {run.step_seconds, run.seconds};
  }

  void drop_files() {
    for (const std::string& name : kept_.names()) drop_from_page_cache(name);
  }

  void count_memory() {
    const double read = static_cast<double>(kept_.read_bytes());
    const double served = static_cast<double>(kept_.served_bytes());
    if (read + served > 0)
      out_.memory_share = std::min(out_.memory_share, served / (read + served));
  }

  void run_source() {
    const PlanNode* const part = reading_part(*p_.plan);
    if (!part) return;
    const std::vector<PlacedNode> placed = placed_nodes(*p_.plan);
    const auto at = std::ranges::find(placed, part, &PlacedNode::node);
    const StageModel& stage = trial_.stages[static_cast<size_t>(at - placed.begin())];
    if (stage.visit_ratio <= 0) return;
    say_("the source runs alone");
    kept_.keep(false);
    if (out_.cold) drop_files();
    const ConsumedRun run = consume(std::make_shared<const PlanNode>(*part), p_.run_options,
                                    p_.tuning, {.seconds = kSourceShare * seconds_}, observer_);
    if (run.error) throw *run.error;
    if (run.is_stopped) throw Error(Code::cancelled, "cancelled");
    out_.source = stage.label;
    if (run.step_seconds > 0) out_.source_seconds = run.step_seconds * stage.visit_ratio;
  }

  const LoadedPipeline& p_;
  RunObserver* const observer_;
  const std::function<void(const std::string&)> say_;
  const PlanPtr one_;
  const double seconds_;
  KeptFiles kept_;
  Analysis trial_;
  StallReport out_;
};

}  // namespace

StallReport run_stall(const LoadedPipeline& pipeline, const StallChoices& choices,
                      RunObserver* observer, const std::function<void(const std::string&)>& say) {
  return Measurement(pipeline, choices, observer, say).run();
}

}  // namespace penstock
