// Byte-level BPE: words of bytes, of which the pair with the lowest rank is merged until none is.

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>
#include <unordered_map>

#include "base/error.h"
#include "data/charged.h"
#include "functions/kernels/text/encoding.h"
#include "functions/kernels/text/gpt2_words.h"
#include "functions/kernels/text/model_file.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/tokenizer.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(Code::invalid_argument, path + ": no BPE model: " + what);
}

// GPT-2 writes bytes as printable characters: those that are none as U+0100 and up, in order.
std::array<int32_t, 256> characters_of_bytes() {
  std::array<int32_t, 256> out{};
  int32_t next = 256;
  for (int32_t b = 0; b < 256; ++b) {
    const bool printable = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    out[static_cast<size_t>(b)] = printable ? b : next++;
  }
  return out;
}

struct Merge {
  int32_t rank;
  int32_t id;
};

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

struct WordHash {
  using is_transparent = void;
  size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};

// Words come again: their pieces, for one model at a time in each thread.
struct WordCache {
  static constexpr size_t kMostWords = 1 << 15;
  static constexpr size_t kLongestWord = 64;
  uint64_t model = 0;
  std::unordered_map<std::string, ChargedVector<int32_t>, WordHash, std::equal_to<>>
      words;  // bounded: kMostWords short words
};

class Bpe final : public Tokenizer {
 public:
  Bpe(const std::string& vocab, const std::string& merges);
  void encode(std::string_view text, ChargedVector<int32_t>* out) const override;
  ChargedString decode(std::span<const int32_t> ids) const override;
  int64_t size() const override { return static_cast<int64_t>(pieces_.size()); }
  int32_t special(std::string_view piece) const override {
    const std::string_view written = piece == "unk"   ? "<unk>"
                                     : piece == "pad" ? "<pad>"
                                                      : "<|endoftext|>";
    for (const auto& [text, id] : added_) {
      if (text == written) return id;
    }
    return -1;
  }

 private:
  void read_vocab(const std::string& path, const Json& vocab);
  void add_merge(const std::string& path, const std::string& left, const std::string& right);
  void encode_plain(std::string_view text, ChargedVector<int32_t>* out) const;
  void encode_word(std::string_view word, ChargedVector<int32_t>* out) const;
  void merge_word(std::string_view word, ChargedVector<int32_t>* out) const;

  Charge room_{0}, merges_room_{0};
  std::unordered_map<std::string, int32_t>
      vocab_;                          // bounded: the model file is counted; as written in the file
  ChargedVector<std::string> pieces_;  // bytes of each number; empty for special ones
  std::array<int32_t, 256> byte_ids_{};         // -1: the model has no such byte
  std::unordered_map<uint64_t, Merge> merges_;  // bounded: the model file is counted
  std::vector<std::pair<std::string, int32_t>> added_;
  bool prefix_space_ = false;
  uint64_t number_;  // never that of another model, as an address could be
};

Json parsed(const std::string& path, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail(path, "not a JSON object");
  return json;
}

