// unique(): each element once, at its first place.
//
// Elements are told apart by a hash of 128 bits of shape and bytes, so what is remembered of one is
// 16 bytes whatever its size. Errors pass. No marks: what was seen is found again by running from
// the beginning.

#include <xxhash.h>

#include <unordered_set>

#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

struct Key {
  uint64_t high, low;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const { return static_cast<size_t>(key.low); }
};

class UniqueCursor final : public Cursor {
 public:
  explicit UniqueCursor(CursorPtr input) : input_(std::move(input)) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const Poll poll = input_->pull(out, pull);
      if (poll != Poll::ready) return poll;
      std::vector<int32_t> kept;
      for (int32_t i = 0; i < out->rows; ++i) {
        if (out->error_at(i) || seen_.insert(key_of(out->columns[0], i)).second) kept.push_back(i);
      }
      if (kept.empty()) continue;
      if (static_cast<int64_t>(kept.size()) < out->rows) *out = out->gather(kept);
      return Poll::ready;
    }
  }

 private:
  Key key_of(const Column& column, int64_t row) {
    bytes_.clear();
    const Dims dims = column.dims_of(row);
    const std::byte* data = column.row_data(row);
    for (const int64_t size : dims.sizes()) put(&size, sizeof size);
    if (column.dtype() == DType::bytes) {
      for (int64_t i = 0; i < dims.entries(); ++i) {
        const std::string_view entry = reinterpret_cast<const BytesView*>(data)[i].view();
        const size_t size = entry.size();
        put(&size, sizeof size);
        bytes_ += entry;
      }
    } else {
      put(data, static_cast<size_t>(dims.entries() * dtype_size(column.dtype())));
    }
    const XXH128_hash_t h = XXH3_128bits(bytes_.data(), bytes_.size());
    return {h.high64, h.low64};
  }
  void put(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  CursorPtr input_;
  std::unordered_set<Key, KeyHash> seen_;
  std::string bytes_;  // of the row at hand
};

}  // namespace

OperatorDef unique_operator() {
  OperatorDef op;
  op.name = "unique";
  op.doc = "Each element once, at its first place; for int32, int64 and bytes.";
  op.params = {required("input", Param::Kind::dataset)};
  op.infer = [](NodeDraft& draft) {
    const Spec& spec = draft.input().spec;
    if (!spec.is_leaf() || !spec.leaf.is_tensor())
      NodeDraft::fail("input", "an element must be one tensor, it is " + spec.text());
    const DType dtype = spec.leaf.dtype;
    if (dtype != DType::int32 && dtype != DType::int64 && dtype != DType::bytes) {
      NodeDraft::fail("input",
                      "elements must be int32, int64 or bytes: " + std::string(dtype_name(dtype)));
    }
    draft.node.spec = spec;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<UniqueCursor>(context.open_input(*node));
  };
  return op;
}

}  // namespace penstock
