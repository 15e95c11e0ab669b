#include "datasets/share.h"

#include <algorithm>

#include "base/error.h"

namespace penstock {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::data_loss, "the checkpoint is damaged: `shard` " + what);
}

void check_ascending(const std::vector<int64_t>& values, int64_t least, int64_t end) {
  for (const int64_t v : values) {
    if (v < least || v >= end) damaged("has no row " + std::to_string(v));
    least = v + 1;
  }
}

}  // namespace

Share Share::of(const ShardMark& mark, const Share& of_shard) {
  if (!mark.dealt) return of_shard;
  constexpr int64_t kMostPeriod = int64_t{1} << 40;  // sums stay in range
  if (mark.period < 1 || mark.period > kMostPeriod)
    damaged("has period " + std::to_string(mark.period));
  check_ascending(mark.residues, 0, mark.period);
  check_ascending(mark.listed, mark.begin, mark.tail);
  return {mark.listed, mark.tail, mark.period, mark.residues};
}

ShardMark Share::mark(const Share& of_shard, int64_t begin) const {
  if (begin >= tail && period == of_shard.period && residues == of_shard.residues)
    return {begin, false, 0, 1, {}, {}};
  return {begin,  true,     tail,
          period, residues, {std::ranges::lower_bound(listed, begin), listed.end()}};
}

int64_t Share::listed_from(int64_t begin) const {
  return listed.end() - std::ranges::lower_bound(listed, begin);
}

std::optional<int64_t> Share::next(int64_t begin) const {
  if (const auto it = std::ranges::lower_bound(listed, begin); it != listed.end()) return *it;
  if (residues.empty()) return std::nullopt;
  const int64_t row = std::max(begin, tail), base = row - row % period;
  const auto it = std::ranges::lower_bound(residues, row - base);
  return it != residues.end() ? base + *it : base + period + residues[0];
}

int64_t Share::count(int64_t begin, int64_t end) const {
  int64_t out = std::ranges::lower_bound(listed, end) - std::ranges::lower_bound(listed, begin);
  const auto before = [this](int64_t row) {  // own rows of the pattern from row 0 on
    return row / period * static_cast<int64_t>(residues.size()) +
           (std::ranges::lower_bound(residues, row % period) - residues.begin());
  };
  if (const int64_t from = std::max(begin, tail); from < end) out += before(end) - before(from);
  return out;
}

void Share::pick(int64_t begin, int64_t rows, std::vector<int32_t>* out) const {
  const int64_t end = begin + rows;
  std::optional<int64_t> row = next(begin);
  for (; row && *row < end; row = next(*row + 1)) {
    out->push_back(static_cast<int32_t>(*row - begin));
    if (*row < tail || residues.size() > 1) continue;
    for (int64_t i = *row - begin + period; i < rows;
         i += period)  // the plain case, without a search
      out->push_back(static_cast<int32_t>(i));
    return;
  }
}

void Share::simplify() {
  for (int64_t p = 1; p < period; ++p) {
    if (period % p != 0) continue;
    std::vector<int64_t> first;
    for (const int64_t r : residues) {
      if (r < p) first.push_back(r);
    }
    bool same =
        static_cast<int64_t>(first.size()) * (period / p) == static_cast<int64_t>(residues.size());
    for (size_t i = 0; same && i < residues.size(); ++i)
      same = std::ranges::binary_search(first, residues[i] % p);
    if (!same) continue;
    period = p;
    residues = std::move(first);
    return;
  }
}

}  // namespace penstock
