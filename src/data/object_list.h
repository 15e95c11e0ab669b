// A list of objects: a batch of nested datasets.
#pragma once

#include <vector>

#include "data/spec.h"
#include "data/tensor.h"

namespace penstock {

// A row of a dataset leaf whose shape has an axis. Items may be lists themselves.
class ObjectList final : public Object {
 public:
  explicit ObjectList(std::vector<ObjectPtr> items) : items_(std::move(items)) {}
  const std::vector<ObjectPtr>& items() const { return items_; }
  // Returns the size of the list, of its first item, and so on.
  Dims dims() const {
    const ObjectList* first =
        items_.empty() ? nullptr : dynamic_cast<const ObjectList*>(items_[0].get());
    return (first ? first->dims() : Dims()).with_front(static_cast<int64_t>(items_.size()));
  }

 private:
  std::vector<ObjectPtr> items_;
};

// Returns whether the leaf is one nested dataset, not a batch of them.
inline bool is_dataset(const LeafSpec& leaf) {
  return leaf.kind == LeafSpec::Kind::dataset && leaf.shape.is_scalar();
}

}  // namespace penstock
