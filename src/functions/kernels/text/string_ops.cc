// Strings to strings: string_length, lower, upper, strip, substr, join.

#include "functions/kernels/text/strings.h"

#include <algorithm>
#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/broadcast.h"
#include "functions/kernels/math/shape_arguments.h"

namespace penstock {

void StringWriter::finish(BytesView* out, BufferRef* keeper) const {
  if (ends_.empty()) return;
  const BufferRef storage = allocate_buffer(static_cast<int64_t>(chars_.size()));
  char* at = reinterpret_cast<char*>(storage.data());
  if (!chars_.empty()) std::memcpy(at, chars_.data(), chars_.size());
  size_t begin = 0;
  for (size_t i = 0; i < ends_.size(); ++i) {
    out[i] = {at + begin, static_cast<int64_t>(ends_[i] - begin)};
    begin = ends_[i];
  }
  keeper->keep(storage);
}

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c >= ' ' && c != '\x7f') {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out + (text.size() > kMost ? "\"..." : "\"");
}

namespace {

// What makes n strings of n strings; the bytes may lie in the source or in what `keeper` holds.
using Transform = void (*)(const BytesView* in, int64_t n, BytesView* out, BufferRef* keeper);

template <Transform transform>
void transform_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  Tensor out = Tensor::make(DType::bytes, in.dims());
  transform(in.entries<BytesView>(), in.entries_count(), out.mutable_entries<BytesView>(),
            &out.mutable_buffer());
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0].set(std::move(out));
}

template <Transform transform>
bool transform_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  Column out = Column::dense(DType::bytes, in.row_dims(), call.rows);
  transform(in.entries<BytesView>(), call.rows * in.row_dims().entries(),
            out.mutable_entries<BytesView>(), &out.mutable_buffer());
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0] = std::move(out);
  return true;
}

template <char first, char last>
void change_case(const BytesView* in, int64_t n, BytesView* out, BufferRef* keeper) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += in[i].size;
  const BufferRef storage = allocate_buffer(total);
  char* to = reinterpret_cast<char*>(storage.data());
  for (int64_t i = 0; i < n; ++i) {
    out[i] = {to, in[i].size};
    for (int64_t k = 0; k < in[i].size; ++k) {
      const char c = in[i].data[k];
      to[k] = c >= first && c <= last ? static_cast<char>(c ^ 0x20) : c;
    }
    to += in[i].size;
  }
  keeper->keep(storage);
}

void strip(const BytesView* in, int64_t n, BytesView* out, BufferRef*) {
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view text = stripped(in[i].view());
    out[i] = {text.data(), static_cast<int64_t>(text.size())};
  }
}

Spec infer_bytes(const InferContext& context) {
  return Spec::tensor(DType::bytes, context.tensor_of(0, DType::bytes).shape);
}

// -- string_length

Spec infer_length(const InferContext& context) {
  return Spec::tensor(DType::int64, context.tensor_of(0, DType::bytes).shape);
}

void lengths(const BytesView* in, int64_t n, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i].size;
}

void length_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  lengths(in.entries<BytesView>(), in.entries_count(),
          call.outputs[0].allocate_as<int64_t>(in.dims()));
}

bool length_block(const BlockCall& call) {
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  Column out = Column::dense(DType::int64, in.row_dims(), call.rows);
  lengths(in.entries<BytesView>(), call.rows * in.row_dims().entries(),
          out.mutable_entries<int64_t>());
  call.outputs[0] = std::move(out);
  return true;
}

// -- substr

Spec infer_substr(const InferContext& context) {
  Shape shape = context.tensor_of(0, DType::bytes).shape;
  for (int i = 1; i < 3; ++i) {
    bool ok = true;
    shape = broadcast_shapes(shape, infer_integers(context, i, -1).shape, &ok);
    if (!ok)
      context.fail(i, "has shape " + context.tensor(i).shape.text() + ", which does not broadcast");
  }
  return Spec::tensor(DType::bytes, std::move(shape));
}

void substr_row(const RowCall& call) {
  const Tensor &in = call.inputs[0], &pos = call.inputs[1], &len = call.inputs[2];
  const Dims dims =
      broadcast_dims("substr", broadcast_dims("substr", in.dims(), pos.dims()), len.dims());
  const std::array<Extents, 3> extents{Extents(in.dims()), Extents(pos.dims()),
                                       Extents(len.dims())};
  const auto plan = BroadcastPlan::make(extents);
  Tensor out = Tensor::make(DType::bytes, dims);
  const int64_t s0 = plan->steps(0), s1 = plan->steps(1), s2 = plan->steps(2);
  plan->for_each_run([&](int64_t to, int64_t n, const auto& at) {
    for (int64_t i = 0; i < n; ++i) {
      const BytesView& text = in.entry<BytesView>(at[0] + i * s0);
      const int64_t p = integer_at(pos, at[1] + i * s1), l = integer_at(len, at[2] + i * s2);
      if (p > text.size || p < -text.size) {
        fail_row("substr", "position " + std::to_string(p) + " is outside " + quoted(text.view()));
      }
      const int64_t begin = p < 0 ? p + text.size : p, rest = text.size - begin;
      out.mutable_entries<BytesView>()[to + i] = {text.data + begin,
                                                  l < 0 ? rest : std::min(l, rest)};
    }
  });
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0].set(std::move(out));
}

