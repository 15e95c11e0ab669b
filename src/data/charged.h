// Memory whose size depends on a row's data or an op's arguments, counted against the memory
// budget.
//
// Kernels keep data that grows with their input in a ChargedVector or a ChargedString;
// tools/lint.py refuses std::vector and std::string of such sizes there. Blocks up to 40 KiB come
// from the thread's recycled lists and are not counted. Larger ones are buffers of current_pool():
// an allocation over the budget throws RESOURCE_EXHAUSTED before the memory is touched, and pages
// are reused for the next row. A container may outlive the scope that made it, and be destroyed in
// another thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/buffer.h"

namespace penstock {

// Returns memory aligned to 64 bytes. Throws RESOURCE_EXHAUSTED.
void* allocate_charged(size_t bytes);
// `bytes` must be the allocated size.
void free_charged(void* memory, size_t bytes) noexcept;

template <typename T>
struct Charged {
  using value_type = T;
  Charged() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
  Charged(const Charged<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(allocate_charged(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { free_charged(static_cast<void*>(p), n * sizeof(T)); }
  bool operator==(const Charged&) const { return true; }
};

template <typename T>
using ChargedVector = std::vector<T, Charged<T>>;
using ChargedString = std::basic_string<char, std::char_traits<char>, Charged<char>>;

// Counts memory that a library allocates, for the lifetime of the object. Make it before the call
// to the library. Throws RESOURCE_EXHAUSTED.
class Charge {
 public:
  explicit Charge(int64_t bytes);

 private:
  BufferRef held_;  // its pages are never touched, so it takes no memory
};

// Limits this thread, for the lifetime of the object, to `bytes` more allocated than released,
// regardless of budgets; more throws RESOURCE_EXHAUSTED. For work before a run, which has no budget
// yet.
class ScopedLimit {
 public:
  explicit ScopedLimit(int64_t bytes);
  ~ScopedLimit();
  ScopedLimit(const ScopedLimit&) = delete;
  ScopedLimit& operator=(const ScopedLimit&) = delete;
  // Whether the thread asked for more.
  bool exceeded() const { return exceeded_; }

 private:
  friend class BufferPool;
  void take(int64_t bytes);  // throws
  int64_t left_;
  bool exceeded_ = false;
  ScopedLimit* previous_;
};

}  // namespace penstock
