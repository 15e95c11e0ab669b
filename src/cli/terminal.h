// Colour on terminals, and nowhere else.
#pragma once

#include <string>
#include <string_view>

#include "plan/diagnostic.h"

namespace penstock::cli {

enum class Stream : uint8_t { out, err };
enum class Style : uint8_t { bold, red, green };

// Decides for both streams. `when` is auto (a terminal, NO_COLOR is not set, TERM is not dumb),
// always or never; returns false for other words.
bool set_colour(std::string_view when);
bool has_colour(Stream stream);

// Returns `text` in that style if the stream has colour, else unchanged.
std::string paint(Stream stream, Style style, std::string_view text);
// Returns the lines of a refused text for standard error: the position in bold, carets in red.
std::string painted(const PipeError& error);
// Returns "penstock run:", the start of a line on standard error.
std::string signed_by(std::string_view command);

// Returns true if standard error is a terminal that understands control sequences.
bool is_terminal();
// Returns the columns of that terminal.
size_t terminal_width();

}  // namespace penstock::cli
