// Static description of an element: kinds, types and shapes, in a tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

enum class Type : uint8_t {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  float16,
  bfloat16,  // data() holds the 16 bits of each
  float32,
  float64,
  bytes,  // strings
};

std::string_view type_name(Type type);  // "int64", "bytes"

struct ElementSpec {
  // ragged: rows of different lengths; sparse: entries with their indices; optional: a tensor that
  // may be missing; dataset: a nested dataset.
  enum class Kind : uint8_t { none, tensor, ragged, sparse, optional, dataset, tuple, dict };
  Kind kind = Kind::none;
  Type type = Type::int64;  // of the entries: tensor, ragged, sparse, optional
  // Of these kinds, too. -1: unknown size, as that of a ragged axis; nullopt: unknown rank.
  std::optional<std::vector<int64_t>> shape = std::vector<int64_t>{};
  int ragged_rank = 0;             // ragged: axes 1 to ragged_rank are ragged
  std::vector<std::string> keys;   // dict: one for each part
  std::vector<ElementSpec> parts;  // tuple, dict: in order; dataset: one, the spec of its elements

  bool operator==(const ElementSpec&) const = default;
  std::string text() const;  // "{image: uint8[?, ?, 3], label: int64}"
};

}  // namespace penstock
