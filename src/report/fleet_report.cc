#include "report/fleet_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace penstock {
namespace {

using Align = TextTable::Align;
constexpr size_t kMostShown = 10;  // combinations of operators, and programs that a cache holds

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
double share(int64_t part, int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

// The most frequent first.
std::vector<std::pair<std::string, int64_t>> combinations_of(const Fleet& f) {
  std::vector<std::pair<std::string, int64_t>> out(f.combinations.begin(), f.combinations.end());
  std::ranges::stable_sort(out, std::greater(), &std::pair<std::string, int64_t>::second);
  return out;
}

class TextReport {
 public:
  explicit TextReport(const Fleet& fleet) : f_(fleet) {}

  std::string text() {
    head();
    waits();
    uses();
    sizes();
    operators();
    combinations();
    programs();
    fixes();
    left_out();
    return std::move(out_);
  }

 private:
  std::string of_jobs(int64_t jobs) const { return human_percent(share(jobs, f_.jobs)); }
  std::string of_measured(int64_t jobs) const {
    return human_percent(share(jobs, f_.measured_jobs));
  }
  std::string of_cpu(double seconds) const {
    return human_percent(share(seconds, f_.process_cpu_seconds));
  }
  void line(const std::string& text) { out_ += wrapped(text, 80, 2) + "\n"; }
  void table(const TextTable& t) { out_ += t.text() + "\n"; }

  void head() {
    line(std::to_string(f_.jobs) + " jobs, " + std::to_string(f_.measured_jobs) +
         " of them gave elements; " + std::to_string(f_.left_out.size()) + " files left out");
    line("input pipelines took " + of_cpu(f_.pipeline_cpu_seconds) + " of the CPU time");
    line(of_measured(f_.hardware_jobs) + " of the jobs are bound by hardware, " +
         of_measured(f_.software_jobs) + " by how their pipeline is written");
    out_ += "\n";
  }

  void waits() {
    TextTable waits({{"wait per step", Align::left}, {"jobs"}, {"Plumber"}});
    for (const WaitClass& c : f_.waits)
      waits.add_row(
          {"> " + human_seconds(c.seconds), of_measured(c.jobs), human_percent(c.published)});
    table(waits);
    TextTable holders({{"held by", Align::left}, {"jobs"}});
    for (const auto& [name, jobs] : f_.holders) holders.add_row({name, of_measured(jobs)});
    table(holders);
  }

  void uses() {
    TextTable uses({{"uses", Align::left}, {"jobs"}});
    uses.add_row({"parallel stages", of_jobs(f_.parallel_jobs)});
    uses.add_row({"prefetch", of_jobs(f_.prefetch_jobs)});
    uses.add_row({"cache", of_jobs(f_.cache_jobs)});
    table(uses);
  }

  void sizes() {
    TextTable sizes({{"files of one pass", Align::left}, {"jobs"}, {"of the CPU time"}});
    constexpr const char* kNames[] = {"up to 1 GB", "up to 1 TB", "more", "not known"};
    for (size_t i = 0; i < f_.sizes.size(); ++i)
      sizes.add_row(
          {kNames[i], of_jobs(f_.sizes[i].jobs), of_cpu(f_.sizes[i].process_cpu_seconds)});
    table(sizes);
    TextTable ratios({{"bytes out over bytes in", Align::left}, {"all"}, {"jobs below 1"}});
    const auto row = [&](const char* name, const RatioSum& r) {
      if (r.jobs > 0)
        ratios.add_row({name, human_number(share(r.bytes.out, r.bytes.in)),
                        human_percent(share(r.smaller, r.jobs))});
    };
    row("pipelines, from storage", f_.whole);
    row("maps", f_.maps);
    row("filters", f_.filters);
    if (f_.whole.jobs + f_.maps.jobs + f_.filters.jobs > 0) table(ratios);
  }

  void operators() {
    TextTable operators({{"operator", Align::left, 40}, {"jobs"}, {"bytes out"}});
    for (const auto& [op, jobs] : f_.operators)
      operators.add_row(
          {op, of_jobs(jobs), human_bytes(static_cast<double>(f_.bytes.find(op)->second))});
    table(operators);
  }

  void combinations() {
    const auto all = combinations_of(f_);
    TextTable shown({{"operators together", Align::left, 68}, {"jobs"}});
    int64_t rest = f_.jobs;
    for (size_t i = 0; i < std::min(kMostShown, all.size()); ++i) {
      shown.add_row({all[i].first, of_jobs(all[i].second)});
      rest -= all[i].second;
    }
    if (all.size() > kMostShown)
      shown.add_row({std::to_string(all.size() - kMostShown) + " others", of_jobs(rest)});
    table(shown);
  }

  void programs() {
    const Reuse reuse = reuse_of(f_, kMostShown);
    line(std::to_string(reuse.programs) + " programs; " + of_jobs(reuse.repeated_jobs) +
         " of the jobs ran one of an earlier job");
    line("a cache that jobs share would save " +
         human_percent(share(reuse.saved_cpu_seconds, f_.pipeline_cpu_seconds)) +
         " of the pipelines' CPU time, one of the " + std::to_string(kMostShown) +
         " programs that pay most " +
         human_percent(share(reuse.saved_by_most, f_.pipeline_cpu_seconds)));
  }

  void fixes() {
    if (f_.fixes.empty()) return;
    out_ += "\nfixes that save most\n";
    for (const JobFacts& job : f_.fixes)
      out_ += "  " + human_seconds(job.saved_seconds) + " of waiting, " + human_ratio(job.gain) +
              ": penstock optimize " + job.file + "\n";
  }

  void left_out() {
    if (!f_.left_out.empty()) out_ += "\nleft out\n";
    for (const LeftOut& l : f_.left_out)
      out_ += "  " + wrapped(l.file + ": " + std::string(left_out_name(l.why)), 78, 4) + "\n";
  }

  const Fleet& f_;
  std::string out_;
};

Json ratio_json(const RatioSum& r) {
  return {{"jobs", r.jobs},
          {"smaller_jobs", r.smaller},
          {"ratio", r.bytes.in > 0 ? Json(r.bytes.out / r.bytes.in) : Json()}};
}

Json lists_json(const Fleet& f) {
  Json waits = Json::array(), holders = Json::array(), operators = Json::array();
  for (const WaitClass& c : f.waits)
    waits.push_back(
        {{"above_seconds", c.seconds}, {"jobs", c.jobs}, {"published_share", c.published}});
  for (const auto& [name, jobs] : f.holders) holders.push_back({{"holder", name}, {"jobs", jobs}});
  for (const auto& [op, jobs] : f.operators)
    operators.push_back({{"op", op}, {"jobs", jobs}, {"bytes", f.bytes.find(op)->second}});
  Json sizes = Json::array(), combinations = Json::array(), fixes = Json::array();
  for (size_t i = 0; i < f.sizes.size(); ++i)
    sizes.push_back(
        {{"most_bytes", i < 2 ? Json(static_cast<int64_t>(f.sizes[i].most_bytes)) : Json()},
         {"known", i + 1 < f.sizes.size()},
         {"jobs", f.sizes[i].jobs},
         {"process_cpu_seconds", f.sizes[i].process_cpu_seconds}});
  for (const auto& [ops, jobs] : combinations_of(f))
    combinations.push_back({{"operators", ops}, {"jobs", jobs}});
  for (const JobFacts& job : f.fixes)
    fixes.push_back({{"file", job.file}, {"saved_seconds", job.saved_seconds}, {"gain", job.gain}});
  return {{"waits", waits}, {"holders", holders},           {"operators", operators},
          {"sizes", sizes}, {"combinations", combinations}, {"fixes", fixes}};
}

}  // namespace

std::string fleet_text(const Fleet& fleet) { return TextReport(fleet).text(); }

Json fleet_json(const Fleet& f) {
  Json left_out = Json::array();
  for (const LeftOut& l : f.left_out)
    left_out.push_back({{"file", l.file}, {"why", left_out_name(l.why)}, {"reason", l.reason}});
  const Reuse reuse = reuse_of(f, kMostShown);
  Json out = {{"jobs", f.jobs},
              {"measured_jobs", f.measured_jobs},
              {"pipeline_cpu_seconds", f.pipeline_cpu_seconds},
              {"process_cpu_seconds", f.process_cpu_seconds},
              {"hardware_jobs", f.hardware_jobs},
              {"software_jobs", f.software_jobs},
              {"parallel_jobs", f.parallel_jobs},
              {"prefetch_jobs", f.prefetch_jobs},
              {"cache_jobs", f.cache_jobs},
              {"bytes_through",
               {{"whole", ratio_json(f.whole)},
                {"maps", ratio_json(f.maps)},
                {"filters", ratio_json(f.filters)}}},
              {"reuse",
               {{"programs", reuse.programs},
                {"repeated_jobs", reuse.repeated_jobs},
                {"saved_cpu_seconds", reuse.saved_cpu_seconds},
                {"saved_by_ten_cpu_seconds", reuse.saved_by_most}}},
              {"left_out", left_out}};
  out.update(lists_json(f));
  return out;
}

}  // namespace penstock
