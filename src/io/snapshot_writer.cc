// Writes large pieces of a chunk directly from their buffers; joins only small ones.

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // selects the widest registers of the machine
#endif

#include <algorithm>
#include <deque>

#include "data/optional.h"
#include "data/ragged.h"
#include "io/snapshot.h"
#include "io/snapshot_layout.h"

namespace penstock {
namespace {

using namespace snapshot;

constexpr int64_t kLeastChunk = 512 << 10;
constexpr size_t kSmallPiece = 64 << 10;
constexpr size_t kHeldBytes = 1 << 20;

// Returns the parts of a row: splits and values of a ragged one; indices, values and shape of a
// sparse one; the value of an optional one, if present.
std::vector<Tensor> object_parts(const Tensor& row) {
  if (const RaggedTensor* ragged = as_ragged(row)) {
    std::vector<Tensor> out = ragged->splits();
    out.push_back(ragged->values());
    return out;
  }
  if (const SparseTensor* sparse = as_sparse(row))
    return {sparse->indices(), sparse->values(), sparse->shape()};
  const OptionalTensor* value = as_optional(row);
  PENSTOCK_CHECK(value != nullptr);
  if (!value->has_value()) return {};
  return {value->value()};
}

// Joins the entries of all tensors. Strings stay views into the buffers of `tensors`.
Tensor joined_entries(const std::vector<Tensor>& tensors) {
  int64_t entries = 0;
  for (const Tensor& t : tensors) entries += t.entries_count();
  Tensor out = Tensor::make(tensors[0].dtype(), {entries});
  std::byte* to = out.mutable_data();
  for (const Tensor& t : tensors) {
    const auto bytes = static_cast<size_t>(t.entries_count() * dtype_size(t.dtype()));
    if (bytes > 0) std::memcpy(to, t.data(), bytes);
    to += bytes;
    if (t.dtype() == DType::bytes) out.mutable_buffer().keep(t.buffer());
  }
  return out;
}

// Returns the approximate bytes of the block in a chunk.
int64_t stored_bytes(const Block& block) {
  int64_t out = block.payload_bytes();
  for (const Column& c : block.columns) {
    if (c.kind() != Column::Kind::object) continue;
    for (int64_t i = 0; i < c.rows(); ++i) {
      for (const Tensor& part : object_parts(c.row(i)))
        out += part.payload_bytes() + (1 + part.dims().rank()) * 8;
    }
  }
  return out;
}

// A chunk as pieces: some are views of the block, some are made here.
class ChunkPieces {
 public:
  explicit ChunkPieces(const Block& block) {
    put_origin(block);
    for (const Column& c : block.columns) put_column(c);
    std::string head;
    put(&head, static_cast<uint64_t>(meta_.size()));
    made_.push_front(head + meta_);
    pieces_.front() = made_.front();
    pad_front();
  }
  std::span<const std::string_view> pieces() const { return pieces_; }

 private:
  void put_origin(const Block& block) {
    pieces_.emplace_back();  // placeholder for the description, filled in later
    put(&meta_, static_cast<uint32_t>(block.rows));
    bool affine = true;
    const uint64_t first = block.origin.lineage(0);
    const uint64_t stride = block.rows > 1 ? block.origin.lineage(1) - first : 1;
    for (int64_t i = 0; i < block.rows; ++i)
      affine = affine && block.origin.lineage(i) == first + stride * static_cast<uint64_t>(i);
    put(&meta_, affine ? kAffine : kIds);
    put(&meta_, first);
    put(&meta_, stride);
    if (affine) return;
    std::string ids;
    for (int64_t i = 0; i < block.rows; ++i) put(&ids, block.origin.lineage(i));
    add_made(std::move(ids));
  }

  void put_dims(const Dims& dims) {
    put(&meta_, static_cast<uint8_t>(dims.rank()));
    for (const int64_t size : dims.sizes()) put(&meta_, size);
  }

  void put_column(const Column& c) {
    switch (c.kind()) {
      case Column::Kind::dense:
        put(&meta_, kDense);
        put_dims(c.row_dims());
        add_entries(c.dtype(), c.data(), c.rows() * c.row_dims().entries());
        break;
      case Column::Kind::constant:
        put(&meta_, kConstant);
        put_dims(c.row_dims());
        add_entries(c.dtype(), c.data(), c.row_dims().entries());
        break;
      case Column::Kind::ragged: put_ragged(c); break;
      case Column::Kind::variable: put_variable(c); break;
      case Column::Kind::object: put_objects(c); break;
    }
  }

  void put_ragged(const Column& c) {
    put(&meta_, kRagged);
    put_dims(c.row_dims());
    const int64_t base = c.splits()[0], total = c.splits()[c.rows()] - base;
    std::string splits;
    for (int64_t i = 0; i <= c.rows(); ++i) put(&splits, c.splits()[i] - base);
    add_made(std::move(splits));
    add_entries(c.dtype(), c.row_data(0), total * c.row_dims().entries());
  }

  void put_variable(const Column& c) {
    put(&meta_, kVariable);
    for (int64_t i = 0; i < c.rows(); ++i) {
      const Tensor row = c.row(i);
      put_dims(row.dims());
      held_rows_.push_back(row);
      add_entries(c.dtype(), row.data(), row.entries_count());
    }
  }

