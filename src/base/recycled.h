// Small heap blocks that a thread uses again: for vectors that are made and dropped once a block.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace penstock {

// Lists of this thread, one for each power of two from 64 bytes to 32 KiB. A block may be given
// back by another thread than took it. Larger sizes, and everything under AddressSanitizer (which
// must see each free), go to the heap.
void* take_recycled(size_t bytes);
void give_recycled(void* memory, size_t bytes) noexcept;

template <typename T>
struct Recycled {
  using value_type = T;
  Recycled() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
  Recycled(const Recycled<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(take_recycled(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { give_recycled(p, n * sizeof(T)); }
  // Entries that resize adds are left as their default constructor leaves them.
  template <typename U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  bool operator==(const Recycled&) const { return true; }
};

template <typename T>
using RecycledVector = std::vector<T, Recycled<T>>;

template <typename T, typename... Args>
std::shared_ptr<T> make_recycled(Args&&... args) {
  return std::allocate_shared<T>(Recycled<T>(), std::forward<Args>(args)...);
}

}  // namespace penstock
