// Operational analysis of a trace: cost of each stage per root element, the stage or resource that
// limits the rate, and the next limits. The root is the last stage, whose elements the consumer
// gets.
//
// Symbols of the papers: visit ratio V_i = elements of stage i per element of the root; demand D_i
// = CPU seconds of stage i per element of the root; R_i = 1 / D_i; X = elements of the root per
// second.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/allocate.h"
#include "model/intervals.h"
#include "trace/trace.h"

namespace penstock {

struct AnalyzeOptions {
  double disk_bytes_per_second = 0;  // 0: not given
  double consumer_seconds = 0;       // the consumer's work per element; 0: as in the trace
  int cores = 0;                     // 0: threads of the trace
  int64_t memory_bytes = 0;          // for caches; 0: budget of the trace
};

enum class Extent : uint8_t { exact, estimated, infinite, unknown };
std::string_view extent_name(Extent extent);

// Everything that the stage returns in one pass over the data.
struct StageSize {
  Extent extent = Extent::unknown;
  Estimate elements;  // meaningful if exact or estimated
  Estimate bytes;
};

enum class CacheVerdict : uint8_t {
  yes,
  random,
  infinite,
  unknown_size,
  too_large,
  nested,
  datasets,
  sink,
  cached
};
std::string_view cache_verdict_name(
    CacheVerdict verdict);                             // one word: "yes", "random", "endless", ...
std::string cache_verdict_text(CacheVerdict verdict);  // a phrase: "larger than the memory budget"

struct StageModel {
  int id = 0;
  std::string op, label;
  int parent = -1;
  double visit_ratio = 0;        // V_i
  double demand_seconds = 0;     // D_i
  double rate = 0;               // its own elements per second
  double own_rate_per_core = 0;  // its own elements per CPU second; infinite if it costs nothing
  double rate_per_core = 0;      // R_i; infinite if it costs nothing
  double cores_used = 0;         // X * D_i
  double busy = 0, starved = 0, blocked = 0;  // shares of its threads' time; they add up to 1
  double bytes_in = 0, bytes_out = 0;  // per element of the root; in: from inputs and storage
  double bytes_per_element = 0;
  double read_bytes_per_second = 0;  // from storage
  double lock_seconds = 0;  // of its user code under a lock of the process; per root element
  StageSize size;
  CacheVerdict cache = CacheVerdict::unknown_size;
  bool sequential = false;  // at most one thread, for any knobs
  int64_t limit = 1;        // threads it may use now
  int thread = 0;           // index into Analysis::threads
};

// Stages that run back to back in the same threads: a chain, or all between two hand-overs.
struct ThreadModel {
  std::vector<int> stages;
  double width = 1;  // threads at once
  double demand_seconds = 0;
  double utilisation = 0;  // share of its width that is busy, over the interval
  int heaviest = 0;        // the stage with the largest demand
};

struct Ceiling {
  enum class Kind : uint8_t { threads, cpu, disk, lock, consumer };
  Kind kind = Kind::cpu;
  double rate = 0;   // upper bound: root elements per second
  int stage = -1;    // threads, lock: the heaviest stage
  int thread = -1;   // threads: index into Analysis::threads
  std::string name;  // "map 2: decode_jpeg, 1 thread", "CPU, 2 cores"
};
std::string_view ceiling_kind_name(Ceiling::Kind kind);

// Waits of the run's threads. Empty: the trace does not say.
struct Waits {
  std::optional<double> descheduled_seconds;  // ready to run, without a core; summed over threads
  double descheduled_share = 0;           // of the time in which they could run, if that is known
  std::optional<double> storage_seconds;  // at least so long they stood in reads, without CPU
  std::optional<double> other_cores;      // that other programs used
  double process_cores = 0;               // that this process used, work of no stage included
};

struct Cause;

struct Verdict {
  enum class Holder : uint8_t { consumer, stage, cpu, other_programs, storage, lock, unclear };
  bool input_bound = false;
  Holder holder = Holder::unclear;
  // Stage that limits the rate (stage), costs most (cpu), reads (storage) or uses the lock most
  // (lock); -1: none.
  int stage = -1;
  double step_seconds = 0;     // wall time per element of the root
  double exposed_seconds = 0;  // part of it in which the consumer waits for input
  std::string reason;          // "map 2: decode_jpeg holds the rate (1 thread, 97 % busy)"
  std::vector<Cause> causes;   // each once, with what is known of it; empty without an element
};
std::string_view holder_name(Verdict::Holder holder);

// One cause that could hold the rate, and how it stands.
struct Cause {
  enum class State : uint8_t { holds, possible, ruled_out, unknown };
  Verdict::Holder holder = Verdict::Holder::unclear;
  State state = State::unknown;
  std::string why;  // with its figures
  int stage = -1;
};
std::string_view cause_state_name(Cause::State state);

struct Analysis {
  Trace trace;  // of the interval of the rates: without the fill
  int cores = 0;
  int64_t memory_bytes = 0;
  double rate = 0;                   // X
  Estimate measured;                 // the same with its interval
  size_t slices = 0;                 // that the intervals go by; 0: too few, there are none
  double cores_used = 0;             // attributed
  double demand_seconds = 0;         // sum of D_i
  std::vector<StageModel> stages;    // in the order of the trace
  std::vector<ThreadModel> threads;  // from the consumer's down
  std::vector<Ceiling> ceilings;     // ascending
  Allocation best;  // best division of the cores between stages, with every knob free
  Waits waits;
  Verdict verdict;
  double attributed_cpu_seconds = 0;
  double unattributed_cpu_seconds = 0;  // of the process, but not of any stage
  double tracing_overhead = 0;          // share of the CPU time that the counters took, estimated
  double coverage = 0;                  // share of the data seen; 0: unknown
  double fill_seconds = 0;  // before the first element, left out of the rates; 0: nothing is
  bool too_short = false;   // too few elements for a reliable verdict
};

// Returns the spread of the rate on `cores` with every knob free, CPU time of no stage included:
// min(cores / demand, least R_i of a sequential stage, disk).
Spread allocation_spread(const Analysis& analysis, double cores, double disk_bytes_per_second);
// Returns the spread of the CPU time per element of the stages that are `computed`, by index, and
// of no stage.
Spread cpu_spread(const Analysis& analysis, const std::vector<bool>& computed);
Analysis analyze(const Trace& trace, const AnalyzeOptions& options = {});

}  // namespace penstock
