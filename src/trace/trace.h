// Record of a run as a value: the program, the machine, the interval, one entry for each stage.
//
// A trace holds everything that the model needs, so it can be analysed later and elsewhere. Its
// file is one JSON object: docs/format/trace.md.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace penstock {

class Run;  // runtime/run.h
struct OperatorDef;
using Json = nlohmann::ordered_json;

inline constexpr int kTraceVersion = 1;

struct TraceOptions {
  int threads = 0;
  int64_t memory_bytes = 0;  // budget of buffers
  int64_t block_rows = 0;
};

struct TraceMachine {
  int cores = 0;  // usable by the process
  std::string cpu;
  int64_t memory_bytes = 0;
  std::string kernel;
};

struct TraceInterval {
  double seconds = 0;              // wall
  double process_cpu_seconds = 0;  // of the whole process, other work included
  int64_t elements = 0;            // of the root
  double first_element_seconds = 0;
  double waited_seconds = 0;  // time in which the consumer waited
  double consumer_seconds =
      0;               // the consumer's own work between elements; 0: it only drained the pipeline
  bool ended = false;  // the root reached its end
  bool interrupted = false;                      // cut short by a signal or an error
  std::optional<double> other_cpu_seconds = {};  // of other programs, on the cores of this one
};

// The threads of one kind.
struct ThreadTrace {
  std::string kind;  // "consumer", "compute" or "io"
  int64_t threads = 0;
  double cpu_seconds = 0;
  std::optional<double> descheduled_seconds;  // ready to run, without a core
  double reads_seconds = 0;                   // wall time in opens and reads of files
  double reads_cpu_seconds = 0;               // CPU time of these
};

struct StageTrace {
  int id = 0;  // its index in Trace::stages
  std::string op;
  std::string label;  // "map 2: decode_jpeg": the operator, its number, its heaviest function op
  std::vector<int> inputs;  // larger than id
  int parent = -1;          // the stage whose function makes this nested pipeline; -1 at top level
  int64_t elements = 0;     // emitted, errors included
  int64_t errors = 0;
  int64_t blocks = 0;
  int64_t bytes = 0;       // payload emitted
  double cpu_seconds = 0;  // in the stage itself, inputs excluded
  double starved_seconds = 0;
  double blocked_seconds = 0;
  int64_t limit = 1;       // threads it may use
  int64_t width = 1;       // threads that its group may use at once
  bool inlined = false;    // the consumer's thread computes its blocks, though it may use others
  int thread_group = 0;    // stages of one group share threads; 0 is the consumer's
  int64_t rows_ahead = 0;  // live values at the end (runtime/stage_controls.h); 0: without
  int64_t files_ahead = 0;
  int64_t bytes_ahead = 0;
  int64_t calls = 0;          // num_parallel_calls; 0: none or left open
  bool can_parallel = false;  // it has num_parallel_calls, or runs with a stage that has
  bool parallel = false;      // and that is above 1
  int64_t bytes_read = 0;     // from storage
  int64_t files_opened = 0;
  double lock_seconds = 0;       // CPU time of its user code under a lock of the process
  double lock_wait_seconds = 0;  // until that code had the lock
  int64_t source_bytes = 0;      // size of the files that it reads in one pass, 0 if unknown
  int64_t source_files = 0;      // number of these files
  int64_t cardinality = -2;      // of one pass; -1 infinite, -2 unknown
  bool random =
      false;  // its own work, functions and nested pipelines included, draws or is stateful
  bool stateless = false;   // at most one row out for each row in, no state
  bool keeps_rows = false;  // exactly one row out for each row in
  bool sink = false;
  // Facts about the operator (plan/node.h).
  bool scales = false;         // counts of a part of its input scale to the whole
  bool repeats = false;        // reads its input again and again
  bool caches = false;         // holds all elements of its input after the first pass
  bool reads_ahead = false;    // computes its input on other threads
  bool fixed_size = false;     // every element has the same number of bytes
  bool nested_output = false;  // elements hold datasets
  std::string spec;
};

// A change that the live tuner made to a stage (docs/tuner.md).
struct TunerDecision {
  double seconds = 0;  // since the start of the run
  int stage = 0;       // index into Trace::stages
  std::string value;   // "calls" or "rows_ahead"
  int64_t from = 0, to = 0;
  std::string why;
  double predicted_gain = 1;            // rate after it over the rate before
  std::optional<double> measured_gain;  // none: not measured yet, or its aim was to give back
  bool rolled_back = false;
};

// Counts of a part of the interval.
struct TraceSlice {
  double seconds = 0;              // wall
  double process_cpu_seconds = 0;  // as of the interval
  int64_t elements = 0;            // of the root
  // One entry for each stage of the trace.
  std::vector<int64_t> stage_elements, stage_bytes_read;
  std::vector<double> stage_cpu_seconds;
};

struct Trace {
  std::string program;  // canonical text
  TraceOptions options;
  TraceMachine machine;
  TraceInterval interval;
  int64_t peak_memory_bytes = 0;     // resident set of the process
  std::vector<ThreadTrace> threads;  // by kind, without kinds that had none; empty if unknown
  std::vector<StageTrace>
      stages;  // users before inputs, nested stages after the stage to which they belong
  // Counters as they stood after the first element, when stages that hold many elements (a shuffle)
  // were full: rates hold from there on. Null: unknown, or no element came out.
  std::shared_ptr<const Trace> fill;
  // Consecutive parts of the time after the first element (trace/slices.h); empty: unknown.
  std::vector<TraceSlice> slices;
  // The last decisions of the live tuner, the oldest first; absent: the run was not tuned.
  std::optional<std::vector<TunerDecision>> decisions;
};

// Copies the facts about the operator to the stage.
void take_facts(const OperatorDef& op, StageTrace* stage);

struct CaptureOptions {
  TraceInterval
      interval;  // seconds == 0: since the start of the run, with the CPU time of the whole process
  bool file_sizes = true;  // look up the sizes of source files: a system call a file
};

// Reads the live counters; safe from any thread during the run.
Trace capture_trace(const Run& run, const std::string& program, const CaptureOptions& options = {});
// Returns the CPU time of all threads of this process so far.
double process_cpu_seconds();

Json trace_to_json(const Trace& trace);
Json trace_stages_json(const Trace& trace);
// Null if the run was not tuned.
Json trace_decisions_json(const Trace& trace);
// Throws INVALID_ARGUMENT that names `where` (a file) and the wrong key.
Trace trace_from_json(const Json& json, const std::string& where);
// Returns true if the text is a trace, not a program.
bool looks_like_trace(const std::string& text);
Trace parse_trace(const std::string& text, const std::string& where);

// Returns the counts of `later` less those of `earlier`, a trace of the same run, without a fill.
// Slices stay if `earlier` has none: then they all came after it.
Trace trace_difference(const Trace& later, const Trace& earlier);

// Returns the text of the file.
std::string trace_text(const Trace& trace);
// Writes the file atomically.
void write_trace(const std::string& path, const Trace& trace);
Trace read_trace(const std::string& path);

}  // namespace penstock
