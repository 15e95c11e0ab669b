// The live tuner: moves the controls of runs while they go on.
//
// One thread of the process serves all runs, started with the first one that is tuned. It reads
// their counters at most ten times a second, asks a policy (optimizer/tuner.h), and stores the
// answers where stages read them (runtime/stage_controls.h). Elements never meet it, and no move
// changes them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "optimizer/prepare.h"
#include "optimizer/tuner.h"
#include "runtime/run.h"

namespace penstock {

// How a run is tuned.
struct Tuning {
  bool live = false;
  FilledNodes filled;  // of the plan that runs
};

// Tunes a run for the lifetime of this object, which must end before the run does.
class LiveTuner {
 public:
  // Does nothing if the tuning is not live, or if the system starts no thread for it; the run then
  // says so (Run::note).
  LiveTuner(Run* run, const Tuning& tuning);
  ~LiveTuner();
  LiveTuner(const LiveTuner&) = delete;
  LiveTuner& operator=(const LiveTuner&) = delete;

  bool is_live() const { return state_ != nullptr; }
  // The last decisions; none if the run is not tuned. From any thread.
  std::optional<std::vector<TunerDecision>> decisions() const;
  // CPU time of the tuner's thread so far, for all runs of the process.
  static double thread_cpu_seconds();

  // The consumer asks for an element as long as this object lives.
  class Asking {
   public:
    explicit Asking(LiveTuner* tuner);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    LiveTuner* const tuner_;  // null: the run is not tuned
  };

  struct State;

 private:
  std::unique_ptr<State> state_;
  std::atomic<int64_t> asked_ns_{0};      // in the past
  std::atomic<int64_t> asking_since_{0};  // 0: the consumer does its own work
};

}  // namespace penstock