Bpe::Bpe(const std::string& vocab_path, const std::string& merges_path) {
  static std::atomic<uint64_t> models{0};
  number_ = ++models;
  ModelFile vocab = read_model_file(vocab_path);
  room_ = std::move(vocab.room);
  const Json file = parsed(vocab_path, vocab.bytes);
  if (!merges_path.empty()) {
    read_vocab(vocab_path, file);
    ModelFile merges = read_model_file(merges_path);
    merges_room_ = std::move(merges.room);
    const std::string& text = merges.bytes;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      const size_t space = line.find(' ');
      if (line.empty() || line.starts_with("#version")) continue;
      if (space == std::string::npos)
        fail(merges_path, "a line without a space: " + penstock::quoted(line));
      add_merge(merges_path, line.substr(0, space), std::string(stripped(line.substr(space + 1))));
    }
    return;
  }
  if (!file.contains("model") || !file["model"].contains("vocab") ||
      !file["model"].contains("merges"))
    fail(vocab_path, "model.vocab and model.merges are missing");
  read_vocab(vocab_path, file["model"]["vocab"]);
  for (const Json& merge : file["model"]["merges"]) {
    if (merge.is_array() && merge.size() == 2) {
      add_merge(vocab_path, merge[0].get<std::string>(), merge[1].get<std::string>());
    } else {
      const auto line = merge.get<std::string>();
      const size_t space = line.find(' ');
      if (space == std::string::npos)
        fail(vocab_path, "a merge without a space: " + penstock::quoted(line));
      add_merge(vocab_path, line.substr(0, space), line.substr(space + 1));
    }
  }
  for (const Json& token : file.value("added_tokens", Json::array())) {
    const auto id = token.at("id").get<int32_t>();
    added_.emplace_back(token.at("content").get<std::string>(), id);
    if (id >= size()) pieces_.resize(static_cast<size_t>(id) + 1);
    pieces_[static_cast<size_t>(id)] = token.value("special", false) ? "" : added_.back().first;
  }
  std::ranges::sort(added_, std::greater<>(), [](const auto& a) { return a.first.size(); });
  const Json words = file.value("pre_tokenizer", Json());
  prefix_space_ = words.is_object() && words.value("add_prefix_space", false);
}

void Bpe::read_vocab(const std::string& path, const Json& vocab) {
  if (!vocab.is_object()) fail(path, "its vocabulary is no object");
  constexpr int32_t kMost = 1 << 28;
  const std::array<int32_t, 256> characters = characters_of_bytes();
  std::unordered_map<int32_t, char> bytes;  // bounded: 256 bytes
  for (size_t b = 0; b < 256; ++b) bytes[characters[b]] = static_cast<char>(b);
  const TextDecoder utf8("UTF-8");
  for (const auto& [token, number] : vocab.items()) {
    if (!number.is_number_integer()) fail(path, "a number is missing: " + penstock::quoted(token));
    const auto id = number.get<int32_t>();
    if (id < 0 || id > kMost) fail(path, "a number out of range: " + std::to_string(id));
    vocab_[token] = id;
    if (id >= size()) pieces_.resize(static_cast<size_t>(id) + 1);
    std::string& piece = pieces_[static_cast<size_t>(id)];
    utf8.for_each(token, [&](const CodePoint& p) {
      if (const auto it = bytes.find(p.code); it != bytes.end()) piece += it->second;
    });
  }
  for (size_t b = 0; b < 256; ++b) {
    ChargedString written;
    append_code_point(characters[b], UnicodeForm::utf8, &written);
    const auto it = vocab_.find(std::string(written));
    byte_ids_[b] = it == vocab_.end() ? -1 : it->second;
  }
}

void Bpe::add_merge(const std::string& path, const std::string& left, const std::string& right) {
  const auto a = vocab_.find(left), b = vocab_.find(right), c = vocab_.find(left + right);
  if (a == vocab_.end() || b == vocab_.end() || c == vocab_.end())
    fail(path,
         "a merge of unknown pieces: " + penstock::quoted(left) + " " + penstock::quoted(right));
  merges_.try_emplace(pair_key(a->second, b->second),
                      Merge{static_cast<int32_t>(merges_.size()), c->second});
}

void Bpe::encode(std::string_view text, ChargedVector<int32_t>* out) const {
  while (!text.empty() && !added_.empty()) {
    size_t first = std::string_view::npos;
    const std::pair<std::string, int32_t>* found = nullptr;
    for (const auto& token : added_) {
      const size_t at = text.find(token.first);
      if (at < first) {
        first = at;
        found = &token;
      }
    }
    if (!found) break;
    encode_plain(text.substr(0, first), out);
    out->push_back(found->second);
    text.remove_prefix(first + found->first.size());
  }
  encode_plain(text, out);
}

