// A discrete-event simulation of a linear pipeline on the engine's threads: the laboratory of the
// tuner's policies.
//
// It knows what the engine does with a stage's values: a stage with one call runs in the thread
// that pulls it, one with more on the pool, where a task pulls its inputs one at a time and
// computes beside the others; a stage with rows ahead has its inputs pulled by a task. Finished
// elements are taken in order, and are admitted by credits. The unit of work is one element of a
// stage; blocks, hand-over costs and caches are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "optimizer/tuner.h"

namespace penstock {

struct SimulatedStage {
  double cpu_seconds = 0;  // mean for an element
  double variation = 0;    // squared coefficient of variation, of gamma distributed times
  int64_t inputs = 1;      // for an element
  int64_t bytes = 0;       // of an element
  bool has_calls = false;  // else it may have rows ahead
  int64_t calls = 1, rows_ahead = 0;
  bool fixed = false;
};

struct SimulatedPipeline {
  std::vector<SimulatedStage> stages;  // from the root to the source
  int cores = 1;
  int64_t memory_bytes = int64_t{1} << 30;
  uint64_t seed = 0;
  // The consumer's own work between two elements, at a time.
  std::function<double(double seconds)> consumer = [](double) { return 0.0; };
  // By which a stage's times are multiplied, at a time.
  std::function<double(size_t stage, double seconds)> slowdown = [](size_t, double) { return 1.0; };
};

struct SimulatedRun {
  int64_t elements = 0;  // that the consumer took
  double seconds = 0;
  int64_t changes = 0;                 // of values
  double most_bytes = 0;               // held ahead, at once
  std::vector<SimulatedStage> stages;  // at the end
  struct Sample {
    double seconds;
    int64_t elements;
    std::vector<int64_t> values;  // calls or rows ahead of each stage
    double planned_bytes;         // that these values allow
  };
  std::vector<Sample> samples;  // ten a second
  double rate() const { return static_cast<double>(elements) / seconds; }
  // Elements a second between two times.
  double rate(double from, double to) const;
};

// Runs for `seconds` of virtual time. `policy` may be null.
SimulatedRun simulate(const SimulatedPipeline& pipeline, TunerPolicy* policy, double seconds);

// Returns a pipeline of two or three maps of very different costs, before a batch or not, with a
// consumer that has work of its own or not.
SimulatedPipeline drawn_pipeline(uint64_t seed, int cores);

// Returns the highest rate of all settings of calls from 1 to the cores, each run for `seconds`.
double exhaustive_rate(SimulatedPipeline pipeline, double seconds);

}  // namespace penstock
