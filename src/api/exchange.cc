#include "penstock/exchange.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/element.h"
#include "data/dtype.h"
#include "data/foreign.h"
#include "penstock/error.h"

namespace penstock {
namespace {

// sizeof and offsets that dlpack.h has on every 64-bit machine.
static_assert(sizeof(DlTensor) == 48 && offsetof(DlTensor, shape) == 24);
static_assert(offsetof(DlManagedTensor, deleter) == 56);

struct DlKind {
  uint8_t code, bits;
};

DlKind dl_kind(Type type) {
  switch (type) {
    case Type::boolean: return {6, 8};
    case Type::uint8: return {1, 8};
    case Type::uint16: return {1, 16};
    case Type::uint32: return {1, 32};
    case Type::uint64: return {1, 64};
    case Type::int8: return {0, 8};
    case Type::int16: return {0, 16};
    case Type::int32: return {0, 32};
    case Type::int64: return {0, 64};
    case Type::float16: return {2, 16};
    case Type::bfloat16: return {4, 16};
    case Type::float32: return {2, 32};
    case Type::float64: return {2, 64};
    case Type::bytes: break;
  }
  throw Error(Code::invalid_argument,
              "to_dlpack: DLPack has no strings; take texts() of the array, or to_arrow");
}

struct DlOwner {
  DlManagedTensor tensor{};
  Array array;
  std::vector<int64_t> shape;
};

const char* arrow_format(Type type) {
  switch (type) {
    case Type::boolean: return "b";
    case Type::uint8: return "C";
    case Type::uint16: return "S";
    case Type::uint32: return "I";
    case Type::uint64: return "L";
    case Type::int8: return "c";
    case Type::int16: return "s";
    case Type::int32: return "i";
    case Type::int64: return "l";
    case Type::float16: return "e";
    case Type::float32: return "f";
    case Type::float64: return "g";
    case Type::bytes: return "Z";
    case Type::bfloat16: break;
  }
  throw Error(Code::invalid_argument,
              "to_arrow: Arrow has no bfloat16; cast the component to float32 first");
}

// One level of the tree: a list for each axis but the last one, then the entries.
struct ArrowLevel {
  std::string format;
  ArrowSchema schema_child{};
  ArrowSchema* schema_children[1] = {};
  ArrowArray array_child{};
  ArrowArray* array_children[1] = {};
  const void* buffers[3] = {};
  Array array;                // keeps shared entries
  std::vector<uint8_t> bits;  // booleans
  std::vector<int64_t> ends;  // strings
  std::vector<char> characters;
};

void release_schema(ArrowSchema* schema) {
  for (int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
  }
  delete static_cast<ArrowLevel*>(schema->private_data);
  schema->release = nullptr;
}

void release_array(ArrowArray* array) {
  for (int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release) array->children[i]->release(array->children[i]);
  }
  delete static_cast<ArrowLevel*>(array->private_data);
  array->release = nullptr;
}

void fill_schema(const Array& array, size_t axis, ArrowSchema* out) {
  auto level = std::make_unique<ArrowLevel>();
  const bool last = axis + 1 >= array.shape().size();
  level->format =
      last ? arrow_format(array.type()) : "+w:" + std::to_string(array.shape()[axis + 1]);
  *out = {};
  out->format = level->format.c_str();
  out->name = axis == 0 ? "" : "item";
  if (!last) {
    fill_schema(array, axis + 1, &level->schema_child);
    level->schema_children[0] = &level->schema_child;
    out->children = level->schema_children;
    out->n_children = 1;
  }
  out->release = release_schema;
  out->private_data = level.release();
}

void fill_bits(const Array& array, ArrowLevel* level) {
  level->bits.resize(static_cast<size_t>(array.entries() + 7) / 8 + 1);
  for (int64_t i = 0; i < array.entries(); ++i) {
    if (array.data()[i] != std::byte{0})
      level->bits[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1u << (i % 8));
  }
  level->buffers[1] = level->bits.data();
}

void fill_strings(const Array& array, ArrowLevel* level) {
  level->ends.push_back(0);
  for (const std::string_view text : array.texts()) {
    level->characters.insert(level->characters.end(), text.begin(), text.end());
    level->ends.push_back(std::ssize(level->characters));
  }
  level->characters.push_back(0);  // data() of an empty vector may be null
  level->buffers[1] = level->ends.data();
  level->buffers[2] = level->characters.data();
}

void fill_entries(const Array& array, ArrowLevel* level) {
  static const std::array<int64_t, 1> nothing{};
  if (array.type() == Type::boolean) return fill_bits(array, level);
  if (array.type() == Type::bytes) return fill_strings(array, level);
  level->array = array;
  level->buffers[1] = array.data() ? static_cast<const void*>(array.data()) : nothing.data();
}

void fill_array(const Array& array, size_t axis, int64_t items, ArrowArray* out) {
  auto level = std::make_unique<ArrowLevel>();
  const bool last = axis + 1 >= array.shape().size();
  *out = {};
  out->length = items;
  out->n_buffers = !last ? 1 : array.type() == Type::bytes ? 3 : 2;
  out->buffers = level->buffers;
  if (last) {
    fill_entries(array, level.get());
  } else {
    fill_array(array, axis + 1, items * array.shape()[axis + 1], &level->array_child);
    level->array_children[0] = &level->array_child;
    out->children = level->array_children;
    out->n_children = 1;
  }
  out->release = release_array;
  out->private_data = level.release();
}

}  // namespace

