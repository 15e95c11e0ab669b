// Numbers of a stage that may move while its run goes on.
//
// Each stage of a plan has one StageControls in a run. It outlives cursors: a stage that is opened
// again by a repeat, or once more by a nested pipeline, goes on with the values that hold now.
// Stages read a value whenever they use it, so a change counts from the next block on. No value
// decides which elements come or in what order; a test moves them at random
// (api/one_stream_test.cc).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace penstock {

struct PlanNode;

// A number that any thread may read and set.
class LiveValue {
 public:
  // Returns the value; 0 before a stage has started it.
  int64_t get() const { return std::max<int64_t>(0, value_.load(std::memory_order_relaxed)); }
  // Stores min(value, most()). REQUIRES value >= 0.
  void set(int64_t value) {
    if (is_used()) value_.store(std::min(value, most()), std::memory_order_relaxed);
  }
  // The stage's own value, when it is opened first; later calls change nothing. `fixed`: the user
  // wrote it, so a tuner leaves it as it is.
  void start(int64_t value, int64_t most, bool fixed) {
    int64_t unused = kUnused;
    if (value_.load(std::memory_order_relaxed) != kUnused) return;
    most_.store(most, std::memory_order_relaxed);
    fixed_.store(fixed, std::memory_order_relaxed);
    value_.compare_exchange_strong(unused, std::min(value, most));
  }
  // Returns true once a stage has started the value.
  bool is_used() const { return value_.load() != kUnused; }
  bool is_fixed() const { return fixed_.load(std::memory_order_relaxed); }
  int64_t most() const { return most_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kUnused = -1;
  std::atomic<int64_t> value_{kUnused};
  std::atomic<int64_t> most_{INT64_MAX};
  std::atomic<bool> fixed_{false};
};

// Whose threads compute the blocks of a stage that could be computed by the pool.
enum class HandOver : uint8_t {
  automatic,  // the pool, or the consumer's thread while threads bring nothing (inline_choice.h)
  pool,
  consumer,
};

struct StageControls {
  LiveValue calls;        // threads that work on it at once; 1: the thread that pulls
  LiveValue rows_ahead;   // finished rows that may wait for the consumer; 0: none is made ahead
  LiveValue files_ahead;  // files opened or read before their turn
  LiveValue bytes_ahead;  // bytes of a file that are read and may wait
  std::atomic<HandOver> hand_over{HandOver::automatic};

  // State, kept by the stage's cursors.
  std::atomic<int64_t> on_pool{0};             // cursors that have handed their work to the pool
  std::atomic<int64_t> most_on_pool{0};        // at once so far
  std::atomic<bool> inlined{false};            // the consumer computes its blocks all the same
  std::atomic<const PlanNode*> head{nullptr};  // the stage with whose calls it runs; null: its own
};

// The table of the values: calls f(name, value) for each.
template <typename F>
void visit_stage_controls(F&& f) {
  f("calls", &StageControls::calls);
  f("rows_ahead", &StageControls::rows_ahead);
  f("files_ahead", &StageControls::files_ahead);
  f("bytes_ahead", &StageControls::bytes_ahead);
}

}  // namespace penstock
