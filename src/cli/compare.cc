// penstock compare: which of two pipelines is faster, by how much, and which stages make the
// difference.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/measure.h"
#include "cli/pipeline.h"
#include "cli/print_json.h"
#include "cli/progress.h"
#include "job/optimization.h"
#include "job/stage_costs.h"
#include "report/element_json.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

struct Side {
  std::string name;  // as it was given
  const MeasuredPlan& measured;
  double rate = 0;

  double cpu_seconds() const {
    return measured.trace.interval.process_cpu_seconds /
           static_cast<double>(std::max<int64_t>(1, measured.elements));
  }
  double cores() const { return cpu_seconds() * measured.rate; }
};

std::string verdict(const MeasuredPair& m, const Side& a, const Side& b) {
  const Comparison& c = m.comparison;
  const std::string pairs = std::to_string(c.pairs) + (c.pairs == 1 ? " pair" : " pairs");
  if (m.once)
    return b.name + " runs at " + human_ratio(c.ratio) + " the rate of " + a.name +
           ", measured once, as its cache fills";
  const std::string interval =
      " (" + human_ratio(c.low) + " to " + human_ratio(c.high) + ", " + pairs + " of runs)";
  if (!c.is_faster() && !c.is_slower())
    return "no difference is certain: " + b.name + " runs at " + human_ratio(c.ratio) +
           " the rate of " + a.name + interval;
  return b.name + (c.is_faster() ? " is faster: " : " is slower: ") + human_ratio(c.ratio) +
         " the rate of " + a.name + interval;
}

// The rate is cores in use over CPU time per element: says which of the two differs more.
std::string cause(const Side& a, const Side& b, const std::vector<StageCost>& stages) {
  const double cpu = b.cpu_seconds() / a.cpu_seconds(), cores = b.cores() / a.cores();
  if (!(cpu > 0 && cores > 0)) return "";
  if (std::abs(std::log(cores)) > std::abs(std::log(cpu)))
    return "the difference is in the cores that work at once: " + human_cores(a.cores()) + " and " +
           human_cores(b.cores());
  const StageCost& most = stages.front();
  return "the difference is in the CPU time per element: " + human_seconds(a.cpu_seconds()) +
         " and " + human_seconds(b.cpu_seconds()) + ", most of it in " + most.stage;
}

std::string known_seconds(const std::optional<double>& seconds) {
  return seconds ? human_seconds(*seconds) : "-";
}

void print_text(const MeasuredPair& m, const Side& a, const Side& b) {
  const std::vector<StageCost> stages = stage_costs(a.measured.trace, b.measured.trace);
  std::printf("%s\n", wrap(verdict(m, a, b), 80, 2).c_str());
  const bool certain = m.comparison.is_faster() || m.comparison.is_slower();
  if (certain && !stages.empty()) std::printf("%s\n", wrap(cause(a, b, stages), 80, 2).c_str());
  std::printf("the first elements of both are %s\n\n", !m.same_elements   ? "not comparable"
                                                       : *m.same_elements ? "the same"
                                                                          : "NOT the same");
  constexpr size_t kName = 24;
  using Align = TextTable::Align;
  TextTable table(
      {{"", Align::left, 40}, {a.name, Align::right, kName}, {b.name, Align::right, kName}});
  table.add_row({"elements per second", human_rate(a.rate), human_rate(b.rate)});
  table.add_row(
      {"CPU time per element", human_seconds(a.cpu_seconds()), human_seconds(b.cpu_seconds())});
  table.add_row({"cores in use", human_cores(a.cores()), human_cores(b.cores())});
  const auto first = [](const Side& s) {
    return human_seconds(s.measured.trace.interval.first_element_seconds);
  };
  table.add_row({"time to the first element", first(a), first(b)});
  table.add_row({});
  table.add_row({"CPU time per element by stage"});
  for (const StageCost& s : stages)
    table.add_row({"  " + s.stage, known_seconds(s.a), known_seconds(s.b)});
  std::fputs(table.text().c_str(), stdout);
}

Json side_json(const Side& s) {
  return {{"pipeline", s.name},
          {"rate", s.rate},
          {"cpu_seconds_per_element", s.cpu_seconds()},
          {"cores_used", s.cores()},
          {"first_element_seconds", s.measured.trace.interval.first_element_seconds}};
}

Json comparison_json(const MeasuredPair& m, const Side& a, const Side& b) {
  const auto known = [&](double bound) { return m.once ? Json() : Json(bound); };
  const auto cost = [](const auto& seconds) { return seconds ? Json(*seconds) : Json(); };
  Json stages = Json::array();
  for (const StageCost& s : stage_costs(a.measured.trace, b.measured.trace))
    stages.push_back({{"stage", s.stage}, {"a", cost(s.a)}, {"b", cost(s.b)}});
  return {{"a", side_json(a)},
          {"b", side_json(b)},
          {"ratio",
           {{"low", known(m.comparison.low)},
            {"value", m.comparison.ratio},
            {"high", known(m.comparison.high)}}},
          {"pairs", m.comparison.pairs},
          {"same_elements", m.same_elements ? Json(*m.same_elements) : Json()},
          {"stages", stages}};
}

int compare(const Args& args) {
  const std::vector<std::string>& names = args.positional();
  if (names.size() != 2) throw UsageError{"give two pipelines: penstock compare A.pipe B.pipe"};
  if (names[0] == "-" && names[1] == "-")
    throw UsageError{"only one of the pipelines can be standard input"};
  const LoadedPipeline first = load_pipeline(args, names[0]);
  const LoadedPipeline second = load_pipeline(args, names[1]);
  for (const LoadedPipeline* p : {&first, &second}) {
    if (gives_value(*p)) throw UsageError{"a pipeline ends in a value; compare two of elements"};
  }
  const MeasuredPair m = [&] {
    const Progress progress("both pipelines are measured");
    return measure_in_turn(
        {first.plan, first.tuning}, {second.plan, second.tuning}, first.run_options,
        args.get_seconds("--seconds", 20),
        [&](const PlanPtr& plan, const RunOptions& run, const TraceLimits& limits) {
          Progress::say((plan == first.plan ? names[0] : names[1]) + " runs");
          return measured_run(plan, run, limits);
        });
  }();
  const Side a{names[0], m.before, m.comparison.before};
  const Side b{names[1], m.after, m.comparison.after};
  if (args.has("--json"))
    print_json(comparison_json(m, a, b));
  else
    print_text(m, a, b);
  return m.same_elements == false && args.has("--require-same") ? 1 : 0;
}

}  // namespace

Command compare_command() {
  Command c{"compare",
            "A B [flags]",
            "measure two pipelines in turn; say which is faster, and why",
            "Runs both pipelines in turn, each first in every other pair, until the 95 % interval "
            "of the ratio of their rates excludes 1 or the time is over. Says whether their first "
            "elements are the same, and which stages make the difference.",
            {{"--seconds", "S", "time for measuring both (default 20s)"},
             {"--require-same", "", "exit status 1 if the first elements differ"},
             {"--json", "", "one JSON object (docs/format/compare.md)"}},
            compare};
  for (const Flag& f : pipeline_flags()) c.flags.push_back(f);
  return c;
}

}  // namespace penstock::cli
