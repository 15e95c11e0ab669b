#include "report/top_frame.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "report/table.h"

namespace penstock {
namespace {

using Align = TextTable::Align;
using Lines = std::vector<std::string>;

constexpr size_t kMostVerdictLines = 4;
constexpr size_t kMostDecisions = 4;
constexpr size_t kLeastStages = 3;

// Per second of the interval.
double per_second(double count, const Analysis& a) {
  return a.trace.interval.seconds > 0 ? count / a.trace.interval.seconds : 0;
}

double waited_share(const Analysis& a) {
  return std::min(1.0, per_second(a.trace.interval.waited_seconds, a));
}

Lines lines_of(const std::string& text) {
  Lines out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Returns the left text, shortened if it must be, and the right one at the end of the line.
std::string spread(const std::string& left, const std::string& right, size_t width) {
  const size_t taken = text_width(right) + 2;
  if (taken >= width) return shortened(left, width);
  std::string out = shortened(left, width - taken);
  return out + std::string(width - text_width(out) - text_width(right), ' ') + right;
}

Lines head(const TopView& v, size_t width) {
  const Analysis& a = v.analysis;
  std::string right = "run " + std::to_string(v.run);
  if (v.runs > 1) right += ", one of " + std::to_string(v.runs);
  right += ", up " + human_seconds(v.up_seconds);
  const std::string rate =
      human_rate(a.rate) + ", " + human_number(static_cast<double>(v.elements)) +
      " elements; the consumer waits " + human_percent(waited_share(a)) + "; " +
      human_cores(a.waits.process_cores) + " of " + std::to_string(a.cores) + " cores; " +
      human_bytes(static_cast<double>(a.trace.peak_memory_bytes));
  Lines out = {spread(std::to_string(v.pid) + " " + v.command, right, width),
               shortened(rate, width)};
  Lines verdict = lines_of(wrapped(verdict_line(a, v.explanation), width, 2));
  if (verdict.size() > kMostVerdictLines) {
    verdict.resize(kMostVerdictLines);
    verdict.back() = shortened(verdict.back() + " …", width);
  }
  out.insert(out.end(), verdict.begin(), verdict.end());
  return out;
}

// Returns the stages to show, in the order of the plan.
std::vector<size_t> shown_stages(const Analysis& a, size_t most) {
  std::vector<size_t> out(a.stages.size());
  std::iota(out.begin(), out.end(), size_t{0});
  if (out.size() <= most) return out;
  std::ranges::stable_sort(out, std::greater<>(),
                           [&](size_t i) { return a.trace.stages[i].cpu_seconds; });
  out.resize(most);
  std::ranges::sort(out);
  return out;
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)); }

Lines stage_lines(const Analysis& a, size_t width, size_t height) {
  const size_t rows = a.stages.size() + 1 <= height ? a.stages.size() : height - 2;
  const std::vector<size_t> shown = shown_stages(a, rows);
  constexpr size_t kNumbers = 53;
  TextTable table({{"stage", Align::left, width > kNumbers + 10 ? width - kNumbers : 10},
                   {"limit"},
                   {"cores"},
                   {"busy"},
                   {"starv"},
                   {"block"},
                   {"ahead"},
                   {"rate/s"},
                   {"bytes/s"}});
  for (const size_t i : shown) {
    const StageModel& s = a.stages[i];
    const StageTrace& t = a.trace.stages[i];
    size_t depth = 0;
    for (int p = s.parent; p >= 0; p = a.stages[static_cast<size_t>(p)].parent) depth += 2;
    table.add_row({std::string(depth, ' ') + s.label, std::to_string(s.limit),
                   human_cores(per_second(t.cpu_seconds, a)), percent(s.busy), percent(s.starved),
                   percent(s.blocked), t.rows_ahead > 0 ? std::to_string(t.rows_ahead) : "",
                   human_number(per_second(static_cast<double>(t.elements), a)),
                   human_bytes(per_second(static_cast<double>(t.bytes), a))});
  }
  Lines out = lines_of(table.text());
  for (std::string& line : out) line = shortened(line, width);
  if (shown.size() < a.stages.size())
    out.push_back(std::to_string(a.stages.size() - shown.size()) + " stages that use less CPU");
  return out;
}

// The gains come first: a long reason is cut off.
std::string decision_line(const Trace& trace, const TunerDecision& d) {
  std::string out = "  " + human_seconds(d.seconds) + " " +
                    trace.stages[static_cast<size_t>(d.stage)].label + ": " + d.value + " " +
                    std::to_string(d.from) + " -> " + std::to_string(d.to) + ", predicted " +
                    human_ratio(d.predicted_gain);
  if (d.measured_gain) out += ", measured " + human_ratio(*d.measured_gain);
  if (d.rolled_back) out += ", moved back";
  return out + ": " + d.why;
}

Lines decision_lines(const Trace& trace, size_t width) {
  if (!trace.decisions) return {};
  Lines out = {"Live tuner"};
  const size_t count = trace.decisions->size();
  for (size_t i = count - std::min(count, kMostDecisions); i < count; ++i)
    out.push_back(shortened(decision_line(trace, (*trace.decisions)[i]), width));
  if (count == 0) out.emplace_back("  nothing moved");
  return out;
}

void append(const Lines& more, Lines* out) { out->insert(out->end(), more.begin(), more.end()); }

}  // namespace

