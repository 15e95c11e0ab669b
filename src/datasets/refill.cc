#include "datasets/refill.h"

#include <algorithm>

namespace penstock {

void Refill::start(const Cursor& input, std::optional<HeldRows> from) {
  trail_.start(input);
  if (!from) return;
  from_ = std::move(*from);
  int64_t least = 0;
  for (const int64_t row : from_.rows) {
    if (row < least || row >= from_.head)
      throw Error(Code::data_loss, "the checkpoint is damaged: no row " + std::to_string(row));
    least = row + 1;
  }
}

bool Refill::is_gone(int64_t row) {
  if (row >= from_.head) return false;
  while (next_ < from_.rows.size() && from_.rows[next_] < row) ++next_;
  return next_ == from_.rows.size() || from_.rows[next_] != row;
}

StreamPosition Refill::hold(int64_t head, std::vector<int64_t> held, HeldRows* out) {
  std::ranges::sort(held);
  const int64_t oldest = held.empty() ? head : held.front();
  for (int64_t& row : held) row -= oldest;
  out->head = head - oldest;
  out->rows = std::move(held);
  StreamPosition position = trail_.before(oldest);
  trail_.forget(oldest);
  return position;
}

}  // namespace penstock
