// Lays columns over a chunk's bytes. Trusts nothing in it: a checksum only proves that the bytes
// are those that were written.

#include <algorithm>

#include "data/checked_product.h"
#include "data/leaf_of.h"
#include "data/object_column.h"
#include "data/optional.h"
#include "data/ragged.h"
#include "io/snapshot.h"
#include "io/snapshot_layout.h"

namespace penstock {
namespace {

using namespace snapshot;

constexpr int64_t kMostChunkEntries = int64_t{1} << 40;

class ChunkDecoder {
 public:
  ChunkDecoder(const BufferRef& buffer, std::string_view bytes)
      : buffer_(buffer), meta_(description(bytes)), data_(bytes) {
    data_.text(sizeof(uint64_t));
    data_.text(meta_bytes(bytes));
    data_.align();
  }

  Block decode(const Spec& spec) {
    Block out;
    rows_ = meta_.value<uint32_t>();
    if (rows_ == 0) Taker::fail("it has no rows");
    out.rows = rows_;
    out.origin = origin();
    for (const LeafSpec& leaf : spec.leaves()) out.columns.push_back(column(leaf));
    return out;
  }

 private:
  static uint64_t meta_bytes(std::string_view bytes) { return Taker(bytes).value<uint64_t>(); }
  static std::string_view description(std::string_view bytes) {
    Taker from(bytes);
    const auto size = from.value<uint64_t>();
    return from.text(size);
  }

  Origin origin() {
    const auto kind = meta_.value<uint8_t>();
    const auto first = meta_.value<uint64_t>(), stride = meta_.value<uint64_t>();
    if (kind == kAffine) return Origin(first, stride, 0);
    if (kind != kIds) Taker::fail("unknown ids of rows");
    const std::string_view bytes = area(static_cast<uint64_t>(rows_) * sizeof(uint64_t));
    RowIds ids(static_cast<size_t>(rows_));
    std::memcpy(ids.data(), bytes.data(), bytes.size());
    return Origin::of(std::move(ids), {0});
  }

  std::string_view area(uint64_t bytes) {
    const std::string_view out = data_.text(bytes);
    data_.align();
    return out;
  }

  Dims dims() {
    const auto rank = meta_.value<uint8_t>();
    if (rank > kMaxRank) Taker::fail("a shape of rank " + std::to_string(rank));
    std::vector<int64_t> out;
    for (int i = 0; i < rank; ++i) {
      out.push_back(meta_.value<int64_t>());
      if (out.back() < 0) Taker::fail("a size of " + std::to_string(out.back()));
    }
    if (!are_shape_sizes(out) || checked_product(out) > kMostChunkEntries)
      Taker::fail("a shape that is too large");
    return Dims(out);
  }

  static void check(const LeafSpec& leaf, const Dims& row) {
    if (!leaf.shape.admits(row))
      Taker::fail("a row of shape " + row.text() + ", expected " + leaf.text());
  }

  Column column(const LeafSpec& leaf) {
    const auto kind = meta_.value<uint8_t>();
    if ((kind == kObjects) != has_objects(leaf))
      Taker::fail("a column of another kind of elements");
    switch (kind) {
      case kDense: {
        const Dims row = dims();
        check(leaf, row);
        Tensor all = tensor(leaf.dtype, flat(row), rows_);
        return Column::dense(leaf.dtype, row, rows_, all.buffer(), all.mutable_data());
      }
      case kConstant: {
        const Dims row = dims();
        check(leaf, row);
        return Column::constant(tensor(leaf.dtype, flat(row), 1).reshaped(row), rows_);
      }
      case kRagged: return ragged(leaf);
      case kVariable: {
        std::vector<Tensor> rows;
        for (int64_t i = 0; i < rows_; ++i) {
          const Dims row = dims();
          check(leaf, row);
          rows.push_back(tensor(leaf.dtype, flat(row), 1).reshaped(row));
        }
        return Column::variable(leaf.dtype, std::move(rows));
      }
      case kObjects: return objects(leaf);
      default: Taker::fail("a column of an unknown kind");
    }
  }

  static Dims flat(const Dims& row) { return {row.entries()}; }

  Column ragged(const LeafSpec& leaf) {
    const Dims item = dims();
    const std::string_view bytes = area((static_cast<uint64_t>(rows_) + 1) * sizeof(int64_t));
    BufferRef splits = allocate_buffer(static_cast<int64_t>(bytes.size()));
    auto* at = reinterpret_cast<int64_t*>(splits.data());
    std::memcpy(at, bytes.data(), bytes.size());
    if (at[0] != 0 || !std::is_sorted(at, at + rows_ + 1) || item.rank() == kMaxRank)
      Taker::fail("splits that do not ascend");
    for (int64_t i = 0; i < rows_; ++i) check(leaf, item.with_front(at[i + 1] - at[i]));
    return Column::ragged(tensor(leaf.dtype, item, at[rows_]), std::move(splits), rows_);
  }

  // A row of a ragged tensor with one ragged axis is a tensor.
  static bool has_objects(const LeafSpec& leaf) {
    return leaf.kind == LeafSpec::Kind::ragged ? leaf.ragged_rank > 0 : !leaf.is_tensor();
  }

