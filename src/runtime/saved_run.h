// Checkpoints on disk: a place in a pipeline's stream, and the totals up to there.
#pragma once

#include <optional>
#include <string>

#include "data/digest.h"
#include "runtime/run.h"

namespace penstock {

struct SavedRun {
  ResumePoint from;
  int64_t elements = 0;  // delivered before it
  Digest128 ordered, unordered;
};

// What a checkpoint says of the pipeline it belongs to, `plan` as written: the identity of each
// stage and its files as they are now. Costs a look at each file: make it once, before the run.
class SavedStages {
 public:
  explicit SavedStages(const PlanNode& plan);
  const std::string& json() const { return json_; }

 private:
  std::string json_;
};

// The document (docs/format/checkpoint.md): kilobytes, whatever the pipeline buffers.
std::string checkpoint_text(const SavedStages& stages, const SavedRun& run);
// Throws DATA_LOSS for what is damaged, FAILED_PRECONDITION when it belongs to another version or
// to another pipeline, or its files have changed: the message names the first stage that differs
// and the file. `plan` is the pipeline as written: seeds and arguments count, performance options
// do not.
SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan);
// The same; messages begin with the file's name.
SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan, const std::string& path);

// The arguments of a `shard`.
struct SavedShard {
  int64_t num_shards, index;
};
// Returns the arguments that the stage `shard` of the plan has in the checkpoint; none if it is
// another operator there.
std::optional<SavedShard> saved_shard(const std::string& text, const PlanNode& plan,
                                      const PlanNode& shard, const std::string& path);

// The same on disk. Written atomically: a reader sees the file before or after, never half of it.
void write_checkpoint(const std::string& path, const SavedStages& stages, const SavedRun& run);
// Nothing when there is no such file.
std::optional<std::string> read_checkpoint_file(const std::string& path);
std::optional<SavedRun> read_checkpoint(const std::string& path, const PlanNode& plan);

}  // namespace penstock
