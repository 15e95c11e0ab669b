// Forks while pipelines run: inherited state must do no harm, and pipelines opened in the child
// must work. Usage: forks SCRATCH_FOLDER

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "check.h"

using namespace penstock;

namespace {

// Before GCC 14 the address sanitizer's own allocator stays locked in a child if another thread was
// in it at the fork: such a child hangs, whatever this library does.
#if defined(__SANITIZE_ADDRESS__) && !defined(__clang__) && __GNUC__ < 14
constexpr bool kLocksStay = true;
#else
constexpr bool kLocksStay = false;
#endif
constexpr unsigned kHangSeconds = kLocksStay ? 60 : 300;  // a child that needs longer hangs
constexpr int kTries = kLocksStay ? 4 : 1;                // of a child that hung

// Runs f in a child; returns its result. An alarm kills a child that hangs.
bool in_child(const std::function<bool()>& f, int tries = kTries) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    alarm(kHangSeconds);
    bool good = false;
    try {
      good = f();
    } catch (const std::exception& e) {
      std::printf("in the child: %s\n", e.what());
    }
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM && tries > 1)
    return in_child(f, tries - 1);
  return status == 0;
}

bool is_refused(const std::function<void()>& f) {
  const std::optional<Error> error = error_of(f);
  return error && error->code() == Code::failed_precondition &&
         error->message().find("forked") != std::string::npos;
}

Dataset pipeline() {
  return Dataset::range(2000)
      .map("x -> x * 2", {{"num_parallel_calls", 2}})
      .shuffle(50, {{"seed", 1}})
      .batch(7)
      .prefetch(2)
      .with_options({.threads = 2});
}

// Returns the sum of all entries; -1 if an element is missing.
int64_t sum_of(Iterator iterator) {
  int64_t sum = 0, count = 0;
  Element e;
  while (iterator.next(&e)) {
    for (const int64_t v : e.as<int64_t>()) {
      sum += v;
      ++count;
    }
  }
  return count == 2000 ? sum : -1;
}
constexpr int64_t kSum = 2000 * 1999;

void inherited() {
  const Dataset ds = pipeline();
  auto iterator = std::make_unique<Iterator>(ds.iterate());
  Element e;
  check(iterator->next(&e), "a first element");
  const int64_t first = e.as<int64_t>()[0];
  check(in_child([&] { return is_refused([&] { iterator->next(&e); }); }), "next in the child");
  check(in_child([&] { return is_refused([&] { iterator->save(); }); }), "save in the child");
  check(in_child([&] {
          iterator->cancel();
          iterator.reset();
          return true;
        }),
        "cancelling and destroying it in the child");
  check(in_child([&] {
          *iterator = ds.iterate();
          return sum_of(std::move(*iterator)) == kSum;
        }),
        "assigning to it in the child");
  check(in_child([&] {
          const bool same = e.as<int64_t>()[0] == first && e.same(e);
          e = Element();
          return same;
        }),
        "an element in the child");
  check(in_child([&] {
          for (int i = 0; i < 3; ++i) {
            if (sum_of(ds.iterate()) != kSum) return false;
          }
          return sum_of(pipeline().iterate()) == kSum;
        }),
        "new iterators in the child");
  const auto nested = [&] {
    Iterator own = ds.iterate();
    own.next(&e);
    return in_child([&] {
             return is_refused([&] { own.next(&e); }) && is_refused([&] { iterator->next(&e); }) &&
                    sum_of(ds.iterate()) == kSum;
           }) &&
           own.next(&e);
  };
  // The child's own threads work as it forks.
  if (!kLocksStay) check(in_child(nested), "a child of the child");
  int64_t batches = 1;
  while (iterator->next(&e)) ++batches;
  check(batches == 286, "the parent's iterator goes on");
}

// The second element comes only after the first batch, which is not yet full, was taken.
bool time_ends_a_batch() {
  std::atomic<bool> taken{false};
  const auto open = [&taken]() -> RowSource {
    return [&taken, i = int64_t{0}](std::vector<Array>* row) mutable {
      while (i == 1 && !taken) std::this_thread::yield();
      *row = {Array::scalar(i)};
      return i++ < 4;
    };
  };
  const Dataset ds = Dataset::generator({{ArrayType{Type::int64}}, {}}, open)
                         .prefetch(1)
                         .batch(3, false, {{"max_wait", 0.001}})
                         .with_options({.threads = 2, .latency = true});
  Iterator iterator = ds.iterate();
  Element e;
  if (!iterator.next(&e) || e.array().entries() != 1) return false;
  taken = true;
  int64_t entries = 1;
  while (iterator.next(&e)) entries += e.array().entries();
  return entries == 4;
}

// State that lives as long as the process or the dataset.
void shared_state() {
  const Dataset cached = Dataset::range(100).map("x -> x + 1").cache();
  check(integers(cached).size() == 100, "a memory cache is filled");
  check(in_child([&] { return integers(cached).size() == 100; }), "and used in the child");
  check(time_ends_a_batch(), "a batch that time ends");
  check(in_child(time_ends_a_batch), "and in the child");
  const Dataset generator = Dataset::generator({{ArrayType{Type::int64}}, {}}, []() -> RowSource {
    return [i = int64_t{0}](std::vector<Array>* row) mutable {
      *row = {Array::scalar(i)};
      return i++ < 50;
    };
  });
  const std::string saved = generator.iterate().save();
  check(in_child([&] {
          Iterator resumed = generator.resume(saved);
          Element e;
          return resumed.next(&e) && integers(generator.prefetch(2)).size() == 50;
        }),
        "a generator in the child");
  check(in_child(
            [&] { return Dataset::range(5).reduce(0, "(s, x) -> s + x").value<int64_t>() == 10; }),
        "a value in the child");
}

constexpr int kChildren = kLocksStay ? 0 : 100;

// A child can run pipelines no matter what the other threads do.
void beside_running_pipelines() {
  std::atomic<bool> stop{false};
  const Dataset shared = pipeline().cache();
  std::vector<std::thread> runners;
  for (int t = 0; t < 2; ++t) {
    runners.emplace_back([&, t] {
      std::vector<Element> kept;
      while (!stop) {
        Iterator iterator = (t == 0 ? pipeline() : shared).iterate();
        Element e;
        while (!stop && iterator.next(&e)) kept.push_back(e);
        if (kept.size() > 2000) kept.clear();
      }
    });
  }
  int good = 0;
  for (int i = 0; i < kChildren; ++i) {
    good += in_child(
        [&] { return sum_of(pipeline().iterate()) == kSum && sum_of(shared.iterate()) == kSum; });
  }
  stop = true;
  for (std::thread& t : runners) t.join();
  check(good == kChildren, std::to_string(good) + " of " + std::to_string(kChildren) +
                               " children beside running pipelines");
}

}  // namespace

int main() {
  group("inherited", inherited);
  group("shared state", shared_state);
  if (kChildren > 0) group("beside running pipelines", beside_running_pipelines);
  return closing_line();
}
