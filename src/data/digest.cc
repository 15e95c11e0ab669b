#include "data/digest.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "data/optional.h"
#include "data/ragged.h"

namespace penstock {
namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

void hash_text(XXH3_state_t* state, std::string_view text) {
  const uint64_t size = text.size();
  XXH3_128bits_update(state, &size, sizeof size);
  XXH3_128bits_update(state, text.data(), text.size());
}

void hash_tensor(XXH3_state_t* state, const Tensor& t) {
  hash_text(state, dtype_name(t.dtype()));
  const int64_t rank = t.dims().rank();
  XXH3_128bits_update(state, &rank, sizeof rank);
  XXH3_128bits_update(state, t.dims().sizes().data(), t.dims().sizes().size_bytes());
  if (t.object()) return;
  if (t.dtype() == DType::bytes) {
    for (int64_t i = 0; i < t.entries_count(); ++i) hash_text(state, t.entry<BytesView>(i).view());
  } else {
    XXH3_128bits_update(state, t.data(), static_cast<size_t>(t.data_bytes()));
  }
}

void hash_row(XXH3_state_t* state, const Tensor& row) {
  if (const RaggedTensor* ragged = as_ragged(row)) {
    hash_text(state, "ragged");
    for (const Tensor& splits : ragged->splits()) hash_tensor(state, splits);
    hash_tensor(state, ragged->values());
  } else if (const SparseTensor* sparse = as_sparse(row)) {
    hash_text(state, "sparse");
    hash_tensor(state, sparse->indices());
    hash_tensor(state, sparse->values());
    hash_tensor(state, sparse->shape());
  } else if (const OptionalTensor* optional = as_optional(row)) {
    hash_text(state, optional->has_value() ? "optional" : "missing");
    if (optional->has_value()) hash_tensor(state, optional->value());
  } else {
    hash_tensor(state, row);
  }
}

unsigned __int128 join(XXH128_hash_t h) {
  return (static_cast<unsigned __int128>(h.high64) << 64) | h.low64;
}

}  // namespace

std::string Digest128::text() const {
  static const char digits[] = "0123456789abcdef";
  std::string out(32, '0');
  unsigned __int128 v = value;
  for (size_t i = 32; i-- > 0; v >>= 4) out[i] = digits[static_cast<size_t>(v & 15)];
  return out;
}

std::optional<Digest128> Digest128::parse(const std::string& text) {
  if (text.size() != 32) return std::nullopt;
  Digest128 out;
  for (const char c : text) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    out.value = out.value << 4 | static_cast<unsigned>(digit);
  }
  return out;
}

void StreamDigest::resume(int64_t elements, Digest128 ordered, Digest128 unordered) {
  position_ = elements;
  ordered_ = ordered;
  unordered_ = unordered;
}

StreamDigest::StreamDigest(const Spec& spec) {
  const std::vector<std::string> paths = spec.paths();
  for (size_t i = 0; i < paths.size(); ++i) leaves_.push_back({paths[i], i});
  std::ranges::sort(leaves_, {}, &Leaf::path);
}

void StreamDigest::add(const Block& block) {
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  for (int64_t r = 0; r < block.rows; ++r, ++position_) {
    XXH3_128bits_reset(state.get());
    if (const ErrorPtr* error = block.error_at(r)) {
      hash_text(state.get(), code_name((*error)->code()));
    } else {
      for (const Leaf& leaf : leaves_) {
        const Tensor row = block.columns[leaf.column].row(r);
        hash_text(state.get(), leaf.path);
        hash_row(state.get(), row);
      }
    }
    const unsigned __int128 h = join(XXH3_128bits_digest(state.get()));
    unordered_.value += h;
    struct {
      uint64_t position;
      uint64_t low, high;
    } numbered{static_cast<uint64_t>(position_), static_cast<uint64_t>(h),
               static_cast<uint64_t>(h >> 64)};
    ordered_.value += join(XXH3_128bits(&numbered, sizeof numbered));
  }
}

}  // namespace penstock
