// Reading snapshot files as elements: what load and a full cache on disk share.
#pragma once

#include <string>
#include <vector>

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

enum class SnapshotLineage {
  anew,  // rows are records of this source
  kept,  // rows are who they were when they were written
};
CursorPtr open_snapshot_cursor(std::vector<std::string> paths, const PlanPtr& node,
                               const OpenContext& context, SnapshotLineage lineage);

// Throws ArgumentError for a path that is empty or that no file can have.
void check_snapshot_path(const std::string& param, const Attr& path);
// Throws ArgumentError for elements that no file can hold (about `input`) and for an unknown
// compression.
void check_snapshot_arguments(const Spec& spec, const Attr& compression);

}  // namespace penstock
