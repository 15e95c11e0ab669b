// penstock fleet: what the traces of many jobs say together.

#include "fleet/fleet.h"

#include <algorithm>
#include <cstdio>

#include "cli/fleet.h"
#include "cli/print_json.h"
#include "io/file_system.h"
#include "job/pipeline.h"
#include "report/fleet_report.h"

namespace penstock::cli {
namespace {

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

int fleet(const Args& args) {
  if (args.positional().empty())
    throw UsageError{"give traces or folders of them: penstock fleet DIR"};
  FleetSum sum;
  sum.add_files(files_of(args.positional()), usable_cores());
  if (args.has("--json"))
    print_json(fleet_json(sum.fleet()));
  else
    std::fputs(fleet_text(sum.fleet()).c_str(), stdout);
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
      "paper found, the resource that holds them, sizes of their inputs, the operators that they "
      "use, how often one program ran again, and the ten jobs where a fix saves most, with its "
      "command. Files that are no whole trace, and doubles, are left out and named.",
      {{"--json", "", "one JSON object (docs/format/fleet.md)"}},
      fleet};
}

}  // namespace penstock::cli
