// A chunk's bytes as columns laid over them. Nothing in it is trusted: a checksum only says that
// the bytes are those that somebody wrote.

#include <algorithm>

#include "io/snapshot.h"
#include "io/snapshot_layout.h"

namespace penstock {
namespace {

using namespace snapshot;

constexpr uint64_t kMostEntries = uint64_t{1} << 40;

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
    Dims out;
    uint64_t entries = 1;
    for (int i = 0; i < rank; ++i) {
      const auto size = meta_.value<int64_t>();
      if (size < 0 || __builtin_mul_overflow(entries, static_cast<uint64_t>(size), &entries) ||
          entries > kMostEntries)
        Taker::fail("a shape that is too large");
      out.push_back(size);
    }
    return out;
  }

  static void check(const LeafSpec& leaf, const Dims& row) {
    if (!leaf.shape.admits(row))
      Taker::fail("a row of shape " + row.text() + ", expected " + leaf.text());
  }

  Column column(const LeafSpec& leaf) {
    switch (meta_.value<uint8_t>()) {
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

  // [count, ...row], laid over the chunk; views of strings are made anew.
  Tensor tensor(DType dtype, const Dims& row, int64_t count) {
    uint64_t entries = 0, bytes = 0;
    if (__builtin_mul_overflow(static_cast<uint64_t>(row.entries()), static_cast<uint64_t>(count),
                               &entries) ||
        entries > kMostEntries)
      Taker::fail("too many entries");
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
  if ((head.flags & kLz4) == 0 && !head.matches(content))
    throw Error(Code::data_loss, kWrongChecksum);
}

Block decode_chunk(const BufferRef& buffer, int64_t bytes, const Spec& spec) {
  const std::string_view text(reinterpret_cast<const char*>(buffer.data()),
                              static_cast<size_t>(bytes));
  return ChunkDecoder(buffer, text).decode(spec);
}

}  // namespace penstock