  // Adds the tensors that the rows consist of; tensors with the same role share an area.
  void put_objects(const Column& c) {
    put(&meta_, kObjects);
    std::vector<std::vector<Tensor>> rows;
    for (int64_t i = 0; i < c.rows(); ++i) rows.push_back(object_parts(c.row(i)));
    for (const auto& row : rows) put(&meta_, static_cast<uint8_t>(row.size()));
    for (size_t part = 0;; ++part) {
      std::vector<Tensor> alike;
      for (const auto& row : rows) {
        if (part < row.size()) alike.push_back(row[part]);
      }
      if (alike.empty()) return;
      for (const Tensor& t : alike) put_dims(t.dims());
      const Tensor joined = joined_entries(alike);
      held_rows_.push_back(joined);
      add_entries(joined.dtype(), joined.data(), joined.entries_count());
    }
  }

  // Adds numbers as they are; strings as their sizes, then their bytes.
  void add_entries(DType dtype, const std::byte* data, int64_t entries) {
    const auto* text = reinterpret_cast<const char*>(data);
    if (dtype != DType::bytes) {
      add({text, static_cast<size_t>(entries * dtype_size(dtype))});
      return pad();
    }
    const auto* views = reinterpret_cast<const BytesView*>(data);
    std::string sizes;
    uint64_t total = 0;
    for (int64_t i = 0; i < entries; ++i) {
      put(&sizes, views[i].size);
      total += static_cast<uint64_t>(views[i].size);
    }
    put(&meta_, total);
    add_made(std::move(sizes));
    for (int64_t i = 0; i < entries; ++i) add(views[i].view());
    pad();
  }

  void add(std::string_view piece) {
    bytes_ += piece.size();
    if (!piece.empty()) pieces_.push_back(piece);
  }
  void add_made(std::string piece) {
    made_.push_back(std::move(piece));
    add(made_.back());
    pad();
  }
  void pad() {
    static constexpr char kZeros[kAlignment] = {};
    add({kZeros, (kAlignment - bytes_ % kAlignment) % kAlignment});
  }
  void pad_front() {
    std::string& front = made_.front();
    front.append((kAlignment - front.size() % kAlignment) % kAlignment, '\0');
    pieces_.front() = front;
  }

  std::string meta_;
  std::deque<std::string> made_;
  std::vector<Tensor> held_rows_;
  std::vector<std::string_view> pieces_;
  size_t bytes_ = 0;  // of the data after the description
};

}  // namespace

bool can_snapshot(const Spec& spec) {
  return std::ranges::none_of(
      spec.leaves(), [](const LeafSpec& leaf) { return leaf.kind == LeafSpec::Kind::dataset; });
}

SnapshotWriter::SnapshotWriter(std::string path, const Spec& spec, std::string_view compression,
                               uint64_t epoch)
    : file_(std::move(path)),
      packing_(parse_packing(compression)),
      hash_(XXH3_createState()),
      pending_(static_cast<size_t>(spec.leaf_count())) {
  const bool plain = std::ranges::all_of(spec.leaves(), &LeafSpec::is_tensor);
  file_.append(kMagic);
  std::string header;
  put(&header, plain && (packing_ | kLz4) == kLz4 ? kFirstVersion : kLastVersion);
  put_spec(&header, spec);
  put(&header, epoch);
  const std::string_view piece = header;
  write_section(kHeader, {&piece, 1});
}

SnapshotWriter::~SnapshotWriter() = default;

void SnapshotWriter::FreeHash::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

void SnapshotWriter::write(const Block& block) {
  rows_ += block.rows;
  const int64_t bytes = stored_bytes(block);
  if (pending_.empty() && bytes >= kLeastChunk) return write_chunk(block);
  pending_.append(block);
  pending_bytes_ += bytes;
  if (pending_bytes_ >= kLeastChunk) write_chunk(pending_.finish());
}

void SnapshotWriter::write_chunk(const Block& block) {
  write_section(kChunk, ChunkPieces(block).pieces());
  pending_bytes_ = 0;
  ++chunks_;
}

void SnapshotWriter::write_section(uint32_t kind, std::span<const std::string_view> pieces) {
  SectionHead head;
  head.kind = kind;
  for (const std::string_view piece : pieces) head.raw_bytes += piece.size();
  head.stored_bytes = head.raw_bytes;
  std::string shorter;
  std::string_view whole;
  if (packing_ != 0 && kind == kChunk) {
    std::string plain;
    for (const std::string_view piece : pieces) plain += piece;
    shorter = packed(packing_, plain);
    if (!shorter.empty()) {
      head.flags = packing_;
      head.stored_bytes = shorter.size();
      whole = shorter;
      pieces = {&whole, 1};
    }
  }
  XXH3_64bits_reset_withSeed(hash_.get(), head.seed());
  for (const std::string_view piece : pieces)
    XXH3_64bits_update(hash_.get(), piece.data(), piece.size());
  head.checksum = XXH3_64bits_digest(hash_.get());
  held_.append(reinterpret_cast<const char*>(&head), sizeof head);
  for (const std::string_view piece : pieces) {
    if (piece.size() < kSmallPiece) {
      held_ += piece;
      if (held_.size() < kHeldBytes) continue;
    }
    file_.append(held_);
    held_.clear();
    if (piece.size() >= kSmallPiece) file_.append(piece);
  }
}

void SnapshotWriter::close() {
  if (!pending_.empty()) write_chunk(pending_.finish());
  std::string end;
  put(&end, End{static_cast<uint64_t>(chunks_), static_cast<uint64_t>(rows_)});
  const std::string_view piece = end;
  write_section(kEnd, {&piece, 1});
  file_.append(held_);
  held_.clear();
  file_.commit();
}

}  // namespace penstock
