// Positions from which a stream can resume.
#pragma once

#include <cstdint>
#include <memory>

namespace penstock {

// State that a stage needs to resume after a block. Immutable; the contents belong to the stage
// (runtime/checkpoint.h).
class Mark {
 public:
  explicit Mark(const void* owner) : owner_(owner) {}
  virtual ~Mark() = default;
  // The plan node whose cursor made it.
  const void* owner() const { return owner_; }

 private:
  const void* owner_;
};
using MarkPtr = std::shared_ptr<const Mark>;

// A position in a stream: `rows` rows after a mark (null: after the beginning).
struct StreamPosition {
  MarkPtr mark;
  int64_t rows = 0;
};

}  // namespace penstock
