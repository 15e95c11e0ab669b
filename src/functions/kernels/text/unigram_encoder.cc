#include "functions/kernels/text/unigram_encoder.h"

#include <algorithm>
#include <cfloat>
#include <cstring>

#include "data/charged.h"
#include "functions/kernels/parse/wire.h"

namespace penstock {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";        // U+2581
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD
constexpr size_t kLongestPiece = 1 << 10;                  // far above what trainers make
constexpr const char* kWhat = "SentencePiece model";

constexpr uint32_t field(uint32_t number, WireReader::Type type) { return number << 3 | type; }

// sentencepiece_model.proto: ModelProto.SentencePiece.Type
enum PieceType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3 };

// Bytes of the character that `text` begins with; 0 where it is no UTF-8.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto trails = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (text.size() >= 2 && (byte(0) & 0xE0) == 0xC0) return trails(1) && byte(0) >= 0xC2 ? 2 : 0;
  if (text.size() >= 3 && (byte(0) & 0xF0) == 0xE0) {
    const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
    return trails(1) && trails(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (text.size() >= 4 && (byte(0) & 0xF8) == 0xF0) {
    const bool overlong = byte(0) == 0xF0 && byte(1) < 0x90;
    const bool beyond = byte(0) > 0xF4 || (byte(0) == 0xF4 && byte(1) >= 0x90);
    return trails(1) && trails(2) && trails(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// By the first byte alone, of text that is valid.
int character_length(char first) {
  return "\1\1\1\1\1\1\1\1\1\1\1\1\2\2\3\4"[static_cast<uint8_t>(first) >> 4];
}

}  // namespace

std::unique_ptr<const UnigramEncoder> UnigramEncoder::from(std::string_view model) {
  std::unique_ptr<UnigramEncoder> out(new UnigramEncoder());
  out->model_ = model;
  try {
    return out->read(out->model_) ? std::move(out) : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

bool UnigramEncoder::read(std::string_view model) {
  bool known = read_pieces(model);
  WireReader reader(model, model.data(), kWhat);
  while (!reader.done() && known) {
    const uint32_t tag = reader.tag();
    if (tag == field(2, WireReader::length)) {  // TrainerSpec
      const std::string_view spec = reader.bytes();
      WireReader trainer(spec, model.data(), kWhat);
      while (!trainer.done()) {
        const uint32_t item = trainer.tag();
        switch (item) {
          case field(3, WireReader::varint):  // model_type: UNIGRAM
            known &= trainer.varint64() == 1;
            break;
          case field(24, WireReader::varint):  // treat_whitespace_as_suffix
          case field(35, WireReader::varint):  // byte_fallback
            known &= trainer.varint64() == 0;
            break;
          default: trainer.skip(item);
        }
      }
    } else if (tag == field(3, WireReader::length)) {
      known &= read_normalizer(reader.bytes());
    } else {
      reader.skip(tag);
    }
  }
  for (size_t c = 0; c < copied_.size(); ++c)
    copied_[c] = characters_.leaves_alone(static_cast<char>(c));
  return known;
}

bool UnigramEncoder::read_pieces(std::string_view model) {
  std::vector<std::pair<std::string_view, int32_t>> keys;
  float least = FLT_MAX;
  bool has_unknown = false;
  WireReader reader(model, model.data(), kWhat);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    if (tag != field(1, WireReader::length)) {
      reader.skip(tag);
      continue;
    }
    std::string_view piece;
    float score = 0;
    uint64_t type = kNormal;
    WireReader item(reader.bytes(), model.data(), kWhat);
    while (!item.done()) {
      const uint32_t part = item.tag();
      switch (part) {
        case field(1, WireReader::length): piece = item.bytes(); break;
        case field(2, WireReader::fixed32): score = item.fixed<float>(); break;
        case field(3, WireReader::varint): type = item.varint64(); break;
        default: item.skip(part);
      }
    }
    const auto id = static_cast<int32_t>(scores_.size());
    scores_.push_back(score);
    if (type == kNormal) {
      if (piece.empty() || piece.size() > kLongestPiece) return false;
      keys.emplace_back(piece, id);
      least = std::min(least, score);
    } else if (type == kUnknown) {
      unknown_ = id;
      has_unknown = true;
    } else if (type != kControl) {
      return false;
    }
  }
  constexpr float kPenalty = 10.0f;
  unknown_score_ = least - kPenalty;
  if (!has_unknown || keys.empty()) return false;
  pieces_ = DoubleArray(std::move(keys));
  return true;
}

bool UnigramEncoder::read_normalizer(std::string_view spec) {
  WireReader reader(spec, model_.data(), kWhat);
  while (!reader.done()) {
    const uint32_t tag = reader.tag();
    switch (tag) {
      case field(2, WireReader::length): {  // the size of a trie, the trie, what its keys become
        const std::string_view map = reader.bytes();
        uint32_t size = 0;
        if (map.empty()) break;
        if (map.size() < 4) return false;
        std::memcpy(&size, map.data(), 4);
        if (size > map.size() - 4 || size % 4 != 0) return false;
        characters_ = DartsView(map.substr(4, size));
        replacements_ = map.substr(4 + size);
        break;
      }
      case field(3, WireReader::varint): dummy_prefix_ = reader.varint64() != 0; break;
      case field(4, WireReader::varint): trims_ = reader.varint64() != 0; break;
      case field(5, WireReader::varint): escapes_ = reader.varint64() != 0; break;
      default: reader.skip(tag);
    }
  }
  return true;
}

// What the text's first characters become; how many bytes they are.
size_t UnigramEncoder::normalize_prefix(std::string_view text, std::string_view* out) const {
  int32_t at = 0;
  if (const size_t n = characters_.longest(text, &at); n > 0) {
    const std::string_view from =
        replacements_.substr(std::min(static_cast<size_t>(at), replacements_.size()));
    *out = from.substr(0, from.find('\0'));
    return n;
  }
  if (const size_t n = character_size(text); n > 0) {
    *out = text.substr(0, n);
    return n;
  }
  *out = kReplacement;
  return 1;
}

size_t UnigramEncoder::plain_run(std::string_view text) const {
  size_t run = 0;
  while (run < text.size() && static_cast<int8_t>(text[run]) >= 0 &&
         copied_[static_cast<uint8_t>(text[run])])
    ++run;
  if (run > 0 && run < text.size() && static_cast<int8_t>(text[run]) < 0) --run;
  return run;
}

void UnigramEncoder::normalize(std::string_view text, ChargedString* out) const {
  out->clear();
  std::string_view part;
  while (trims_ && !text.empty()) {
    const size_t n = normalize_prefix(text, &part);
    if (part != " ") break;
    text.remove_prefix(n);
  }
  if (text.empty()) return;
  const std::string_view space = escapes_ ? kSpace : " ";
  if (dummy_prefix_) *out += space;
  bool behind_space = trims_;
  while (!text.empty()) {
    // Most text: ASCII that no rule changes, but in one with what follows it, if that is none.
    const size_t run = plain_run(text);
    for (const char c : text.substr(0, run)) {
      if (c != ' ') {
        *out += c;
      } else if (!behind_space) {
        *out += space;
      }
      behind_space = trims_ && c == ' ';
    }
    text.remove_prefix(run);
    if (text.empty()) break;
    const size_t n = normalize_prefix(text, &part);
    text.remove_prefix(n);
    while (behind_space && part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) {
      for (const char c : part) {
        if (c == ' ') {
          *out += space;
        } else {
          *out += c;
        }
      }
      behind_space = part.ends_with(' ');
    }
    if (!trims_) behind_space = false;
  }
  while (trims_ && out->ends_with(space)) out->resize(out->size() - space.size());
}

// The library's EncodeOptimized, operation by operation: sums of floats depend on their order.
void UnigramEncoder::find_path(std::string_view text, ChargedVector<int32_t>* out) const {
  struct End {
    int32_t id = -1;
    float score = 0;  // of the best path that ends here
    int32_t begin = -1;
  };
  ChargedVector<End> ends(text.size() + 1);
  const auto offer = [](End* end, auto score, size_t begin, int32_t id) {
    if (end->begin == -1 || score > end->score)
      *end = {id, static_cast<float>(score), static_cast<int32_t>(begin)};
  };
  for (size_t begin = 0; begin < text.size();) {
    const float till_here = ends[begin].score;
    const size_t single =
        std::min(static_cast<size_t>(character_length(text[begin])), text.size() - begin);
    bool has_single = false;
    int32_t node = DoubleArray::kRoot;
    for (size_t end = begin; end < text.size();) {
      node = pieces_.step(node, text[end++]);
      if (node == DoubleArray::kNone) break;
      const int32_t id = pieces_.number(node);
      if (id == DoubleArray::kNone) continue;
      // Compared as doubles, kept as floats.
      offer(&ends[end], static_cast<double>(scores_[static_cast<size_t>(id)]) + till_here, begin,
            id);
      has_single |= end - begin == single;
    }
    if (!has_single) {
      offer(&ends[begin + single], unknown_score_ + till_here, begin, unknown_);
    }
    begin += single;
  }
  // Backwards; of a run of unknown ones there is one.
  const size_t first = out->size();
  int32_t behind = -1;
  for (size_t at = text.size(); at > 0; at = static_cast<size_t>(ends[at].begin)) {
    if (ends[at].id != unknown_ || behind != unknown_) out->push_back(ends[at].id);
    behind = ends[at].id;
  }
  std::reverse(out->begin() + static_cast<std::ptrdiff_t>(first), out->end());
}

void UnigramEncoder::encode(std::string_view text, ChargedVector<int32_t>* out) const {
  ChargedString normal;
  normal.reserve(text.size() + text.size() / 2 + kSpace.size());
  normalize(text, &normal);
  find_path(normal, out);
}

}  // namespace penstock