// -- join: several tensors entry by entry, or one along its last axis

Spec infer_join(const InferContext& context) {
  if (context.inputs.empty()) context.fail("needs strings");
  Shape shape = context.tensor_of(0, DType::bytes).shape;
  if (context.inputs.size() == 1) {
    if (!shape.has_rank() || shape.rank() == 0) return Spec::tensor(DType::bytes, shape);
    std::vector<int64_t> sizes = shape.sizes();
    sizes.pop_back();
    return Spec::tensor(DType::bytes, Shape(std::move(sizes)));
  }
  for (int i = 1; i < static_cast<int>(context.inputs.size()); ++i) {
    bool ok = true;
    shape = broadcast_shapes(shape, context.tensor_of(i, DType::bytes).shape, &ok);
    if (!ok)
      context.fail(i, "has shape " + context.tensor(i).shape.text() + ", which does not broadcast");
  }
  return Spec::tensor(DType::bytes, std::move(shape));
}

void join_row(const RowCall& call) {
  const std::string sep = call.attrs["sep"].as_string();
  const Tensor& first = call.inputs[0];
  Dims dims = first.dims();
  std::vector<Tensor> parts(call.inputs.begin(), call.inputs.end());
  int64_t length = static_cast<int64_t>(parts.size());
  const bool along_axis = parts.size() == 1 && dims.rank() > 0;
  if (along_axis) {
    length = dims[dims.rank() - 1];
    dims = Dims(dims.sizes().first(static_cast<size_t>(dims.rank() - 1)));
  }
  for (size_t i = 1; i < parts.size(); ++i) dims = broadcast_dims("join", dims, parts[i].dims());
  // Entry numbers of each part, broadcast.
  std::vector<std::vector<int64_t>> at(along_axis ? 0 : parts.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const std::array<Extents, 2> extents{Extents(parts[i].dims()), Extents(dims)};
    const auto plan = BroadcastPlan::make(extents);
    at[i].resize(static_cast<size_t>(dims.entries()));
    const int64_t step = plan->steps(0);
    plan->for_each_run([&](int64_t to, int64_t n, const auto& from) {
      for (int64_t k = 0; k < n; ++k) at[i][static_cast<size_t>(to + k)] = from[0] + k * step;
    });
  }
  StringWriter writer(dims.entries());
  for (int64_t e = 0; e < dims.entries(); ++e) {
    for (int64_t k = 0; k < length; ++k) {
      if (k > 0) writer.chars() += sep;
      const auto part = static_cast<size_t>(k);
      writer.chars() +=
          (along_axis ? first.entry<BytesView>(e * length + k)
                      : parts[part].entry<BytesView>(at[part][static_cast<size_t>(e)]))
              .view();
    }
    writer.finish_entry();
  }
  Tensor out = Tensor::make(DType::bytes, dims);
  writer.finish(out.mutable_entries<BytesView>(), &out.mutable_buffer());
  call.outputs[0].set(std::move(out));
}

OpDef text_op(std::string name, std::string doc, Spec (*infer)(const InferContext&), RowKernel row,
              BlockKernel block) {
  OpDef op;
  op.name = std::move(name);
  op.params = {required("s", Param::Kind::tensor)};
  op.doc = std::move(doc);
  op.infer = infer;
  op.row = row;
  op.block = block;
  op.cost_ns = 60;
  op.group = "text";
  return op;
}

}  // namespace

void add_string_ops(OpRegistry* registry) {
  auto add = [&](OpDef op) {
    op.elementwise = true;
    registry->add(std::move(op));
  };
  add(text_op("string_length", "the number of bytes of s, int64", infer_length, length_row,
              length_block));
  add(text_op("lower", "s with the letters A to Z made small; other bytes stay", infer_bytes,
              transform_row<change_case<'A', 'Z'>>, transform_block<change_case<'A', 'Z'>>));
  add(text_op("upper", "s with the letters a to z made capital; other bytes stay", infer_bytes,
              transform_row<change_case<'a', 'z'>>, transform_block<change_case<'a', 'z'>>));
  add(text_op("strip", "s without the ASCII white space around it", infer_bytes,
              transform_row<strip>, transform_block<strip>));
  OpDef substr = text_op("substr",
                         "len bytes of s from pos, which counts from the end when negative; all "
                         "that is left when len is negative",
                         infer_substr, substr_row, nullptr);
  substr.params.push_back(required("pos", Param::Kind::tensor));
  substr.params.push_back(required("len", Param::Kind::tensor));
  substr.can_fail = true;
  registry->add(std::move(substr));
  OpDef join =
      text_op("join", "strings joined entry by entry; one tensor alone along its last axis",
              infer_join, join_row, nullptr);
  join.params = {required("parts", Param::Kind::tensors),
                 option("sep", Param::Kind::text, Attr::text(""))};
  registry->add(std::move(join));
}

}  // namespace penstock
