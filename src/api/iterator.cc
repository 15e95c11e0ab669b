#include "penstock/iterator.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "api/dataset_impl.h"
#include "api/job.h"
#include "base/cancellation.h"
#include "base/fork.h"
#include "data/hand_over.h"
#include "datasets/reshard.h"
#include "job/attach_server.h"
#include "job/traced_run.h"
#include "runtime/saved_run.h"

namespace penstock {

// Rows are pulled in blocks that grow while elements are small; elements are views into them.
struct Iterator::State {
  explicit State(std::shared_ptr<const DatasetAccess::Impl> impl,
                 const std::optional<SavedRun>& saved = {})
      : dataset(std::move(impl)),
        stages(dataset->options.checkpoints
                   ? std::optional<SavedStages>(std::in_place, *dataset->plan)
                   : std::nullopt),
        blocks(dataset->to_run(), dataset->run_options(), dataset->state(), dataset->environment,
               saved ? std::optional(saved->from) : std::nullopt),
        tuner(&blocks.run(), dataset->tuning()),
        resumed(saved ? saved->elements : 0),
        given(resumed) {}

  bool is_inherited() const { return forks != fork_count(); }

  // Under the mutex.
  Poll fetch(int64_t deadline_ns) {
    rows.reset();
    if (returned_ns > 0) add(consumer_ns, now_ns() - std::exchange(returned_ns, 0));
    before = blocks.position();
    auto fetched = std::make_shared<ElementRows>();
    fetched->layout = dataset->layout();
    if (fetched->layout->has_datasets) fetched->owner = dataset;
    const LiveTuner::Asking asking(&tuner);
    const int64_t start_ns = now_ns();
    const Poll poll = pull(&fetched->block, deadline_ns);
    add(next_ns, now_ns() - start_ns);
    add(waited_ns, blocks.waited_ns() - waited_ns.load());
    if (poll != Poll::ready) return poll;
    if (first_ns.load() == 0) first_ns.store(now_ns() - blocks.run().start_ns());
    hand_over(&fetched->block);
    constexpr int64_t kBytes = 1 << 20;
    const int64_t bytes =
        std::max<int64_t>(1, fetched->block.payload_bytes() / fetched->block.rows);
    max_rows = std::clamp<int64_t>(kBytes / bytes, 1, std::min<int64_t>(2 * max_rows, 4096));
    rows = std::move(fetched);
    row = 0;
    error = 0;
    returned_ns = now_ns();
    return poll;
  }

  Poll pull(Block* out, int64_t deadline_ns) {
    if (!interrupted) return blocks.next(out, max_rows, deadline_ns);
    const ScopedInterrupt interrupt(interrupted);
    try {
      for (;;) {
        const int64_t slice_ns = std::min(deadline_ns, now_ns() + ScopedInterrupt::kEveryNs);
        const Poll poll = blocks.next(out, max_rows, slice_ns);
        if (poll != Poll::pending) return poll;
        check_cancelled();
        if (slice_ns == deadline_ns) return poll;
      }
    } catch (const Error&) {
      if (interrupt.came()) blocks.cancel();
      throw;
    }
  }

