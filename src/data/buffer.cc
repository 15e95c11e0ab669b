// Three levels serve an allocation: the thread's recycled lists (recycled.h, small sizes), the
// pool's free lists by size class (large sizes; unmapping and touching fresh pages would cost more
// than the work done in them), and the system.
//
// The budget counts bytes in use, not kept ones. Kept bytes are returned to the system if they
// would otherwise push the process over the budget.
//
// Accounting must survive the hand-over of a buffer to the user: its bytes move from used_bytes_ to
// handed_over_bytes, and a flag in the buffer's header says which counter to decrease at its
// release. The release of the last byte is the last access to the pool, because another thread may
// destroy the pool as soon as it reads 0; hence the release order of the final fetch_sub.
#include "data/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fork.h"
#include "base/recycled.h"
#include "data/charged.h"
#include "data/foreign.h"
#include "data/hand_over.h"
#include "data/room_keeper.h"

namespace penstock {

struct KeptList {
  std::vector<BufferHeader*> headers;
};

namespace {

// Sizes below include the header.
constexpr int64_t kHeader = sizeof(BufferHeader);
constexpr int64_t kLeastMapped = 1 << 20;  // larger sizes get mappings of their own
constexpr int64_t kHugePage = 2 << 20;
constexpr int64_t kMostBytes = int64_t{1} << 46;
constexpr int32_t kHandedOver = 1 << 30;  // in BufferHeader::size_class
constexpr int32_t kForeign = 1 << 29;     // there, too: the bytes are the std::function to call

constexpr int kClasses = size_class_of(kMostBytes + kHeader) + 1;

// Requests huge pages inside the buffer only: a buffer never takes more memory than the budget
// counts.
void* map_memory(int64_t bytes) {
  if (bytes < kLeastMapped) {
    return std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
  }
  const auto size = static_cast<size_t>(bytes);
  void* memory = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t aligned = (at + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > at) munmap(memory, aligned - at);
  munmap(reinterpret_cast<void*>(aligned + size), at + kHugePage - aligned);
  madvise(reinterpret_cast<void*>(aligned), size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

void unmap_memory(void* memory, int64_t bytes) {
  if (bytes < kLeastMapped) {
    std::free(memory);
  } else {
    munmap(memory, static_cast<size_t>(bytes));
  }
}

thread_local BufferPool* scoped_pool = nullptr;
thread_local ScopedLimit* scoped_limit = nullptr;

}  // namespace

// Access to FreeLists, which only members of BufferPool can name.
void hand_over_buffer(BufferHeader* header);
bool holds_nothing(const BufferPool& pool);

bool is_unused(const BufferPool& pool) { return holds_nothing(pool); }

// State of a pool besides its counters. As a member it can access those.
struct BufferPool::FreeLists {
  ForkMutex mutex;
  std::vector<void*> lists[kClasses];
  std::atomic<int64_t> handed_over_bytes{0};

  // Marks the buffer in size_class, so that give_back knows which counter has its bytes. Iterators
  // over one memory cache may hand over the same buffer at the same time.
  static void hand_over(BufferHeader* header) {
    BufferPool& pool = *header->pool;
    if (pool.budget_bytes() == kUnlimited) return;
    const std::atomic_ref size_class(header->size_class);
    const int32_t before = size_class.fetch_or(kHandedOver, std::memory_order_relaxed);
    if ((before & kHandedOver) != 0) return;
    const int64_t total = size_class_bytes(before & ~kForeign);
    // In this order, so that is_unused always finds the bytes in one of the counters.
    pool.free_lists_->handed_over_bytes.fetch_add(total, std::memory_order_relaxed);
    pool.used_bytes_.fetch_sub(total, std::memory_order_release);
  }
  static bool is_unused(const BufferPool& pool) {
    return pool.used_bytes_.load(std::memory_order_acquire) == 0 &&
           pool.free_lists_->handed_over_bytes.load(std::memory_order_acquire) == 0;
  }

  friend void hand_over_buffer(BufferHeader* header) { hand_over(header); }
  friend bool holds_nothing(const BufferPool& pool) { return is_unused(pool); }
};

void hand_over(const BufferRef& buffer) {
  if (!buffer) return;
  auto* header = reinterpret_cast<BufferHeader*>(buffer.data() - kHeader);
  hand_over_buffer(header);
  for (int i = 0; i < header->kept_count; ++i) hand_over_buffer(header->kept[i]);
  if (!header->more_kept) return;
  for (BufferHeader* kept : header->more_kept->headers) hand_over_buffer(kept);
}

BufferPool::BufferPool(int64_t budget_bytes)
    : budget_bytes_(budget_bytes), free_lists_(new FreeLists) {}

BufferPool::~BufferPool() {
  PENSTOCK_CHECK(FreeLists::is_unused(*this));
  trim();
  delete free_lists_;
}

void BufferPool::charge(int64_t bytes) {
  int64_t used;
  while ((used = used_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes) >
         budget_bytes()) {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    RoomState& state = room_state();
    if (state.keeper && state.keeper->wait_for_room(*this, bytes)) continue;
    state.wanted_bytes = bytes;
    throw Error(Code::resource_exhausted, "the memory budget of " +
                                              std::to_string(budget_bytes() >> 20) +
                                              " MiB is used up: " + std::to_string(bytes) +
                                              " more bytes are needed; give more with --memory");
  }
  int64_t peak = peak_bytes();
  while (used > peak && !peak_bytes_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

BufferRef BufferPool::allocate(int64_t bytes) {
  if (bytes < 0 || bytes > kMostBytes) {
    throw Error(Code::resource_exhausted,
                "a buffer of " + std::to_string(bytes) + " bytes is too large");
  }
  const int size_class = size_class_of(bytes + kHeader);
  const int64_t total = size_class_bytes(size_class);
  if (scoped_limit) scoped_limit->take(total);
  charge(total);
  void* memory = nullptr;
  if (total <= kMostRecycled) {
    memory = find_recycled(static_cast<size_t>(total));
  } else {
    std::lock_guard lock(free_lists_->mutex);
    auto& list = free_lists_->lists[size_class];
    if (!list.empty()) {
      memory = list.back();
      list.pop_back();
      kept_bytes_.fetch_sub(total, std::memory_order_relaxed);
    }
  }
  if (!memory) {
    const int64_t kept = kept_bytes_.load(std::memory_order_relaxed);
    if (kept > 0 && kept > budget_bytes() - used_bytes()) trim();
    memory = map_memory(total);
  }
  if (!memory) {
    used_bytes_.fetch_sub(total, std::memory_order_relaxed);
    throw Error(Code::resource_exhausted,
                "the system has no memory for a buffer of " + std::to_string(bytes) + " bytes");
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  auto* header = new (memory) BufferHeader{};
  header->references.store(1, std::memory_order_relaxed);
  header->capacity = total - kHeader;
  header->pool = this;
  header->size_class = size_class;
  return BufferRef(header);
}

BufferRef foreign_buffer(std::function<void()> release) {
  using Release = std::function<void()>;
  static_assert(alignof(Release) <= 64);
  BufferRef out;
  try {
    out = process_pool().allocate(sizeof(Release));
  } catch (...) {
    release();
    throw;
  }
  ::new (static_cast<void*>(out.data())) Release(std::move(release));
  reinterpret_cast<BufferHeader*>(out.data() - kHeader)->size_class |= kForeign;
  return out;
}

void BufferPool::give_back(BufferHeader* header) {
  if ((header->size_class & kForeign) != 0) {
    auto* release = std::launder(reinterpret_cast<std::function<void()>*>(header + 1));
    (*release)();
    std::destroy_at(release);
    header->size_class &= ~kForeign;
  }
  const bool handed_over = (header->size_class & kHandedOver) != 0;
  const int size_class = header->size_class & ~kHandedOver;
  const int64_t total = size_class_bytes(size_class);
  if (total <= kMostRecycled) {
    give_recycled(header, static_cast<size_t>(total));
  } else {
    std::lock_guard lock(free_lists_->mutex);
    free_lists_->lists[size_class].push_back(header);
    kept_bytes_.fetch_add(total, std::memory_order_relaxed);
  }
  if (scoped_limit) scoped_limit->left_ += total;
  // Last: a reader of 0 may destroy the pool.
  (handed_over ? free_lists_->handed_over_bytes : used_bytes_)
      .fetch_sub(total, std::memory_order_release);
}

void BufferPool::trim() {
  std::vector<std::pair<void*, int64_t>> freed;  // unmap outside the lock, because it is slow
  {
    std::lock_guard lock(free_lists_->mutex);
    for (int i = 0; i < kClasses; ++i) {
      for (void* memory : free_lists_->lists[i]) freed.emplace_back(memory, size_class_bytes(i));
      free_lists_->lists[i].clear();
    }
    kept_bytes_.store(0, std::memory_order_relaxed);
  }
  for (const auto& [memory, bytes] : freed) unmap_memory(memory, bytes);
}

void BufferRef::release() {
  // A loop, not recursion: buffers may keep long chains of others.
  BufferHeader* one = std::exchange(header_, nullptr);
  if (!one || one->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::vector<BufferHeader*> more;
  while (one) {
    auto drop = [&more](BufferHeader* kept) {
      if (kept->references.fetch_sub(1, std::memory_order_acq_rel) == 1) more.push_back(kept);
    };
    for (int i = 0; i < one->kept_count; ++i) drop(one->kept[i]);
    if (one->more_kept) {
      for (BufferHeader* kept : one->more_kept->headers) drop(kept);
      delete one->more_kept;
    }
    one->pool->give_back(one);
    one = nullptr;
    if (!more.empty()) {
      one = more.back();
      more.pop_back();
    }
  }
}

void BufferRef::keep(const BufferRef& other) {
  if (!other.header_ || other.header_ == header_) return;
  for (int i = 0; i < header_->kept_count; ++i) {
    if (header_->kept[i] == other.header_) return;
  }
  other.retain();
  if (header_->kept_count < BufferHeader::kMaxKept) {
    header_->kept[header_->kept_count++] = other.header_;
    return;
  }
  if (!header_->more_kept) header_->more_kept = new KeptList;
  auto& more = header_->more_kept->headers;
  if (!more.empty() && more.back() == other.header_) {  // rows of one chunk often follow each other
    other.header_->references.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  more.push_back(other.header_);
}

void BufferRef::keep_all_of(const BufferRef& other) {
  if (!other.header_) return;
  auto keep_header = [this](BufferHeader* kept) {
    kept->references.fetch_add(1, std::memory_order_relaxed);
    keep(BufferRef(kept));
  };
  for (int i = 0; i < other.header_->kept_count; ++i) keep_header(other.header_->kept[i]);
  if (other.header_->more_kept) {
    for (BufferHeader* kept : other.header_->more_kept->headers) keep_header(kept);
  }
}

BufferPool& process_pool() {
  static auto* pool = new BufferPool;
  return *pool;
}

BufferPool& current_pool() { return scoped_pool ? *scoped_pool : process_pool(); }
BufferRef allocate_buffer(int64_t bytes) { return current_pool().allocate(bytes); }

ScopedPool::ScopedPool(BufferPool* pool) : previous_(scoped_pool) { scoped_pool = pool; }
ScopedPool::~ScopedPool() { scoped_pool = previous_; }

ScopedLimit::ScopedLimit(int64_t bytes)
    : left_(bytes), previous_(std::exchange(scoped_limit, this)) {}
ScopedLimit::~ScopedLimit() { scoped_limit = previous_; }

void ScopedLimit::take(int64_t bytes) {
  if (bytes > left_) {
    exceeded_ = true;
    throw Error(Code::resource_exhausted, std::to_string(bytes) +
                                              " more bytes are needed, work before a run may "
                                              "take " +
                                              std::to_string(std::max<int64_t>(left_, 0)));
  }
  left_ -= bytes;
}

}  // namespace penstock
