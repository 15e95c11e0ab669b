// penstock completions: completion of commands and flags for shells.

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "cli/args.h"

namespace penstock::cli {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// Quotes a word with single quotes, for all three shells.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

// Returns the values of a flag such as live|off; none if any value is allowed.
std::vector<std::string> choices(const Flag& flag) {
  std::vector<std::string> out;
  if (flag.value.find('|') == std::string::npos) return out;
  for (size_t at = 0; at <= flag.value.size();) {
    const size_t end = std::min(flag.value.find('|', at), flag.value.size());
    out.push_back(flag.value.substr(at, end - at));
    at = end + 1;
  }
  const bool words = std::ranges::all_of(out, [](const std::string& word) {
    return std::ranges::all_of(word, [](char c) { return std::islower(c) != 0; });
  });
  return words ? out : std::vector<std::string>();
}

bool takes_file(const Flag& flag) {
  return flag.value.find("FILE") != std::string::npos || flag.value.ends_with(".json") ||
         flag.value.starts_with("PIPE");
}

std::string names_of_commands() {
  std::string out;
  for (const Command& c : commands()) out += (out.empty() ? "" : " ") + c.name;
  return out;
}

// Bash completes file names when the function leaves COMPREPLY empty.
std::string bash() {
  std::string flags, values;
  for (const Command& c : commands()) {
    std::vector<std::string> names, free;
    std::string chosen;
    for (const Flag& f : flags_of(c)) {
      names.push_back(f.name);
      if (const auto words = choices(f); !words.empty()) {
        chosen += "        " + f.name + ") words='" + joined(words) + "' ;;\n";
      } else if (!f.value.empty()) {
        free.push_back(f.name);
      }
    }
    flags +=
        "    " + c.name + ") flags='" + joined(names) + "' first='" + joined(c.words) + "' ;;\n";
    values += "    " + c.name + ")\n      case $previous in\n" + chosen;
    if (!free.empty()) values += "        " + replaced(joined(free), " ", "|") + ") return ;;\n";
    values += "      esac ;;\n";
  }
  return "# Completion of penstock's commands and flags for bash.\n"
         "_penstock() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "  local command=${COMP_WORDS[1]} flags= first= words=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names_of_commands() +
         " --help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case $command in\n" +
         values +
         "  esac\n"
         "  case $command in\n" +
         flags +
         "  esac\n"
         "  if [ -z \"$words\" ]; then\n"
         "    case $current in\n"
         "      -*) words=$flags ;;\n"
         "      *) [ \"$COMP_CWORD\" -eq 2 ] && words=$first ;;\n"
         "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _penstock penstock\n";
}

// Writes an entry of _arguments: [text] ends at a bracket and : begins the value.
std::string zsh_flag(const Flag& flag) {
  std::string help = replaced(replaced(flag.help, "\\", "\\\\"), ":", "\\:");
  help = replaced(replaced(help, "[", "\\["), "]", "\\]");
  std::string out = "*" + flag.name + "[" + help + "]";
  if (flag.value.empty()) return out;
  const auto words = choices(flag);
  out += ":" + replaced(flag.value, ":", "\\:") + ":";
  if (!words.empty()) return out + "(" + joined(words) + ")";
  return out + (takes_file(flag) ? "_files" : "");
}

std::string zsh() {
  std::string described, arguments;
  for (const Command& c : commands()) {
    described += "    " + quoted(c.name + ":" + replaced(c.summary, ":", "\\:")) + "\n";
    arguments += "    " + c.name + ")\n      _arguments";
    for (const Flag& f : flags_of(c)) arguments += " \\\n        " + quoted(zsh_flag(f));
    if (!c.words.empty())
      arguments += " \\\n        " + quoted("1:argument:(" + joined(c.words) + ")");
    arguments += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef penstock\n"
         "# Completion of penstock's commands and flags for zsh.\n"
         "_penstock() {\n"
         "  local -a commands=(\n" +
         described +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n" +
         arguments +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _penstock ]; then _penstock \"$@\"; else compdef _penstock "
         "penstock; fi\n";
}

std::string fish() {
  std::string out = "# Completion of penstock's commands and flags for fish.\n";
  for (const Command& c : commands()) {
    out += "complete -c penstock -n __fish_use_subcommand -f -a " + c.name + " -d " +
           quoted(c.summary) + "\n";
    const std::string in =
        "complete -c penstock -n " + quoted("__fish_seen_subcommand_from " + c.name) + " ";
    if (!c.words.empty()) out += in + "-a " + quoted(joined(c.words)) + "\n";
    for (const Flag& f : flags_of(c)) {
      out += in + (f.name.starts_with("--") ? "-l " + f.name.substr(2) : "-s " + f.name.substr(1));
      if (const auto words = choices(f); !words.empty()) {
        out += " -x -a " + quoted(joined(words));
      } else if (!f.value.empty()) {
        out += takes_file(f) ? " -r" : " -x";
      }
      out += " -d " + quoted(f.help) + "\n";
    }
  }
  return out;
}

int completions(const Args& args) {
  const std::string shell = args.positional().empty() ? "" : args.positional()[0];
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    throw UsageError{"which shell? penstock completions bash, zsh or fish"};
  std::fputs((shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish()).c_str(), stdout);
  return 0;
}

}  // namespace

Command completions_command() {
  return {"completions",
          "bash|zsh|fish",
          "completion of commands and flags, for a shell to read",
          "Prints a script that completes commands, flags and names of files. An installation has "
          "it where shells look; without one: source <(penstock completions bash)",
          {},
          completions,
          {"bash", "zsh", "fish"}};
}

}  // namespace penstock::cli
