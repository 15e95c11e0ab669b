// unique(): each element once, at its first place.
//
// Elements are told apart by a hash of 128 bits of shape and bytes, so what is remembered of one is
// 16 bytes whatever its size. Errors pass. Marks hold what was seen, up to 1024 elements; behind
// that the input is read again from the last such mark and what was given is dropped.

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "data/ragged.h"
#include "datasets/datasets.h"
#include "datasets/held_memory.h"
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

constexpr size_t kMostSeenBytes = 1024 * sizeof(Key);

class UniqueCursor final : public Cursor {
 public:
  // `seen`: keys of elements that were given before, one after the other.
  UniqueCursor(CursorPtr input, std::string_view seen) : input_(std::move(input)), keys_(seen) {
    for (size_t i = 0; i + sizeof(Key) <= seen.size(); i += sizeof(Key)) {
      Key key;
      std::memcpy(&key, seen.data() + i, sizeof key);
      seen_.insert(key);
    }
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const Poll poll = input_->pull(out, pull);
      if (poll != Poll::ready) return poll;
      std::vector<int32_t> kept;
      for (int32_t i = 0; i < out->rows; ++i) {
        if (out->error_at(i) || is_new(out, i)) kept.push_back(i);
      }
      if (kept.empty()) continue;
      if (static_cast<int64_t>(kept.size()) < out->rows) *out = out->gather(kept);
      if (identity().marks) mark(out);
      return Poll::ready;
    }
  }

 private:
  // A row that cannot be remembered becomes an error.
  bool is_new(Block* rows, int32_t row) {
    constexpr int64_t kOfKey = sizeof(Key) + 48;  // with its node and its share of the table
    const Key key = key_of(rows->columns[0], row);
    const auto [place, fresh] = seen_.insert(key);
    if (!fresh) return false;
    try {
      held_.grow(
          kOfKey,
          [this] { return "the hashes of " + std::to_string(seen_.size() - 1) + " elements"; },
          "take fewer elements");
    } catch (const Error& e) {
      seen_.erase(place);
      if (e.code() == Code::cancelled) throw;
      const auto next = std::ranges::upper_bound(rows->errors, row, {}, &RowError::row);
      rows->errors.insert(next, {row, current_error()});
      return true;
    }
    if (identity().marks && keys_.size() <= kMostSeenBytes)
      keys_.append(reinterpret_cast<const char*>(&key), sizeof key);
    return true;
  }

  void mark(Block* out) const {
    if (keys_.size() <= kMostSeenBytes)
      set_mark(out, InputsMark(), {&input_->position(), 1}, {Tensor::of_bytes(keys_)});
  }

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
  HeldMemory held_;    // by seen_
  std::string keys_;   // the same in order, for marks; full when it is larger than they may be
  std::string bytes_;  // of the row at hand
};

// What the mark holds.
std::string_view seen_before(const StageMark* from) {
  if (!from) return {};
  const bool fits = from->state().size() == 1 && from->state()[0].dtype() == DType::bytes &&
                    !from->state()[0].object() && from->state()[0].dims().rank() == 0 &&
                    bytes_at(from->state()[0]).size() % sizeof(Key) == 0;
  if (!fits) throw Error(Code::data_loss, "the checkpoint is damaged: `unique` has other keys");
  return bytes_at(from->state()[0]);
}

}  // namespace

OperatorDef unique_operator() {
  OperatorDef op;
  op.name = "unique";
  op.doc = "Each element once, at its first place; for int32, int64 and bytes.";
  op.params = {required("input", Param::Kind::dataset)};
  op.rows = Rows::subset;
  op.infer = [](NodeDraft& draft) {
    const Spec& spec = draft.input().spec;
    const std::vector<LeafSpec> leaves = spec.leaves();
    if (leaves.size() != 1 || !is_dense(leaves[0]))
      NodeDraft::fail("input", "an element must be one tensor, it is " + spec.text());
    const DType dtype = leaves[0].dtype;
    if (dtype != DType::int32 && dtype != DType::int64 && dtype != DType::bytes) {
      NodeDraft::fail("input",
                      "elements must be int32, int64 or bytes: " + std::string(dtype_name(dtype)));
    }
    draft.node.spec = spec;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<UniqueCursor>(context.open_input(*node),
                                          seen_before(context.resume(*node)));
  };
  return op;
}

}  // namespace penstock
