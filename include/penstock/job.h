// A pipeline as a job: what its stages did, what limits its rate, what would make it faster.
//
//   Dataset ds = Dataset::read("train.pipe");
//   std::puts(ds.explain().text.c_str());
//   Dataset fast = ds.optimize().dataset;
//
// A running job is looked at without stopping it: Iterator::stats and Iterator::trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/error.h"

namespace penstock {
struct Trace;  // internal

namespace job {

// Counters of one stage since its run began. A stage of a nested pipeline stands for all copies.
struct StageStats {
  std::string name;         // "map 2: decode_jpeg"
  std::string op;           // "map"
  std::vector<int> inputs;  // indices into Stats::stages
  int parent = -1;          // the stage whose function makes this nested pipeline; -1: none
  int64_t elements = 0;     // errors included
  int64_t errors = 0;
  int64_t blocks = 0;
  int64_t bytes = 0;       // of the elements
  int64_t bytes_read = 0;  // from storage
  int64_t files_opened = 0;
  double cpu_seconds = 0;      // of the stage itself, without its inputs
  double starved_seconds = 0;  // without input
  double blocked_seconds = 0;  // without room for output
  // User code under a lock that the process has once (lock_clock.h).
  double lock_seconds = 0;       // CPU time with the lock
  double lock_wait_seconds = 0;  // until it was held
  int64_t limit = 1;             // threads that it may use
};

struct Stats {
  double seconds = 0;                // since the run began
  double first_element_seconds = 0;  // until the first element
  double cpu_seconds = 0;            // of the whole process
  double waited_seconds = 0;         // the consumer waited for an element
  double consumer_seconds = 0;       // the consumer worked between elements
  double next_seconds = 0;  // in Iterator::next, which waits or computes itself; 0: not known
  int64_t elements = 0;     // that the consumer got, errors included
  bool ended = false;
  int64_t peak_memory_bytes = 0;   // resident set of the process
  std::vector<StageStats> stages;  // a stage before its inputs
};

// Errors that a failure policy (ignore_errors, on_error=...) dropped or replaced at one stage.
struct IgnoredErrors {
  std::string stage;
  int64_t count = 0;
  std::vector<Error> first;  // at most ten; each names its file and offset
};

// A pipeline's program and its counters: what `penstock trace` writes (docs/format/trace.md).
// Immutable, cheap to copy.
class Trace {
 public:
  explicit Trace(std::shared_ptr<const penstock::Trace> trace) : trace_(std::move(trace)) {}
  // Throw INVALID_ARGUMENT, naming the key, for text that is not a trace.
  static Trace parse(const std::string& text);
  static Trace read(const std::string& path);

  const std::string& program() const;
  Stats stats() const;
  std::string text() const;
  // Replaces the file, which is whole at any moment.
  void write(const std::string& path) const;
  const penstock::Trace& internal() const { return *trace_; }

 private:
  std::shared_ptr<const penstock::Trace> trace_;
};

// Limits of a traced run: it ends at the first one.
struct Limits {
  double seconds = 3;
  int64_t elements = INT64_MAX;
};

// The machine and the consumer that a question is about.
struct Setting {
  int cores = 0;                     // 0: those that this process may use
  int64_t memory_bytes = 0;          // for caches; 0: the budget of the run
  double disk_bytes_per_second = 0;  // 0: storage does not limit
  double consumer_seconds = 0;       // the consumer's work per element; 0: as traced
};

struct Estimate {
  double low = 0, value = 0, high = 0;
};

// The limit of the rate.
enum class Holder : uint8_t { consumer, stage, cpu, storage, unclear, other_programs, lock };

struct StageCost {
  std::string name;
  double visit_ratio = 0;     // elements of the stage per element of the pipeline
  double demand_seconds = 0;  // CPU time per element of the pipeline
  double rate_per_core =
      0;  // elements of the pipeline per CPU second; infinite if it costs nothing
  double busy = 0, starved = 0, blocked = 0;  // shares of its threads' time; they add up to 1
  bool sequential = false;                    // at most one thread, for any knobs
  bool may_cache = false;                     // a cache after it fits and returns the same data
};

// An upper bound of the rate.
struct Ceiling {
  std::string name;  // "map 2: decode_jpeg, 1 thread"
  double rate = 0;   // elements of the pipeline per second
};

struct Explanation {
  std::string verdict;  // one sentence: one cause, one remedy
  bool input_bound = false;
  Holder holder = Holder::unclear;
  std::string stage;           // that limits the rate, costs most or reads; empty: none
  double rate = 0;             // elements of the pipeline per second
  double step_seconds = 0;     // wall time per element
  double exposed_seconds = 0;  // the part of it in which the consumer waits
  double coverage = 0;         // share of the data seen; 0: unknown
  bool too_short = false;      // too few elements for a reliable verdict
  std::vector<StageCost> stages;
  std::vector<Ceiling> ceilings;  // the lowest first
  std::string text;               // what `penstock explain` prints
  std::string json;               // docs/format/explain.md
};
Explanation explain(const Trace& trace, const Setting& setting = {});

struct OptimizeOptions {
  Setting setting = {};
  double trace_seconds = 1.5;  // of each trace that the search takes
  double passes = 10;          // assumed where the pipeline repeats for ever
  int64_t iterations = 1;      // of the program over a pipeline that does not repeat itself
  // Time limit of a run of the result, after one of the pipeline as written (at most 5 s), both
  // with the dataset's own options, as `penstock optimize` measures them. 0: neither is run.
  double measure_seconds = 0;
};

// Elements per second of both plans. If `after` is not the larger one, keep the plan as written.
struct Measured {
  double before = 0, after = 0;
};

struct Change {
  std::string text;  // "map 2: num_parallel_calls 1 -> 2"
  double rate = 0;   // predicted after this change and those before it
};

}  // namespace job
}  // namespace penstock
