// Counters of a run over time: the spread of its parts says how far a figure of the whole can be
// trusted (model/intervals.h).
//
// The consumer's thread looks at the cycle counter after each block and reads the counters when a
// slice is long enough, so stages and their threads do no work for it. The list is bounded: when it
// is full, neighbours are joined and slices become twice as long.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/counters.h"
#include "trace/trace.h"

namespace penstock {

struct PlanNode;
struct RunStage;

inline constexpr size_t kMostSlices = 64;
// A plan with more stages gets no slices: their file would be mostly slices.
inline constexpr size_t kMostSlicedStages = 256;

// Adds the counts of `more` to `slice`. REQUIRES as many stages in both.
void add_slice(const TraceSlice& more, TraceSlice* slice);

// Slices of nearly the same length, at most kMostSlices.
class SliceList {
 public:
  static constexpr double kFirstSeconds = 0.005;

  // Appends a slice. Joins neighbours and doubles seconds() if the list becomes full.
  void add(TraceSlice slice);
  void clear() { *this = SliceList(); }
  // Returns the length that the next slice should reach.
  double seconds() const { return seconds_; }
  // Returns all slices; `rest`, which is not full, counts with the last one.
  std::vector<TraceSlice> with(const TraceSlice& rest) const;

 private:
  double seconds_ = kFirstSeconds;
  std::vector<TraceSlice> slices_;
};

// Cuts a run into slices. All calls come from the consumer's thread.
class SliceRecorder {
 public:
  // `run` outlives the recorder.
  explicit SliceRecorder(const Run* run);

  // Begins the first slice now, at `elements` of the root; forgets those before.
  void start(int64_t elements);
  // Ends the slice if it is long enough. Call after each block; no effect before start().
  void count(int64_t elements) {
    if (is_started_ && ticks() >= next_ticks_) end_slice(elements);
  }
  // Returns the slices up to now, with CPU times scaled as capture_trace scales them.
  std::vector<TraceSlice> slices(int64_t elements);

 private:
  struct Totals {
    double seconds = 0, process_cpu_seconds = 0;
    int64_t elements = 0;
    std::vector<int64_t> stage_elements, stage_ticks, stage_bytes_read;
  };
  Totals totals(int64_t elements);
  // Returns what was counted since the last slice began; CPU times are not scaled yet.
  TraceSlice since_last(const Totals& now) const;
  void end_slice(int64_t elements);
  void wait_for_next();

  const Run* const run_;
  const double seconds_per_tick_ = ns_per_tick() * 1e-9;
  std::vector<const PlanNode*> nodes_;
  std::vector<const RunStage*> stages_;  // null: not opened yet
  bool is_started_ = false;
  uint64_t next_ticks_ = 0;
  Totals last_;
  SliceList list_;
};

}  // namespace penstock
