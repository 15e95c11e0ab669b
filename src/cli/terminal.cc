#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace penstock::cli {
namespace {

bool colours[2] = {false, false};

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

bool understands_control_sequences(int file) {
  const char* kind = std::getenv("TERM");
  return isatty(file) != 0 && kind && *kind && std::string_view(kind) != "dumb";
}

}  // namespace

bool set_colour(std::string_view when) {
  for (const Stream stream : {Stream::out, Stream::err}) {
    bool& colour = colours[static_cast<size_t>(stream)];
    const int file = stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
    colour = when == "always" ||
             (when == "auto" && !is_set("NO_COLOR") && understands_control_sequences(file));
  }
  return when == "auto" || when == "always" || when == "never";
}

bool has_colour(Stream stream) { return colours[static_cast<size_t>(stream)]; }

std::string paint(Stream stream, Style style, std::string_view text) {
  if (!has_colour(stream) || text.empty()) return std::string(text);
  constexpr std::string_view kCodes[] = {"\033[1m", "\033[1;31m", "\033[32m"};
  return std::string(kCodes[static_cast<size_t>(style)]) + std::string(text) + "\033[0m";
}

std::string painted(const PipeError& error) {
  if (!has_colour(Stream::err)) return error.message();
  // Spans may point into texts that are gone, so parse the rendered message.
  const std::string& text = error.message();
  std::string out;
  size_t at = 0;
  for (const Diagnostic& d : error.diagnostics()) {
    const size_t message = text.find(d.message, at);
    if (message == std::string::npos) break;
    out += paint(Stream::err, Style::bold, text.substr(at, message - at));
    at = message;
    if (!d.span.source) continue;
    const size_t line = text.find('\n', message + d.message.size());
    const size_t carets = line == std::string::npos ? line : text.find('\n', line + 1);
    if (carets == std::string::npos) break;
    const size_t end = std::min(text.find('\n', carets + 1), text.size());
    out += text.substr(message, carets - message) +
           paint(Stream::err, Style::red, text.substr(carets, end - carets));
    at = end;
  }
  return out + text.substr(at);
}

std::string signed_by(std::string_view command) {
  return paint(Stream::err, Style::bold, "penstock " + std::string(command) + ":");
}

bool is_terminal() { return understands_control_sequences(STDERR_FILENO); }

size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace penstock::cli
