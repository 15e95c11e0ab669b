#include "datasets/share.h"

#include <algorithm>

#include "base/error.h"
#include "runtime/resumed_count.h"

namespace penstock {
namespace {

constexpr size_t kHead = 4;  // numbers of a mark before the residues

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

Share Share::read(const StageMark& mark, const Share& of_shard, int64_t* begin) {
  *begin = checked_count(mark.number(0), mark.stage());
  const size_t numbers = mark.numbers().size();
  if (numbers == 1) return of_shard;
  Share out;
  out.tail = checked_count(mark.number(1), mark.stage());
  out.period = checked_count(mark.number(2), mark.stage());
  const int64_t residues = checked_count(mark.number(3), mark.stage());
  constexpr int64_t kMostPeriod = int64_t{1} << 40;  // sums stay in range
  if (out.period < 1 || out.period > kMostPeriod ||
      residues > static_cast<int64_t>(numbers - kHead))
    damaged("says " + std::to_string(residues) + " of " + std::to_string(out.period));
  const auto from = mark.numbers().begin() + kHead;
  out.residues.assign(from, from + residues);
  out.listed.assign(from + residues, mark.numbers().end());
  check_ascending(out.residues, 0, out.period);
  check_ascending(out.listed, *begin, out.tail);
  return out;
}

std::vector<int64_t> Share::numbers(const Share& of_shard, int64_t begin) const {
  std::vector<int64_t> out{begin};
  if (begin >= tail && period == of_shard.period && residues == of_shard.residues) return out;
  out.insert(out.end(), {tail, period, static_cast<int64_t>(residues.size())});
  out.insert(out.end(), residues.begin(), residues.end());
  out.insert(out.end(), std::ranges::lower_bound(listed, begin), listed.end());
  return out;
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
