#include "penstock/iterator.h"

#include <algorithm>
#include <mutex>

#include "api/dataset_impl.h"
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
        blocks(dataset->to_run(), dataset->run_options(), dataset->state, {},
               saved ? std::optional(saved->from) : std::nullopt),
        given(saved ? saved->elements : 0) {}

  // Under the mutex. False at the end.
  bool fetch() {
    rows.reset();
    before = blocks.position();
    auto fetched = std::make_shared<ElementRows>();
    fetched->layout = dataset->layout();
    if (!blocks.next(&fetched->block, max_rows)) return false;
    constexpr int64_t kBytes = 1 << 20;
    const int64_t bytes =
        std::max<int64_t>(1, fetched->block.payload_bytes() / fetched->block.rows);
    max_rows = std::clamp<int64_t>(kBytes / bytes, 1, std::min<int64_t>(2 * max_rows, 4096));
    rows = std::move(fetched);
    row = 0;
    error = 0;
    return true;
  }

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
Iterator::Iterator(Iterator&&) noexcept = default;
Iterator& Iterator::operator=(Iterator&&) noexcept = default;
Iterator::~Iterator() = default;

bool Iterator::next(Element* out) {
  State& s = *state_;
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
  const State& s = *state_;
  const std::lock_guard lock(s.mutex);
  SavedRun out;
  out.from = {s.blocks.number(), s.blocks.position()};
  if (s.rows && s.row < s.rows->block.rows)
    out.from.position = {s.before.mark, s.before.rows + s.row};
  out.elements = s.given;
  if (!s.stages) s.stages.emplace(*s.dataset->plan);
  return checkpoint_text(*s.stages, out);
}

void Iterator::cancel() { state_->blocks.cancel(); }

Iterator Dataset::iterate() const {
  if (impl_->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl_->plan->op->name);
  return Iterator(std::make_unique<Iterator::State>(impl_));
}

Iterator Dataset::resume(const std::string& saved) const {
  if (impl_->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl_->plan->op->name);
  return Iterator(std::make_unique<Iterator::State>(impl_, parse_checkpoint(saved, *impl_->plan)));
}

Iterator Dataset::resume(const std::vector<std::string>& saved) const {
  if (impl_->plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline ends in a value", impl_->plan->op->name);
  std::vector<RankCheckpoint> ranks;
  for (const std::string& text : saved)
    ranks.push_back({"checkpoint " + std::to_string(ranks.size()), text});
  if (ranks.empty()) throw Error(Code::invalid_argument, "resume: no checkpoint is given");
  return Iterator(std::make_unique<Iterator::State>(
      impl_, deal_anew(ranks, impl_->plan, impl_->to_run(), impl_->run_options())));
}

}  // namespace penstock
