#include "fleet/fleet.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "io/file.h"
#include "model/model.h"

namespace penstock {
namespace {

constexpr int64_t kMostBytes = 64 << 20;  // a trace has kilobytes

}  // namespace

std::string_view left_out_name(LeftOut::Why why) {
  switch (why) {
    case LeftOut::Why::other_file: return "other file";
    case LeftOut::Why::damaged: return "damaged";
    case LeftOut::Why::doubled: return "doubled";
    case LeftOut::Why::unreadable: break;
  }
  return "unreadable";
}

void FleetSum::add(const Trace& trace) {
  const Analysis found = analyze(trace);
  Fleet& f = fleet_;
  ++f.jobs;
  std::set<std::string> used;
  bool parallel = false, cached = false;
  double pipeline = 0;
  for (const StageTrace& s : trace.stages) {
    pipeline += s.cpu_seconds;
    f.bytes[s.op] += s.bytes;
    used.insert(s.op);
    parallel |= s.parallel;
    cached |= s.caches;
  }
  f.pipeline_cpu_seconds += pipeline;
  // Clocks of threads and of the process are read one after the other: a stage may seem to have
  // more.
  f.process_cpu_seconds += std::max(pipeline, trace.interval.process_cpu_seconds);
  for (const std::string& op : used) ++f.operators[op];
  f.parallel_jobs += parallel;
  f.prefetch_jobs += used.contains("prefetch");
  f.cache_jobs += cached;
  if (trace.interval.elements == 0) return;
  ++f.measured_jobs;
  for (WaitClass& c : f.waits) c.jobs += found.verdict.exposed_seconds > c.seconds;
  ++f.holders[std::string(holder_name(found.verdict.holder))];
}

void FleetSum::add_file(const std::string& path) {
  const auto leave_out = [&](LeftOut::Why why, const std::string& reason) {
    fleet_.left_out.push_back({path, why, reason});
  };
  std::string text;
  try {
    text = read_regular("fleet", path, kMostBytes);
  } catch (const Error& e) {
    return leave_out(LeftOut::Why::unreadable, e.what());
  }
  if (!looks_like_trace(text)) return leave_out(LeftOut::Why::other_file, "no trace");
  try {
    const Trace trace = parse_trace(text, path);
    if (!seen_.insert(std::hash<std::string>{}(text)).second)
      return leave_out(LeftOut::Why::doubled, "the same bytes as an earlier file");
    add(trace);
  } catch (const Error& e) {
    leave_out(LeftOut::Why::damaged, e.what());
  }
}

}  // namespace penstock
