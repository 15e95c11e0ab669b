#include "penstock/iterator.h"

#include <algorithm>
#include <mutex>

#include "api/dataset_impl.h"
#include "base/fork.h"
#include "data/hand_over.h"
#include "datasets/reshard.h"
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
        blocks(dataset->to_run(), dataset->run_options(), dataset->state(), {},
               saved ? std::optional(saved->from) : std::nullopt),
        given(saved ? saved->elements : 0) {}

  bool is_inherited() const { return forks != fork_count(); }

  // Under the mutex. False at the end.
  bool fetch() {
    rows.reset();
    before = blocks.position();
    auto fetched = std::make_shared<ElementRows>();
    fetched->layout = dataset->layout();
    if (!blocks.next(&fetched->block, max_rows)) return false;
    hand_over(&fetched->block);
    constexpr int64_t kBytes = 1 << 20;
    const int64_t bytes =
        std::max<int64_t>(1, fetched->block.payload_bytes() / fetched->block.rows);
    max_rows = std::clamp<int64_t>(kBytes / bytes, 1, std::min<int64_t>(2 * max_rows, 4096));
    rows = std::move(fetched);
    row = 0;
    error = 0;
    return true;
  }

  const uint32_t forks = fork_count();
  const std::shared_ptr<const DatasetAccess::Impl> dataset;
  // With files as they are before they are read; without checkpoints, when first asked for.
  mutable std::optional<SavedStages> stages;
  BlockIterator blocks;
  mutable std::mutex mutex;
  std::shared_ptr<const ElementRows> rows;  // null: to be fetched
  int64_t row = 0;
  StreamPosition before;  // of rows
  int64_t given;          // elements and errors
  size_t error = 0;       // the first of the block's errors at `row` or behind
  int64_t max_rows = 1;
  bool ended = false;
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

bool Iterator::next(Element* out) {
  State& s = checked(state_);
  if (!out) throw Error(Code::invalid_argument, "Iterator: next is given no element to fill");
  const std::lock_guard lock(s.mutex);
  if (s.ended) return false;
  s.blocks.run().check_cancelled();
  if ((!s.rows || s.row == s.rows->block.rows) && !s.fetch()) {
    s.ended = true;
    return false;
  }
  const Block& block = s.rows->block;
  const int64_t row = s.row++;
  ++s.given;
  if (s.error < block.errors.size() && block.errors[s.error].row == row) {
    const ErrorPtr error = block.errors[s.error++].error;
    throw Error(*error);
  }
  *out = ElementAccess::of(s.rows, row);
  return true;
}

std::string Iterator::save() const {
  const State& s = checked(state_);
  const std::lock_guard lock(s.mutex);
  SavedRun out;
  out.from = {s.blocks.number(), s.blocks.position()};
  if (s.rows && s.row < s.rows->block.rows)
    out.from.position = {s.before.mark, s.before.rows + s.row};
  out.elements = s.given;
  if (!s.stages) s.stages.emplace(*s.dataset->plan);
  return checkpoint_text(*s.stages, out);
}

void Iterator::cancel() {
  if (state_ && !state_->is_inherited()) state_->blocks.cancel();
}

Iterator Dataset::iterate() const {
  if (impl()->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl()->plan->op->name);
  return Iterator(std::make_unique<Iterator::State>(impl()));
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
