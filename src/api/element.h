// Between blocks of columns and what users hold.
#pragma once

#include <memory>
#include <vector>

#include "data/block.h"
#include "data/spec.h"
#include "functions/evaluate.h"
#include "penstock/tensor.h"

namespace penstock {

static_assert(static_cast<int>(Type::bytes) == static_cast<int>(DType::bytes) && kDTypeCount == 14);
static_assert(static_cast<int>(Type::boolean) == static_cast<int>(DType::boolean));
static_assert(static_cast<int>(Type::int64) == static_cast<int>(DType::int64));
static_assert(static_cast<int>(Type::float32) == static_cast<int>(DType::float32));
inline Type to_type(DType dtype) { return static_cast<Type>(dtype); }
inline DType to_dtype(Type type) { return static_cast<DType>(type); }

struct ArrayAccess {
  static Array of(Tensor tensor);  // shares the bytes
  static Tensor tensor(const Array& array);

 private:
  friend class SharedBytes;
  static void* shared(const BufferRef& buffer);
  static const BufferRef& as_buffer(void* const& bits);
  static void release(void** bits);
};

// A place in the structure of an element, and the number of its first leaf.
struct ElementNode {
  ElementNode(const Spec& spec, size_t* next_leaf);
  const Spec& spec;
  ElementSpec::Kind kind;
  size_t leaf;
  std::vector<ElementNode> items;
};

struct ElementLayout {
  explicit ElementLayout(Spec whole);
  ElementLayout(const ElementLayout&) = delete;
  ElementLayout& operator=(const ElementLayout&) = delete;
  const Spec spec;
  size_t leaves = 0;
  ElementNode root;
  const bool has_datasets;  // among the leaves
};

struct ElementRows {
  std::shared_ptr<const ElementLayout> layout;
  // Of the texts that plans of nested datasets point into; null without nested datasets.
  std::shared_ptr<const void> owner;
  Block block;
};

struct ElementAccess {
  static Element of(std::shared_ptr<const ElementRows> rows, int64_t row);
  // Throws INVALID_ARGUMENT if the element is not a nested dataset. `owner` gets the rows' owner.
  static std::shared_ptr<const DatasetValue> dataset(const Element& element,
                                                     std::shared_ptr<const void>* owner);
  // One element from its leaves.
  static Element of(const Spec& spec, const std::vector<Tensor>& leaves);
};

}  // namespace penstock
