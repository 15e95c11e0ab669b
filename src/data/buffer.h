// Reference-counted memory from a pool with a hard byte budget.
//
// Buffers are 64-byte aligned. Sizes up to 32 KiB come from malloc. Larger ones come from size
// classes (four per power of two) that are kept for reuse, because touching fresh pages costs more
// than the work done in them. The budget counts every byte in use: a request above it throws
// RESOURCE_EXHAUSTED. All functions are thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace penstock {

class BufferPool;

// The 64 bytes that precede each buffer's bytes.
struct BufferHeader {
  static constexpr int kMaxKept = 3;
  std::atomic<int64_t> references;
  int64_t capacity;  // usable bytes
  BufferPool* pool;
  int32_t size_class;  // -1: from malloc
  int32_t kept_count;
  BufferHeader*
      kept[kMaxKept];  // references held until this buffer is released; see BufferRef::keep
  struct KeptList* more_kept;
};
static_assert(sizeof(BufferHeader) == 64);

// Owns one reference to a buffer; null by default. Copies share the bytes.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) : header_(other.header_) { retain(); }
  BufferRef(BufferRef&& other) noexcept : header_(std::exchange(other.header_, nullptr)) {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): equal headers are left alone
  BufferRef& operator=(const BufferRef& other) {
    if (header_ != other.header_) {
      release();
      header_ = other.header_;
      retain();
    }
    return *this;
  }
  BufferRef& operator=(BufferRef&& other) noexcept {
    std::swap(header_, other.header_);
    return *this;
  }
  ~BufferRef() { release(); }

  explicit operator bool() const { return header_ != nullptr; }
  std::byte* data() const { return reinterpret_cast<std::byte*>(header_) + 64; }
  int64_t capacity() const { return header_ ? header_->capacity : 0; }
  // Returns true if nobody else holds the bytes, so that they may be written in place.
  bool unique() const {
    return header_ && header_->references.load(std::memory_order_acquire) == 1;
  }
  bool operator==(const BufferRef& other) const { return header_ == other.header_; }
  // Keeps `other` alive as long as this buffer, whose bytes point into it. Call before sharing.
  void keep(const BufferRef& other);
  // Keeps every buffer that `other` keeps.
  void keep_all_of(const BufferRef& other);

 private:
  friend class BufferPool;
  explicit BufferRef(BufferHeader* header) : header_(header) {}
  void retain() const {
    if (header_) header_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release();

  BufferHeader* header_ = nullptr;
};

class BufferPool {
 public:
  static constexpr int64_t kUnlimited = INT64_MAX;

  explicit BufferPool(int64_t budget_bytes = kUnlimited);
  // CHECKs that no buffer is left.
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // Returns at least `bytes` usable bytes, uninitialised. Throws RESOURCE_EXHAUSTED over the
  // budget.
  BufferRef allocate(int64_t bytes);

  int64_t budget_bytes() const { return budget_bytes_.load(std::memory_order_relaxed); }
  void set_budget_bytes(int64_t bytes) { budget_bytes_.store(bytes, std::memory_order_relaxed); }
  // Bytes in use now, and the highest value so far.
  int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
  // Number of buffers allocated since the start.
  int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
  // Returns kept memory to the system.
  void trim();

 private:
  friend class BufferRef;
  struct FreeLists;
  void give_back(BufferHeader* header);
  void charge(int64_t bytes);

  std::atomic<int64_t> budget_bytes_;
  std::atomic<int64_t> used_bytes_{0};
  std::atomic<int64_t> kept_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
  std::atomic<int64_t> allocations_{0};
  FreeLists* free_lists_;
};

// Returns the pool of this thread's work; without one, a process-wide unlimited pool. Iterators set
// theirs around every task (ScopedPool).
BufferPool& current_pool();
BufferPool& process_pool();

class ScopedPool {
 public:
  explicit ScopedPool(BufferPool* pool);
  ~ScopedPool();
  ScopedPool(const ScopedPool&) = delete;
  ScopedPool& operator=(const ScopedPool&) = delete;

 private:
  BufferPool* previous_;
};

// Shorthand for current_pool().allocate(bytes).
BufferRef allocate_buffer(int64_t bytes);

}  // namespace penstock
