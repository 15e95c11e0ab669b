// SentencePiece's unigram models, encoded by our own code with the library's results: no messages,
// no copies of pieces, one allocation for many texts.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/charged.h"
#include "functions/kernels/text/double_array.h"

namespace penstock {

// Immutable, shared by threads.
class UnigramEncoder {
 public:
  // `model`: the bytes of a model file that the library has taken. Null for models that have more
  // than this knows (other kinds, pieces of users or bytes, white space as a suffix).
  static std::unique_ptr<const UnigramEncoder> from(std::string_view model);

  // Appends the pieces' numbers: those of SentencePieceProcessor::Encode, the same of two paths
  // that are equally good included.
  void encode(std::string_view text, ChargedVector<int32_t>* out) const;

 private:
  UnigramEncoder() = default;
  bool read(std::string_view model);
  bool read_pieces(std::string_view model);
  bool read_normalizer(std::string_view spec);
  void normalize(std::string_view text, ChargedString* out) const;
  size_t plain_run(std::string_view text) const;
  size_t normalize_prefix(std::string_view text, std::string_view* out) const;
  void find_path(std::string_view text, ChargedVector<int32_t>* out) const;

  std::string model_;  // bounded: the model file is counted; what the tables below are views into
  ChargedVector<float> scores_;
  DoubleArray pieces_;
  DartsView characters_;
  std::string_view replacements_;   // zero-ended, by the numbers of characters_
  std::array<bool, 128> copied_{};  // ASCII that stands for itself before ASCII
  bool dummy_prefix_ = true, trims_ = true, escapes_ = true;
  int32_t unknown_ = 0;
  float unknown_score_ = 0;
};

}  // namespace penstock
