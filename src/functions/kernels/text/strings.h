// Making string entries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"

namespace penstock {

// Collects strings whose number is known before their bytes are.
class StringWriter {
 public:
  explicit StringWriter(int64_t entries) { ends_.reserve(static_cast<size_t>(entries)); }
  // Append to it, then call finish_entry.
  std::string& chars() { return chars_; }
  void finish_entry() { ends_.push_back(chars_.size()); }
  void add(std::string_view text) {
    chars_ += text;
    finish_entry();
  }
  // Writes the entries; `keeper` holds their bytes from now on.
  void finish(BytesView* out, BufferRef* keeper) const;

 private:
  std::string chars_;
  std::vector<size_t> ends_;
};

// ASCII white space, as C's isspace.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
std::string_view stripped(std::string_view text);
// For messages: at most 40 bytes, what is not printable as \xNN.
std::string quoted(std::string_view text);

}  // namespace penstock