  // From any thread.
  TraceInterval interval() const {
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) * 1e-9; };
    TraceInterval out;
    out.seconds = seconds(now_ns() - blocks.run().start_ns());
    out.process_cpu_seconds = process_cpu_seconds() - cpu_start;
    out.elements = given.load() - resumed;
    out.first_element_seconds = seconds(first_ns.load());
    out.waited_seconds = seconds(waited_ns.load());
    out.consumer_seconds = seconds(consumer_ns.load());
    out.ended = ended.load();
    return out;
  }

  // From any thread.
  Trace capture(bool file_sizes) const {
    CaptureOptions options;
    options.interval = interval();
    options.file_sizes = file_sizes;
    Trace out = capture_trace(blocks.run(), plan_text(dataset->to_run()), options);
    out.decisions = tuner.decisions();
    return out;
  }

  const uint32_t forks = fork_count();
  const std::shared_ptr<const DatasetAccess::Impl> dataset;
  // With files as they are before they are read; without checkpoints, when first asked for.
  mutable std::optional<SavedStages> stages;
  BlockIterator blocks;
  LiveTuner tuner;
  mutable std::mutex mutex;
  std::shared_ptr<const ElementRows> rows;  // null: to be fetched
  int64_t row = 0;
  StreamPosition before;       // of rows
  const int64_t resumed;       // elements before this process
  std::atomic<int64_t> given;  // elements and errors
  size_t error = 0;            // the first of the block's errors at `row` or behind
  int64_t max_rows = 1;
  std::function<bool()> interrupted;
  int64_t returned_ns = 0;  // when the consumer got the first element of `rows`
  std::atomic<int64_t> first_ns{0}, waited_ns{0}, consumer_ns{0}, next_ns{0};
  const double cpu_start = process_cpu_seconds();
  std::atomic<bool> ended{false};
  // Made last and destroyed first: captures read all of the above.
  const AttachableRun attachable{blocks.run(), [this](bool sizes) { return capture(sizes); }};
};

Iterator::Iterator(std::unique_ptr<State> state) : state_(std::move(state)) {}

namespace {

// Run by threads of the process that this one was forked from: nobody here can stop it or wait for
// it, so it stays where it is.
void abandon(std::unique_ptr<Iterator::State> state) {
  static auto* mutex = new ForkMutex;
  static auto* abandoned = new std::vector<std::unique_ptr<Iterator::State>>;
  const std::lock_guard lock(*mutex);
  abandoned->push_back(std::move(state));
}

Iterator::State& checked(const std::unique_ptr<Iterator::State>& state) {
  if (!state) throw Error(Code::failed_precondition, "Iterator: was moved from; assign it anew");
  if (!state->is_inherited()) return *state;
  throw Error(Code::failed_precondition,
              "Iterator: this process was forked while the iterator was open, and the iterator's "
              "threads are in the other one; open a new iterator here, or fork before");
}

void check_target(const Element* out) {
  if (!out) throw Error(Code::invalid_argument, "Iterator: next is given no element to fill");
}

}  // namespace

Iterator::Iterator(Iterator&&) noexcept = default;

Iterator& Iterator::operator=(Iterator&& other) noexcept {
  if (this == &other) return *this;
  const Iterator old(std::move(*this));  // ends by the destructor's rules
  state_ = std::move(other.state_);
  return *this;
}

Iterator::~Iterator() {
  if (state_ && state_->is_inherited()) abandon(std::move(state_));
}

bool Iterator::next(Element* out) { return next_before(out, INT64_MAX) == Next::element; }

Iterator::Next Iterator::next(Element* out, double timeout_seconds) {
  constexpr double kMostSeconds = 1e9;  // decades
  if (!(timeout_seconds >= 0)) {
    throw Error(Code::invalid_argument,
                "Iterator: a timeout must not be negative: " + std::to_string(timeout_seconds));
  }
  return next_before(
      out, now_ns() + static_cast<int64_t>(std::min(timeout_seconds, kMostSeconds) * 1e9));
}

Iterator::Next Iterator::next_before(Element* out, int64_t deadline_ns) {
  State& s = checked(state_);
  check_target(out);
  const std::lock_guard lock(s.mutex);
  if (s.ended) return Next::end;
  s.blocks.run().check_cancelled();
  if (!s.rows || s.row == s.rows->block.rows) {
    const Poll poll = s.fetch(deadline_ns);
    if (poll == Poll::pending) return Next::timeout;
    if (poll == Poll::end) {
      s.ended = true;
      return Next::end;
    }
  }
  take_row(out);
  return Next::element;
}

