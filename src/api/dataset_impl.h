// What a Dataset handle points to.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/element.h"
#include "api/kept.h"
#include "base/fork.h"
#include "job/live_tuner.h"
#include "penstock/dataset.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {

struct Dataset::Impl {
  PlanPtr plan;
  Options options;
  bool prepared = false;            // the plan is run as it is
  std::vector<Tensor> environment;  // of a nested dataset: its captures
  Kept kept;
  int64_t random_nodes = -1;  // in the plan; -1: not counted yet

  // A forked child has its own: other threads may have been at the parent's.
  std::shared_ptr<PipelineState> state() const;
  // The plan that is run; the same one at each call, since memory caches go by its nodes.
  const PlanPtr& to_run() const;
  const std::shared_ptr<const ElementLayout>& layout() const;
  RunOptions run_options() const;
  Tuning tuning() const;  // of to_run()

 private:
  mutable std::once_flag once_, layout_once_;
  mutable PlanPtr to_run_;
  mutable FilledNodes filled_;
  mutable std::shared_ptr<const ElementLayout> layout_;
  mutable std::shared_ptr<PipelineState> state_ = std::make_shared<PipelineState>();
  mutable uint32_t forks_ = fork_count();  // when state_ was made
};

struct DatasetAccess {
  using Impl = Dataset::Impl;
  static const Impl& impl(const Dataset& dataset) { return *dataset.impl(); }
  static Dataset make(std::shared_ptr<const Impl> impl) { return Dataset(std::move(impl)); }
};

// Mistakes of the caller come as PipeError with a place in a text that may not exist: says `stage`.
[[noreturn]] void rethrow_as_stage(const std::string& stage);

}  // namespace penstock
