// The runs of penstock stall.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "job/pipeline.h"
#include "job/stall.h"
#include "job/traced_run.h"

namespace penstock {

// Times of a training step, and how they came about.
struct StallReport {
  double consumer_seconds = 0;  // as asked for
  int64_t steps = 0;            // of a run
  Stall stall;
  double memory_share = 1;           // of the bytes in the runs with files in memory
  std::optional<double> page_cache;  // share of the files' bytes that was there at the start
  bool cold = false;
  std::string source;                    // label of the stage up to which the source goes
  std::optional<double> source_seconds;  // for a step's share of the data, nothing else running
};

struct StallChoices {
  double consumer_seconds = 0;  // the consumer's own work per element
  double seconds = 20;          // for all runs
  bool cold = false;            // files leave the page cache before each run that reads them
};

// Measures for about `seconds`; `say` hears what is being done. Throws the error of an element that
// fails, CANCELLED if the observer stops a run, and FAILED_PRECONDITION if too few elements come.
// REQUIRES no other run of the process that reads files.
StallReport run_stall(const LoadedPipeline& pipeline, const StallChoices& choices,
                      RunObserver* observer = nullptr,
                      const std::function<void(const std::string&)>& say = nullptr);

}  // namespace penstock
