// A SentencePiece model of the words of made-up text.
#pragma once

#include <string>

namespace penstock {

// Returns the bytes of a unigram model: <unk>, <s>, </s>, the commonest words, their syllables and
// letters.
std::string synth_pieces();

}  // namespace penstock