bool Iterator::next_fetched(Element* out) {
  State& s = checked(state_);
  check_target(out);
  const std::unique_lock lock(s.mutex, std::try_to_lock);
  if (!lock || s.ended || !s.rows || s.row == s.rows->block.rows || s.blocks.run().cancelled())
    return false;
  take_row(out);
  return true;
}

// Under the mutex, with a row in the block.
void Iterator::take_row(Element* out) {
  State& s = *state_;
  const Block& block = s.rows->block;
  const int64_t row = s.row++;
  ++s.given;
  if (s.error < block.errors.size() && block.errors[s.error].row == row) {
    const ErrorPtr error = block.errors[s.error++].error;
    throw Error(*error);
  }
  *out = ElementAccess::of(s.rows, row);
}

job::Trace Iterator::trace() const {
  return job::Trace(std::make_shared<const Trace>(checked(state_).capture(true)));
}

job::Stats Iterator::stats() const {
  const State& s = checked(state_);
  CaptureOptions options;
  options.interval = s.interval();
  options.file_sizes = false;
  job::Stats out = job_stats(capture_trace(s.blocks.run(), {}, options));
  out.next_seconds = static_cast<double>(s.next_ns.load()) * 1e-9;
  return out;
}

std::vector<job::IgnoredErrors> Iterator::ignored_errors() const {
  std::vector<job::IgnoredErrors> out;
  for (const auto& [node, errors] : checked(state_).blocks.run().ignored()) {
    job::IgnoredErrors& stage = out.emplace_back();
    stage.stage = node->op->name;
    stage.count = errors.count;
    for (const ErrorPtr& e : errors.first) stage.first.push_back(*e);
  }
  return out;
}

std::vector<std::string> Iterator::notes() const { return checked(state_).blocks.run().notes(); }

std::string Iterator::save() const {
  const State& s = checked(state_);
  if (!s.dataset->environment.empty()) {
    throw Error(Code::unimplemented,
                "Iterator: a nested dataset has no checkpoint of its own; save the outer iterator");
  }
  const std::lock_guard lock(s.mutex);
  SavedRun out;
  out.from = {s.blocks.number(), s.blocks.position()};
  if (s.rows && s.row < s.rows->block.rows)
    out.from.position = {s.before.mark, s.before.rows + s.row};
  out.elements = s.given;
  if (!s.stages) s.stages.emplace(*s.dataset->plan);
  return checkpoint_text(*s.stages, out);
}

void Iterator::interrupt_if(std::function<bool()> asked) {
  State& s = checked(state_);
  const std::lock_guard lock(s.mutex);
  s.interrupted = std::move(asked);
}

void Iterator::cancel() {
  if (state_ && !state_->is_inherited()) state_->blocks.cancel();
}

Iterator Dataset::iterate() const {
  if (impl()->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl()->plan->op->name);
  return Iterator(std::make_unique<Iterator::State>(impl()));
}

Iterator Dataset::iterate(uint64_t epoch) const {
  if (impl()->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl()->plan->op->name);
  SavedRun beginning;
  beginning.from.iterator = epoch;
  return Iterator(std::make_unique<Iterator::State>(impl(), beginning));
}

Iterator Dataset::resume(const std::string& saved) const {
  if (impl()->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl()->plan->op->name);
  return Iterator(
      std::make_unique<Iterator::State>(impl(), parse_checkpoint(saved, *impl()->plan)));
}

Iterator Dataset::resume(const std::vector<std::string>& saved) const {
  if (impl()->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl()->plan->op->name);
  std::vector<RankCheckpoint> ranks;
  for (const std::string& text : saved)
    ranks.push_back({"checkpoint " + std::to_string(ranks.size()), text});
  if (ranks.empty()) throw Error(Code::invalid_argument, "resume: no checkpoint is given");
  return Iterator(std::make_unique<Iterator::State>(
      impl(), deal_anew(ranks, impl()->plan, impl()->to_run(), impl()->run_options())));
}

}  // namespace penstock