std::vector<std::string> top_frame(const TopView& v, size_t width, size_t height) {
  const size_t note = v.note.empty() ? 0 : 1;
  Lines out = head(v, width);
  Lines decisions = decision_lines(v.analysis.trace, width);
  out.emplace_back();
  const size_t taken = out.size() + note;
  const size_t room = height > taken ? height - taken : 0;
  const size_t wanted = std::min(v.analysis.stages.size(), kLeastStages + 6) + 2;
  if (!decisions.empty() && room < wanted + decisions.size() + 1)  // the newest are the last
    decisions.erase(decisions.begin() + 1, decisions.end() - 1);
  const size_t for_decisions = decisions.empty() ? 0 : decisions.size() + 1;
  if (room >= kLeastStages + 2) {
    const bool both = room >= for_decisions + kLeastStages + 2;
    append(stage_lines(v.analysis, width, both ? room - for_decisions : room), &out);
    if (both && for_decisions > 0) {
      out.emplace_back();
      append(decisions, &out);
    }
  }
  if (out.size() + note > height) out.resize(height - std::min(height, note));
  if (note > 0) out.push_back(shortened(v.note, width));
  return out;
}

Json top_json(const TopView& v) {
  const Analysis& a = v.analysis;
  Json stages = Json::array();
  for (size_t i = 0; i < a.stages.size(); ++i) {
    const StageModel& s = a.stages[i];
    const StageTrace& t = a.trace.stages[i];
    stages.push_back({{"id", s.id},
                      {"op", s.op},
                      {"label", s.label},
                      {"parent", s.parent < 0 ? Json() : Json(s.parent)},
                      {"limit", s.limit},
                      {"rows_ahead", t.rows_ahead},
                      {"cores_used", per_second(t.cpu_seconds, a)},
                      {"busy", s.busy},
                      {"starved", s.starved},
                      {"blocked", s.blocked},
                      {"rate", per_second(static_cast<double>(t.elements), a)},
                      {"bytes_per_second", per_second(static_cast<double>(t.bytes), a)}});
  }
  Json out{{"pid", v.pid},
           {"command", v.command},
           {"run", v.run},
           {"runs", v.runs},
           {"up_seconds", v.up_seconds},
           {"elements", v.elements},
           {"seconds", a.trace.interval.seconds},
           {"rate", a.rate},
           {"waited_share", waited_share(a)},
           {"cores_used", a.waits.process_cores},
           {"cores", a.cores},
           {"peak_memory_bytes", a.trace.peak_memory_bytes},
           {"verdict", verdict_line(a, v.explanation)},
           {"holder", holder_name(a.verdict.holder)},
           {"stages", std::move(stages)}};
  if (a.trace.decisions) out["decisions"] = trace_decisions_json(a.trace);
  return out;
}

}  // namespace penstock