DlManagedTensor* to_dlpack(const Array& array) {
  const DlKind kind = dl_kind(array.type());
  auto owner = std::make_unique<DlOwner>();
  owner->array = array;
  owner->shape.assign(array.shape().begin(), array.shape().end());
  DlTensor& t = owner->tensor.dl_tensor;
  // DLPack has no place for const; consumers of version 0.8 take data as read-only by agreement.
  t.data = const_cast<std::byte*>(array.data());
  t.device_type = 1;
  t.ndim = static_cast<int32_t>(owner->shape.size());
  t.dtype_code = kind.code;
  t.dtype_bits = kind.bits;
  t.dtype_lanes = 1;
  t.shape = owner->shape.data();
  owner->tensor.manager_ctx = owner.get();
  owner->tensor.deleter = [](DlManagedTensor* self) {
    delete static_cast<DlOwner*>(self->manager_ctx);
  };
  return &owner.release()->tensor;
}

void to_arrow(const Array& array, ArrowSchema* schema, ArrowArray* out) {
  if (array.shape().empty())
    throw Error(Code::invalid_argument, "to_arrow: is a scalar; batch the dataset first");
  fill_schema(array, 0, schema);
  try {
    fill_array(array, 0, array.shape()[0], out);
  } catch (...) {
    schema->release(schema);
    throw;
  }
}

Array from_memory(Type type, std::span<const int64_t> shape, const void* data,
                  std::function<void()> release) {
  // Before anything is checked: from here on whatever ends this function calls `release`.
  BufferRef buffer = foreign_buffer(std::move(release));
  const auto fail = [](const std::string& what) {
    throw Error(Code::invalid_argument, "from_memory: " + what);
  };
  if (type == Type::bytes) fail("strings are not shared; copy them with Array::texts");
  if (shape.size() > static_cast<size_t>(kMaxRank))
    fail(std::to_string(shape.size()) + " axes, at most 8 are possible");
  for (const int64_t size : shape) {
    if (size < 0) fail("a size is negative: " + std::to_string(size));
  }
  const auto size = static_cast<uintptr_t>(dtype_size(to_dtype(type)));
  if (reinterpret_cast<uintptr_t>(data) % size != 0)
    fail("the data is not aligned to " + std::to_string(size) + " bytes");
  const Dims dims(shape);
  // Nobody writes: the buffer's own reference goes to the array, and constants are never unique.
  return ArrayAccess::of(Tensor(to_dtype(type), dims, std::move(buffer),
                                static_cast<std::byte*>(const_cast<void*>(data))));
}

}  // namespace penstock
