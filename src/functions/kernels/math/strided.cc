#include "functions/kernels/math/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

// Calls f(offset in the source, offset in the result) for every index of the axes of `v` but the
// last and those whose bits are set in `but`.
template <typename F>
void for_each_other(const StridedView& v, uint64_t but, F&& f) {
  std::array<int64_t, StridedView::kMax> index{}, step{};
  int64_t entries = v.size[static_cast<size_t>(v.rank - 1)];
  for (int axis = v.rank - 2; axis >= 0; --axis) {
    step[static_cast<size_t>(axis)] = entries;
    entries *= v.size[static_cast<size_t>(axis)];
  }
  int64_t from = 0, to = 0;
  for (;;) {
    f(from, to);
    int axis = v.rank - 2;
    for (; axis >= 0; --axis) {
      const auto i = static_cast<size_t>(axis);
      if ((but >> i & 1) != 0) continue;
      from += v.stride[i];
      to += step[i];
      if (++index[i] < v.size[i]) break;
      from -= v.stride[i] * v.size[i];
      to -= step[i] * v.size[i];
      index[i] = 0;
    }
    if (axis < 0) return;
  }
}

// Squares of 8 x 8 or 4 x 4 entries turned in registers: column j of the source, `stride` apart, is
// entry j of each row of the result. 0: entries of this size are moved one by one.
template <typename T>
constexpr int64_t square_side() {
#if defined(__SSE2__)
  if (sizeof(T) == 2) return 8;
  if (sizeof(T) == 4) return 4;
#endif
  return 0;
}

#if defined(__SSE2__)
__m128i load_16(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
void store_16(__m128i value, void* to) { _mm_storeu_si128(static_cast<__m128i*>(to), value); }

// Row i of the square goes to to + rows[i].
void turn_square(const uint32_t* from, int64_t stride, uint32_t* to, const int64_t* rows) {
  const __m128i a = load_16(from), b = load_16(from + stride), c = load_16(from + 2 * stride),
                d = load_16(from + 3 * stride);
  const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
  const __m128i high_ab = _mm_unpackhi_epi32(a, b), high_cd = _mm_unpackhi_epi32(c, d);
  store_16(_mm_unpacklo_epi64(ab, cd), to + rows[0]);
  store_16(_mm_unpackhi_epi64(ab, cd), to + rows[1]);
  store_16(_mm_unpacklo_epi64(high_ab, high_cd), to + rows[2]);
  store_16(_mm_unpackhi_epi64(high_ab, high_cd), to + rows[3]);
}

void turn_square(const uint16_t* from, int64_t stride, uint16_t* to, const int64_t* rows) {
  __m128i pairs[8], fours[8];
  for (int64_t j = 0; j < 4; ++j) {
    const __m128i a = load_16(from + 2 * j * stride), b = load_16(from + (2 * j + 1) * stride);
    pairs[j] = _mm_unpacklo_epi16(a, b);      // entries 0 to 3 of both
    pairs[j + 4] = _mm_unpackhi_epi16(a, b);  // 4 to 7
  }
  for (int64_t half = 0; half < 8; half += 4) {
    fours[half] = _mm_unpacklo_epi32(pairs[half], pairs[half + 1]);
    fours[half + 1] = _mm_unpackhi_epi32(pairs[half], pairs[half + 1]);
    fours[half + 2] = _mm_unpacklo_epi32(pairs[half + 2], pairs[half + 3]);
    fours[half + 3] = _mm_unpackhi_epi32(pairs[half + 2], pairs[half + 3]);
    const int64_t* row = rows + half;
    store_16(_mm_unpacklo_epi64(fours[half], fours[half + 2]), to + row[0]);
    store_16(_mm_unpackhi_epi64(fours[half], fours[half + 2]), to + row[1]);
    store_16(_mm_unpacklo_epi64(fours[half + 1], fours[half + 3]), to + row[2]);
    store_16(_mm_unpackhi_epi64(fours[half + 1], fours[half + 3]), to + row[3]);
  }
}
#endif

// `along` entries of the source, which lie side by side and go to rows[0], rows[1] ... of the
// result, by `across`, which lie `stride` apart.
template <typename T>
void turn_tile(const T* from, int64_t stride, T* to, const int64_t* rows, int64_t along,
               int64_t across) {
  constexpr int64_t kSide = square_side<T>();
  int64_t k = 0;
#if defined(__SSE2__)
  if constexpr (kSide > 0) {
    for (; k + kSide <= along; k += kSide) {
      int64_t j = 0;
      for (; j + kSide <= across; j += kSide)
        turn_square(from + k + j * stride, stride, to + j, rows + k);
      for (int64_t i = k; i < k + kSide && j < across; ++i)
        copy_run(from + i + j * stride, stride, to + rows[i] + j, across - j);
    }
  }
#endif
  for (; k < along; ++k) copy_run(from + k, stride, to + rows[k], across);
}

// Axes along which the source lies in one piece: the innermost and, while that is short, those that
// continue it.
struct Along {
  uint64_t axes = 0;
  int64_t entries = 1;
  std::vector<int64_t> to;  // bounded: some tiles; of each entry, its offset in the result
};

// Of the axes of `v` but the last; no entries where none is innermost.
Along find_along(const StridedView& v) {
  const auto last = static_cast<size_t>(v.rank - 1);
  Along out;
  out.to = {0};
  constexpr int64_t kEnough = 64;  // for whole tiles
  for (bool more = true; more && out.entries < kEnough;) {
    more = false;
    int64_t to_step = v.size[last];
    for (size_t axis = last; axis-- > 0; to_step *= v.size[axis]) {
      if ((out.axes >> axis & 1) != 0 || v.stride[axis] != out.entries) continue;
      const std::vector<int64_t> inner = std::move(out.to);
      out.to.clear();
      for (int64_t i = 0; i < v.size[axis]; ++i) {
        for (const int64_t offset : inner) out.to.push_back(offset + i * to_step);
      }
      out.axes |= uint64_t{1} << axis;
      out.entries *= v.size[axis];
      more = true;
      break;
    }
  }
  return out;
}

// Where the result's neighbours lie on cache lines of their own in the source: in tiles, so that
// each line of both is touched once.
template <typename T>
void copy_tiles(const T* from, const StridedView& v, const Along& along, T* to) {
  constexpr int64_t kAlong = 64 / static_cast<int64_t>(sizeof(T)), kAcross = 16;
  const auto last = static_cast<size_t>(v.rank - 1);
  const int64_t stride = v.stride[last], n = v.size[last];
  for_each_other(v, along.axes, [&](int64_t begin, int64_t into) {
    for (int64_t i = 0; i < along.entries; i += kAlong) {
      const int64_t count = std::min(along.entries - i, kAlong);
      for (int64_t j = 0; j < n; j += kAcross) {
        turn_tile(from + begin + i + j * stride, stride, to + into + j, along.to.data() + i, count,
                  std::min(kAcross, n - j));
      }
    }
  });
}

// Whether copy_tiles may pay: neighbours of the result are far apart in the source.
template <typename T>
bool far_apart(const StridedView& v) {
  const auto last = static_cast<size_t>(v.rank - 1);
  return std::abs(v.stride[last]) * static_cast<int64_t>(sizeof(T)) >= 64 && v.size[last] >= 4;
}

// `count` short runs, `step` bytes apart in the source and `to_step` in the result: a call of
// memcpy for each would cost more than the copy.
template <size_t kBytes>
void copy_short_runs(const std::byte* from, int64_t step, std::byte* to, int64_t to_step,
                     int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * step, kBytes);
}