  // Builds rows from the tensors they consist of.
  Column objects(const LeafSpec& leaf) {
    std::vector<size_t> counts(static_cast<size_t>(rows_));
    for (size_t& count : counts) {
      count = meta_.value<uint8_t>();
      const bool fits =
          leaf.kind == LeafSpec::Kind::optional ? count <= 1 : count == parts_of(leaf);
      if (!fits) Taker::fail("a row of " + std::to_string(count) + " parts");
    }
    std::vector<std::vector<Tensor>> rows(counts.size());
    for (size_t part = 0; part < parts_of(leaf); ++part) {
      std::vector<Tensor*> alike;
      for (size_t i = 0; i < rows.size(); ++i) {
        if (part >= counts[i]) continue;
        rows[i].emplace_back();
        alike.push_back(&rows[i].back());
      }
      if (!alike.empty()) take_part(dtype_of(leaf, part), alike);
    }
    std::vector<ObjectPtr> out;
    for (std::vector<Tensor>& parts : rows) out.push_back(object_of(leaf, std::move(parts)));
    return object_column(std::move(out));
  }

  static size_t parts_of(const LeafSpec& leaf) {
    if (leaf.kind == LeafSpec::Kind::optional) return 1;
    return leaf.kind == LeafSpec::Kind::sparse ? 3 : static_cast<size_t>(leaf.ragged_rank) + 1;
  }
  static DType dtype_of(const LeafSpec& leaf, size_t part) {
    const size_t values = leaf.kind == LeafSpec::Kind::sparse ? 1 : parts_of(leaf) - 1;
    return part == values ? leaf.dtype : DType::int64;
  }

  // Takes tensors that are stored end to end in one area.
  void take_part(DType dtype, const std::vector<Tensor*>& out) {
    std::vector<Dims> shapes;
    uint64_t entries = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      shapes.push_back(dims());
      entries += static_cast<uint64_t>(shapes.back().entries());
      if (entries > kMostEntries) Taker::fail("too many entries");
    }
    Tensor all = tensor(dtype, {}, static_cast<int64_t>(entries));
    std::byte* at = all.mutable_data();
    for (size_t i = 0; i < out.size(); ++i) {
      *out[i] = Tensor(dtype, shapes[i], all.buffer(), at);
      at += shapes[i].entries() * dtype_size(dtype);
    }
  }

  static ObjectPtr object_of(const LeafSpec& leaf, std::vector<Tensor> parts) {
    Tensor out;
    try {
      if (leaf.kind == LeafSpec::Kind::optional) {
        if (!parts.empty() && !leaf.shape.admits(parts[0].dims()))
          Taker::fail("a value of shape " + parts[0].dims().text() + ", expected " + leaf.text());
        return parts.empty() ? make_missing(leaf.dtype, leaf.shape).object()
                             : std::make_shared<const OptionalTensor>(leaf.shape, parts[0]);
      }
      if (leaf.kind == LeafSpec::Kind::sparse) {
        out = make_sparse(parts[0], parts[1], parts[2]);
      } else {
        Tensor values = std::move(parts.back());
        parts.pop_back();
        out = make_ragged(std::move(parts), std::move(values));
      }
    } catch (const Error& e) {
      if (e.code() == Code::data_loss) throw;
      Taker::fail(e.message());
    }
    bool same = false;
    const Spec wanted = Spec::of(leaf);
    const Spec both = join_specs(wanted, Spec::of(leaf_of(out)), &same);
    if (!same || !(both == wanted))
      Taker::fail("a row of type " + leaf_of(out).text() + ", expected " + leaf.text());
    return out.object();
  }

  // Returns a tensor [count, ...row] over the chunk; creates views of strings.
  Tensor tensor(DType dtype, const Dims& row, int64_t count) {
    uint64_t bytes = 0;
    if (checked_product({row.entries(), count}) > kMostChunkEntries || row.rank() == kMaxRank)
      Taker::fail("too many entries");
    const auto entries = static_cast<uint64_t>(row.entries() * count);
    const Dims whole = row.with_front(count);
    if (dtype != DType::bytes) {
      bytes = entries * static_cast<uint64_t>(dtype_size(dtype));
      const std::string_view at = area(bytes);
      if (dtype == DType::boolean && std::ranges::any_of(at, [](char c) { return c & ~1; }))
        Taker::fail("a bool that is neither true nor false");
      return {dtype, whole, buffer_, reinterpret_cast<std::byte*>(const_cast<char*>(at.data()))};
    }
    const auto total = meta_.value<uint64_t>();
    const std::string_view sizes = area(entries * sizeof(int64_t));
    const std::string_view texts = area(total);
    Tensor out = Tensor::make(DType::bytes, whole);
    out.mutable_buffer().keep(buffer_);
    auto* views = out.mutable_entries<BytesView>();
    uint64_t at = 0;
    for (uint64_t i = 0; i < entries; ++i) {
      int64_t size;
      std::memcpy(&size, sizes.data() + i * sizeof size, sizeof size);
      if (size < 0 || static_cast<uint64_t>(size) > total - at)
        Taker::fail("sizes of strings that do not add up");
      views[i] = {texts.data() + at, size};
      at += static_cast<uint64_t>(size);
    }
    return out;
  }

  const BufferRef& buffer_;
  Taker meta_, data_;
  int64_t rows_ = 0;
};

}  // namespace

void verify_chunk(const BufferRef& buffer, int64_t bytes) {
  const std::span content(buffer.data(), static_cast<size_t>(bytes));
  SectionHead head;
  std::memcpy(&head, content.data() + content.size(), sizeof head);
  if ((head.flags & kPacked) == 0 && !head.matches(content))
    throw Error(Code::data_loss, kWrongChecksum);
}

Block decode_chunk(const BufferRef& buffer, int64_t bytes, const Spec& spec) {
  const std::string_view text(reinterpret_cast<const char*>(buffer.data()),
                              static_cast<size_t>(bytes));
  return ChunkDecoder(buffer, text).decode(spec);
}

}  // namespace penstock
