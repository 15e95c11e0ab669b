// Runs that drain a pipeline: digests, checkpoints, and what was measured. `penstock run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/digest.h"
#include "job/pipeline.h"
#include "job/traced_run.h"
#include "runtime/saved_run.h"

namespace penstock {

struct CheckpointChoices {
  std::string file;                            // empty: no checkpoints
  int64_t every = INT64_MAX;                   // elements between two of them
  bool resume = false;                         // from `file`, if there is one
  std::vector<std::string> former_ranks = {};  // files: resume as one of another number of ranks
};

// The checkpoints of a run: its start, and the file that it writes.
class Checkpoints {
 public:
  // Reads the checkpoint to resume from. Throws NOT_FOUND for a former rank without a file, else
  // what read_checkpoint and deal_anew throw.
  Checkpoints(const CheckpointChoices& choices, const LoadedPipeline& pipeline);

  bool wanted() const { return !choices_.file.empty(); }
  const std::optional<SavedRun>& from() const { return from_; }
  // Returns the number of elements until the next checkpoint.
  int64_t left(int64_t elements) const { return next_ - elements; }
  // Replaces the file, if checkpoints are wanted. REQUIRES a digest then.
  void write(const BlockIterator& iterator, int64_t elements, const StreamDigest* digest);

 private:
  void advance();

  const CheckpointChoices choices_;
  std::optional<SavedStages> stages_;  // set if checkpoints are wanted
  std::optional<SavedRun> from_;
  int64_t next_ = 0;
};

struct DrainLimits {
  static constexpr double kForever = 1e18;
  int64_t elements = INT64_MAX;  // those before the start included
  double seconds = kForever;
};

// Errors that a failure policy dropped or replaced at one stage.
struct IgnoredAt {
  std::string stage;
  int64_t count = 0;
  std::vector<ErrorPtr> first;
};

struct DrainedRun {
  int64_t elements = 0;  // includes those before the checkpoint from which the run resumed
  int64_t resumed = 0;   // only those before the checkpoint
  double seconds = 0, first_element_seconds = 0, cpu_seconds = 0, waited_seconds = 0;
  int64_t peak_memory_bytes = 0;
  bool ended = false;
  ErrorPtr error;  // of the first element that failed, which ends the run
  std::optional<StreamDigest> digest;
  std::vector<IgnoredAt> ignored;
  std::vector<std::string> notes;
  Trace trace;  // without a program
};

// Drains the pipeline to its end, to a limit, to its first error, or until the observer stops it.
// REQUIRES `digested` if checkpoints are wanted.
DrainedRun drain(const LoadedPipeline& pipeline, Checkpoints* checkpoints,
                 const DrainLimits& limits, bool digested, RunObserver* observer = nullptr);

}  // namespace penstock
