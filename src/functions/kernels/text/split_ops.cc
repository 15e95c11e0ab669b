// Strings cut into parts that share their bytes: split_text, split_any, bytes_split.

#include <array>
#include <bit>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "functions/kernels/text/string_lists.h"
#include "functions/kernels/text/strings.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

void add_part(const char* begin, const char* end, ListParts* out) {
  out->strings.push_back({begin, end - begin});
}

class Splitter final : public StringLists {
 public:
  explicit Splitter(const Attrs& attrs) : most_(attrs["maxsplit"].as_int()) {
    if (!attrs["sep"].is_none()) sep_ = attrs["sep"].as_string();
  }

  void append(std::string_view text, ListParts* out) const override {
    if (sep_.empty()) return append_words(text, out);
    if (sep_.size() == 1 && most_ < 0) return append_fields(text, out);
    int64_t cuts = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (most_ < 0 || cuts < most_) {
      const char* found = find(at, end);
      if (!found) break;
      add_part(at, found, out);
      at = found + sep_.size();
      ++cuts;
    }
    add_part(at, end, out);
  }

 private:
  const char* find(const char* at, const char* end) const {
    if (at == end) return nullptr;
    const auto n = static_cast<size_t>(end - at);
    const void* found =
        sep_.size() == 1 ? std::memchr(at, sep_[0], n) : memmem(at, n, sep_.data(), sep_.size());
    return static_cast<const char*>(found);
  }

  // Short fields: a call for each would cost more than the search.
  void append_fields(std::string_view text, ListParts* out) const {
    const char sep = sep_[0];
    const char* begin = text.data();
    const char* at = begin;
    const char* const end = begin + text.size();
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8(sep);
    for (; end - at >= 16; at += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
      for (; found != 0; found &= found - 1) {
        const char* const cut = at + std::countr_zero(found);
        add_part(begin, cut, out);
        begin = cut + 1;
      }
    }
#endif
    for (; at < end; ++at) {
      if (*at != sep) continue;
      add_part(begin, at, out);
      begin = at + 1;
    }
    add_part(begin, end, out);
  }

  void append_words(std::string_view text, ListParts* out) const {
#if defined(__SSE2__)
    if (most_ < 0) return append_all_words(text, out);
#endif
    int64_t cuts = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
      while (at < end && is_space(*at)) ++at;
      if (at == end) return;
      if (most_ >= 0 && cuts == most_) return add_part(at, end, out);
      const char* const begin = at;
      while (at < end && !is_space(*at)) ++at;
      add_part(begin, at, out);
      ++cuts;
    }
  }

#if defined(__SSE2__)
  // A word begins or ends where a byte is of another kind than the one before it.
  static void append_all_words(std::string_view text, ListParts* out) {
    const char* begin = nullptr;
    unsigned inside = 0;  // whether the byte before belongs to a word
    const auto take = [&](const char* at, unsigned word) {
      for (unsigned edges = (word ^ (word << 1 | inside)) & 0xffff; edges != 0;
           edges &= edges - 1) {
        const char* const edge = at + std::countr_zero(edges);
        if (inside == 0) {
          begin = edge;
        } else {
          add_part(begin, edge, out);
        }
        inside ^= 1;
      }
    };
    const char* at = text.data();
    const char* const end = at + text.size();
    for (; end - at >= 16; at += 16)
      take(at, word_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
    if (at < end) {
      char rest[16];
      std::memset(rest, ' ', sizeof rest);
      std::memcpy(rest, at, static_cast<size_t>(end - at));
      take(at, word_bytes(_mm_loadu_si128(reinterpret_cast<const __m128i*>(rest))));
    }
    if (inside != 0) add_part(begin, end, out);
  }

  // A bit for each byte that is no white space.
  static unsigned word_bytes(__m128i bytes) {
    const __m128i control = _mm_sub_epi8(bytes, _mm_set1_epi8('\t'));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(control, _mm_set1_epi8('\r' - '\t')), control);
    const __m128i space = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
    return ~static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(low, space))) & 0xffff;
  }
#endif

  std::string sep_;  // bounded: written in the pipeline; empty: runs of white space
  int64_t most_;     // cuts, -1 for any number
};

class AnySplitter final : public StringLists {
 public:
  explicit AnySplitter(const Attrs& attrs) : skip_empty_(attrs["skip_empty"].as_bool()) {
    for (const char c : attrs["delimiters"].as_string()) {
      cuts_[static_cast<unsigned char>(c)] = true;
      every_byte_ = false;
    }
  }
  void append(std::string_view text, ListParts* out) const override {
    const char* begin = text.data();
    const char* const end = begin + text.size();
    for (const char* at = begin; at < end; ++at) {
      if (every_byte_) {
        add_part(at, at + 1, out);
      } else if (cuts_[static_cast<unsigned char>(*at)]) {
        add(begin, at, out);
        begin = at + 1;
      }
    }
    if (!every_byte_) add(begin, end, out);
  }

 private:
  void add(const char* begin, const char* end, ListParts* out) const {
    if (begin < end || !skip_empty_) add_part(begin, end, out);
  }
  std::array<bool, 256> cuts_{};
  bool every_byte_ = true;
  bool skip_empty_;
};

class ByteSplitter final : public StringLists {
 public:
  void append(std::string_view text, ListParts* out) const override {
    for (const char& c : text) add_part(&c, &c + 1, out);
  }
};

}  // namespace

void add_split_ops(OpRegistry* registry) {
  registry->add(string_lists_op(
      "split_text",
      "s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most "
      "maxsplit times",
      {optional("sep", Param::Kind::text, {}),
       optional("maxsplit", Param::Kind::integer, Attr::integer(-1))},
      {DType::bytes}, [](const Attrs& attrs) -> std::shared_ptr<const StringLists> {
        return std::make_shared<Splitter>(attrs);
      }));
  registry->add(string_lists_op(
      "split_any", "s cut at each of the bytes in delimiters; with none of them at every byte",
      {optional("delimiters", Param::Kind::text, Attr::text(" ")),
       option("skip_empty", Param::Kind::boolean, Attr::boolean(true))},
      {DType::bytes}, [](const Attrs& attrs) -> std::shared_ptr<const StringLists> {
        return std::make_shared<AnySplitter>(attrs);
      }));
  registry->add(string_lists_op("bytes_split", "the bytes of s, each a string", {}, {DType::bytes},
                                [](const Attrs&) -> std::shared_ptr<const StringLists> {
                                  return std::make_shared<ByteSplitter>();
                                }));
}

}  // namespace penstock
