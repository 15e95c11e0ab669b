// Results of single rows on their way into a column.
#pragma once

#include <vector>

#include "data/column.h"
#include "data/spec.h"

namespace penstock {

// One result of a function for `rows` rows, added in order. Rows of static shape are copied into a
// dense column (into `place` where one is given, unless they were made there); others stay tensors.
class ResultRows {
 public:
  ResultRows(const LeafSpec& type, int64_t rows, const Column* place);
  const Column& dense() const { return dense_; }

  void add(int64_t row, Tensor value);
  // A row without a value.
  void add_failed(int64_t row);
  Column finish();

 private:
  const LeafSpec type_;
  Column dense_;
  std::vector<Tensor> rows_;
  std::vector<ObjectPtr> objects_;
};

}  // namespace penstock
