// Walking over the elements of a dataset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "penstock/job.h"
#include "penstock/tensor.h"

namespace penstock {

// One pass over a dataset. Movable; any number of threads may call next at once, each element goes
// to exactly one of them. Destroy it after all calls have returned.
//
// Its threads do not follow into a forked process: in the child next and save throw
// FAILED_PRECONDITION, and destroying it frees nothing. Open a new iterator there. Elements and
// datasets may be used on both sides; a memory cache is filled anew in the child.
class Iterator {
 public:
  struct State;
  explicit Iterator(std::unique_ptr<State> state);
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();

  // The next element; false at the end, now and ever. Throws Error for an element that failed: the
  // next call goes on after it. Throws CANCELLED after cancel. An element's bytes are the caller's:
  // they do not count against Options::memory_bytes, however many are kept.
  bool next(Element* out);
  // The same, with a time limit. Returns timeout if no element has come by then; the next call goes
  // on. Stages that compute in the calling thread end their
  // block first; see interrupt_if.
  enum class Next : uint8_t { element, end, timeout };
  Next next(Element* out, double timeout_seconds);
  // The next element if an earlier call has fetched it with others; else false, which says nothing
  // about the end. Never waits or computes, not even for a next in another thread. Throws Error as
  // next does.
  bool next_fetched(Element* out);

  // The job so far, read from live counters: from any thread, also while next runs, and after the
  // end. None of them stops or slows the run.
  job::Stats stats() const;
  job::Trace trace() const;
  std::vector<job::IgnoredErrors> ignored_errors() const;
  // Facts that no element shows, such as a cache that was given up for want of memory.
  std::vector<std::string> notes() const;

  // A checkpoint: where the stream stands behind the elements given so far, in kilobytes whatever
  // the stages hold. Stops nothing. Dataset::resume goes on there, in this process or another, on
  // any number of threads, with the same elements. See Options::checkpoints. Waits for a running
  // next.
  std::string save() const;
  // `asked` is called about every 50 ms by the thread that computes or waits inside next, and by no
  // other; where it returns true, that next throws CANCELLED as after cancel, and save gives the
  // position before it. Stages that compute in the calling thread are interrupted within a row. For
  // answers that only that thread has, such as a language's own handlers of signals. It must not
  // call this iterator. Not while another thread is in next.
  void interrupt_if(std::function<bool()> asked);
  // From any thread: running and later calls of next throw CANCELLED soon.
  void cancel();

 private:
  Next next_before(Element* out, int64_t deadline_ns);
  void take_row(Element* out);
  std::unique_ptr<State> state_;
};

// What range-for uses: `for (const Element& e : dataset)`. The first error ends the loop by its
// throw.
class ElementCursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  using pointer = const Element*;
  using reference = const Element&;

  explicit ElementCursor(Iterator iterator)
      : iterator_(std::make_shared<Iterator>(std::move(iterator))) {
    ++*this;
  }
  const Element& operator*() const { return element_; }
  const Element* operator->() const { return &element_; }
  ElementCursor& operator++() {
    more_ = iterator_ && iterator_->next(&element_);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !more_; }

 private:
  std::shared_ptr<Iterator> iterator_;
  Element element_;
  bool more_ = true;
};

}  // namespace penstock
