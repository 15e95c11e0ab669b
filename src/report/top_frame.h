// One frame of penstock top: a running job, as lines for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "report/explanation.h"

namespace penstock {

struct TopView {
  int64_t pid = 0;
  std::string command;  // that started the process
  int64_t run = 0;      // its number in the process
  int64_t runs = 1;     // of the process
  double up_seconds = 0;
  int64_t elements = 0;  // since the start of the run
  Analysis analysis;     // of the last seconds
  ExplainOptions explanation;
  std::string note;  // for the last line
};

// Returns at most `height` lines of at most `width` columns. Stages that use the least CPU and the
// oldest decisions are left out if there is no room.
std::vector<std::string> top_frame(const TopView& view, size_t width, size_t height);
// docs/format/top.md
Json top_json(const TopView& view);

}  // namespace penstock
