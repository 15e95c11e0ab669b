// penstock stall: the parts of a training step, by runs that differ in one thing.

#include <algorithm>
#include <cstdio>

#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "job/stall_runs.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

// A stall is known to be there if its interval does not reach 0.
double certain(const Estimate& e) { return e.low > 0 ? e.value : 0; }

std::string verdict(const StallReport& r, const std::string& pipeline) {
  const Stall& s = r.stall;
  const double whole = s.whole();
  const double storage = certain(s.storage), work = certain(s.work);
  constexpr double kNothing = 0.02;  // of the step
  if (r.consumer_seconds <= 0) {
    const std::string time = "without a consumer an element takes " + human_seconds(whole);
    return storage > work ? time + ", most of it for storage" : time + ", most of it for work";
  }
  if (storage + work <= kNothing * whole)
    return "the consumer limits: of a step of " + human_seconds(whole) +
           " it waits less than 2 %, a faster input would bring nothing";
  const double gain = s.consumer.value > 0 ? whole / s.consumer.value : 0;
  const std::string waits = "of a step of " + human_seconds(whole) + " the consumer waits " +
                            human_percent((storage + work) / whole) + ", most of it for ";
  const std::string bring = ": an input that keeps up would bring " + human_ratio(gain);
  if (storage > work)
    return waits + "storage" + bring + "; faster storage or a cache would, more cores would not";
  return waits + "work" + bring + "; `penstock optimize " + pipeline +
         "` is next, faster storage would bring little";
}

void print_text(const StallReport& r, const std::string& pipeline) {
  const Stall& s = r.stall;
  std::printf("%s\n\n", wrap(verdict(r, pipeline), 80, 2).c_str());
  using Align = TextTable::Align;
  TextTable parts({{"", Align::left}, {"of a step"}, {"share"}, {"90 % interval", Align::left}});
  const auto part = [&](const std::string& name, const Estimate& e) {
    const std::string interval = e.has_interval() ? human_seconds(std::max(0.0, e.low)) + " to " +
                                                        human_seconds(std::max(0.0, e.high))
                                                  : "";
    parts.add_row({name, human_seconds(std::max(0.0, e.value)),
                   human_percent(std::max(0.0, e.value) / s.whole()), interval});
  };
  part("waits for storage", s.storage);
  part("waits for work", s.work);
  part(r.consumer_seconds > 0 ? "the consumer's own" : "handing over", s.consumer);
  std::fputs(parts.text().c_str(), stdout);
  std::printf("\n");
  TextTable runs({{"", Align::left}, {"steps per second"}});
  const auto rate = [](double seconds) { return seconds > 0 ? human_rate(1 / seconds) : "-"; };
  runs.add_row({"the whole pipeline", rate(s.step_seconds[0])});
  runs.add_row({"with its files in memory", rate(s.step_seconds[1])});
  runs.add_row({"one element again and again", rate(s.step_seconds[2])});
  if (r.source_seconds)
    runs.add_row({"its source alone, up to " + r.source, rate(*r.source_seconds)});
  std::fputs(runs.text().c_str(), stdout);
  std::printf("\n%d rounds of %lld steps", s.rounds, static_cast<long long>(r.steps));
  if (r.page_cache)
    std::printf("; %s of the files were in the page cache%s", human_percent(*r.page_cache).c_str(),
                r.cold ? ", dropped before each run" : "");
  std::printf("\n");
  if (r.memory_share < 0.99)
    std::printf("%s\n", wrap("memory had room for " + human_percent(r.memory_share) +
                                 " of the bytes: waiting for storage is above what is shown; "
                                 "--memory gives more room",
                             80, 2)
                            .c_str());
}

Json estimate_json(const Estimate& e) {
  const auto known = [&](double bound) { return e.has_interval() ? Json(bound) : Json(); };
  return {{"low", known(e.low)}, {"value", e.value}, {"high", known(e.high)}};
}

Json report_json(const StallReport& r, const std::string& pipeline) {
  const Stall& s = r.stall;
  return {{"verdict", verdict(r, pipeline)},
          {"step_seconds", s.whole()},
          {"waits_for_storage", estimate_json(s.storage)},
          {"waits_for_work", estimate_json(s.work)},
          {"consumer", estimate_json(s.consumer)},
          {"runs",
           {{"whole", s.step_seconds[0]},
            {"in_memory", s.step_seconds[1]},
            {"one_element", s.step_seconds[2]},
            {"source", r.source_seconds ? Json(*r.source_seconds) : Json()}}},
          {"source", r.source.empty() ? Json() : Json(r.source)},
          {"rounds", s.rounds},
          {"steps", r.steps},
          {"consumer_seconds", r.consumer_seconds},
          {"page_cache_share", r.page_cache ? Json(*r.page_cache) : Json()},
          {"cold", r.cold},
          {"memory_share", r.memory_share}};
}

int stall(const Args& args) {
  const LoadedPipeline p = load_pipeline(args);
  if (gives_value(p)) throw UsageError{"a pipeline ends in a value; measure one of elements"};
  const StallChoices choices{args.get_seconds("--consumer", 0), args.get_seconds("--seconds", 20),
                             args.has("--cold")};
  const StallReport report = [&] {
    const Progress progress("the pipeline is measured");
    CommandRun observer;
    return run_stall(p, choices, &observer, &Progress::say);
  }();
  if (args.has("--json"))
    print_json(report_json(report, pipe_argument(args)));
  else
    print_text(report, pipe_argument(args));
  return 0;
}

}  // namespace

Command stall_command() {
  Command c{"stall",
            "PIPE [--consumer TIME] [flags]",
            "split a training step: storage, work, and the consumer's own time",
            "Runs the pipeline with a consumer that takes its time over each element: as it is, "
            "with its files in memory, and one element again and again. The differences are the "
            "time for which training waits for storage and for work. Its source is run alone, too.",
            {{"--consumer", "TIME", "the consumer's own work per element, such as 25ms"},
             {"--seconds", "S", "time for all runs (default 20s)"},
             {"--cold", "", "drop the files from the page cache before each run that reads them"},
             {"--json", "", "one JSON object (docs/format/stall.md)"}},
            stall};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
