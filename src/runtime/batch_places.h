// Results that are made where their batch will lie.
#pragma once

#include <memory>

#include "runtime/chain.h"

namespace penstock {

// A batch buffer being filled: places are handed out in order, each to one task.
class BatchPlaces {
 public:
  BatchPlaces(const Chain* chain, int64_t batch_rows)
      : chain_(chain), batch_rows_(chain && !chain->filters() ? batch_rows : 0) {}

  // Rows left in the current buffer; blocks should not be larger.
  int64_t room() const {
    return batch_rows_ > 0 ? (used_ < batch_rows_ && current_ ? batch_rows_ - used_ : batch_rows_)
                           : INT64_MAX;
  }
  std::unique_ptr<Placement> take(int64_t rows) {
    if (batch_rows_ == 0) return nullptr;
    if (!current_ || used_ + rows > batch_rows_) {
      current_ = chain_->make_placement(batch_rows_);
      used_ = 0;
      if (!current_) {
        batch_rows_ = 0;
        return nullptr;
      }
    }
    auto out = std::make_unique<Placement>();
    for (const Column& c : current_->columns)
      out->columns.push_back(c.rows() > 0 ? c.slice(used_, rows) : Column());
    used_ += rows;
    if (used_ == batch_rows_) current_.reset();
    return out;
  }

 private:
  const Chain* chain_;
  int64_t batch_rows_;
  int64_t used_ = 0;
  std::unique_ptr<Placement> current_;
};

}  // namespace penstock
