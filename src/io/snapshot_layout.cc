#include "io/snapshot_layout.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // takes the widest registers of the machine
#endif

namespace penstock::snapshot {
namespace {

constexpr uint32_t kMostItems = 1 << 20;
constexpr int kMostDepth = 200;

void put_text(std::string* out, std::string_view text) {
  put(out, static_cast<uint32_t>(text.size()));
  *out += text;
}

LeafSpec take_leaf(Taker* from) {
  const auto dtype = from->value<uint8_t>();
  if (dtype >= kDTypeCount) Taker::fail("an unknown dtype: " + std::to_string(dtype));
  const auto rank = from->value<int8_t>();
  if (rank < 0) return LeafSpec::tensor(static_cast<DType>(dtype), Shape::unknown_rank());
  if (rank > kMaxRank) Taker::fail("a shape of rank " + std::to_string(rank));
  std::vector<int64_t> sizes;
  for (int i = 0; i < rank; ++i) {
    sizes.push_back(from->value<int64_t>());
    if (sizes.back() < Shape::kUnknown) Taker::fail("a negative size");
  }
  return LeafSpec::tensor(static_cast<DType>(dtype), Shape(std::move(sizes)));
}

}  // namespace

bool SectionHead::matches(std::span<const std::byte> stored) const {
  return XXH3_64bits_withSeed(stored.data(), stored.size(), seed()) == checksum;
}

void put_spec(std::string* out, const Spec& spec) {
  put(out, static_cast<uint8_t>(spec.kind));
  if (spec.is_leaf()) {
    put(out, static_cast<uint8_t>(spec.leaf.dtype));
    put(out, static_cast<int8_t>(spec.leaf.shape.rank()));
    for (const int64_t size : spec.leaf.shape.sizes()) put(out, size);
    return;
  }
  put(out, static_cast<uint32_t>(spec.items.size()));
  for (const std::string& key : spec.keys) put_text(out, key);
  for (const Spec& item : spec.items) put_spec(out, item);
}

Spec take_spec(Taker* from, int depth) {
  if (depth > kMostDepth) Taker::fail("a structure nested too deep");
  const auto kind = from->value<uint8_t>();
  if (kind > static_cast<uint8_t>(Spec::Kind::none)) Taker::fail("an unknown structure");
  if (static_cast<Spec::Kind>(kind) == Spec::Kind::leaf) return Spec::of(take_leaf(from));
  const auto count = from->value<uint32_t>();
  if (count > kMostItems) Taker::fail("a structure of too many items");
  std::vector<std::string> keys;
  std::vector<Spec> items;
  if (static_cast<Spec::Kind>(kind) == Spec::Kind::dict) {
    for (uint32_t i = 0; i < count; ++i) keys.emplace_back(from->text(from->value<uint32_t>()));
  }
  for (uint32_t i = 0; i < count; ++i) items.push_back(take_spec(from, depth + 1));
  switch (static_cast<Spec::Kind>(kind)) {
    case Spec::Kind::dict: return Spec::dict(std::move(keys), std::move(items));
    case Spec::Kind::tuple: return Spec::tuple(std::move(items));
    default: return {};
  }
}

}  // namespace penstock::snapshot
