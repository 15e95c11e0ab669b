#include "functions/kernels/text/tokenizer.h"

#include "base/error.h"

namespace penstock {

std::shared_ptr<const Tokenizer> open_tokenizer(const Attr& attr) {
  auto text = [&attr](std::string_view key) -> std::string {
    for (size_t i = 0; i < attr.keys().size(); ++i) {
      if (attr.keys()[i] == key && !attr.items()[i].is_none()) return attr.items()[i].as_string();
    }
    return {};
  };
  const std::string kind = text("is");
  if (kind == "sentencepiece") return open_sentencepiece(text("file"));
  if (kind == "bpe") return open_bpe(text("vocab"), text("merges"));
  throw Error(Code::invalid_argument, "expected sentencepiece(...) or bpe(...)");
}

void fail_piece(int64_t id, int64_t size) {
  throw Error(Code::out_of_range,
              "decode: piece " + std::to_string(id) + " of " + std::to_string(size));
}

}  // namespace penstock
