// Static type of an element: dtypes, shapes, and the structure around them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dtype.h"
#include "data/shape.h"

namespace penstock {

struct Spec;

// One component: a tensor, a value that may be missing, or a nested dataset.
struct LeafSpec {
  enum class Kind : uint8_t { tensor, ragged, sparse, dataset, optional };
  Kind kind = Kind::tensor;
  DType dtype = DType::int64;
  Shape shape;                          // optional: of the value
  int ragged_rank = 0;                  // ragged
  std::shared_ptr<const Spec> element;  // dataset: spec of its elements

  static LeafSpec tensor(DType dtype, Shape shape) {
    return {Kind::tensor, dtype, std::move(shape), 0, nullptr};
  }
  static LeafSpec dataset(Spec element);
  bool is_tensor() const { return kind == Kind::tensor; }
  bool operator==(const LeafSpec& other) const;
  std::string text() const;  // "uint8[?, ?, 3]", "int64" for scalars, "dataset of …"
};

// A tree of leaves. Leaves are numbered in reading order. A dict keeps its written order, so two
// dicts with the same keys in another order are different specs.
struct Spec {
  enum class Kind : uint8_t { leaf, tuple, dict, none };
  Kind kind = Kind::none;
  LeafSpec leaf;
  std::vector<std::string> keys;  // dict
  std::vector<Spec> items;        // tuple, dict

  static Spec of(LeafSpec leaf);
  static Spec tensor(DType dtype, Shape shape) {
    return of(LeafSpec::tensor(dtype, std::move(shape)));
  }
  static Spec tuple(std::vector<Spec> items);
  static Spec dict(std::vector<std::string> keys, std::vector<Spec> items);

  bool is_leaf() const { return kind == Kind::leaf; }
  int leaf_count() const;
  void collect(std::vector<LeafSpec>* out) const;
  std::vector<LeafSpec> leaves() const;
  // Returns the same tree with leaf i replaced by leaves[i].
  Spec with_leaves(const std::vector<LeafSpec>& leaves) const;
  // Returns "a/0/b" for each leaf; "" for a single one.
  std::vector<std::string> paths() const;
  // Returns the index of the item, -1 without it.
  int find(std::string_view key) const;

  bool operator==(const Spec& other) const;
  // Compares the trees of dicts and tuples, but not the leaves.
  bool same_structure(const Spec& other) const;
  std::string text() const;  // "{image: uint8[?, ?, 3], label: int64}"
};

// Returns the most specific spec that admits both; sets `ok` to false if structure or dtypes
// differ.
Spec join_specs(const Spec& a, const Spec& b, bool* ok);

}  // namespace penstock
