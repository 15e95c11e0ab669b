// Digest of a stream of elements: equal for two pipelines that produce the same data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/block.h"
#include "data/spec.h"

namespace penstock {

// 128 bits, added mod 2^128.
struct Digest128 {
  unsigned __int128 value = 0;
  std::string text() const;  // 32 hex digits
  static std::optional<Digest128> parse(const std::string& text);
  bool operator==(const Digest128&) const = default;
};

// h(element) hashes (path, dtype, concrete shape, raw bytes) of its leaves in the order of their
// paths; static shapes, column kinds and blocks do not matter. Unordered digest: the sum of h.
// Ordered digest: the sum of H(i, h). An error is represented by its code.
class StreamDigest {
 public:
  explicit StreamDigest(const Spec& spec);
  void add(const Block& block);
  // Resumes after `elements` elements with these digests. REQUIRES that nothing was added yet.
  void resume(int64_t elements, Digest128 ordered, Digest128 unordered);
  int64_t elements() const { return position_; }
  Digest128 ordered() const { return ordered_; }
  Digest128 unordered() const { return unordered_; }

 private:
  struct Leaf {
    std::string path;
    size_t column;
  };
  std::vector<Leaf> leaves_;  // by path
  int64_t position_ = 0;
  Digest128 ordered_, unordered_;
};

}  // namespace penstock
