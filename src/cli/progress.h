// How far a command is, on a line of the terminal's standard error that is rewritten in place. It
// appears after two seconds without output, and never where standard error is no terminal.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::cli {

struct ProgressPart;

// Shows the line while it lives. One inside another shows its own part of the work.
class Progress {
 public:
  // `what` is being done. With `whole_seconds` a bar fills with time.
  explicit Progress(std::string what, double whole_seconds = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // So many of `whole` units are done; 0: nobody knows how many there will be. Called once a block.
  static void count(int64_t done, int64_t whole = 0);
  static void say(std::string what);
  // Erases the line and waits two seconds again: call it before anything is printed.
  static void hide();
  // The same from a thread that is about to end the program.
  static void erase_at_exit();

 private:
  const bool on_;
  struct ProgressPart* outer_ = nullptr;
};

}  // namespace penstock::cli
