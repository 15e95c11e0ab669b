#include "cli/synth_pieces.h"

#include <bit>
#include <cmath>
#include <set>

#include "cli/synth_words.h"
#include "functions/kernels/parse/wire_writer.h"

namespace penstock {
namespace {

constexpr uint64_t kWords = 8000;  // some of them equal
enum PieceType : int { kNormal = 1, kUnknown = 2, kControl = 3 };

class Model {
 public:
  void add(const std::string& piece, double score, PieceType type = kNormal) {
    if (!seen_.insert(piece).second) return;
    std::string message;
    append_bytes_field(message, 1, piece);
    message += static_cast<char>(2 << 3 | 5);  // a float of four bytes
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(score));
    for (int i = 0; i < 4; ++i) message += static_cast<char>(bits >> (8 * i) & 255);
    append_number_field(message, 3, static_cast<uint64_t>(type));
    append_bytes_field(bytes_, 1, message);
  }

  std::string finish() {
    std::string trainer, normalizer;
    append_number_field(trainer, 3, 1);  // unigram
    append_number_field(trainer, 4, seen_.size());
    append_bytes_field(normalizer, 1, "identity");
    append_bytes_field(bytes_, 2, trainer);
    append_bytes_field(bytes_, 3, normalizer);
    return bytes_;
  }

 private:
  std::string bytes_;
  std::set<std::string> seen_;
};

}  // namespace

std::string synth_pieces() {
  static constexpr const char* kBlank = "\u2581";
  Model model;
  model.add("<unk>", 0, kUnknown);
  model.add("<s>", 0, kControl);
  model.add("</s>", 0, kControl);
  double rank = 1;
  for (const std::string& word : distinct_words(kWords))
    model.add(kBlank + word, -std::log(++rank) - 2);
  for (const char* part : {"en", "ba", "cor", "da", "el", "fin", "go", "har", "in", "ka", "lo",
                           "mer", "no", "pa", "ri", "sten", "tu"}) {
    model.add(part, -9);
    model.add(std::string(kBlank) + part, -9.5);
  }
  for (char letter = 'a'; letter <= 'z'; ++letter) model.add(std::string(1, letter), -14);
  for (const char* other : {".", ",", "-", "'", "\n", "0", "1", "2", "3", "4",
                            "5", "6", "7", "8", "9",  "(", ")", "=", ":", "_"})
    model.add(other, -14);
  model.add(kBlank, -12);
  return model.finish();
}

}  // namespace penstock
