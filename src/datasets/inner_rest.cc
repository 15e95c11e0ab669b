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

void rests_fields(InnerRests& rests, MarkReader& f) {
  int64_t count = 0;
  f.count("rests", count);
  while (std::ssize(rests) < count) {
    uint64_t key = 0;
    f.id("key", key);
    const auto [at, fresh] = rests.emplace(key, InnerRest());
    if (!fresh) damaged();
    InnerRest& rest = at->second;
    f.count("head", rest.head);
    f.counts("kept", rest.kept);
    int64_t least = 0;
    for (const int64_t row : rest.kept) {
      if (row < least || row >= rest.head) damaged();
      least = row + 1;
    }
  }
}

}  // namespace penstock
