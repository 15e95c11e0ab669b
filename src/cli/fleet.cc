// penstock fleet: what the traces of many jobs say together.

#include "fleet/fleet.h"

#include <algorithm>
#include <cstdio>

#include "cli/fleet.h"
#include "cli/print_json.h"
#include "io/file_system.h"
#include "report/table.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
double share(int64_t part, int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}

// Files of the folders, sorted, and the files given. A folder inside a folder is not entered.
std::vector<std::string> files_of(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (file_status(name).kind != FileStatus::Kind::folder) {
      out.push_back(name);
      continue;
    }
    const size_t first = out.size();
    const ResolvedName at = resolve_name("fleet", name);
    for (const FolderEntry& entry : at.files->list(at.name))
      if (entry.kind != FileStatus::Kind::folder) out.push_back(joined_name(name, entry.name));
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }
  return out;
}

Json to_json(const Fleet& f) {
  Json waits = Json::array(), holders = Json::array(), operators = Json::array();
  for (const WaitClass& c : f.waits)
    waits.push_back(
        {{"above_seconds", c.seconds}, {"jobs", c.jobs}, {"published_share", c.published}});
  for (const auto& [name, jobs] : f.holders) holders.push_back({{"holder", name}, {"jobs", jobs}});
  for (const auto& [op, jobs] : f.operators)
    operators.push_back({{"op", op}, {"jobs", jobs}, {"bytes", f.bytes.find(op)->second}});
  Json left_out = Json::array();
  for (const LeftOut& l : f.left_out)
    left_out.push_back({{"file", l.file}, {"why", left_out_name(l.why)}, {"reason", l.reason}});
  return {{"jobs", f.jobs},
          {"measured_jobs", f.measured_jobs},
          {"pipeline_cpu_seconds", f.pipeline_cpu_seconds},
          {"process_cpu_seconds", f.process_cpu_seconds},
          {"waits", waits},
          {"holders", holders},
          {"operators", operators},
          {"parallel_jobs", f.parallel_jobs},
          {"prefetch_jobs", f.prefetch_jobs},
          {"cache_jobs", f.cache_jobs},
          {"left_out", left_out}};
}

void print_text(const Fleet& f) {
  const auto of_jobs = [&](int64_t jobs) { return human_percent(share(jobs, f.jobs)); };
  const auto of_measured = [&](int64_t jobs) {
    return human_percent(share(jobs, f.measured_jobs));
  };
  std::printf("%lld jobs, %lld of them gave elements; %zu files left out\n",
              static_cast<long long>(f.jobs), static_cast<long long>(f.measured_jobs),
              f.left_out.size());
  std::printf("input pipelines took %s of the CPU time\n\n",
              human_percent(share(f.pipeline_cpu_seconds, f.process_cpu_seconds)).c_str());
  TextTable waits({{"wait per step", TextTable::Align::left}, {"jobs"}, {"Plumber"}});
  for (const WaitClass& c : f.waits)
    waits.add_row(
        {"> " + human_seconds(c.seconds), of_measured(c.jobs), human_percent(c.published)});
  TextTable holders({{"held by", TextTable::Align::left}, {"jobs"}});
  for (const auto& [name, jobs] : f.holders) holders.add_row({name, of_measured(jobs)});
  TextTable uses({{"uses", TextTable::Align::left}, {"jobs"}});
  uses.add_row({"parallel stages", of_jobs(f.parallel_jobs)});
  uses.add_row({"prefetch", of_jobs(f.prefetch_jobs)});
  uses.add_row({"cache", of_jobs(f.cache_jobs)});
  TextTable operators({{"operator", TextTable::Align::left, 40}, {"jobs"}, {"bytes out"}});
  for (const auto& [op, jobs] : f.operators)
    operators.add_row(
        {op, of_jobs(jobs), human_bytes(static_cast<double>(f.bytes.find(op)->second))});
  std::printf("%s\n%s\n%s\n%s", waits.text().c_str(), holders.text().c_str(), uses.text().c_str(),
              operators.text().c_str());
  if (!f.left_out.empty()) std::puts("\nleft out");
  for (const LeftOut& l : f.left_out) {
    const std::string line = l.file + ": " + std::string(left_out_name(l.why));
    std::printf("  %s\n", wrapped(line, 78, 4).c_str());
  }
}

int fleet(const Args& args) {
  if (args.positional().empty())
    throw UsageError{"give traces or folders of them: penstock fleet DIR"};
  FleetSum sum;
  for (const std::string& file : files_of(args.positional())) sum.add_file(file);
  if (args.has("--json"))
    print_json(to_json(sum.fleet()));
  else
    print_text(sum.fleet());
  return 0;
}

}  // namespace

Command fleet_command() {
  return {
      "fleet",
      "DIR|TRACE... [flags]",
      "sum up the traces of many jobs",
      "Reads many traces, one of each job, and prints the share of CPU time in input pipelines, "
      "how many jobs wait for input and how long per step beside the shares that the Plumber "
      "paper found, the resource that holds them, and the operators that they use. Files that "
      "are no whole trace, and doubles, are left out and named.",
      {{"--json", "", "one JSON object (docs/format/fleet.md)"}},
      fleet};
}

}  // namespace penstock::cli
