// Errors in a pipeline's text: what is wrong, and where.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "plan/syntax.h"

namespace penstock {

struct Diagnostic {
  Span span;
  std::string message;  // "map: decode_jpeg: `image` is int64, expected bytes"
  Code code = Code::invalid_argument;
};

// Line and column of a byte of the text, both from 1; columns count code points.
struct Position {
  size_t line = 1;
  size_t column = 1;
};
Position position_of(const Source& source, uint32_t offset);

// "imagenet.pipe:7:53: message", the line of the text, and a caret under the span. Long lines are
// cut around the caret so that it fits 100 columns.
std::string render(const Diagnostic& diagnostic);

// A refused text: one to ten diagnostics. message() is their rendering, joined by newlines.
class PipeError : public Error {
 public:
  explicit PipeError(std::vector<Diagnostic> diagnostics);
  PipeError(Span span, std::string message, Code code = Code::invalid_argument);
  // REQUIRES for their spans that the texts still live.
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  // The same, and none of a text's: it may be gone.
  struct Place {
    std::string file;
    Position position;
    std::string message;
  };
  const std::vector<Place>& places() const { return places_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::vector<Place> places_;
};

}  // namespace penstock
