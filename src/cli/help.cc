// penstock help: the list of commands, help for one command, and the man page of all.

#include <algorithm>
#include <cstdio>

#include "cli/args.h"
#include "cli/pipeline.h"
#include "functions/op.h"

namespace penstock::cli {
namespace {

// Escapes text for troff, so that no character is a request or an escape.
std::string troff(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line_begins = i == 0 || text[i - 1] == '\n';
    if (line_begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string flag_entry(const Flag& flag) {
  const std::string value = flag.value.empty() ? "" : " \\fI" + troff(flag.value) + "\\fR";
  return ".TP\n\\fB" + troff(flag.name) + "\\fR" + value + "\n" + troff(flag.help) + "\n";
}

bool is_among(const Flag& flag, const std::vector<Flag>& flags) {
  return std::ranges::find(flags, flag.name, &Flag::name) != flags.end();
}

std::string command_section(const Command& command, const std::vector<Flag>& shared) {
  std::string out = ".SS penstock " + troff(command.name + " " + command.usage) + "\n" +
                    troff(command.about) + "\n";
  for (const Flag& f : command.flags)
    if (!is_among(f, shared)) out += flag_entry(f);
  const bool takes_pipe =
      std::ranges::any_of(command.flags, [&](const Flag& f) { return is_among(f, shared); });
  if (takes_pipe) out += ".PP\nThe flags of every pipeline follow below.\n";
  return out;
}

std::string man_page() {
  const std::vector<Flag> shared = pipeline_flags();
  std::string out = std::string(".TH PENSTOCK 1 \"\" \"penstock ") + kVersion + "\" Penstock\n" +
                    ".SH NAME\npenstock \\- run, explain and optimize input pipelines for "
                    "training\n.SH SYNOPSIS\n.B penstock\n.I COMMAND\n[\\fIargument\\fR ...]\n"
                    ".SH DESCRIPTION\nRuns input pipelines for training at the speed of the "
                    "machine, explains what holds them back, and rewrites them to be fast.\n"
                    "PIPE is a .pipe file, a trace, or \\- for standard input.\n.SH COMMANDS\n";
  for (const Command& c : commands()) out += command_section(c, shared);
  out += ".SH FLAGS OF EVERY PIPELINE\nOf run, show, trace, explain and optimize.\n";
  for (const Flag& f : shared) out += flag_entry(f);
  out += ".SH FLAGS OF EVERY COMMAND\n";
  for (const Flag& f : flags_of({})) out += flag_entry(f);
  out += ".SH EXIT STATUS\n.TP\n0\nThe work is done.\n.TP\n1\nThe work failed, or was "
         "cancelled.\n.TP\n2\nThe call was wrong, or what it names was refused before any work.\n"
         ".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf set to anything, nothing is coloured.\n"
         ".TP\nPENSTOCK_ATTACH\nIn the environment of a job: 0 if no command may look into it, or "
         "the directory of its socket, where commands look for it, too.\n"
         ".TP\nTERM\nIf unset or \\(lqdumb\\(rq, nothing is coloured and no progress is shown.\n";
  return out;
}

int help(const Args& args) {
  if (args.has("--man")) {
    std::fputs(man_page().c_str(), stdout);
    return 0;
  }
  if (args.positional().empty()) {
    std::fputs(overview().c_str(), stdout);
    return 0;
  }
  std::vector<std::string> known;
  for (const Command& c : commands()) {
    known.push_back(c.name);
    if (c.name != args.positional()[0]) continue;
    std::fputs(help_of(c).c_str(), stdout);
    return 0;
  }
  throw UsageError{"there is no command " + args.positional()[0] +
                   did_you_mean(args.positional()[0], known)};
}

}  // namespace

Command help_command() {
  return {"help",
          "[COMMAND] [flags]",
          "print this list, the help of a command, or the man page",
          "Prints the list of commands; with COMMAND, the same as penstock COMMAND --help.",
          {{"--man", "", "the man page of all commands, for man -l or an installation"}},
          help};
}

}  // namespace penstock::cli
