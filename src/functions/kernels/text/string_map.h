// Ops that make one value of each string, entry by entry.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/charged.h"
#include "functions/kernels/text/strings.h"
#include "functions/op.h"

namespace penstock {

// What the op does to one string; made once at open, shared by threads. Throws Error.
template <typename T>
class StringMap {
 public:
  virtual ~StringMap() = default;
  virtual T value(std::string_view text) const = 0;
};

// A string from a string: appended to `out`.
class StringRewrite {
 public:
  virtual ~StringRewrite() = default;
  virtual void append(std::string_view text, ChargedString* out) const = 0;
};

// The output has the input's shape and dtype T.
template <typename T>
Spec infer_string_map(const InferContext& context) {
  return Spec::tensor(DTypeOf<T>::value, context.tensor_of(0, DType::bytes).shape);
}
Spec infer_string_rewrite(const InferContext& context);

template <typename T>
void string_map_row(const RowCall& call) {
  const auto& map = *static_cast<const StringMap<T>*>(call.state);
  const Tensor& in = call.inputs[0];
  T* out = call.outputs[0].allocate_as<T>(in.dims());
  for (int64_t i = 0; i < in.entries_count(); ++i)
    out[i] = map.value(in.entry<BytesView>(i).view());
}
void string_rewrite_row(const RowCall& call);

// Runs f(entry) for all entries of a row; an Error becomes the row's. False when it failed.
template <typename F>
bool guard_row(const BlockCall& call, int64_t row, F&& f) {
  try {
    f();
    return true;
  } catch (const Error&) {
    call.errors->push_back({row, current_error()});
    return false;
  }
}

template <typename T>
bool string_map_block(const BlockCall& call) {
  const auto& map = *static_cast<const StringMap<T>*>(call.state);
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense) return false;
  const int64_t n = in.row_dims().entries();
  Column out = Column::dense(DTypeOf<T>::value, in.row_dims(), call.rows);
  const auto* texts = in.entries<BytesView>();
  T* to = out.mutable_entries<T>();
  for (int64_t row = 0; row < call.rows; ++row, texts += n, to += n) {
    guard_row(call, row, [&] {
      for (int64_t i = 0; i < n; ++i) to[i] = T{};
      for (int64_t i = 0; i < n; ++i) to[i] = map.value(texts[i].view());
    });
  }
  call.outputs[0] = std::move(out);
  return true;
}
bool string_rewrite_block(const BlockCall& call);

// An op over strings `s` with further parameters; `make` builds its state. Not registered yet.
template <typename T>
OpDef string_map_op(std::string name, std::string doc, std::vector<Param> params,
                    std::shared_ptr<const StringMap<T>> (*make)(const Attrs&)) {
  OpDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.params = {required("s", Param::Kind::tensor)};
  op.params.insert(op.params.end(), params.begin(), params.end());
  op.infer = infer_string_map<T>;
  op.row = string_map_row<T>;
  op.block = string_map_block<T>;
  op.prepare = [make](const Attrs& attrs) -> std::shared_ptr<const void> { return make(attrs); };
  op.elementwise = true;
  op.group = "text";
  return op;
}
OpDef string_rewrite_op(std::string name, std::string doc, std::vector<Param> params,
                        std::shared_ptr<const StringRewrite> (*make)(const Attrs&));

}  // namespace penstock
