// Counts that a checkpoint says: whoever wrote it, what they lead to stays within bounds.
#pragma once

#include "runtime/open.h"

namespace penstock {

// Half of what 64 bits hold, so that nobody has to think of an overflow behind it.
inline constexpr int64_t kMostResumed = INT64_MAX / 2;

// Throws DATA_LOSS for a number that is no count.
inline int64_t checked_count(int64_t number, const std::string& stage) {
  if (number < 0 || number > kMostResumed) {
    throw Error(Code::data_loss,
                "the checkpoint is damaged: `" + stage + "` says " + std::to_string(number));
  }
  return number;
}

// Number i of the node's mark, or `fresh` without one.
inline int64_t resumed_count(const OpenContext& context, const PlanNode& node, size_t i = 0,
                             int64_t fresh = 0) {
  const StageMark* mark = context.resume(node);
  return mark ? checked_count(mark->number(i), mark->stage()) : fresh;
}

}  // namespace penstock
