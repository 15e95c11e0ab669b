// Progress of a command, on one line of the terminal's standard error that is rewritten in place.
// It appears after two seconds without output, and only if standard error is a terminal.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::cli {

struct ProgressPart;

// Shows the line while it lives. One inside another shows its own part of the work.
class Progress {
 public:
  // `what` names the work. With `whole_seconds` a bar fills with time.
  explicit Progress(std::string what, double whole_seconds = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Reports `done` of `whole` units; 0: the total is unknown. Called once per block.
  static void count(int64_t done, int64_t whole = 0);
  static void say(std::string what);
  // Erases the line and waits two seconds again. Call it before printing anything.
  static void hide();
  // The same, from a thread that is about to end the program.
  static void erase_at_exit();

 private:
  const bool on_;
  struct ProgressPart* outer_ = nullptr;
};

}  // namespace penstock::cli
