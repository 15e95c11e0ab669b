#include "datasets/refill.h"

#include <algorithm>

namespace penstock {

void Refill::start(const Cursor& input, const StageMark* from, size_t first_number) {
  trail_.start(input);
  if (!from) return;
  head_ = from->number(first_number);
  for (size_t i = first_number + 1; i < from->numbers().size(); ++i) {
    const int64_t row = from->number(i);
    if (row < 0 || row >= head_ || (!kept_.empty() && row <= kept_.back()))
      throw Error(Code::data_loss, "the checkpoint is damaged: no row " + std::to_string(row));
    kept_.push_back(row);
  }
}

bool Refill::is_gone(int64_t row) {
  if (row >= head_) return false;
  while (next_ < kept_.size() && kept_[next_] < row) ++next_;
  return next_ == kept_.size() || kept_[next_] != row;
}

StreamPosition Refill::add_to_mark(int64_t head, std::vector<int64_t>* held,
                                   std::vector<int64_t>* numbers) {
  std::ranges::sort(*held);
  const int64_t oldest = held->empty() ? head : held->front();
  numbers->push_back(head - oldest);
  for (const int64_t row : *held) numbers->push_back(row - oldest);
  StreamPosition position = trail_.before(oldest);
  trail_.forget(oldest);
  return position;
}

}  // namespace penstock
