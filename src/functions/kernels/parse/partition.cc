#include "functions/kernels/parse/partition.h"

#include <algorithm>

#include "base/error.h"
#include "data/charged.h"

namespace penstock {
namespace {

[[noreturn]] void fail(const std::string& what) { throw Error(Code::invalid_argument, what); }

constexpr int64_t kMostEmptyRows = 1
                                   << 20;  // in a row, so that one number cannot ask for gigabytes

ChargedVector<int64_t> from_ids(const ChargedVector<int64_t>& ids) {
  ChargedVector<int64_t> splits{0};
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto rows = static_cast<int64_t>(splits.size()) - 1;
    if (ids[i] < rows - 1 || ids[i] < 0) fail("row ids that descend");
    if (ids[i] >= rows + kMostEmptyRows) fail("a row id of " + std::to_string(ids[i]));
    splits.resize(static_cast<size_t>(ids[i]) + 2, static_cast<int64_t>(i));
    splits.back() = static_cast<int64_t>(i) + 1;
  }
  return splits;
}

}  // namespace

ChargedVector<int64_t> partition_splits(const Partition& partition,
                                        const ChargedVector<int64_t>& entries, int64_t items) {
  ChargedVector<int64_t> splits{0};
  switch (partition.kind) {
    case Partition::Kind::row_splits:
      if (!entries.empty()) splits = entries;
      break;
    case Partition::Kind::row_lengths:
      for (const int64_t n : entries) {
        if (n < 0 || n > items) fail("a row length of " + std::to_string(n));
        splits.push_back(splits.back() + n);
      }
      break;
    case Partition::Kind::row_starts:
      splits = entries;
      splits.push_back(items);
      break;
    case Partition::Kind::row_limits:
      splits.insert(splits.end(), entries.begin(), entries.end());
      break;
    case Partition::Kind::value_rowids: splits = from_ids(entries); break;
    case Partition::Kind::uniform:
      for (int64_t at = partition.length; at <= items; at += partition.length) splits.push_back(at);
      break;
  }
  if (splits[0] != 0 || splits.back() != items || !std::ranges::is_sorted(splits)) {
    fail("has rows that cut other than its " + std::to_string(items) + " values: they end at " +
         std::to_string(splits.back()));
  }
  return splits;
}

}  // namespace penstock
