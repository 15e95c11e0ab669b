// penstock: the command line.

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/args.h"
#include "cli/interrupt.h"
#include "functions/op.h"
#include "plan/diagnostic.h"
#include "runtime/run.h"

namespace penstock::cli {
namespace {

std::vector<Command> commands() {
  return {run_command(),     show_command(),     fmt_command(),       trace_command(),
          explain_command(), optimize_command(), synth_command(),     ops_command(),
          predict_command(), profile_command(),  calibrate_command(), replay_command()};
}

std::string overview() {
  std::string out = "penstock COMMAND ...\n\n"
                    "Runs input pipelines for training at the speed of the machine, explains what\n"
                    "holds them back, and rewrites them to be fast.\n\nCommands\n";
  for (const Command& c : commands()) {
    std::string left = "  " + c.name;
    left.resize(14, ' ');
    out += left + wrap(c.summary, 80, 14) + "\n";
  }
  out += "\nPIPE is a .pipe file, a trace, or - for standard input. penstock COMMAND --help\n"
         "tells more. Exit status: 0 done, 1 the work failed, 2 the call or the pipeline\n"
         "was wrong.\n";
  return out;
}

int usage(const std::string& message, const std::string& command) {
  std::fprintf(stderr, "penstock%s: %s\nTry: penstock%s --help\n",
               (command.empty() ? "" : " " + command).c_str(), message.c_str(),
               (command.empty() ? "" : " " + command).c_str());
  return 2;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::fputs(overview().c_str(), stdout);
    return words.empty() ? 2 : 0;
  }
  if (words[0] == "--version") {
    std::puts("penstock 0.1.0");
    return 0;
  }
  std::vector<std::string> known;
  for (const Command& c : commands()) {
    known.push_back(c.name);
    if (c.name != words[0]) continue;
    try {
      const Args args({words.begin() + 1, words.end()}, c.flags);
      if (args.has("--help")) {
        std::fputs(help_of(c).c_str(), stdout);
        return 0;
      }
      handle_signals(c.name);
      return c.run(args);
    } catch (const UsageError& e) {
      return usage(e.message, c.name);
    } catch (const PipeError& e) {
      std::fprintf(stderr, "%s\n", e.message().c_str());
      return 2;
    } catch (const OpenError& e) {
      std::fprintf(stderr, "penstock %s: refused: %s: %s\n", c.name.c_str(),
                   std::string(code_name(e.code())).c_str(), e.what());
      return 2;
    } catch (...) {
      const ErrorPtr e = current_error();
      if (e->code() == Code::cancelled) {
        std::fprintf(stderr, "penstock %s: cancelled\n", c.name.c_str());
        return 1;
      }
      std::fprintf(stderr, "penstock %s: %s: %s\n", c.name.c_str(),
                   std::string(code_name(e->code())).c_str(), e->what());
      return 1;
    }
  }
  return usage("there is no command " + words[0] + did_you_mean(words[0], known), "");
}

}  // namespace
}  // namespace penstock::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing fails instead, with a message
  std::signal(SIGXFSZ, SIG_IGN);
  const int status = penstock::cli::dispatch({argv + 1, argv + argc});
  if (std::fflush(stdout) != 0 && status == 0) {
    std::perror("penstock: standard output");
    return 1;
  }
  return status;
}
