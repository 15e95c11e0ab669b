#include <sentencepiece_processor.h>

#include "base/error.h"
#include "data/charged.h"
#include "functions/kernels/text/model_file.h"
#include "functions/kernels/text/tokenizer.h"
#include "functions/kernels/text/unigram_encoder.h"

namespace penstock {
namespace {

// The library keeps some hundred bytes for each byte of a text.
Charge library_work(size_t bytes) {
  constexpr size_t kPerByte = 256, kSmall = 4 << 10;
  return Charge(bytes <= kSmall ? 0 : static_cast<int64_t>(bytes * kPerByte));
}

class SentencePiece final : public Tokenizer {
 public:
  explicit SentencePiece(const std::string& path) {
    ModelFile file = read_model_file(path);
    room_ = std::move(file.room);
    const auto status = model_.LoadFromSerializedProto(file.bytes);
    if (!status.ok()) throw Error(Code::invalid_argument, path + ": no SentencePiece model");
    unigram_ = UnigramEncoder::from(file.bytes);
  }

  void encode(std::string_view text, ChargedVector<int32_t>* out) const override {
    if (unigram_) return unigram_->encode(text, out);
    std::vector<int> ids;  // bounded: counted with the library's own
    const Charge work = library_work(text.size());
    const auto status = model_.Encode(text, &ids);
    if (!status.ok()) throw Error(Code::invalid_argument, "encode: " + status.ToString());
    out->insert(out->end(), ids.begin(), ids.end());
  }

  ChargedString decode(std::span<const int32_t> ids) const override {
    const Charge work = library_work(ids.size_bytes());
    for (const int32_t id : ids) {
      if (id < 0 || id >= model_.GetPieceSize()) fail_piece(id, model_.GetPieceSize());
    }
    std::string out;  // bounded: counted with the library's own
    const auto status = model_.Decode(std::vector<int>(ids.begin(), ids.end()), &out);
    if (!status.ok()) throw Error(Code::invalid_argument, "decode: " + status.ToString());
    return ChargedString(out);
  }

  int64_t size() const override { return model_.GetPieceSize(); }
  int32_t special(std::string_view piece) const override {
    if (piece == "bos") return model_.bos_id();
    if (piece == "eos") return model_.eos_id();
    return piece == "unk" ? model_.unk_id() : piece == "pad" ? model_.pad_id() : -1;
  }

 private:
  Charge room_{0};
  sentencepiece::SentencePieceProcessor model_;
  std::unique_ptr<const UnigramEncoder> unigram_;  // where it knows the model
};

}  // namespace

std::shared_ptr<const Tokenizer> open_sentencepiece(const std::string& path) {
  return std::make_shared<SentencePiece>(path);
}

}  // namespace penstock
