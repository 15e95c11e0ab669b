// Where a stream can be taken up again.
#pragma once

#include <cstdint>
#include <memory>

namespace penstock {

// What the stage that gave a block must know to go on behind it. Immutable; what is in it is the
// stage's own business (runtime/checkpoint.h).
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

// A place in a stream: behind a mark (null: the beginning), and so many rows further.
struct StreamPosition {
  MarkPtr mark;
  int64_t rows = 0;
};

}  // namespace penstock
