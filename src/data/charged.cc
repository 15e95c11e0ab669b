#include "data/charged.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/recycled.h"

// Under the sanitizer every block ends exactly at its requested size.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define PENSTOCK_RECYCLES 0
#else
#define PENSTOCK_RECYCLES 1
#define ASAN_POISON_MEMORY_REGION(at, size) (static_cast<void>(at), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) (static_cast<void>(at), static_cast<void>(size))
#endif

namespace penstock {
namespace {

// The reference to its buffer is stored before a counted block.
constexpr size_t kHead = 64;
static_assert(sizeof(BufferRef) <= kHead);

}  // namespace

void* allocate_charged(size_t bytes) {
  if (bytes <= kMostRecycled)
    return PENSTOCK_RECYCLES ? take_recycled(bytes) : ::operator new(bytes, std::align_val_t{64});
  BufferRef buffer = allocate_buffer(static_cast<int64_t>(
      std::min<size_t>(bytes, INT64_MAX - kHead) + kHead));  // too large for the pool as well
  std::byte* const memory = buffer.data();
  ASAN_POISON_MEMORY_REGION(memory + kHead + bytes,
                            static_cast<size_t>(buffer.capacity()) - kHead - bytes);
  ::new (static_cast<void*>(memory)) BufferRef(std::move(buffer));
  return memory + kHead;
}

void free_charged(void* memory, size_t bytes) noexcept {
  if (bytes <= kMostRecycled) {
    if (PENSTOCK_RECYCLES) return give_recycled(memory, bytes);
    return ::operator delete(memory, bytes, std::align_val_t{64});
  }
  auto* const head = reinterpret_cast<BufferRef*>(static_cast<std::byte*>(memory) - kHead);
  ASAN_UNPOISON_MEMORY_REGION(head, static_cast<size_t>(head->capacity()));
  // Moved out first: the reference is stored in the memory that it releases.
  const BufferRef buffer = std::move(*head);
}

Charge::Charge(int64_t bytes) {
  if (bytes > 0) held_ = allocate_buffer(bytes);
}

}  // namespace penstock
