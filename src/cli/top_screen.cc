#include "cli/top_screen.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/interrupt.h"
#include "cli/print_json.h"
#include "cli/terminal.h"

namespace penstock::cli {
namespace {

termios before;

void write_codes(std::string_view codes) {
  const ssize_t written = write(STDOUT_FILENO, codes.data(), codes.size());
  static_cast<void>(written);  // a terminal that has gone needs nothing
}

void give_back() {
  write_codes("\033[0m\033[?25h\033[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

}  // namespace

bool has_screen() {
  const char* const kind = std::getenv("TERM");
  termios ignored{};
  return kind && *kind && std::string_view(kind) != "dumb" && isatty(STDOUT_FILENO) != 0 &&
         tcgetattr(STDIN_FILENO, &ignored) == 0;
}

TopScreen::TopScreen() {
  tcgetattr(STDIN_FILENO, &before);
  restore_before_end(give_back);
  termios keys = before;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped top would leave the shell this screen
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  write_codes("\033[?1049h\033[?25l\033[2J");
}

TopScreen::~TopScreen() {
  restore_before_end(nullptr);
  give_back();
}

TopScreen::Size TopScreen::size() {
  winsize now{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0) return {};
  return {now.ws_col, now.ws_row};
}

// Erases each line after its text, not the screen before it: nothing flickers.
void TopScreen::draw(const std::vector<std::string>& lines, size_t bold) {
  std::string out = "\033[H";
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += (i < bold ? paint(Stream::out, Style::bold, lines[i]) : lines[i]) + "\033[K";
  }
  out += "\033[J";
  std::fputs(out.c_str(), stdout);
  std::fflush(stdout);
  check_output();
}

bool TopScreen::is_left() {
  char keys[64];
  const ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
  if (n <= 0) return n == 0 || errno != EINTR;  // the terminal has gone
  return std::string_view(keys, static_cast<size_t>(n)).find_first_of("qQ\004") !=
         std::string_view::npos;
}

}  // namespace penstock::cli
