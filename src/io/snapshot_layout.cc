#include "io/snapshot_layout.h"

#include "data/optional.h"
#include "data/ragged.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // selects the widest registers of the machine
#endif

namespace penstock::snapshot {
namespace {

constexpr uint32_t kMostItems = 1 << 20;
constexpr int kMostDepth = 200;

void put_text(std::string* out, std::string_view text) {
  put(out, static_cast<uint32_t>(text.size()));
  *out += text;
}

Shape take_shape(Taker* from) {
  const auto rank = from->value<int8_t>();
  if (rank < 0) return Shape::unknown_rank();
  if (rank > kMaxRank) Taker::fail("a shape of rank " + std::to_string(rank));
  std::vector<int64_t> sizes;
  for (int i = 0; i < rank; ++i) {
    sizes.push_back(from->value<int64_t>());
    if (sizes.back() < Shape::kUnknown) Taker::fail("a negative size");
  }
  return Shape(std::move(sizes));
}

LeafSpec take_leaf(uint8_t kind, Taker* from) {
  const auto dtype = from->value<uint8_t>();
  if (dtype >= kDTypeCount) Taker::fail("an unknown dtype: " + std::to_string(dtype));
  const auto type = static_cast<DType>(dtype);
  Shape shape = take_shape(from);
  switch (kind) {
    case kRaggedLeaf: {
      const auto ragged_rank = from->value<uint8_t>();
      if (shape.rank() <= ragged_rank)
        Taker::fail("a ragged rank of " + std::to_string(ragged_rank));
      return ragged_leaf(type, std::move(shape), ragged_rank);
    }
    case kSparseLeaf: return sparse_leaf(type, std::move(shape));
    case kOptionalLeaf: return optional_leaf(type, std::move(shape));
    default: return LeafSpec::tensor(type, std::move(shape));
  }
}

uint8_t kind_of(const Spec& spec) {
  if (!spec.is_leaf()) return static_cast<uint8_t>(spec.kind);
  switch (spec.leaf.kind) {
    case LeafSpec::Kind::ragged: return kRaggedLeaf;
    case LeafSpec::Kind::sparse: return kSparseLeaf;
    case LeafSpec::Kind::optional: return kOptionalLeaf;
    default: return static_cast<uint8_t>(Spec::Kind::leaf);
  }
}

}  // namespace

bool SectionHead::matches(std::span<const std::byte> stored) const {
  return XXH3_64bits_withSeed(stored.data(), stored.size(), seed()) == checksum;
}

void put_spec(std::string* out, const Spec& spec) {
  put(out, kind_of(spec));
  if (spec.is_leaf()) {
    put(out, static_cast<uint8_t>(spec.leaf.dtype));
    put(out, static_cast<int8_t>(spec.leaf.shape.rank()));
    for (const int64_t size : spec.leaf.shape.sizes()) put(out, size);
    if (spec.leaf.kind == LeafSpec::Kind::ragged)
      put(out, static_cast<uint8_t>(spec.leaf.ragged_rank));
    return;
  }
  put(out, static_cast<uint32_t>(spec.items.size()));
  for (const std::string& key : spec.keys) put_text(out, key);
  for (const Spec& item : spec.items) put_spec(out, item);
}

Spec take_spec(Taker* from, int depth) {
  if (depth > kMostDepth) Taker::fail("a structure nested too deep");
  const auto kind = from->value<uint8_t>();
  if (kind > kOptionalLeaf) Taker::fail("an unknown structure");
  if (kind > static_cast<uint8_t>(Spec::Kind::none) ||
      static_cast<Spec::Kind>(kind) == Spec::Kind::leaf)
    return Spec::of(take_leaf(kind, from));
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
