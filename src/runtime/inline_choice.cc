#include "runtime/inline_choice.h"

namespace penstock {

void InlineChoice::begin(Phase phase, int64_t now_ns) {
  phase_ = phase;
  start_ns_ = now_ns;
  blocks_ = rows_ = waited_ns_ = 0;
}

void InlineChoice::took(int64_t rows, int64_t now_ns, int64_t waited_ns, bool cheap) {
  if (!cheap || start_ns_ < 0) {
    inlined_ = false;
    begin(Phase::settle, now_ns);
    return;
  }
  ++blocks_;
  rows_ += rows;
  waited_ns_ += waited_ns;
  const int64_t spent = now_ns - start_ns_;
  const int64_t least = phase_ == Phase::keep                               ? kKeepNs
                        : phase_ == Phase::pool || phase_ == Phase::inlined ? kTrialNs
                                                                            : kSettleNs;
  if (spent < least || blocks_ < kLeastBlocks) return;
  const double rate = static_cast<double>(rows_) / static_cast<double>(spent);
  switch (phase_) {
    case Phase::settle:  // what lay there from before is gone
      return begin(Phase::pool, now_ns);
    case Phase::pool:
      pool_rate_ = rate;
      if (static_cast<double>(waited_ns_) < kHardlyWaits * static_cast<double>(spent))
        return begin(Phase::keep, now_ns);
      inlined_ = true;
      return begin(Phase::settle_inline, now_ns);
    case Phase::settle_inline: return begin(Phase::inlined, now_ns);
    case Phase::inlined:
      inlined_ = pool_rate_ < kWorthThreads * rate;
      return begin(Phase::keep, now_ns);
    case Phase::keep: inlined_ = false; return begin(Phase::settle, now_ns);
  }
}

}  // namespace penstock
