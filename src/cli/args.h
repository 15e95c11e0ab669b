// Arguments of a command, and the help text derived from them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/diagnostic.h"

namespace penstock::cli {

inline constexpr const char* kVersion = "0.1.0";

struct Flag {
  std::string name;   // "--threads"
  std::string value;  // "N"; empty: a switch
  std::string help;   // one line
};

// A wrong call: exit status 2 with its message and a pointer to the help.
struct UsageError {
  std::string message;
};

// A value or a file of the call is refused before any work: exit status 2.
class Refusal : public Error {
 public:
  explicit Refusal(const Error& e) : Error(e) {}
};

// Runs preparations before a command's work: Errors of `prepare` become refusals.
template <typename Prepare>
auto before_work(Prepare&& prepare) {
  try {
    return prepare();
  } catch (const PipeError&) {
    throw;
  } catch (const Error& e) {
    throw Refusal(e);
  }
}

class Args {
 public:
  // argv without program and command. Throws UsageError on unknown or incomplete flags.
  Args(const std::vector<std::string>& words, const std::vector<Flag>& flags);
  bool has(std::string_view flag) const { return flags_.contains(std::string(flag)); }
  std::optional<std::string> get(std::string_view flag) const;  // the last value given
  std::vector<std::string> all(std::string_view flag) const;
  int64_t get_int(std::string_view flag, int64_t fallback, int64_t least) const;
  double get_seconds(std::string_view flag, double fallback) const;  // "2s", "250ms", "1.5"
  int64_t get_bytes(std::string_view flag, int64_t fallback) const;  // "2GiB", "64MB", "1000"
  double get_rate(std::string_view flag) const;  // "30", "30/s", "1.5k/s", "600/min"; must be given
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::map<std::string, std::vector<std::string>> flags_;
  std::vector<std::string> positional_;
};

struct Command {
  std::string name;
  std::string usage;    // "PIPE [flags]"
  std::string summary;  // one line for the list
  std::string about;    // paragraphs for --help
  std::vector<Flag> flags;
  int (*run)(const Args&);
  std::vector<std::string> words = {};  // known values of the first argument
};

// All commands, in the order of the list.
std::vector<Command> commands();
// Returns every flag of a command, including the flags that all commands have.
std::vector<Flag> flags_of(const Command& command);
// Returns the list of commands that `penstock help` prints.
std::string overview();

// Returns the text of `penstock COMMAND --help`, at most 80 columns wide.
std::string help_of(const Command& command);
// Breaks `text` at spaces to `width` columns; indents each line after the first.
std::string wrap(std::string_view text, size_t width, size_t indent);

Command run_command();
Command show_command();
Command fmt_command();
Command trace_command();
Command top_command();
Command explain_command();
Command optimize_command();
Command compare_command();
Command stall_command();
Command provision_command();
Command synth_command();
Command ops_command();
Command predict_command();
Command profile_command();
Command calibrate_command();
Command replay_command();
Command help_command();
Command completions_command();

}  // namespace penstock::cli
