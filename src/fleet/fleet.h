// Sums over the traces of many jobs. Each trace becomes a few facts (job_facts.h), which are added
// and dropped; a hash of it stays, to tell doubles.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fleet/job_facts.h"

namespace penstock {

// Waits per step that the papers' classes count: jobs that wait longer than `seconds`.
struct WaitClass {
  double seconds = 0;
  double published = 0;  // share of jobs in Plumber, Fig. 3
  int64_t jobs = 0;
};

// Jobs whose files of one pass have at most `most_bytes`, and more than in the class before.
struct SizeClass {
  double most_bytes = 0;
  int64_t jobs = 0;
  double process_cpu_seconds = 0;
};

// Jobs whose bytes out over bytes in are known.
struct RatioSum {
  int64_t jobs = 0, smaller = 0;  // smaller: fewer bytes out than in
  BytesThrough bytes;             // of all of them

  void add(const BytesThrough& one);
};

// Jobs that ran one program.
struct Repeated {
  int64_t jobs = 0;
  double pipeline_cpu_seconds = 0, first_cpu_seconds = 0;
};

struct Fleet {
  static constexpr size_t kMostFixes = 10;

  int64_t jobs = 0;
  int64_t measured_jobs = 0;  // that gave an element: only these have a wait and a holder
  double pipeline_cpu_seconds = 0;
  double process_cpu_seconds = 0;
  std::array<WaitClass, 3> waits{{{50e-6, 0.92}, {1e-3, 0.62}, {100e-3, 0.16}}};
  std::map<std::string, int64_t, std::less<>> holders;  // measured jobs by what holds them
  int64_t hardware_jobs = 0, software_jobs = 0;
  std::map<std::string, int64_t, std::less<>> operators;     // jobs that use the operator
  std::map<std::string, int64_t, std::less<>> bytes;         // emitted, by operator
  std::map<std::string, int64_t, std::less<>> combinations;  // jobs by their operators, "batch map"
  int64_t parallel_jobs = 0, prefetch_jobs = 0, cache_jobs = 0;
  std::array<SizeClass, 4> sizes{{{1e9}, {1e12}, {1e300}, {0}}};  // the last: not known
  RatioSum whole, maps, filters;
  std::unordered_map<size_t, Repeated> programs;  // by hash
  std::vector<JobFacts> fixes;                    // that save most seconds, the most first
  std::vector<LeftOut> left_out;
};

// Shares of jobs and of CPU time that would be saved if programs that ran before were cached: all
// of them, or the `most` most costly.
struct Reuse {
  int64_t programs = 0;
  int64_t repeated_jobs = 0;     // that ran a program of an earlier one
  double saved_cpu_seconds = 0;  // by a shared cache of all programs
  double saved_by_most = 0;      // of the `most`
};
Reuse reuse_of(const Fleet& fleet, size_t most);

class FleetSum {
 public:
  void add(const JobFacts& job);
  void add(const Trace& trace) { add(job_facts(trace)); }
  // Reads the files on `threads` and adds them in their order. Files that are not whole traces are
  // counted among those left out.
  void add_files(const std::vector<std::string>& paths, int threads);
  const Fleet& fleet() const { return fleet_; }

 private:
  void add_read(std::variant<JobFacts, LeftOut> read);

  Fleet fleet_;
  std::unordered_set<size_t> seen_;  // hashes of whole files
};

}  // namespace penstock
