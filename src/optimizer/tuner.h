// View of a run that a policy of the live tuner gets, and its moves.
//
// A policy is a pure object: it reads counters, and answers with moves. It neither knows a clock
// nor a thread, so tests and the laboratory drive it on simulated pipelines
// (optimizer/simulated_pipeline.h) and job/live_tuner.h on real ones. No move changes an element or
// the order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace penstock {

// One number of a stage.
struct TunedValue {
  int64_t now = 0;
  int64_t most = 0;      // 0: the stage has no such number
  bool movable = false;  // false: the user wrote it, or it belongs to a nested pipeline
};

struct TunedStage {
  int id = 0;             // of the stage in a trace of the run
  int user = -1;          // index of the stage that takes its elements; -1: the consumer does
  int runs_with = -1;     // index of the stage with whose calls it runs; -1: its own, or its user's
  TunedValue calls;       // threads that may compute its blocks; 1: the thread that pulls does
  TunedValue rows_ahead;  // rows that another thread may make ahead of it; 0: none
  // Counters since the start. Those of nested pipelines count with the stage that opens them.
  int64_t elements = 0, blocks = 0, bytes = 0;
  double busy_seconds = 0;  // wall time in the stage itself
};

struct TunerView {
  double seconds = 0;              // now, since the start of the run
  std::vector<TunedStage> stages;  // users before their inputs; the root is the first
  double asking_seconds = 0;       // time that the consumer has spent in taking elements
  double cpu_share = 1;            // CPU time of the stages' threads over their busy time
  int cores = 1;                   // budget of the run
  int64_t memory_bytes = 0;        // budget of the run
};

enum class Tuned : uint8_t { calls, rows_ahead };
inline const char* tuned_name(Tuned what) { return what == Tuned::calls ? "calls" : "rows_ahead"; }
inline TunedValue& tuned_value(TunedStage& s, Tuned what) {
  return what == Tuned::calls ? s.calls : s.rows_ahead;
}

struct TunerMove {
  size_t stage = 0;  // index into TunerView::stages
  Tuned what = Tuned::calls;
  int64_t to = 0;
};

class TunerPolicy {
 public:
  virtual ~TunerPolicy() = default;
  // Returns the moves to make now. The view of a later call shows what has become of them.
  virtual std::vector<TunerMove> decide(const TunerView& view) = 0;
  // Returns in how many seconds to call decide again: 0.1 or more.
  virtual double next_seconds() const = 0;
  // Returns the last kKeptDecisions decisions, the oldest first.
  virtual const std::vector<TunerDecision>& decisions() const = 0;
  static constexpr size_t kKeptDecisions = 20;
};

// The policy of `--tune live` (docs/tuner.md).
std::unique_ptr<TunerPolicy> live_policy();

}  // namespace penstock
