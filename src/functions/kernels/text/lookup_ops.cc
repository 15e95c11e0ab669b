// lookup: words to numbers by a table; words: the table's words.

#include <charconv>

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/lookup_table.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

class Lookup final : public StringMap<int64_t> {
 public:
  explicit Lookup(std::shared_ptr<const LookupTable> table) : table_(std::move(table)) {}
  int64_t value(std::string_view text) const override { return table_->find(text); }

 private:
  std::shared_ptr<const LookupTable> table_;
};

Spec infer_lookup(const InferContext& context) {
  const LeafSpec& type = context.tensor(0);
  const Attr& table = context.attrs["table"];
  bool integers = false;
  if (table.kind() != Attr::Kind::dict || table.keys().empty() || table.keys()[0] != "is")
    throw TypeError{-1, "table", "must be vocabulary(...) or table(...)"};
  if (table.keys().size() > 1 && table.keys()[1] == "keys") {
    const Attr& keys = table.items()[1];
    integers = keys.is_tensor() && keys.tensor().dtype() != DType::bytes;
  }
  if (integers != is_integer(type.dtype) || (!integers && type.dtype != DType::bytes)) {
    context.fail(
        0, "is " + type.text() + ", but the table's keys are " + (integers ? "integers" : "bytes"));
  }
  return Spec::tensor(DType::int64, type.shape);
}

void lookup_row(const RowCall& call) {
  const Tensor& in = call.inputs[0];
  if (in.dtype() == DType::bytes) return string_map_row<int64_t>(call);
  const auto& map = *static_cast<const StringMap<int64_t>*>(call.state);
  auto* out = call.outputs[0].allocate_as<int64_t>(in.dims());
  for (int64_t i = 0; i < in.entries_count(); ++i)
    out[i] = map.value(std::to_string(integer_at(in, i)));
}

bool lookup_block(const BlockCall& call) {
  return call.inputs[0].dtype() == DType::bytes && string_map_block<int64_t>(call);
}

Spec infer_words(const InferContext&) { return Spec::tensor(DType::bytes, {Shape::kUnknown}); }

void words_row(const RowCall& call) {
  const auto& table = *static_cast<const LookupTable*>(call.state);
  call.outputs[0].set(Tensor::of_strings(table.words()));
}

}  // namespace

void add_lookup_ops(OpRegistry* registry) {
  OpDef lookup;
  lookup.name = "lookup";
  lookup.params = {required("table", Param::Kind::any), required("s", Param::Kind::tensor)};
  lookup.doc =
      "the number of each word in a vocabulary(...) or table(...), int64; unknown ones get the "
      "table's default or one of its oov_buckets, else NOT_FOUND";
  lookup.infer = infer_lookup;
  lookup.row = lookup_row;
  lookup.block = lookup_block;
  lookup.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    const std::shared_ptr<const StringMap<int64_t>> map =
        std::make_shared<Lookup>(LookupTable::open(attrs["table"]));
    return map;
  };
  lookup.elementwise = true;
  lookup.can_fail = true;
  lookup.cost_ns = 30;
  lookup.group = "text";
  registry->add(std::move(lookup));
  OpDef words;
  words.name = "words";
  words.params = {required("table", Param::Kind::any)};
  words.doc = "the words of a vocabulary(...) or table(...), in order";
  words.infer = infer_words;
  words.row = words_row;
  words.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return LookupTable::open(attrs["table"]);
  };
  words.cost_ns = 1000;
  words.group = "text";
  registry->add(std::move(words));
}

}  // namespace penstock
