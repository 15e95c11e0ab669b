// penstock ops: every dataset operator and function op.

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/args.h"
#include "cli/print_json.h"
#include "cli/terminal.h"
#include "job/known_calls.h"
#include "report/element_json.h"

namespace penstock::cli {
namespace {

int ops(const Args& args) {
  const std::vector<KnownCall> all = known_calls();
  if (args.positional().size() > 1) throw UsageError{"one name at most: " + args.positional()[1]};
  const std::string name = args.positional().empty() ? "" : args.positional()[0];
  if (!name.empty() &&
      std::ranges::none_of(all, [&](const KnownCall& e) { return e.name == name; })) {
    throw UsageError{unknown_call(name)};
  }
  Json list = Json::array();
  std::map<std::string, std::vector<const KnownCall*>> groups;
  for (const KnownCall& e : all) {
    if (!name.empty() && e.name != name) continue;
    groups[e.group].push_back(&e);
    list.push_back({{"name", e.name},
                    {"group", e.group},
                    {"signature", e.signature},
                    {"doc", e.doc},
                    {"effects", e.effects},
                    {"can_fail", e.can_fail},
                    {"elementwise", e.elementwise}});
  }
  if (args.has("--json")) {
    print_json({{"ops", list}});
    return 0;
  }
  for (const auto& [group, members] : groups) {
    std::printf("%s\n", paint(Stream::out, Style::bold, group).c_str());
    for (const KnownCall* e : members) {
      std::printf("  %s\n", wrap(e->signature, 80, 6).c_str());
      const std::string effects = e->effects == "pure" ? "" : " [" + e->effects + "]";
      std::printf("      %s\n", wrap(e->doc + effects, 80, 6).c_str());
    }
  }
  return 0;
}

}  // namespace

Command ops_command() {
  return {"ops",
          "[NAME] [flags]",
          "list every dataset operator and function op",
          "Lists the operators and ops of the language: signature, meaning, effects. With NAME, "
          "only that one.",
          {{"--json", "", "one JSON object (docs/format/ops.md)"}},
          ops};
}

}  // namespace penstock::cli
