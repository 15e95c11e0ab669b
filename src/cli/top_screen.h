// The terminal of penstock top: its alternate screen, and keys without Enter.
#pragma once

#include <string>
#include <vector>

namespace penstock::cli {

// Returns true if standard input and output are a terminal that understands control sequences.
bool has_screen();

// Takes the terminal for its lifetime; the shell's screen comes back after it, also if a signal
// ends the program.
class TopScreen {
 public:
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  struct Size {
    size_t width = 80, height = 24;
  };
  static Size size();  // at this moment
  // The first `bold` lines are bold. Throws OutputError.
  static void draw(const std::vector<std::string>& lines, size_t bold);
  // Reads the keys that are waiting; returns true if one of them leaves.
  static bool is_left();
};

}  // namespace penstock::cli
