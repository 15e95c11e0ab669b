#include "job/drained_run.h"

#include <algorithm>
#include <atomic>

#include "datasets/reshard.h"
#include "job/attach_server.h"
#include "job/deadline.h"

namespace penstock {
namespace {

double seconds_since(int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) * 1e-9; }

// The start of this rank from the checkpoints of the former ranks.
SavedRun from_ranks(const std::vector<std::string>& files, const LoadedPipeline& p) {
  std::vector<RankCheckpoint> ranks;
  for (const std::string& file : files) {
    const std::optional<std::string> text = read_checkpoint_file(file);
    if (!text) throw Error(Code::not_found, "--resume-from: there is no file " + file);
    ranks.push_back({file, *text});
  }
  return deal_anew(ranks, p.built.plan, p.plan, p.run_options);
}

// A run whose elements are counted, digested and dropped.
class Drain {
 public:
  Drain(const LoadedPipeline& p, Checkpoints* checkpoints, const DrainLimits& limits, bool digested,
        RunObserver* observer)
      : checkpoints_(*checkpoints),
        limits_(limits),
        observer_(observer),
        whole_(limits.elements < INT64_MAX ? limits.elements
                                           : std::max<int64_t>(p.plan->cardinality, 0)) {
    RunOptions options = p.run_options;
    options.marks = checkpoints_.wanted();
    std::optional<ResumePoint> from;
    if (digested) out_.digest.emplace(p.plan->spec);
    if (const auto& saved = checkpoints_.from()) {
      from = saved->from;
      out_.elements = out_.resumed = saved->elements;
      if (digested) out_.digest->resume(saved->elements, saved->ordered, saved->unordered);
    }
    iterator_.emplace(p.plan, options, std::make_shared<PipelineState>(), std::vector<Tensor>(),
                      from);
    tuner_.emplace(&iterator_->run(), p.tuning);
    attachable_.emplace(iterator_->run(),
                        [this, plan = p.plan](bool sizes) { return live_trace(plan, sizes); });
  }

  DrainedRun run() {
    const Observed observed(observer_, &*iterator_);
    const Deadline deadline(&*iterator_, limits_.seconds);
    while (out_.elements < limits_.elements && !deadline.passed() && pull()) {
      if (checkpoints_.left(out_.elements) == 0) write_checkpoint();
    }
    if (!out_.error) write_checkpoint();
    finish();
    return std::move(out_);
  }

 private:
  // Returns false at the end, after an error and after a cancellation.
  bool pull() {
    Block block;
    const int64_t most =
        std::min(limits_.elements - out_.elements, checkpoints_.left(out_.elements));
    try {
      const LiveTuner::Asking asking(&*tuner_);
      if (!iterator_->next(&block, first_ ? 1 : most)) {
        out_.ended = true;
        return false;
      }
      waited_ns_.store(iterator_->waited_ns(), std::memory_order_relaxed);
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
      return false;
    }
    if (first_) out_.first_element_seconds = seconds_since(start_);
    first_ = false;
    if (out_.digest) out_.digest->add(block);
    if (!block.errors.empty()) {  // the elements before the error count
      out_.error = block.errors[0].error;
      out_.elements += block.errors[0].row;
      return false;
    }
    out_.elements += block.rows;
    if (observer_) observer_->count(out_.elements, whole_);
    return true;
  }

  // From any thread.
  Trace live_trace(const PlanPtr& plan, bool file_sizes) const {
    CaptureOptions options;
    options.file_sizes = file_sizes;
    Trace out = capture_trace(iterator_->run(), plan_text(plan), options);
    out.interval.waited_seconds = static_cast<double>(waited_ns_.load()) * 1e-9;
    out.decisions = tuner_->decisions();
    return out;
  }

  void write_checkpoint() {
    checkpoints_.write(*iterator_, out_.elements, out_.digest ? &*out_.digest : nullptr);
  }

  void finish() {
    out_.seconds = seconds_since(start_);
    out_.cpu_seconds = process_cpu_seconds() - cpu_;
    out_.waited_seconds = static_cast<double>(iterator_->waited_ns()) * 1e-9;
    out_.peak_memory_bytes = peak_resident_bytes();
    for (const auto& [node, ignored] : iterator_->run().ignored())
      out_.ignored.push_back({node->op->name, ignored.count, ignored.first});
    out_.notes = iterator_->run().notes();
    out_.trace = capture_trace(iterator_->run(), std::string());
    out_.trace.decisions = tuner_->decisions();
  }

  const int64_t start_ = now_ns();
  const double cpu_ = process_cpu_seconds();
  Checkpoints& checkpoints_;
  const DrainLimits limits_;
  RunObserver* const observer_;
  const int64_t whole_;  // elements to expect; 0: unknown
  DrainedRun out_;
  std::optional<BlockIterator> iterator_;
  std::optional<LiveTuner> tuner_;  // destroyed before the run
  std::atomic<int64_t> waited_ns_{0};
  std::optional<AttachableRun> attachable_;  // destroyed before what it captures
  bool first_ = true;
};

}  // namespace

Checkpoints::Checkpoints(const CheckpointChoices& choices, const LoadedPipeline& pipeline)
    : choices_(choices) {
  if (choices.resume) from_ = read_checkpoint(choices.file, *pipeline.built.plan);
  if (!from_ && !choices.former_ranks.empty()) from_ = from_ranks(choices.former_ranks, pipeline);
  if (wanted()) stages_.emplace(*pipeline.built.plan);
  if (from_) next_ = from_->elements;
  advance();
}

void Checkpoints::write(const BlockIterator& iterator, int64_t elements,
                        const StreamDigest* digest) {
  if (!wanted()) return;
  write_checkpoint(
      choices_.file, *stages_,
      {{iterator.number(), iterator.position()}, elements, digest->ordered(), digest->unordered()});
  advance();
}

void Checkpoints::advance() {
  next_ = choices_.every > INT64_MAX - next_ ? INT64_MAX : next_ + choices_.every;
}

DrainedRun drain(const LoadedPipeline& pipeline, Checkpoints* checkpoints,
                 const DrainLimits& limits, bool digested, RunObserver* observer) {
  return Drain(pipeline, checkpoints, limits, digested, observer).run();
}

}  // namespace penstock
