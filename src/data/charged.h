// Memory that a row's data or an op's arguments can size, counted against the memory budget.
//
// Kernels keep what grows with their input in a ChargedVector or a ChargedString; tools/lint.py
// refuses std::vector and std::string of such sizes there. Blocks up to 40 KiB come from the
// thread's recycled lists and are not counted; larger ones are buffers of current_pool(), so that
// going over the budget throws RESOURCE_EXHAUSTED before the memory is touched, and their pages
// serve the next row. A container may outlive the scope that made it, and end in another thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/buffer.h"

namespace penstock {

// Aligned to 64 bytes. Throws RESOURCE_EXHAUSTED.
void* allocate_charged(size_t bytes);
// `bytes` as it was allocated with.
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

// Counts memory that a library allocates by itself, for as long as the object lives. Throws
// RESOURCE_EXHAUSTED. Made before the library is called.
class Charge {
 public:
  explicit Charge(int64_t bytes);

 private:
  BufferRef held_;  // its pages are never touched: they take no memory
};

// While it lives, this thread may take so many bytes more from pools than it gives back, whatever
// the budgets are; more throws RESOURCE_EXHAUSTED. For work before a run, which has no budget yet.
class ScopedLimit {
 public:
  explicit ScopedLimit(int64_t bytes);
  ~ScopedLimit();
  ScopedLimit(const ScopedLimit&) = delete;
  ScopedLimit& operator=(const ScopedLimit&) = delete;
  // Whether more was asked for.
  bool exceeded() const { return exceeded_; }

 private:
  friend class BufferPool;
  void take(int64_t bytes);  // throws
  int64_t left_;
  bool exceeded_ = false;
  ScopedLimit* previous_;
};

}  // namespace penstock
