#include "datasets/inner_rest.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace penstock {
namespace {

[[noreturn]] void damaged() {
  throw Error(Code::data_loss,
              "the checkpoint is damaged: what is left of a dataset makes no sense");
}

}  // namespace

int64_t InnerRest::given_from(int64_t row, int64_t most) const {
  if (row >= head) return 0;
  const auto next = std::ranges::lower_bound(kept, row);
  return std::min(most, (next == kept.end() ? head : *next) - row);
}

int64_t InnerRest::left_from(int64_t row, int64_t most) const {
  auto next = std::ranges::lower_bound(kept, row);
  int64_t at = row;
  for (; at < row + most && next != kept.end() && *next == at; ++next) ++at;
  return at >= head ? most : at - row;
}

InnerRest InnerRest::behind(int64_t rows, const StreamPosition& now) const {
  InnerRest out{now, std::max<int64_t>(0, head - rows), {}};
  for (auto row = std::ranges::lower_bound(kept, rows); row != kept.end(); ++row)
    out.kept.push_back(*row - rows);
  return out;
}

uint64_t inner_key(const Origin& input, int64_t row) {
  return mix(input.lineage(row), input.epoch(row));
}

void put_rests(const InnerRests& rests, std::vector<int64_t>* numbers,
               std::vector<StreamPosition>* positions) {
  numbers->push_back(static_cast<int64_t>(rests.size()));
  for (const auto& [key, rest] : rests) {
    numbers->push_back(static_cast<int64_t>(key));
    numbers->push_back(rest.head);
    numbers->push_back(static_cast<int64_t>(rest.kept.size()));
    numbers->insert(numbers->end(), rest.kept.begin(), rest.kept.end());
    positions->push_back(rest.start);
  }
}

InnerRests take_rests(std::span<const int64_t> numbers, std::span<const StreamPosition> positions) {
  size_t at = 0;
  const auto next = [&] {
    if (at == numbers.size()) damaged();
    return numbers[at++];
  };
  const int64_t count = next();
  if (count < 0 || count != std::ssize(positions)) damaged();
  InnerRests out;
  for (const StreamPosition& start : positions) {
    InnerRest& rest = out[static_cast<uint64_t>(next())];
    rest.start = start;
    rest.head = next();
    const int64_t kept = next();
    if (rest.head < 0 || kept < 0 || kept > std::ssize(numbers) - static_cast<int64_t>(at))
      damaged();
    for (int64_t i = 0, least = 0; i < kept; ++i, least = rest.kept.back() + 1) {
      rest.kept.push_back(next());
      if (rest.kept.back() < least || rest.kept.back() >= rest.head) damaged();
    }
  }
  if (at != numbers.size() || std::ssize(out) != count) damaged();
  return out;
}

}  // namespace penstock
