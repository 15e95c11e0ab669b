// Recycles heap blocks up to 40 KiB: columns of small elements, and vectors that are made and
// dropped for each block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace penstock {

// Sizes are rounded up to classes, four per power of two: 64, 80, 96, 112, 128, 160, ...
inline constexpr int64_t kSmallestClass = 64;
constexpr int size_class_of(int64_t bytes) {
  bytes = std::max(bytes, kSmallestClass);
  const int log = static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes - 1))) - 1;
  const int64_t base = int64_t{1} << log;  // base < bytes <= 2 * base
  const int64_t quarter = base / 4;
  return (log - 5) * 4 + static_cast<int>((bytes - base + quarter - 1) / quarter);
}
constexpr int64_t size_class_bytes(int index) {
  const int64_t base = int64_t{1} << ((index - 1) / 4 + 5);
  return base + base / 4 * ((index - 1) % 4 + 1);
}

inline constexpr int64_t kMostRecycled = 40 << 10;  // 4096 entries of 8 bytes and a header

// Returns memory aligned to 64 bytes; null if there is none. Each thread has a list of free blocks
// for each class. Blocks often travel one way, from threads that fill them to the thread that
// consumes them, so a list that overflows passes blocks to other threads in batches. Larger sizes,
// and everything under a sanitizer (which must see each free), use the heap.
void* find_recycled(size_t bytes);
void give_recycled(void* memory, size_t bytes) noexcept;
// Throws std::bad_alloc.
inline void* take_recycled(size_t bytes) {
  void* memory = find_recycled(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

template <typename T>
struct Recycled {
  using value_type = T;
  Recycled() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
  Recycled(const Recycled<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(take_recycled(n * sizeof(T))); }
  void deallocate(T* p, size_t n) noexcept { give_recycled(p, n * sizeof(T)); }
  // Default-initialises, so that resize does not fill entries with zeros.
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
