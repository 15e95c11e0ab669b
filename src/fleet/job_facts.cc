#include "fleet/job_facts.h"

#include <simdjson.h>

#include <algorithm>

#include "base/error.h"
#include "io/file.h"
#include "model/model.h"

namespace penstock {
namespace {

constexpr int64_t kMostBytes = 64 << 20;  // a trace has kilobytes

// Rate with every knob free, inside the ceilings of disk, locks and consumer.
double best_rate(const Analysis& a) {
  double out = a.best.rate;
  for (const Ceiling& c : a.ceilings)
    if (c.kind != Ceiling::Kind::threads) out = std::min(out, c.rate);
  return out;
}

void take_waits(const Analysis& a, JobFacts* out) {
  using Holder = Verdict::Holder;
  const Verdict& v = a.verdict;
  out->elements = a.trace.interval.elements;
  if (out->elements == 0) return;
  out->exposed_seconds = v.exposed_seconds;
  out->holder = holder_name(v.holder);
  out->is_hardware_bound =
      v.holder == Holder::cpu || v.holder == Holder::storage || v.holder == Holder::other_programs;
  out->is_software_bound = v.holder == Holder::stage || v.holder == Holder::lock;
  const double best = best_rate(a);
  if (!out->is_software_bound || best <= a.rate || a.rate <= 0) return;
  out->gain = best / a.rate;
  out->saved_seconds =
      static_cast<double>(out->elements) * std::min(v.exposed_seconds, 1 / a.rate - 1 / best);
}

void take_stages(const Trace& trace, const Analysis& a, JobFacts* out) {
  for (size_t i = 0; i < trace.stages.size(); ++i) {
    const StageTrace& s = trace.stages[i];
    out->pipeline_cpu_seconds += s.cpu_seconds;
    out->bytes[s.op] += s.bytes;
    out->is_parallel |= s.parallel;
    out->has_cache |= s.caches;
    out->source_bytes += static_cast<double>(s.source_bytes);
    out->whole.in += static_cast<double>(s.bytes_read);
    if (!s.stateless) continue;
    BytesThrough& kind = s.keeps_rows ? out->maps : out->filters;
    kind.in += a.stages[i].bytes_in;
    kind.out += a.stages[i].bytes_out;
  }
  if (!trace.stages.empty()) out->whole.out = static_cast<double>(trace.stages.front().bytes);
}

// The text of a trace with an empty list in place of its slices: they are most of a trace, and only
// intervals, which are not asked for here, need them. Other text stays as it is.
std::string without_slices(const std::string& text) {
  thread_local simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::document document;
  simdjson::ondemand::object trace;
  std::string_view slices;
  if (parser.iterate(padded).get(document) || document.get_object().get(trace)) return text;
  simdjson::ondemand::array list;
  if (trace["slices"].get_array().get(list) || list.raw_json().get(slices)) return text;
  const auto begin = static_cast<size_t>(slices.data() - padded.data());
  return text.substr(0, begin) + "[]" + text.substr(begin + slices.size());
}

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

JobFacts job_facts(const Trace& trace) {
  JobFacts out;
  const Analysis found = analyze(trace);
  out.program = std::hash<std::string>{}(trace.program);
  take_stages(trace, found, &out);
  // Clocks of threads and of the process are read one after the other: a stage may seem to have
  // more.
  out.process_cpu_seconds = std::max(out.pipeline_cpu_seconds, trace.interval.process_cpu_seconds);
  take_waits(found, &out);
  return out;
}

std::variant<JobFacts, LeftOut> read_job(const std::string& path) {
  std::string text;
  try {
    text = read_regular("fleet", path, kMostBytes);
  } catch (const Error& e) {
    return LeftOut{path, LeftOut::Why::unreadable, e.what()};
  }
  if (!looks_like_trace(text)) return LeftOut{path, LeftOut::Why::other_file, "no trace"};
  try {
    JobFacts out = job_facts(parse_trace(without_slices(text), path));
    out.file = path;
    out.content = std::hash<std::string>{}(text);
    return out;
  } catch (const Error& e) {
    return LeftOut{path, LeftOut::Why::damaged, e.what()};
  }
}

}  // namespace penstock
