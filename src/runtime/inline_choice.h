// Where the blocks of a parallel stage are computed when they cost little: in tasks of the pool, or
// in the thread of the consumer.
//
// Handing a block over costs a few microseconds of waking and moving cache lines between cores.
// Where a block costs no more than that, threads may bring nothing but CPU time; whether they do
// depends on the machine, the chain and the consumer, so it is tried. While the consumer hardly
// waits, the pool takes work off its thread and stays. Otherwise each way runs for a moment, and
// the pool stays if it gives clearly more rows per second. The choice is tried again from time to
// time.
#pragma once

#include <cstdint>

namespace penstock {

// Not thread-safe. Starts with the pool.
class InlineChoice {
 public:
  bool inlined() const { return inlined_; }
  // The consumer has a block of `rows` rows at `now_ns`, after waiting `waited_ns` for it. `cheap`:
  // blocks cost little; where they do not the pool computes them.
  void took(int64_t rows, int64_t now_ns, int64_t waited_ns, bool cheap);

 private:
  enum class Phase : uint8_t { settle, pool, settle_inline, inlined, keep };
  void begin(Phase phase, int64_t now_ns);

  static constexpr int64_t kTrialNs = 2'000'000, kSettleNs = 500'000, kKeepNs = 200'000'000;
  static constexpr int64_t kLeastBlocks = 100;
  static constexpr double kHardlyWaits = 0.1;  // of the time
  static constexpr double kWorthThreads = 1.25;

  Phase phase_ = Phase::settle;
  bool inlined_ = false;
  int64_t start_ns_ = -1;
  int64_t blocks_ = 0, rows_ = 0, waited_ns_ = 0;
  double pool_rate_ = 0;
};

}  // namespace penstock
