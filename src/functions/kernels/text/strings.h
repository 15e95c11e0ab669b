// Making string entries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "data/tensor.h"
#include "functions/op.h"

namespace penstock {

// Collects strings whose number is known before their bytes are.
class StringWriter {
 public:
  explicit StringWriter(int64_t entries) { ends_.reserve(static_cast<size_t>(entries)); }
  // Append to it, then call finish_entry.
  ChargedString& chars() { return chars_; }
  void finish_entry() { ends_.push_back(chars_.size()); }
  void add(std::string_view text) {
    chars_ += text;
    finish_entry();
  }
  // Writes the entries; `keeper` holds their bytes from now on.
  void finish(BytesView* out, BufferRef* keeper) const;

 private:
  ChargedString chars_;
  ChargedVector<size_t> ends_;
};

// ASCII white space, as C's isspace.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
std::string_view stripped(std::string_view text);
// For messages: at most 40 bytes, what is not printable as \xNN.
std::string quoted(std::string_view text);
// The same without the limit, appended.
void append_quoted(std::string_view text, ChargedString* out);

// UTF-8 characters: a byte that begins one and those that go on; bad bytes count by the same rule.
int64_t utf8_length(std::string_view text);
// Where character n begins; the size when there are fewer.
size_t utf8_offset(std::string_view text, int64_t n);

// The option `unit`: "BYTE" or "UTF8_CHAR".
Param unit_param();
void check_unit(const InferContext& context);  // throws TypeError
bool counts_characters(const Attrs& attrs);

}  // namespace penstock
