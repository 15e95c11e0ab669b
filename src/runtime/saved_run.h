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

// The document (docs/format/checkpoint.md): kilobytes, whatever the pipeline buffers.
std::string checkpoint_text(const PlanNode& plan, const SavedRun& run);
// Throws DATA_LOSS for what is damaged, FAILED_PRECONDITION when it belongs to another version or
// to another pipeline: the message names the first stage that differs. `plan` is the pipeline as
// written: seeds and arguments count, performance options do not.
SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan);

// The same on disk. Written atomically: a reader sees the file before or after, never half of it.
void write_checkpoint(const std::string& path, const PlanNode& plan, const SavedRun& run);
// Nothing when there is no such file.
std::optional<SavedRun> read_checkpoint(const std::string& path, const PlanNode& plan);

}  // namespace penstock
