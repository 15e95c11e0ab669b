#include "report/text_report.h"

#include <algorithm>
#include <cmath>

#include "report/table.h"

namespace penstock {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kMostCeilings = 8;

using Align = TextTable::Align;

std::string size_text(const StageSize& size) {
  switch (size.extent) {
    case Extent::exact: return human_bytes(size.bytes.value);
    case Extent::estimated: return "~" + human_bytes(size.bytes.value);
    case Extent::infinite: return "inf";
    case Extent::unknown: break;
  }
  return "?";
}

// Rounds the three shares to whole percents that add up to 100; the last one takes the rest.
void push_shares(const StageModel& s, std::vector<std::string>* row) {
  const long busy = std::lround(s.busy * 100);
  const long starved = std::min(std::lround(s.starved * 100), 100 - busy);
  for (const long n : {busy, starved, 100 - busy - starved}) row->push_back(std::to_string(n));
}

std::string stage_table(const Analysis& a, Heading heading) {
  TextTable table({{"stage", Align::left, 19},
                   {"rate/s", Align::right, 0},
                   {"/core", Align::right, 0},
                   {"cores", Align::right, 0},
                   {"busy", Align::right, 0},
                   {"starv", Align::right, 0},
                   {"block", Align::right, 0},
                   {"bytes", Align::right, 0},
                   {"size", Align::right, 0},
                   {"cache", Align::left, 0}});
  for (const StageModel& s : a.stages) {
    size_t depth = 0;
    for (int p = s.parent; p >= 0; p = a.stages[static_cast<size_t>(p)].parent) depth += 2;
    std::vector<std::string> row{std::string(depth, ' ') + s.label, human_number(s.rate),
                                 human_number(s.own_rate_per_core), human_cores(s.cores_used)};
    push_shares(s, &row);
    row.push_back(human_bytes(s.bytes_per_element));
    row.push_back(size_text(s.size));
    row.emplace_back(cache_verdict_name(s.cache));
    table.add_row(std::move(row));
  }
  std::string text = table.text();
  const size_t titles = std::min(text.find('\n'), text.size());
  text.replace(0, titles, heading(std::string_view(text).substr(0, titles)));
  return text + "rate and rate per core of the stage's own elements; busy, starved and blocked\n"
                "in % of its threads' time; bytes per element; size of one pass over the data\n";
}

std::string ceiling_table(const Analysis& a, Heading heading) {
  TextTable table({{"", Align::left, 50}, {"", Align::right, 0}, {"", Align::right, 0}});
  table.add_row({"measured", human_rate(a.rate), ""});
  for (size_t i = 0; i < a.ceilings.size() && i < kMostCeilings; ++i) {
    const Ceiling& c = a.ceilings[i];
    table.add_row({c.name, human_rate(c.rate), a.rate > 0 ? human_ratio(c.rate / a.rate) : ""});
  }
  std::string out = heading("Ceilings, elements of the pipeline per second") + "\n" + table.text(2);
  if (a.ceilings.size() > kMostCeilings) {
    out += "  and " + std::to_string(a.ceilings.size() - kMostCeilings) + " higher ones\n";
  }
  return out;
}

// Shows counts alone: without an element of the pipeline there are no ratios.
std::string counts_table(const Analysis& a, Heading heading) {
  TextTable table({{"stage", Align::left, 30},
                   {"elements", Align::right, 0},
                   {"CPU", Align::right, 0},
                   {"bytes read", Align::right, 0}});
  for (const StageTrace& s : a.trace.stages) {
    size_t depth = 0;
    for (int p = s.parent; p >= 0; p = a.trace.stages[static_cast<size_t>(p)].parent) depth += 2;
    table.add_row({std::string(depth, ' ') + s.label, std::to_string(s.elements),
                   human_seconds(s.cpu_seconds), human_bytes(static_cast<double>(s.bytes_read))});
  }
  return heading("Seen until then") + "\n" + table.text(2);
}

std::string plan_text(const ExplainOptions& options, Heading heading) {
  if (options.plan.empty()) return heading("Plan") + "\n  nothing to change\n";
  std::string out = heading("Plan") + "\n";
  for (size_t i = 0; i < options.plan.size(); ++i) {
    const PlannedChange& c = options.plan[i];
    const std::string line =
        std::to_string(i + 1) + ". " + c.change + (c.gain.empty() ? "" : ", " + c.gain);
    out += "  " + wrapped(line, kWidth - 2, 5) + "\n";
  }
  if (options.predicted_rate) {
    const Estimate& p = *options.predicted_rate;
    out += "  all together: " + human_rate(p.value);
    if (!p.exact()) out += " (" + human_rate(p.low) + " to " + human_rate(p.high) + ")";
    out += "\n";
  }
  return out;
}

// Every cause, and whether it is ruled out.
std::string causes_text(const Analysis& a, Heading heading) {
  std::string out = heading("Causes") + "\n";
  for (const Cause& c : a.verdict.causes) {
    std::string state(cause_state_name(c.state));
    state.resize(10, ' ');
    out += "  " + state +
           wrapped(std::string(holder_name(c.holder)) + ": " + c.why, kWidth - 12, 12) + "\n";
  }
  return out;
}

// Decisions of the live tuner, each with what it was to bring and what it brought. Empty if none.
std::string decisions_text(const Analysis& a, Heading heading) {
  if (a.trace.decisions->empty()) return {};
  std::string out = heading("Live tuner") + "\n";
  for (const TunerDecision& d : *a.trace.decisions) {
    std::string line = human_seconds(d.seconds) + " " +
                       a.trace.stages[static_cast<size_t>(d.stage)].label + ": " + d.value + " " +
                       std::to_string(d.from) + " -> " + std::to_string(d.to) + ": " + d.why +
                       "; predicted " + human_ratio(d.predicted_gain);
    if (d.measured_gain) line += ", measured " + human_ratio(*d.measured_gain);
    if (d.rolled_back) line += ", moved back";
    out += "  " + wrapped(line, kWidth - 2, 4) + "\n";
  }
  return out;
}

std::string core_wait_text(const Waits& w) {
  if (!w.descheduled_seconds) return "not known";
  return human_seconds(*w.descheduled_seconds) + ", " + human_percent(w.descheduled_share) +
         " of the time in which threads could run";
}

std::string trust_text(const Analysis& a, Heading heading) {
  const TraceInterval& i = a.trace.interval;
  TextTable table({{"", Align::left, 0}, {"", Align::left, 0}});
  table.add_row({"interval", human_seconds(i.seconds) + ", " +
                                 human_number(static_cast<double>(i.elements)) + " elements" +
                                 (i.interrupted ? ", interrupted"
                                  : i.ended     ? ", to the end"
                                                : "")});
  if (a.fill_seconds > 0)
    table.add_row({"fill", human_seconds(a.fill_seconds) +
                               " before the first element, left out of the rates"});
  table.add_row(
      {"coverage", a.coverage > 0 ? human_percent(a.coverage) + " of the data" : "not known"});
  table.add_row({"rate", a.slices > 0
                             ? human_rate(a.measured.low) + " to " + human_rate(a.measured.high) +
                                   ", 90 % interval of " + std::to_string(a.slices) + " slices"
                             : "no interval: too few slices for a spread"});
  table.add_row(
      {"CPU of no stage",
       human_seconds(a.unattributed_cpu_seconds) + " of " + human_seconds(i.process_cpu_seconds) +
           (i.process_cpu_seconds > 0
                ? " (" + human_percent(a.unattributed_cpu_seconds / i.process_cpu_seconds) + ")"
                : "")});
  table.add_row({"waits for a core", core_wait_text(a.waits)});
  table.add_row({"other programs", a.waits.other_cores
                                       ? human_cores(*a.waits.other_cores) + " cores used by them"
                                       : "not known"});
  table.add_row({"tracing overhead", human_percent(a.tracing_overhead) + ", estimated"});
  std::string out = heading("Trust") + "\n" + table.text(2);
  if (a.too_short) out += "  Too short to rely on: trace some seconds and ten elements at least.\n";
  return out;
}

}  // namespace

std::string explain_text(const Analysis& a, const ExplainOptions& options, bool full,
                         Heading heading) {
  std::string out = wrapped(verdict_line(a, options), kWidth, 2) + "\n";
  const std::string tuner = a.trace.decisions ? "\n" + decisions_text(a, heading) : "";
  if (nothing_wrong(a) && !full) return out + tuner;
  if (a.verdict.step_seconds > 0) {
    out += "\n" + stage_table(a, heading);
    out += "\n" + ceiling_table(a, heading);
    if (full) out += "\n" + causes_text(a, heading);
    out += "\n" + plan_text(options, heading);
  } else {
    out += "\n" + counts_table(a, heading);
  }
  out += tuner;
  out += "\n" + trust_text(a, heading);
  return out;
}

}  // namespace penstock
