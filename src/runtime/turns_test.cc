#include "runtime/turns.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

class Waiter final : public Turns::Waiter {
 public:
  Waiter(Turns* turns, bool still_wants) : turns_(turns), still_wants_(still_wants) {}
  bool turn_came() override {
    ++told;
    return still_wants_ && turns_->take(self, false);
  }
  std::weak_ptr<Turns::Waiter> self;
  int told = 0;

 private:
  Turns* turns_;
  bool still_wants_;
};

std::shared_ptr<Waiter> make_waiter(Turns* turns, bool still_wants = true) {
  auto out = std::make_shared<Waiter>(turns, still_wants);
  out->self = out;
  return out;
}

TEST_CASE(
    "turns: as many at once as there are calls, the others in the order in which they asked") {
  LiveValue calls;
  calls.start(2, 100, false);
  Turns turns(&calls);
  const auto a = make_waiter(&turns), b = make_waiter(&turns), c = make_waiter(&turns),
             d = make_waiter(&turns);
  CHECK(turns.take(a, false));
  CHECK(turns.take(b, false));
  CHECK_FALSE(turns.take(c, false));
  CHECK_FALSE(turns.take(d, false));
  CHECK_FALSE(turns.take(c, false));  // waits once
  turns.give_back();
  CHECK(c->told == 1);
  CHECK(d->told == 0);
  turns.give_back();
  CHECK(d->told == 1);
  calls.set(3);
  CHECK(turns.take(a, false));
}

TEST_CASE("turns: what the consumer waits for goes at once") {
  LiveValue calls;
  calls.start(1, 100, false);
  Turns turns(&calls);
  const auto a = make_waiter(&turns), b = make_waiter(&turns), c = make_waiter(&turns);
  CHECK(turns.take(a, false));
  CHECK(turns.take(b, true));
  CHECK_FALSE(turns.take(c, false));
  turns.give_back();
  CHECK(c->told == 0);  // the other still has its turn
  turns.give_back();
  CHECK(c->told == 1);
}

TEST_CASE("turns: one that has gone, or wants none any more, leaves its turn to the next") {
  LiveValue calls;
  calls.start(1, 100, false);
  Turns turns(&calls);
  const auto a = make_waiter(&turns), idle = make_waiter(&turns, false), c = make_waiter(&turns);
  auto gone = make_waiter(&turns);
  CHECK(turns.take(a, false));
  for (const auto& waiter : {gone, idle, c}) CHECK_FALSE(turns.take(waiter, false));
  gone.reset();
  turns.give_back();
  CHECK(idle->told == 1);
  CHECK(c->told == 1);
  CHECK_FALSE(turns.take(a, false));
}

}  // namespace
}  // namespace penstock
