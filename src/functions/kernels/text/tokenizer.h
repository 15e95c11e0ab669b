// Models that cut text into numbered pieces.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/attr.h"

namespace penstock {

// Immutable, shared by threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  // Appends the pieces' numbers.
  virtual void encode(std::string_view text, ChargedVector<int32_t>* out) const = 0;
  // Special pieces give nothing. Throws OUT_OF_RANGE for numbers that the model has not.
  virtual ChargedString decode(std::span<const int32_t> ids) const = 0;
  virtual int64_t size() const = 0;
  // The number of "bos", "eos", "unk" or "pad"; -1 when the model has none.
  virtual int32_t special(std::string_view name) const = 0;
};

// From sentencepiece(...) or bpe(...) (plan/static_forms.h). Throws Error.
std::shared_ptr<const Tokenizer> open_tokenizer(const Attr& attr);

std::shared_ptr<const Tokenizer> open_sentencepiece(const std::string& path);
// A byte-level BPE model: tokenizer.json of the tokenizers library, or (merges not empty)
// vocab.json and merges.txt as GPT-2 has them.
std::shared_ptr<const Tokenizer> open_bpe(const std::string& vocab, const std::string& merges);

[[noreturn]] void fail_piece(int64_t id, int64_t size);

}  // namespace penstock
