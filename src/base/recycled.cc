#include "base/recycled.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/fork.h"

namespace penstock {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRecycles = false;
#else
constexpr bool kRecycles = true;
#endif

constexpr int kClasses = size_class_of(kMostRecycled) + 1;
constexpr int64_t kBatchBytes = 64 << 10;  // bytes that move between threads at once
constexpr int kMostShared = 32;            // batches of one class that no thread owns

constexpr int batch_of(int index) {
  return static_cast<int>(std::clamp<int64_t>(kBatchBytes / size_class_bytes(index), 4, 64));
}

// Header stored in the free block itself.
struct Free {
  Free* next;
  Free* next_batch;  // of the first block of a batch
};

struct Shared {
  ForkMutex mutex;
  Free* batches = nullptr;
  int count = 0;
};

// Never destroyed: threads return blocks until the process ends.
Shared& shared(int index) {
  static auto* all = new Shared[kClasses];
  return all[index];
}

void free_all(Free* block) {
  while (block) std::free(std::exchange(block, block->next));
}

// Two halves: one is in use; the other is full or empty and moves to other threads as a whole.
struct Lists {
  struct List {
    Free* used = nullptr;
    Free* spare = nullptr;  // empty or a whole batch
    int count = 0;          // in `used`
  };
  List lists[kClasses];
  ~Lists();
};

thread_local bool lists_gone = false;

Lists::~Lists() {
  lists_gone = true;
  for (const List& list : lists) {
    free_all(list.used);
    free_all(list.spare);
  }
}

// Null while the thread's objects are destroyed: blocks may still be returned then.
Lists* own_lists() {
  if (lists_gone) return nullptr;
  thread_local Lists lists;
  return &lists;
}

void* from_heap(size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }

void refill(Lists::List* list, int index) {
  if (!list->spare) {
    Shared& others = shared(index);
    const std::lock_guard lock(others.mutex);
    if (!others.batches) return;
    list->spare = others.batches;
    others.batches = list->spare->next_batch;
    --others.count;
  }
  list->used = std::exchange(list->spare, nullptr);
  list->count = batch_of(index);
}

void spill(Lists::List* list, int index) {
  Free* const batch = std::exchange(list->spare, list->used);
  list->used = nullptr;
  list->count = 0;
  if (!batch) return;
  {
    Shared& others = shared(index);
    const std::lock_guard lock(others.mutex);
    if (others.count < kMostShared) {
      batch->next_batch = others.batches;
      others.batches = batch;
      ++others.count;
      return;
    }
  }
  free_all(batch);
}

}  // namespace

void* find_recycled(size_t bytes) {
  if (!kRecycles || bytes > kMostRecycled) return from_heap(bytes);
  const int index = size_class_of(static_cast<int64_t>(bytes));
  if (Lists* lists = own_lists()) {
    Lists::List& list = lists->lists[index];
    if (!list.used) refill(&list, index);
    if (list.used) {
      --list.count;
      return std::exchange(list.used, list.used->next);
    }
  }
  return from_heap(static_cast<size_t>(size_class_bytes(index)));
}

void give_recycled(void* memory, size_t bytes) noexcept {
  Lists* lists = kRecycles && bytes <= kMostRecycled ? own_lists() : nullptr;
  if (!lists) {
    std::free(memory);
    return;
  }
  const int index = size_class_of(static_cast<int64_t>(bytes));
  Lists::List& list = lists->lists[index];
  if (list.count == batch_of(index)) spill(&list, index);
  list.used = ::new (memory) Free{list.used, nullptr};
  ++list.count;
}

}  // namespace penstock
