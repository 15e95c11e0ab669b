#include "runtime/record_places.h"

#include "base/origin_text.h"

namespace penstock {

void RecordPlaces::note(uint64_t first, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (!files_.emplace(first, path).second) return;
  order_.push_back(first);
  if (order_.size() <= kMostFiles) return;
  files_.erase(order_.front());
  order_.pop_front();
}

std::string RecordPlaces::of(uint64_t lineage) const {
  const std::lock_guard lock(mutex_);
  auto next = files_.upper_bound(lineage);
  if (next == files_.begin()) return {};
  const auto& [first, path] = *--next;
  if (lineage - first >= kMostRecords) return {};
  return at_record(path, static_cast<int64_t>(lineage - first));
}

}  // namespace penstock
