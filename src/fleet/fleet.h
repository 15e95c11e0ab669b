// Sums over the traces of many jobs. One trace is held at a time, so memory does not grow with
// them, but for a hash of each (to tell doubles) and the names of those left out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

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

// Waits per step that the papers' classes count: jobs that wait longer than `seconds`.
struct WaitClass {
  double seconds = 0;
  double published = 0;  // share of jobs in Plumber, Fig. 3
  int64_t jobs = 0;
};

struct Fleet {
  int64_t jobs = 0;
  int64_t measured_jobs = 0;  // that gave an element: only these have a wait and a holder
  double pipeline_cpu_seconds = 0;
  double process_cpu_seconds = 0;
  std::array<WaitClass, 3> waits{{{50e-6, 0.92}, {1e-3, 0.62}, {100e-3, 0.16}}};
  std::map<std::string, int64_t, std::less<>> holders;    // measured jobs by what holds them
  std::map<std::string, int64_t, std::less<>> operators;  // jobs that use the operator
  std::map<std::string, int64_t, std::less<>> bytes;      // emitted, by operator
  int64_t parallel_jobs = 0, prefetch_jobs = 0, cache_jobs = 0;
  std::vector<LeftOut> left_out;
};

class FleetSum {
 public:
  void add(const Trace& trace);
  // Reads a file and adds its trace. A file that is none is counted among those left out.
  void add_file(const std::string& path);
  const Fleet& fleet() const { return fleet_; }

 private:
  Fleet fleet_;
  std::unordered_set<size_t> seen_;  // hashes of whole files
};

}  // namespace penstock
