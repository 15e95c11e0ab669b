// Answers one by one: no work ahead of demand, and batches that do not wait for ever.

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "penstock/penstock.h"

namespace penstock {
namespace {

// Requests that come when they like: how many have come so far.
class Requests {
 public:
  void add(int64_t count) {
    std::lock_guard lock(mutex_);
    total_ += count;
    changed_.notify_all();
  }
  void end() {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  bool next(int64_t* number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return given_ < total_ || ended_; });
    if (given_ == total_) return false;
    *number = given_++;
    return true;
  }
  int64_t given() {
    std::lock_guard lock(mutex_);
    return given_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t total_ = 0, given_ = 0;
  bool ended_ = false;
};

Dataset requests_of(Requests* requests) {
  return Dataset::generator({{{Type::int64, {}}}, {}}, [requests]() -> RowSource {
    return [requests](std::vector<Array>* row) {
      int64_t number = 0;
      if (!requests->next(&number)) return false;
      *row = {Array::scalar(number)};
      return true;
    };
  });
}

TEST_CASE("a batch with max_wait does not wait for requests that have not come") {
  Requests requests;
  const Dataset ds =
      requests_of(&requests).batch(4, false, {{"max_wait", 0.001}}).with_options({.latency = true});
  Iterator iterator = ds.iterate();
  Element e;
  int64_t answered = 0;
  // The next requests come only behind the answers to all before them: a batch that waited to be
  // full would wait for ever.
  for (const int64_t count : {3, 1, 9, 2}) {
    requests.add(count);
    for (const int64_t all = answered + count; answered < all;) {
      REQUIRE(iterator.next(&e));
      const int64_t rows = e.array().shape()[0];
      CHECK(rows >= 1);
      CHECK(rows <= 4);
      answered += rows;
    }
  }
  requests.end();
  CHECK(!iterator.next(&e));
  CHECK(answered == 15);
}

TEST_CASE("latency mode takes no request before its answer is asked for") {
  Requests requests;
  requests.add(100);
  requests.end();
  Iterator iterator = requests_of(&requests)
                          .map("x -> x + 1")
                          .prefetch(8)
                          .with_options({.latency = true})
                          .iterate();
  Element e;
  for (int64_t i = 0; i < 10; ++i) {
    REQUIRE(iterator.next(&e));
    CHECK(e.value<int64_t>() == i + 1);
    CHECK(requests.given() <= i + 2);  // one ahead at most
  }
}

}  // namespace
}  // namespace penstock
