// What a parser is told to take out of a record: the table `features`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "functions/attr.h"

namespace penstock {

// What cuts the values of a ragged feature, outermost first.
struct Partition {
  enum class Kind : uint8_t {
    row_splits,
    row_lengths,
    row_starts,
    row_limits,
    value_rowids,
    uniform
  };
  Kind kind = Kind::row_splits;
  std::string key;     // bounded: written in the pipeline; of the list that holds it
  int64_t length = 0;  // uniform
};

struct ExampleFeature {
  enum class Kind : uint8_t {
    fixed,     // exactly dims; the fallback when absent
    sequence,  // [?, ...dims], empty when absent; padded with the fallback in a batch
    var,       // sparse [?]
    ragged,    // [?], or ragged by its partitions
    sparse,    // of shape `dims`, at the indices that other lists hold
  };
  std::string key;        // bounded: written in the pipeline; in the output
  std::string value_key;  // bounded: written in the pipeline; in the record; the same unless said
  DType dtype = DType::int64;  // int64, float32 or bytes
  Kind kind = Kind::fixed;
  Dims dims;
  int64_t count = 1;  // values that dims hold (fixed, sequence)
  bool has_fallback = false;
  Tensor fallback;                    // of this dtype and dims; of one entry for a sequence
  bool allow_missing = true;          // sequence of a SequenceExample
  std::vector<Partition> partitions;  // ragged
  std::vector<std::string>
      index_keys;  // bounded: written in the pipeline; sparse, one for each of dims

  // Rows hold one dense list of any length, or exactly dims.
  bool is_list() const {
    return kind == Kind::sequence || (kind == Kind::ragged && partitions.empty());
  }
  bool is_dense() const { return kind == Kind::fixed || is_list(); }
  // A ragged feature whose partitions are all of one length.
  bool is_uniform() const;
};

// The features in their order; throws TypeError naming attribute `attr`.
std::vector<ExampleFeature> read_features(const Attr& features, const std::string& attr);

}  // namespace penstock
