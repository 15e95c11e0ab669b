#include "datasets/slot_column.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "data/ragged.h"

namespace penstock {
namespace {

constexpr int64_t kFlatBytes = 1024;  // rows up to this size lie side by side
constexpr int64_t kObjectBytes =
    512;  // an object, its tensors without their entries, and allocators
constexpr int64_t kJoinedBytes = 4096;  // outputs up to this size are joined into one column

// A row with a buffer that holds little else.
Tensor own(const Tensor& row) {
  if (row.object()) return row;
  const bool alone =
      row.dtype() != DType::bytes && row.buffer().capacity() <= 2 * row.data_bytes() + 4096;
  return alone ? row : row.copy();
}

void fail_row(Block* in, int64_t row, ErrorPtr error) {
  if (in->error_at(row)) return;
  in->errors.insert(std::ranges::upper_bound(in->errors, row, {}, &RowError::row),
                    {row, std::move(error)});
}

}  // namespace

SlotColumn::SlotColumn(const LeafSpec& leaf)
    : dtype_(leaf.dtype),
      fixed_(is_dense(leaf) && leaf.shape.is_static()),
      layout_(is_dense(leaf) && leaf.dtype != DType::bytes ? Layout::undecided : Layout::loose) {
  if (fixed_ && layout_ == Layout::undecided) decide(leaf.shape.dims());
}

void SlotColumn::decide(const Dims& dims) {
  const int64_t bytes = dims.entries() * dtype_size(dtype_);
  if (bytes == 0 || bytes > kFlatBytes) return loosen();
  layout_ = Layout::flat;
  dims_ = dims;
  bytes_ = static_cast<size_t>(bytes);
  if (room_ > 0) buffer_ = allocate_buffer(static_cast<int64_t>(room_ * bytes_));
}

// Rows that lay side by side keep their buffer until the last of them is drawn.
void SlotColumn::loosen() {
  tensors_.resize(room_);
  if (flat()) {
    for (size_t slot = 0; slot < room_; ++slot)
      tensors_[slot] = Tensor(dtype_, dims_, buffer_, buffer_.data() + slot * bytes_);
    buffer_ = {};
    out_ = {};
  }
  layout_ = Layout::loose;
}

void SlotColumn::admit(const Block& in, size_t column, int64_t row, size_t n) {
  if (layout_ == Layout::loose || (fixed_ && flat())) return;
  const Column& c = in.columns[column];
  const bool alike = c.kind() == Column::Kind::dense || c.kind() == Column::Kind::constant;
  const auto end = row + static_cast<int64_t>(n);
  for (int64_t i = row; i < end && layout_ != Layout::loose; ++i) {
    if (in.error_at(i)) continue;
    const Dims dims = c.dims_of(i);
    if (layout_ == Layout::undecided) {
      decide(dims);
    } else if (!(dims == dims_)) {
      loosen();
    }
    if (alike) return;
  }
}

void SlotColumn::reserve(size_t slots) {
  if (slots <= room_) return;
  const size_t room = std::max({slots, 2 * room_, size_t{64}});
  if (layout_ == Layout::loose) tensors_.resize(room);
  if (flat()) {
    BufferRef buffer = allocate_buffer(static_cast<int64_t>(room * bytes_));
    if (room_ > 0) std::memcpy(buffer.data(), buffer_.data(), room_ * bytes_);
    buffer_ = std::move(buffer);
  }
  room_ = room;
}

// Calls f with the row size as a constant where it is a common one, so that copies are single
// moves.
template <typename F>
void SlotColumn::with_width(F&& f) {
  switch (bytes_) {
    case 1: return f(std::integral_constant<size_t, 1>());
    case 4: return f(std::integral_constant<size_t, 4>());
    case 8: return f(std::integral_constant<size_t, 8>());
    case 16: return f(std::integral_constant<size_t, 16>());
    default: return f(bytes_);
  }
}

void SlotColumn::keep(size_t slot, const Tensor& row) {
  if (row.object()) {
    held_.grow(
        kObjectBytes,
        [this] {
          return std::to_string(held_.bytes() / kObjectBytes) +
                 " elements that wait to be drawn, each a ragged, sparse, optional or nested value";
        },
        "shuffle fewer at once");
  }
  tensors_[slot] = own(row);
}

Tensor SlotColumn::take(size_t slot) {
  if (tensors_[slot].object()) held_.shrink(kObjectBytes);
  // An empty one stays: an error that comes next leaves it there, to be given without being looked
  // at.
  return std::exchange(tensors_[slot], Tensor());
}

void SlotColumn::put(size_t slot, Block* in, size_t column, int64_t row) {
  if (in->error_at(row)) {
    if (flat()) std::memset(buffer_.data() + slot * bytes_, 0, bytes_);
    return;
  }
  const Column& c = in->columns[column];
  try {
    if (!flat()) {
      keep(slot, c.row(row));
      return;
    }
    if (!(c.dims_of(row) == dims_)) {
      throw Error(Code::internal,
                  "an element has shape " + c.dims_of(row).text() + ", expected " + dims_.text());
    }
    std::memcpy(buffer_.data() + slot * bytes_, c.row_data(row), bytes_);
  } catch (const Error&) {
    fail_row(in, row, current_error());
  }
}

void SlotColumn::fill(size_t slot, Block* in, size_t column, int64_t row, size_t n) {
  admit(*in, column, row, n);
  const Column& c = in->columns[column];
  if (flat() && c.kind() == Column::Kind::dense && c.row_dims() == dims_) {
    std::memcpy(buffer_.data() + slot * bytes_, c.row_data(row), n * bytes_);
    return;
  }
  for (size_t i = 0; i < n; ++i) put(slot + i, in, column, row + static_cast<int64_t>(i));
}

void SlotColumn::prepare(size_t outputs) {
  if (layout_ == Layout::undecided) loosen();  // nothing but errors: there is no shape to keep
  if (flat()) {
    out_ = Column::dense(dtype_, dims_, static_cast<int64_t>(outputs));
  } else {
    out_tensors_.reserve(outputs);
  }
}

void SlotColumn::exchange(std::span<const size_t> slots, size_t refills, Block* in, size_t column,
                          int64_t row) {
  if (refills > 0) admit(*in, column, row, refills);
  if (!flat()) {
    for (size_t i = 0; i < slots.size(); ++i) {
      out_tensors_.push_back(take(slots[i]));
      if (i < refills) put(slots[i], in, column, row + static_cast<int64_t>(i));
    }
    return;
  }
  std::byte* const to = out_.mutable_data();
  std::byte* const base = buffer_.data();
  const Column* c = refills > 0 ? &in->columns[column] : nullptr;
  const bool plain = c &&
                     (c->kind() == Column::Kind::dense || c->kind() == Column::Kind::constant) &&
                     c->row_dims() == dims_;
  const std::byte* from = plain ? c->row_data(row) : nullptr;
  const size_t step = plain && c->kind() == Column::Kind::dense ? bytes_ : 0;
  with_width([&](auto width) {
    for (size_t i = 0; i < slots.size(); ++i) {
      std::byte* const at = base + slots[i] * width;
      std::memcpy(to + i * width, at, width);
      if (i >= refills) continue;
      if (plain) {
        std::memcpy(at, from + i * step, width);
      } else {
        put(slots[i], in, column, row + static_cast<int64_t>(i));
      }
    }
  });
}

void SlotColumn::drain(std::span<const size_t> slots, size_t count) {
  if (!flat()) {
    for (size_t i = 0; i < slots.size(); ++i) {
      out_tensors_.push_back(take(slots[i]));
      move(count - 1 - i, slots[i]);
    }
    return;
  }
  std::byte* const to = out_.mutable_data();
  std::byte* const base = buffer_.data();
  with_width([&](auto width) {
    for (size_t i = 0; i < slots.size(); ++i) {
      std::byte* const at = base + slots[i] * width;
      std::memcpy(to + i * width, at, width);
      std::memmove(at, base + (count - 1 - i) * width, width);
    }
  });
}

void SlotColumn::move(size_t from, size_t to) {
  if (flat()) {
    std::memmove(buffer_.data() + to * bytes_, buffer_.data() + from * bytes_, bytes_);
  } else if (from != to) {
    tensors_[to] = std::move(tensors_[from]);
  }
}

Column SlotColumn::finish() {
  if (flat()) return std::move(out_);
  const bool joined = std::ranges::all_of(out_tensors_, [this](const Tensor& t) {
    return t.object() || (t.dtype() == out_tensors_[0].dtype() &&
                          t.dims() == out_tensors_[0].dims() && t.data_bytes() <= kJoinedBytes);
  });
  std::vector<Tensor> rows;
  rows.swap(out_tensors_);
  if (!joined) return Column::variable(dtype_, std::move(rows));
  ColumnBuilder builder;
  const auto n = static_cast<int64_t>(rows.size());
  for (Tensor& t : rows) builder.append(Column::constant(std::move(t), 1));
  return builder.take(n);
}

}  // namespace penstock
