#include "runtime/held_stages.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

class Stage final : public Waker {
 public:
  void wake() override { ++woken; }
  int woken = 0;
};

TEST_CASE("held stages: woken once, by a release or by a consumer that waits") {
  HeldStages held;
  Stage a, b;
  CHECK_FALSE(held.hold(&a));
  CHECK_FALSE(held.hold(&a));
  CHECK_FALSE(held.hold(&b));
  held.wake();
  CHECK(a.woken == 1);
  CHECK(b.woken == 1);
  held.wake();
  CHECK(a.woken == 1);
  CHECK_FALSE(held.hold(&a));
  held.begin_wait();
  CHECK(a.woken == 2);
  CHECK(held.hold(&b));
  held.remove(&b);
  held.wake();
  CHECK(b.woken == 1);
  held.end_wait();
  CHECK_FALSE(held.hold(&a));
}

TEST_CASE("held stages: one of several consumers still waits") {
  HeldStages held;
  Stage a;
  held.begin_wait();
  held.begin_wait();
  held.end_wait();
  CHECK(held.hold(&a));
  held.end_wait();
  CHECK_FALSE(held.hold(&a));
}

}  // namespace
}  // namespace penstock
