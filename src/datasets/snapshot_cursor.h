// Reading snapshot files as elements: what load and a full cache on disk share.
#pragma once

#include <string>
#include <vector>

#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {

// Mark of a stage that writes what its input gives to a file, or reads that file. With the position
// of the input.
struct EntryMark {
  static constexpr MarkForm kForm{"entry", 1};
  enum Phase : int64_t { reading, given_up, filling, complete };  // the last three: it hands on
  int64_t phase = reading;
  int64_t delivered = 0;
  uint64_t fill_epoch = 0;   // unless reading
  bool partial = false;      // resumed from before the cache: `delivered` counts from there
  bool transparent = false;  // not a field
  bool is_transparent() const { return transparent; }
  static void fields(auto& mark, auto& f) {
    f.count("phase", mark.phase);
    f.count("delivered", mark.delivered);
    f.id("fill_epoch", mark.fill_epoch);
    f.flag("partial", mark.partial);
  }
};

enum class SnapshotLineage {
  anew,  // rows are records of this source
  kept,  // rows are who they were when they were written
};
// `transparent`: marks of kept rows are.
CursorPtr open_snapshot_cursor(std::vector<std::string> paths, const PlanPtr& node,
                               const OpenContext& context, SnapshotLineage lineage,
                               bool transparent = false);

// Throws ArgumentError for a path that is empty or that no file can have.
void check_snapshot_path(const std::string& param, const Attr& path);
// Throws ArgumentError for elements that no file can hold (about `input`) and for an unknown
// compression.
void check_snapshot_arguments(const Spec& spec, const Attr& compression);

}  // namespace penstock
