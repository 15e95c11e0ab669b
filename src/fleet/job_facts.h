// Facts about one job, from its trace, for the sums over many.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "trace/trace.h"

namespace penstock {

// A file that is not counted, and why.
struct LeftOut {
  enum class Why : uint8_t { other_file, damaged, doubled, unreadable };
  std::string file;
  Why why = Why::other_file;
  std::string reason;
};
std::string_view left_out_name(LeftOut::Why why);

// Bytes that went into something and came out of it.
struct BytesThrough {
  double in = 0, out = 0;
};

struct JobFacts {
  std::string file;
  size_t content = 0, program = 0;  // hashes of the file and of its program
  double pipeline_cpu_seconds = 0;
  double process_cpu_seconds = 0;  // at least that of the pipeline
  int64_t elements = 0;            // 0: the facts below are not known
  double exposed_seconds = 0;      // waiting for input, per element
  std::string holder;
  bool is_hardware_bound = false, is_software_bound = false;  // neither: the consumer, or unclear
  double saved_seconds = 0;  // of the run, with every knob as the model divides the cores
  double gain = 1;           // in rate, by the same

  std::map<std::string, int64_t> bytes;  // emitted, by operator
  bool is_parallel = false, has_cache = false;
  double source_bytes = 0;            // files of one pass; 0: unknown, or none
  BytesThrough whole, maps, filters;  // whole: from storage to the consumer
};

JobFacts job_facts(const Trace& trace);
// Reads a trace. Never throws for what is in the file.
std::variant<JobFacts, LeftOut> read_job(const std::string& path);

}  // namespace penstock