void Bpe::encode_plain(std::string_view text, ChargedVector<int32_t>* out) const {
  ChargedString with_space;
  if (prefix_space_ && !text.empty() && text[0] != ' ') {
    with_space = " ";
    with_space += text;
    text = with_space;
  }
  while (!text.empty()) {
    const size_t n = gpt2_word(text);
    encode_word(text.substr(0, n), out);
    text.remove_prefix(n);
  }
}

void Bpe::encode_word(std::string_view word, ChargedVector<int32_t>* out) const {
  thread_local WordCache cache;
  if (word.size() > WordCache::kLongestWord) return merge_word(word, out);
  if (cache.model != number_ || cache.words.size() >= WordCache::kMostWords) {
    cache.words.clear();
    cache.model = number_;
  }
  auto it = cache.words.find(word);
  if (it == cache.words.end()) {
    it = cache.words.emplace(word, ChargedVector<int32_t>()).first;
    merge_word(word, &it->second);
  }
  out->insert(out->end(), it->second.begin(), it->second.end());
}

void Bpe::merge_word(std::string_view word, ChargedVector<int32_t>* out) const {
  // Pieces in a list by position; a merge makes the left one longer and takes the right one out.
  struct Piece {
    int32_t id;
    int32_t next;      // position of the one behind; the size at the end
    int32_t previous;  // -1 at the beginning
  };
  struct Candidate {
    int32_t rank;
    int32_t at;
    int32_t left, right, made;  // the ids; stale when the list has others there
    bool operator>(const Candidate& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
  };
  ChargedVector<Piece> pieces;
  ChargedVector<Candidate> heap;
  pieces.reserve(word.size());
  for (const char c : word) {
    const int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    if (id < 0) continue;
    const auto at = static_cast<int32_t>(pieces.size());
    pieces.push_back({id, at + 1, at - 1});
  }
  const auto size = static_cast<int32_t>(pieces.size());
  auto piece = [&pieces](int32_t at) -> Piece& { return pieces[static_cast<size_t>(at)]; };
  auto consider = [&](int32_t at) {
    if (at < 0 || piece(at).next >= size) return;
    const int32_t left = piece(at).id, right = piece(piece(at).next).id;
    const auto it = merges_.find(pair_key(left, right));
    if (it == merges_.end()) return;
    heap.push_back({it->second.rank, at, left, right, it->second.id});
    std::ranges::push_heap(heap, std::greater<>());
  };
  for (int32_t i = 0; i + 1 < size; ++i) consider(i);
  while (!heap.empty()) {
    const Candidate best = heap.front();
    std::ranges::pop_heap(heap, std::greater<>());
    heap.pop_back();
    Piece& left = piece(best.at);
    const bool valid =
        left.id == best.left && left.next < size && piece(left.next).id == best.right;
    if (!valid) continue;
    Piece& right = piece(left.next);
    right.id = -1;
    left.id = best.made;
    left.next = right.next;
    if (left.next < size) piece(left.next).previous = best.at;
    consider(left.previous);
    consider(best.at);
  }
  for (int32_t at = 0; at < size; at = piece(at).next) out->push_back(piece(at).id);
}

ChargedString Bpe::decode(std::span<const int32_t> ids) const {
  ChargedString bytes, out;
  for (const int32_t id : ids) {
    if (id < 0 || id >= size()) fail_piece(id, size());
    bytes += pieces_[static_cast<size_t>(id)];
  }
  TextDecoder("UTF-8").for_each(
      bytes, [&](const CodePoint& p) { append_code_point(p.code, UnicodeForm::utf8, &out); });
  return out;
}

}  // namespace

std::shared_ptr<const Tokenizer> open_bpe(const std::string& vocab, const std::string& merges) {
  try {
    return std::make_shared<Bpe>(vocab, merges);
  } catch (const Json::exception& error) {
    fail(vocab, error.what());
  }
}

}  // namespace penstock
