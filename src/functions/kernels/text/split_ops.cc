// split_text: the parts of a string share its bytes.

#include <cstring>

#include "functions/kernels/families.h"
#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/strings.h"

namespace penstock {
namespace {

struct Splitter {
  std::string sep;  // empty: runs of white space
  int64_t most;     // cuts, -1 for any number

  explicit Splitter(const Attrs& attrs) : most(attrs["maxsplit"].as_int()) {
    if (!attrs["sep"].is_none()) sep = attrs["sep"].as_string();
  }

  template <typename F>
  void for_each(std::string_view text, F&& f) const {
    if (sep.empty()) return for_each_word(text, f);
    int64_t cuts = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (most < 0 || cuts < most) {
      const char* found = find(at, end);
      if (!found) break;
      f(std::string_view(at, static_cast<size_t>(found - at)));
      at = found + sep.size();
      ++cuts;
    }
    f(std::string_view(at, static_cast<size_t>(end - at)));
  }

 private:
  const char* find(const char* at, const char* end) const {
    if (at == end) return nullptr;
    const auto n = static_cast<size_t>(end - at);
    const void* found =
        sep.size() == 1 ? std::memchr(at, sep[0], n) : memmem(at, n, sep.data(), sep.size());
    return static_cast<const char*>(found);
  }

  template <typename F>
  void for_each_word(std::string_view text, F&& f) const {
    int64_t cuts = 0;
    size_t at = 0;
    for (;;) {
      while (at < text.size() && is_space(text[at])) ++at;
      if (at == text.size()) return;
      if (most >= 0 && cuts == most) return f(text.substr(at));
      const size_t begin = at;
      while (at < text.size() && !is_space(text[at])) ++at;
      f(text.substr(begin, at - begin));
      ++cuts;
    }
  }
};

Spec infer_split(const InferContext& context) {
  const LeafSpec& type = context.tensor_of(0, DType::bytes);
  if (type.shape.has_rank() && !type.shape.is_scalar()) {
    context.fail(0,
                 "is " + type.text() + ", expected one string; for each: map_fn(x, s -> split(s))");
  }
  return Spec::tensor(DType::bytes, {Shape::kUnknown});
}

void split_row(const RowCall& call) {
  const Splitter& splitter = *static_cast<const Splitter*>(call.state);
  const Tensor& in = call.inputs[0];
  if (in.dims().rank() != 0)
    fail_row("split_text", "expected one string, got shape " + in.dims().text());
  const std::string_view text = in.entry<BytesView>().view();
  int64_t n = 0;
  splitter.for_each(text, [&](std::string_view) { ++n; });
  Tensor out = Tensor::make(DType::bytes, {n});
  auto* to = out.mutable_entries<BytesView>();
  splitter.for_each(text, [&](std::string_view part) {
    *to++ = {part.data(), static_cast<int64_t>(part.size())};
  });
  share_strings(&out.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0].set(std::move(out));
}

bool split_block(const BlockCall& call) {
  const Splitter& splitter = *static_cast<const Splitter*>(call.state);
  const Column& in = call.inputs[0];
  if (in.kind() != Column::Kind::dense || in.row_dims().rank() != 0) return false;
  const auto* texts = in.entries<BytesView>();
  BufferRef splits = allocate_buffer((call.rows + 1) * static_cast<int64_t>(sizeof(int64_t)));
  auto* offsets = reinterpret_cast<int64_t*>(splits.data());
  std::vector<BytesView> parts;
  offsets[0] = 0;
  for (int64_t row = 0; row < call.rows; ++row) {
    splitter.for_each(texts[row].view(), [&](std::string_view part) {
      parts.push_back({part.data(), static_cast<int64_t>(part.size())});
    });
    offsets[row + 1] = static_cast<int64_t>(parts.size());
  }
  Tensor values = Tensor::vector<BytesView>(parts);
  share_strings(&values.mutable_buffer(), in.buffer(), DType::bytes);
  call.outputs[0] = Column::ragged(std::move(values), std::move(splits), call.rows);
  return true;
}

}  // namespace

void add_split_ops(OpRegistry* registry) {
  OpDef op;
  op.name = "split_text";
  op.params = {required("s", Param::Kind::tensor), optional("sep", Param::Kind::text, {}),
               optional("maxsplit", Param::Kind::integer, Attr::integer(-1))};
  op.doc = "s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most "
           "maxsplit times";
  op.infer = infer_split;
  op.row = split_row;
  op.block = split_block;
  op.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const Splitter>(attrs);
  };
  op.cost_ns = 300;
  op.group = "text";
  registry->add(std::move(op));
}

}  // namespace penstock
