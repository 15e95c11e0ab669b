// Byte layout of snapshot files (docs/format/snapshot.md); little endian.
#pragma once

#include <xxhash.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "data/spec.h"

namespace penstock::snapshot {

inline constexpr std::string_view kMagic{"PSTKSNAP", 8};
// Version 2 adds elements that are not tensors, and compressions other than LZ4. Files that need
// neither are written as version 1.
inline constexpr uint32_t kFirstVersion = 1, kLastVersion = 2;
inline constexpr size_t kAlignment = 64;  // of data within a chunk
inline constexpr const char* kWrongChecksum = "a section's checksum does not match";

enum Section : uint32_t { kHeader = 1, kChunk = 2, kEnd = 3 };
enum Flag : uint32_t { kLz4 = 1, kGzip = 2, kSnappy = 4, kPacked = kLz4 | kGzip | kSnappy };
enum ColumnKind : uint8_t { kDense = 0, kConstant = 1, kRagged = 2, kVariable = 3, kObjects = 4 };
// Kinds of leaves in the header, numbered after those of Spec::Kind; tensors are Spec::Kind::leaf.
enum LeafKind : uint8_t { kRaggedLeaf = 4, kSparseLeaf = 5, kOptionalLeaf = 6 };
enum OriginKind : uint8_t { kAffine = 0, kIds = 1 };

// Precedes each section.
struct SectionHead {
  uint32_t kind = 0, flags = 0;
  uint64_t stored_bytes = 0;  // number of bytes in the section
  uint64_t raw_bytes = 0;     // unpacked
  uint64_t checksum = 0;      // XXH3 of the section's bytes, seeded by XXH3 of the 24 bytes above
  uint64_t seed() const { return XXH3_64bits(this, 24); }
  bool matches(std::span<const std::byte> stored) const;
};
static_assert(sizeof(SectionHead) == 32);

struct End {
  uint64_t chunks = 0, rows = 0;
};

template <typename T>
void put(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes values off the front of bytes; throws DATA_LOSS at their end.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T value() {
    T out;
    std::memcpy(&out, text(sizeof out).data(), sizeof out);
    return out;
  }
  std::string_view text(uint64_t size) {
    if (size > bytes_.size() - at_) fail("it ends too early");
    const std::string_view out = bytes_.substr(at_, size);
    at_ += size;
    return out;
  }
  // Skips to the next multiple of kAlignment.
  void align() { text((kAlignment - at_ % kAlignment) % kAlignment); }
  bool empty() const { return at_ == bytes_.size(); }
  [[noreturn]] static void fail(const std::string& what) {
    throw Error(Code::data_loss, "no chunk of a snapshot: " + what);
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

// Returns the word's flag; 0 for "". Throws INVALID_ARGUMENT for another word.
uint32_t parse_packing(std::string_view word);
// Returns the packed content, or nothing if that is not shorter. `flag` is one of kPacked.
std::string packed(uint32_t flag, std::string_view content);
// Fills `content`; returns false if the bytes do not unpack to exactly its size.
bool unpack(uint32_t flag, std::span<const std::byte> stored, std::span<std::byte> content);
// Returns the most bytes that one packed byte can expand to.
uint64_t most_expansion(uint32_t flag);

void put_spec(std::string* out, const Spec& spec);
Spec take_spec(Taker* from, int depth = 0);

}  // namespace penstock::snapshot
