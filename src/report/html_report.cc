#include "report/html_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/html_style.h"
#include "report/html_text.h"
#include "report/table.h"

namespace penstock {
namespace {

std::string fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string tile(const std::string& name, const std::string& value, const std::string& small) {
  return "<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "<small>" + escaped(small) +
         "</small></dd></div>\n";
}

std::string verdict_section(const HtmlReport& r) {
  const Analysis& a = r.before;
  const bool good = nothing_wrong(a);
  std::string line = verdict_line(a, r.explain);
  // The headline already says it.
  if (const size_t colon = line.find(": "); colon != std::string::npos)
    line = line.substr(colon + 2);
  if (!line.empty() && line[0] >= 'a' && line[0] <= 'z')
    line[0] = static_cast<char>(line[0] - 'a' + 'A');
  const char* headline = a.verdict.step_seconds <= 0 ? "No verdict"
                         : good                      ? "&#10003; Not input-bound"
                                                     : "&#9650; Input-bound";
  std::string out = std::string("<section class=\"verdict") + (good ? " good" : "") +
                    "\"><p class=\"what\">" + headline + "</p><p class=\"line\">" + escaped(line) +
                    "</p>\n<dl class=\"tiles\">";
  out += tile("Rate", human_rate(a.rate), human_seconds(a.verdict.step_seconds) + " a step");
  if (r.after) {
    out += tile("After", human_rate(r.after->rate),
                a.rate > 0 ? human_ratio(r.after->rate / a.rate) : "");
  } else if (r.explain.predicted_rate) {
    const Estimate& p = *r.explain.predicted_rate;
    out +=
        tile("Predicted", human_rate(p.value),
             p.exact() || !p.has_interval() ? "" : human_rate(p.low) + " to " + human_rate(p.high));
  }
  out +=
      tile("Exposed", human_seconds(a.verdict.exposed_seconds),
           a.verdict.step_seconds > 0
               ? human_percent(a.verdict.exposed_seconds / a.verdict.step_seconds) + " of the step"
               : "");
  out += tile("Cores busy", human_cores(a.cores_used), "of " + std::to_string(a.cores));
  out += tile("Peak memory", human_bytes(static_cast<double>(a.trace.peak_memory_bytes)),
              "budget " + human_bytes(static_cast<double>(a.trace.options.memory_bytes)));
  return out + "</dl></section>\n";
}

// Draws how a stage spent its threads' time, 96 units wide.
std::string share_bar(const StageModel& s) {
  const struct {
    const char* name;
    double share;
  } parts[] = {{"busy", s.busy}, {"starved", s.starved}, {"blocked", s.blocked}};
  std::string title, rects;
  double x = 0;
  for (const auto& p : parts) {
    const double width = 96 * p.share;
    title += std::string(title.empty() ? "" : ", ") + p.name + " " + human_percent(p.share);
    if (width >= 0.5) {
      rects += "<rect x=\"" + fixed(x) + "\" width=\"" +
               fixed(std::max(0.5, width - (x + width < 95.5 ? 1 : 0))) +
               "\" height=\"12\" fill=\"var(--" + p.name + ")\"/>";
    }
    x += width;
  }
  return "<span class=\"split\"><svg width=\"96\" height=\"12\" role=\"img\" aria-label=\"" +
         title + "\"><title>" + title + "</title>" + rects + "</svg>" +
         human_percent(std::round(s.busy * 100) / 100) + "</span>";
}

std::string size_cell(const StageSize& size) {
  if (size.extent == Extent::infinite) return "endless";
  if (size.extent == Extent::unknown) return "not known";
  if (size.extent == Extent::exact) return human_bytes(size.bytes.value);
  return human_bytes(size.bytes.value) + "<span class=\"range\">" + human_bytes(size.bytes.low) +
         " to " + human_bytes(size.bytes.high) + "</span>";
}

const char* holder_tag(Verdict::Holder holder) {
  switch (holder) {
    case Verdict::Holder::stage: return "holds the rate";
    case Verdict::Holder::cpu: return "takes most CPU";
    case Verdict::Holder::storage: return "waits for storage";
    case Verdict::Holder::lock: return "holds its lock";
    case Verdict::Holder::unclear: return "busiest";
    case Verdict::Holder::other_programs:
    case Verdict::Holder::consumer: break;
  }
  return "";
}

std::string stage_section(const Analysis& a, const char* title) {
  std::string out =
      std::string("<section><h2>") + title +
      "</h2><p class=\"note\">Sink first. Rates are of a stage's own elements; shares are of the "
      "time of its threads.</p>"
      "<p class=\"legend\"><span><i style=\"background:var(--busy)\"></i>busy</span>"
      "<span><i style=\"background:var(--starved)\"></i>starved: waits for input</span>"
      "<span><i style=\"background:var(--blocked)\"></i>blocked: its output is full</span></p>"
      "<div class=\"scroll\"><table><thead><tr><th>Stage</th><th>Rate</th><th>Per "
      "core</th><th>Cores</th>"
      "<th class=\"text\">Busy</th><th>Bytes in<br>per step</th><th>Bytes<br>per "
      "element</th><th>Size</th>"
      "<th class=\"text\">Cacheable</th></tr></thead><tbody>\n";
  for (const StageModel& s : a.stages) {
    int depth = 0;
    for (int p = s.parent; p >= 0; p = a.stages[static_cast<size_t>(p)].parent) ++depth;
    const bool holds = a.verdict.input_bound && s.id == a.verdict.stage;
    out += std::string("<tr") + (holds ? " class=\"holds\"" : "") +
           "><td style=\"padding-left:" + std::to_string(std::min(depth, 8) * 16) + "px\">" +
           escaped(s.label) +
           (holds ? "<span class=\"tag\">" + std::string(holder_tag(a.verdict.holder)) + "</span>"
                  : "") +
           "</td><td>" + human_rate(s.rate) + "</td><td>" +
           (std::isfinite(s.own_rate_per_core) ? human_rate(s.own_rate_per_core) : "free") +
           "</td><td>" + human_cores(s.cores_used) + "</td><td class=\"text\">" + share_bar(s) +
           "</td><td>" + human_bytes(s.bytes_in) + "</td><td>" + human_bytes(s.bytes_per_element) +
           "</td><td>" + size_cell(s.size) + "</td><td class=\"text reason\">" +
           (s.cache == CacheVerdict::yes ? "yes, " : "no, ") +
           escaped(cache_verdict_text(s.cache)) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

// Returns 1, 2 or 5 times a power of ten, for about `parts` ticks in `span`.
double tick_step(double span, int parts) {
  const double raw = span / parts;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

// Draws bars on one axis from 0. The axis ends a little above the values that matter now; higher
// ceilings leave it and show their number, so that one of them cannot squeeze the others to
// nothing.
std::string ceiling_section(const HtmlReport& r) {
  const Analysis& a = r.before;
  if (a.ceilings.empty() || a.rate <= 0) return {};
  const double measured = a.rate, after = r.after ? r.after->rate : 0,
               predicted = r.explain.predicted_rate ? r.explain.predicted_rate->value : 0;
  const double axis =
      1.12 *
      std::max(
          {measured, after, predicted, 2.5 * std::min(a.ceilings[0].rate, 4 * measured),
           a.ceilings.size() > 1 && a.ceilings[1].rate < 4 * measured ? a.ceilings[1].rate : 0});
  const auto percent = [&](double rate) { return fixed(100 * std::min(1.0, rate / axis)) + "%"; };
  constexpr size_t kMost = 10;
  const size_t count = std::min(kMost, a.ceilings.size());
  const int row = 42, bottom = static_cast<int>(count) * row + 4;
  std::string svg = "<svg width=\"100%\" height=\"" + std::to_string(bottom + 24) +
                    "\" role=\"img\" aria-label=\"Ceilings in ascending order\">";
  const double step = tick_step(axis, 5);
  for (double t = 0; t <= axis; t += step) {
    const bool last = t + step > axis && t > 0.9 * axis;
    svg += "<line x1=\"" + percent(t) + "\" x2=\"" + percent(t) + "\" y1=\"0\" y2=\"" +
           std::to_string(bottom) + "\" stroke=\"var(--line)\"/>" + "<text class=\"small\" x=\"" +
           percent(t) + "\" y=\"" + std::to_string(bottom + 16) + "\" text-anchor=\"" +
           (t == 0 ? "start"
            : last ? "end"
                   : "middle") +
           "\">" + human_rate(t) + "</text>";
  }
  for (size_t i = 0; i < count; ++i) {
    const Ceiling& c = a.ceilings[i];
    const int y = static_cast<int>(i) * row;
    const bool beyond = c.rate > axis;
    svg += "<rect x=\"0\" y=\"" + std::to_string(y + 22) + "\" width=\"" + percent(c.rate) +
           "\" height=\"12\" fill=\"var(--" + (i == 0 ? "bar-first" : "bar") + ")\"><title>" +
           escaped(c.name) + ": " + human_rate(c.rate) + "</title></rect>";
    svg += "<text x=\"0\" y=\"" + std::to_string(y + 16) + "\">" + escaped(shortened(c.name, 42)) +
           "</text><text class=\"small\" x=\"100%\" y=\"" + std::to_string(y + 16) +
           "\" text-anchor=\"end\">" + human_rate(c.rate) + (beyond ? " &#8594;" : "") + "</text>";
  }
  std::string legend = "<p class=\"legend\">";
  // Marks cross the bars only, not the names.
  const auto mark = [&](double rate, const char* name, const char* color, bool dashed,
                        const char* css) {
    for (size_t i = 0; i < count; ++i) {
      const int y = static_cast<int>(i) * row;
      svg += "<line x1=\"" + percent(rate) + "\" x2=\"" + percent(rate) + "\" y1=\"" +
             std::to_string(y + 19) + "\" y2=\"" + std::to_string(y + 37) + "\" stroke=\"var(--" +
             color + ")\" stroke-width=\"2\"" + (dashed ? " stroke-dasharray=\"3 3\"" : "") + "/>";
    }
    legend += std::string("<span><i class=\"mark ") + css + "\"></i>" + name + " " +
              human_rate(rate) + "</span>";
  };
  mark(measured, r.after ? "measured before" : "measured", "ink", false, "");
  if (predicted > 0) mark(predicted, "predicted", "ink", true, "dashed");
  if (after > 0) mark(after, "measured after", "after", false, "after");
  svg += "</svg>";
  std::string more = a.ceilings.size() > count
                         ? "<p class=\"note\">and " + std::to_string(a.ceilings.size() - count) +
                               " higher ones</p>"
                         : "";
  return "<section><h2>Ceilings</h2><p class=\"note\">The rate of the pipeline that each limit "
         "would allow on its own, lowest first: what comes next "
         "when the first is lifted. Elements of the pipeline per second.</p>" +
         legend + "</p>" + svg + more + "</section>\n";
}

std::string plan_section(const HtmlReport& r) {
  if (r.explain.plan.empty()) return {};
  std::string out = "<section><h2>Plan</h2><p class=\"note\">What to change and what it is "
                    "predicted to bring, the most valuable first.</p><ol>\n";
  for (const PlannedChange& c : r.explain.plan) {
    out += "<li>" + escaped(c.change) +
           (c.gain.empty() ? "" : " <b class=\"gain\">" + escaped(c.gain) + "</b>") + "</li>\n";
  }
  return out + "</ol></section>\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Marks the lines of `a` and `b` that belong to a longest common subsequence.
void common_lines(const std::vector<std::string>& a, const std::vector<std::string>& b,
                  std::vector<bool>* in_a, std::vector<bool>* in_b) {
  in_a->assign(a.size(), false);
  in_b->assign(b.size(), false);
  if (a.size() * b.size() > 4'000'000) return;  // programs are never that long
  std::vector<std::vector<int>> length(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      (*in_a)[i++] = (*in_b)[j++] = true;
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
}

std::string listing(const std::vector<std::string>& lines, const std::vector<bool>& common,
                    const char* other) {
  std::string out = "<pre>";
  for (size_t i = 0; i < lines.size(); ++i) {
    out += (common[i] ? std::string("<span>") : std::string("<span class=\"") + other + "\">") +
           escaped(lines[i]) + "</span>";
  }
  return out + "</pre>";
}

std::string program_section(const HtmlReport& r) {
  const std::vector<std::string> before =
      lines_of(r.program_before ? *r.program_before : r.before.trace.program);
  if (before.empty()) return {};
  if (!r.program_after) {
    return "<section><h2>Program</h2>" +
           listing(before, std::vector<bool>(before.size(), true), "") + "</section>\n";
  }
  const std::vector<std::string> after = lines_of(*r.program_after);
  std::vector<bool> in_before, in_after;
  common_lines(before, after, &in_before, &in_after);
  return "<section><h2>Program</h2><p class=\"note\">Lines that differ are tinted.</p><div "
         "class=\"pair\"><div><h3>Before</h3>" +
         listing(before, in_before, "del") + "</div><div><h3>After</h3>" +
         listing(after, in_after, "add") + "</div></div></section>\n";
}

std::string comparison_section(const HtmlReport& r) {
  if (r.comparison.empty()) return {};
  std::string out = "<section><h2>Before and after</h2><div "
                    "class=\"scroll\"><table><thead><tr><th></th><th>Before</th><th>After</th></"
                    "tr></thead><tbody>\n";
  for (const HtmlReport::Row& row : r.comparison) {
    out += "<tr><td>" + escaped(row.label) + "</td><td>" + escaped(row.before) + "</td><td>" +
           escaped(row.after) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></section>\n";
}

std::string trust_section(const Analysis& a) {
  const TraceInterval& i = a.trace.interval;
  std::string out = "<section><h2>How far to trust this</h2><dl class=\"tiles\">";
  out += tile("Traced", human_seconds(i.seconds),
              human_number(static_cast<double>(i.elements)) + " elements" +
                  (i.interrupted ? ", interrupted" : ""));
  if (a.fill_seconds > 0)
    out +=
        tile("Fill", human_seconds(a.fill_seconds), "before the first element, not in the rates");
  out += tile("Data seen", a.coverage > 0 ? human_percent(a.coverage) : "not known",
              i.ended ? "to the end" : "");
  out += tile(
      "CPU of no stage",
      i.process_cpu_seconds > 0 ? human_percent(a.unattributed_cpu_seconds / i.process_cpu_seconds)
                                : "0 %",
      human_seconds(a.unattributed_cpu_seconds) + " of " + human_seconds(i.process_cpu_seconds));
  out += tile("Threads without a core",
              a.waits.descheduled_seconds ? human_percent(a.waits.descheduled_share) : "not known",
              "of the time in which they could run");
  out +=
      tile("Other programs", a.waits.other_cores ? human_cores(*a.waits.other_cores) : "not known",
           "cores used by them");
  out += tile("Tracing overhead", human_percent(a.tracing_overhead), "of CPU time, estimated");
  out += "</dl>";
  if (a.too_short)
    out += "<p class=\"note\">The trace is too short to rely on: trace some seconds and ten "
           "elements at least.</p>";
  return out + "</section>\n";
}

}  // namespace

std::string html_report(const HtmlReport& r) {
  const TraceMachine& m = r.before.trace.machine;
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
      escaped(r.title) + "</title>\n<style>" + kHtmlStyle + "</style></head><body><main>\n<h1>" +
      escaped(r.title) + "</h1>\n";
  out += verdict_section(r);
  out += stage_section(r.before, r.after ? "Stages before" : "Stages");
  out += ceiling_section(r);
  out += plan_section(r);
  out += program_section(r);
  if (r.after) out += stage_section(*r.after, "Stages after");
  out += comparison_section(r);
  out += trust_section(r.before);
  out += "<footer>" + escaped(m.cpu.empty() ? "unknown CPU" : m.cpu) + ", " +
         std::to_string(m.cores) + " cores, " + human_bytes(static_cast<double>(m.memory_bytes)) +
         " of memory, " + escaped(m.kernel) + ". Made by penstock explain.</footer>\n";
  return out + "</main></body></html>\n";
}

}  // namespace penstock