using ShortRuns = void (*)(const std::byte*, int64_t, std::byte*, int64_t, int64_t);

ShortRuns short_runs(int64_t bytes) {
  switch (bytes) {
    case 2: return copy_short_runs<2>;
    case 3: return copy_short_runs<3>;
    case 4: return copy_short_runs<4>;
    case 6: return copy_short_runs<6>;
    case 8: return copy_short_runs<8>;
    case 12: return copy_short_runs<12>;
    case 16: return copy_short_runs<16>;
    case 24: return copy_short_runs<24>;
    case 32: return copy_short_runs<32>;
    case 48: return copy_short_runs<48>;
    default: return nullptr;
  }
}

// The axis before the last whose neighbours lie closest in the source, of those that are long.
int closest_axis(const StridedView& v) {
  int best = -1;
  for (int axis = 0; axis + 1 < v.rank; ++axis) {
    const auto a = static_cast<size_t>(axis);
    if (v.size[a] < 8) continue;
    if (best < 0 || std::abs(v.stride[a]) < std::abs(v.stride[static_cast<size_t>(best)]))
      best = axis;
  }
  return best;
}

// False when the view is no such one.
template <typename T>
bool copy_by_short_runs(const T* from, const StridedView& v, T* to) {
  constexpr auto kEntry = static_cast<int64_t>(sizeof(T));
  const auto last = static_cast<size_t>(v.rank - 1);
  if (v.stride[last] != 1) return false;
  const ShortRuns copy = short_runs(v.size[last] * kEntry);
  const int axis = copy ? closest_axis(v) : -1;
  if (axis < 0) return false;
  const auto a = static_cast<size_t>(axis);
  int64_t to_step = 1;
  for (size_t i = a + 1; i <= last; ++i) to_step *= v.size[i];
  for_each_other(v, uint64_t{1} << a, [&](int64_t begin, int64_t into) {
    copy(reinterpret_cast<const std::byte*>(from + begin), v.stride[a] * kEntry,
         reinterpret_cast<std::byte*>(to + into), to_step * kEntry, v.size[a]);
  });
  return true;
}

template <typename T>
void copy_view(const std::byte* source, const StridedView& v, std::byte* target) {
  const T* from = reinterpret_cast<const T*>(source) + v.first;
  T* to = reinterpret_cast<T*>(target);
  if (v.rank == 0) {
    *to = *from;
    return;
  }
  if (far_apart<T>(v)) {
    if (const Along along = find_along(v); along.entries >= 8)
      return copy_tiles(from, v, along, to);
  }
  if (copy_by_short_runs(from, v, to)) return;
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
