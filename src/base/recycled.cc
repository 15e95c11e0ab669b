#include "base/recycled.h"

#include <bit>

namespace penstock {
namespace {

constexpr size_t kSmallest = 64;
constexpr size_t kLargest = 32 << 10;
constexpr int kMostKept = 64;  // of one size

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = true;
#endif

// Free blocks are linked through their first word.
struct Lists {
  static constexpr int kSizes = std::bit_width(kLargest) - std::bit_width(kSmallest) + 1;
  void* heads[kSizes] = {};
  int kept[kSizes] = {};
  ~Lists();
};

thread_local bool lists_gone = false;

Lists::~Lists() {
  lists_gone = true;
  for (void* head : heads) {
    while (head) {
      void* next = *static_cast<void**>(head);
      ::operator delete(head);
      head = next;
    }
  }
}

// Null while the thread's objects are destroyed: blocks may still come back then.
Lists* lists() {
  if (lists_gone) return nullptr;
  thread_local Lists lists;
  return &lists;
}

int size_index(size_t bytes) {
  return bytes <= kSmallest ? 0
                            : static_cast<int>(std::bit_width(bytes - 1)) -
                                  static_cast<int>(std::bit_width(kSmallest - 1));
}

}  // namespace

void* take_recycled(size_t bytes) {
  if (!kRecycles || bytes > kLargest) return ::operator new(bytes);
  const int size = size_index(bytes);
  Lists* kept = lists();
  if (kept && kept->heads[size]) {
    void* memory = kept->heads[size];
    kept->heads[size] = *static_cast<void**>(memory);
    --kept->kept[size];
    return memory;
  }
  return ::operator new(kSmallest << size);
}

void give_recycled(void* memory, size_t bytes) noexcept {
  const int size = size_index(bytes);
  Lists* kept = kRecycles && bytes <= kLargest ? lists() : nullptr;
  if (!kept || kept->kept[size] == kMostKept) {
    ::operator delete(memory);
    return;
  }
  *static_cast<void**>(memory) = kept->heads[size];
  kept->heads[size] = memory;
  ++kept->kept[size];
}

}  // namespace penstock
