// lookup: keys to values by a table; words: the table's keys.

#include "functions/kernels/math/shape_arguments.h"
#include "functions/kernels/text/lookup_kernels.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

// Calls f(find), find(i) being what the table has for entry i of the keys.
template <typename F>
void with_keys(const LookupTable& table, DType dtype, const std::byte* keys, F&& f) {
  visit_dtype(dtype, [&]<typename K>(TypeTag<K>) {
    const K* entries = reinterpret_cast<const K*>(keys);
    if constexpr (std::is_same_v<K, BytesView>) {
      f([&table, entries](int64_t i) { return table.find(entries[i].view()); });
    } else if constexpr (std::is_integral_v<K>) {
      f([&table, entries](int64_t i) { return table.find(static_cast<int64_t>(entries[i])); });
    }
  });
}

// Calls f(TypeTag<T>), T being as wide as a value: numbers are copied by their bytes.
template <typename F>
void with_width(DType values, F&& f) {
  switch (dtype_size(values)) {
    case 1: return f(TypeTag<uint8_t>{});
    case 2: return f(TypeTag<uint16_t>{});
    case 4: return f(TypeTag<uint32_t>{});
    case 8: return f(TypeTag<uint64_t>{});
    default: return f(TypeTag<BytesView>{});
  }
}

template <typename T>
T entry_of(const LookupTable& table, int64_t found) {
  if constexpr (std::is_same_v<T, BytesView>) {
    return table.text(found);
  } else {
    return static_cast<T>(found);
  }
}

}  // namespace

void lookup_tensor(const LookupTable& table, const Tensor& keys, OutputSlot* out) {
  std::byte* const to = out->allocate(keys.dims());
  with_keys(table, keys.dtype(), keys.data(), [&](const auto& find) {
    with_width(table.value_dtype(), [&]<typename T>(TypeTag<T>) {
      T* const entries = reinterpret_cast<T*>(to);
      for (int64_t i = 0; i < keys.entries_count(); ++i) entries[i] = entry_of<T>(table, find(i));
    });
  });
  if (table.value_dtype() == DType::bytes) out->keep(table.texts_buffer());
}

bool lookup_column(const LookupTable& table, const Column& keys, const BlockCall& call) {
  if (keys.kind() != Column::Kind::dense) return false;
  const int64_t n = keys.row_dims().entries();
  Column made = Column::dense(table.value_dtype(), keys.row_dims(), call.rows);
  with_keys(table, keys.dtype(), keys.data(), [&](const auto& find) {
    with_width(table.value_dtype(), [&]<typename T>(TypeTag<T>) {
      T* out = reinterpret_cast<T*>(made.mutable_data());
      for (int64_t row = 0; row < call.rows; ++row) {
        guard_row(call, row, [&] {
          for (int64_t i = row * n; i < (row + 1) * n; ++i) out[i] = T{};
          for (int64_t i = row * n; i < (row + 1) * n; ++i) out[i] = entry_of<T>(table, find(i));
        });
      }
    });
  });
  if (table.value_dtype() == DType::bytes) made.mutable_buffer().keep(table.texts_buffer());
  call.outputs[0] = std::move(made);
  return true;
}

Spec infer_lookup_in(const InferContext& context, int i, const LookupTable::Types& types) {
  const LeafSpec& type = context.tensor(i);
  const bool fits = types.integer_keys ? is_integer(type.dtype) : type.dtype == DType::bytes;
  if (!fits) {
    context.fail(i, "is " + type.text() + ", but the table's keys are " +
                        (types.integer_keys ? "integers" : "bytes"));
  }
  return Spec::tensor(types.values, type.shape);
}

namespace {

Spec infer_lookup(const InferContext& context) {
  LookupTable::Types types;
  try {
    types = LookupTable::types_of(context.attrs["table"]);
  } catch (const TableMistake& e) {
    throw TypeError{-1, "table", ": " + e.message};
  }
  return infer_lookup_in(context, 0, types);
}

void lookup_row(const RowCall& call) {
  lookup_tensor(*static_cast<const LookupTable*>(call.state), call.inputs[0], &call.outputs[0]);
}

bool lookup_block(const BlockCall& call) {
  return lookup_column(*static_cast<const LookupTable*>(call.state), call.inputs[0], call);
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
      "the value of each key in a vocabulary(...) or table(...): its number, where values are not "
      "given; unknown ones get the table's default or one of its oov_buckets, else NOT_FOUND";
  lookup.infer = infer_lookup;
  lookup.row = lookup_row;
  lookup.block = lookup_block;
  lookup.prepare = [](const Attrs& attrs) -> std::shared_ptr<const void> {
    return LookupTable::open(attrs["table"]);
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
