// The text of a pipeline with other knobs: what a person would have changed in it.
//
// Knobs are edits of single calls, and a cache or a prefetch is one more stage; params, lets,
// comments and layout stay. Rewrites need no edit, since every run applies them to the text again.
// Whether the edits are right is not argued but tried: the new text must build the plan searched.
#pragma once

#include <string>

#include "job/pipeline.h"

namespace penstock {

struct RewrittenText {
  std::string text;
  LoadedPipeline pipeline;  // of that text: its plan is what `penstock run` runs of it
  bool edited = false;      // the user's text with other knobs; else the canonical text of the plan
};

// A text for `found`, which search_plan() made of pipeline.built.plan: the pipeline's own with
// edits or, if no edits of it build `found` (a knob in an imported file, say), the plan's canonical
// one.
RewrittenText rewritten_text(const LoadedPipeline& pipeline, const PlanPtr& found);

}  // namespace penstock
