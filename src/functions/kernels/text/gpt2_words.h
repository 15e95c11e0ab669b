// Text cut into words as GPT-2's tokenizer does before it merges.
#pragma once

#include <string_view>

namespace penstock {

// The length of the word that `text` begins with: 's 't 're 've 'm 'll 'd, or letters, numbers or
// other characters with at most one space before them, or white space (its last character goes to
// the word behind it). Bytes that are no UTF-8 are other characters. REQUIRES that text is not
// empty.
size_t gpt2_word(std::string_view text);

}  // namespace penstock
