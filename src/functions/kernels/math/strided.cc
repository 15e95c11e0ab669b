#include "functions/kernels/math/strided.h"

#include <cstring>

#include "functions/kernels/math/shape_arguments.h"

namespace penstock {
namespace {

struct Sixteen {
  uint64_t a, b;
};

template <typename T>
void copy_run(const T* from, int64_t stride, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

template <typename T>
void copy_view(const std::byte* source, const StridedView& v, std::byte* target) {
  const T* from = reinterpret_cast<const T*>(source) + v.first;
  T* to = reinterpret_cast<T*>(target);
  if (v.rank == 0) {
    *to = *from;
    return;
  }
  const auto last = static_cast<size_t>(v.rank - 1);
  const int64_t n = v.size[last], stride = v.stride[last];
  std::array<int64_t, StridedView::kMax> index{};
  for (;;) {
    if (stride == 1) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      copy_run(from, stride, to, n);
    }
    to += n;
    int axis = v.rank - 2;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      from += v.stride[a];
      if (++index[a] < v.size[a]) break;
      from -= v.stride[a] * v.size[a];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

// Axes of size 1 dropped, those that advance as one joined.
StridedView joined(const StridedView& v) {
  StridedView out;
  out.first = v.first;
  for (int i = 0; i < v.rank; ++i) {
    const auto a = static_cast<size_t>(i);
    if (v.size[a] == 1) continue;
    const auto last = static_cast<size_t>(out.rank > 0 ? out.rank - 1 : 0);
    if (out.rank > 0 && out.stride[last] == v.stride[a] * v.size[a]) {
      out.size[last] *= v.size[a];
      out.stride[last] = v.stride[a];
    } else {
      out.push_back(v.size[a], v.stride[a]);
    }
  }
  return out;
}

}  // namespace

StridedView StridedView::of(const Dims& dims) {
  StridedView out;
  int64_t stride = dims.entries();
  for (const int64_t s : dims.sizes()) {
    stride = s == 0 ? 0 : stride / s;
    out.push_back(s, stride);
  }
  return out;
}

bool StridedView::contiguous() const {
  const StridedView v = joined(*this);
  return v.rank == 0 || (v.rank == 1 && v.stride[0] == 1);
}

void copy_strided(const std::byte* from, const StridedView& view, int64_t entry_bytes,
                  std::byte* to) {
  if (view.entries() == 0) return;
  const StridedView v = joined(view);
  switch (entry_bytes) {
    case 1: return copy_view<uint8_t>(from, v, to);
    case 2: return copy_view<uint16_t>(from, v, to);
    case 4: return copy_view<uint32_t>(from, v, to);
    case 8: return copy_view<uint64_t>(from, v, to);
    default: return copy_view<Sixteen>(from, v, to);
  }
}

void set_strided(OutputSlot* slot, const Tensor& from, const StridedView& view, const Dims& dims) {
  const int64_t entry = dtype_size(from.dtype());
  Tensor source = from;
  if (view.entries() > 0 && view.contiguous()) {
    return slot->set(
        Tensor(from.dtype(), dims, from.buffer(), source.mutable_data() + view.first * entry));
  }
  copy_strided(from.data(), view, entry, slot->allocate(dims));
  share_strings(slot, from);
}

bool set_strided_block(const BlockCall& call, const StridedView& view, const Dims& dims) {
  const Column& in = call.inputs[0];
  const int64_t entry = dtype_size(in.dtype());
  if (in.kind() == Column::Kind::constant) {
    Tensor out;
    OutputSlot slot(in.dtype(), &out);
    set_strided(&slot, in.row(0), view, dims);
    call.outputs[0] = Column::constant(std::move(out), call.rows);
    return true;
  }
  if (in.kind() != Column::Kind::dense) return false;
  StridedView rows;
  rows.first = view.first;
  rows.push_back(call.rows, in.row_dims().entries());
  for (int i = 0; i < view.rank; ++i) {
    rows.push_back(view.size[static_cast<size_t>(i)], view.stride[static_cast<size_t>(i)]);
  }
  if (rows.entries() > 0 && rows.contiguous()) {
    Column source = in;
    call.outputs[0] = Column::dense(in.dtype(), dims, call.rows, in.buffer(),
                                    source.mutable_data() + view.first * entry);
    return true;
  }
  Column out = Column::dense(in.dtype(), dims, call.rows);
  copy_strided(in.data(), rows, entry, out.mutable_data());
  share_strings(&out.mutable_buffer(), in.buffer(), in.dtype());
  call.outputs[0] = std::move(out);
  return true;
}

}  // namespace penstock
