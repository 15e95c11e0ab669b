// Elements of a plan one by one, in order or by their index.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "job/traced_run.h"
#include "runtime/indexed.h"

namespace penstock {

// Elements of one pass. Asks for small blocks, so that only what is used is computed.
class ElementStream {
 public:
  // `state` may be shared by several passes (memory caches). Throws OpenError.
  ElementStream(const PlanPtr& plan, const RunOptions& options,
                std::shared_ptr<PipelineState> state, std::vector<Tensor> environment = {});
  // Sets either the element's leaves or its error; returns false at the end. `most` elements will
  // be asked for at most. The leaves are valid until the next call.
  bool next(int64_t most, std::vector<Tensor>* element, ErrorPtr* error);
  // Ends the iterator and resumes with a new one from its position, as a checkpoint would.
  // REQUIRES options.marks for a position that is cheap to find.
  void restart();
  BlockIterator& iterator() { return *iterator_; }

 private:
  PlanPtr plan_;
  RunOptions options_;
  std::shared_ptr<PipelineState> state_;
  std::optional<BlockIterator> iterator_;
  StreamPosition before_;  // of block_
  Block block_;
  int64_t row_ = 0;
};

// Elements by their index: by random access if every stage supports it, else by running up to it.
class ElementsByIndex {
 public:
  ElementsByIndex(const PlanPtr& plan, const RunOptions& options, RunObserver* observer = nullptr);
  // Returns the element's leaves. Throws the element's own error, OUT_OF_RANGE if there is no such
  // element, and FAILED_PRECONDITION or UNIMPLEMENTED if the number of elements is unknown.
  std::vector<Tensor> get(int64_t index);

 private:
  const PlanPtr plan_;
  const RunOptions options_;
  RunObserver* const observer_;
  std::optional<RandomAccess> access_;
};

}  // namespace penstock
