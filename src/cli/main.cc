// penstock: the command line.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/failure.h"
#include "cli/fleet.h"
#include "cli/interrupt.h"
#include "cli/print_json.h"
#include "cli/terminal.h"
#include "functions/op.h"

namespace penstock::cli {
namespace {

// Runs a command. Exit status 2: the call was wrong, or what it names was refused before any work.
// 1: the work failed.
int run_command(const Command& c, const std::vector<std::string>& words) {
  try {
    const Args args(words, c.flags);
    const std::string when = args.get("--color").value_or("auto");
    const bool known = set_colour(when);
    if (args.has("--help")) {
      std::fputs(help_of(c).c_str(), stdout);
      return 0;
    }
    if (!known) throw UsageError{"--color is auto, always or never: " + when};
    handle_signals(c.name);
    return c.run(args);
  } catch (...) {
    return report_failure(c.name, words);
  }
}

int dispatch(const std::vector<std::string>& words) {
  set_colour("auto");
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::fputs(overview().c_str(), stdout);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    std::printf("penstock %s\n", kVersion);
    return 0;
  }
  std::vector<std::string> known;
  for (const Command& c : commands()) {
    known.push_back(c.name);
    if (c.name == words[0]) return run_command(c, {words.begin() + 1, words.end()});
  }
  try {
    throw UsageError{"there is no command " + words[0] + did_you_mean(words[0], known)};
  } catch (...) {
    return report_failure("", words);
  }
}

}  // namespace

std::vector<Command> commands() {
  return {run_command(),    show_command(),        fmt_command(),      trace_command(),
          top_command(),    explain_command(),     optimize_command(), compare_command(),
          stall_command(),  provision_command(),   fleet_command(),    synth_command(),
          ops_command(),    predict_command(),     profile_command(),  calibrate_command(),
          replay_command(), completions_command(), help_command()};
}

std::string overview() {
  const auto heading = [](std::string_view text) { return paint(Stream::out, Style::bold, text); };
  std::string out = heading("penstock") +
                    " COMMAND ...\n\n"
                    "Runs input pipelines for training at the speed of the machine, explains what\n"
                    "holds them back, and rewrites them to be fast.\n\n" +
                    heading("Commands") + "\n";
  for (const Command& c : commands()) {
    std::string left = "  " + c.name;
    left.resize(15, ' ');
    out += left + wrap(c.summary, 80, 15) + "\n";
  }
  out += "\nPIPE is a .pipe file, a trace, or - for standard input. penstock COMMAND --help\n"
         "tells more. Exit status: 0 done, 1 the work failed, 2 the call or the pipeline\n"
         "was wrong.\n";
  return out;
}

}  // namespace penstock::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing returns an error instead
  std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const int status = penstock::cli::dispatch(words);
  try {
    if (std::fflush(stdout) != 0 && status == 0) throw penstock::cli::OutputError{errno};
  } catch (...) {
    return penstock::cli::report_failure("", words);
  }
  return status;
}
