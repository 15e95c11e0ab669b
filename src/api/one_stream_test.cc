// One stream, whatever the setting: random pipelines give the same elements and errors in the same
// order for every number of threads, every block size, and with the optimizer on or off.

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "data/digest.h"
#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "plan/build.h"
#include "plan/format.h"
#include "plan/unparse.h"
#include "runtime/checkpoint.h"
#include "runtime/run.h"

namespace penstock {
namespace {

// A pipeline of int64 scalars, grown stage by stage.
std::string random_pipeline(std::mt19937_64& random) {
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  std::string text = "range(" + std::to_string(pick(60)) + ")";
  const int64_t stages = 1 + pick(6);
  for (int64_t i = 0; i < stages; ++i) {
    const std::string k = std::to_string(1 + pick(5)), seed = std::to_string(pick(100));
    switch (pick(48)) {
      case 0: text += " | map(x -> x * " + k + " + 1)"; break;
      case 1: text += " | map(x -> x - " + k + ", num_parallel_calls=3)"; break;
      case 2: text += " | filter(x -> x % " + k + " != 1)"; break;
      case 3: text += " | map(x -> 60 // (x - " + k + "))"; break;  // fails at one value
      case 4: text += " | take(" + std::to_string(pick(40)) + ")"; break;
      case 5: text += " | skip(" + std::to_string(pick(8)) + ")"; break;
      case 6: text += " | shard(" + k + ", 0)"; break;
      case 7: text += " | repeat(2)"; break;
      case 8: text += " | shuffle(" + std::to_string(1 + pick(12)) + ", seed=" + seed + ")"; break;
      case 9: text += " | batch(" + k + ") | map(b -> sum(b))"; break;
      case 10:
        text += " | batch(" + k + ", drop_remainder=true) | map(b -> sum(b), num_parallel_calls=2)";
        break;
      case 11: text += " | enumerate() | map((i, x) -> i * 3 + x)"; break;
      case 12: text += " | prefetch(" + k + ")"; break;
      case 13: text += " | cache()"; break;
      case 14: text += " | flat_map(x -> range(x % 4) | map(y -> x + y))"; break;
      case 15:
        text += " | interleave(x -> range(abs(x) % 5), cycle_length=" + k + ", block_length=2)";
        break;
      case 16:
        text += " | interleave(x -> range(abs(x) % 5) | map(y -> x * 10 + y), cycle_length=3, "
                "num_parallel_calls=2)";
        break;
      case 17:
        text += " | map(x -> x + random_uniform(high=50, dtype=int64, seed=" + seed + "))";
        break;
      case 18: text += " | concatenate(range(" + k + "))"; break;
      case 19:
        text = "let d = " + text + "\nzip(d, d | map(x -> x + 1)) | map((a, b) -> a * 7 + b)";
        return text;
      case 20: text += " | map(x -> if x % 2 == 0 then x else 7 // (x - " + k + "))"; break;
      case 21:
        text +=
            " | map(x -> {a: x, b: x * 2}) | shuffle(4, seed=" + seed + ") | map({a, **_} -> a)";
        break;
      case 22: text += " | flat_map(x -> range(x, x + " + k + ") | filter(y -> y % 3 != 0))"; break;
      case 23: text += " | flat_map(x -> range(abs(x) % 7) | map(y -> 20 // (y - x)))"; break;
      case 24:
        text +=
            " | flat_map(x -> range(9) | map(y -> x - y) | batch(" + k + ")) | map(b -> sum(b))";
        break;
      case 25:
        text += " | window(" + k + ", shift=" + std::to_string(1 + pick(4)) +
                ", stride=" + std::to_string(1 + pick(3)) + ") | flat_map(w -> w)";
        break;
      case 26:
        text += " | window(" + k +
                ", shift=2, drop_remainder=true) | flat_map(w -> w | map(x -> "
                "60 // (x - 3)) | batch(3)) | map(b -> sum(b))";
        break;
      case 27:
        text += " | window(" + k + ") | shuffle(3, seed=" + seed + ") | flat_map(w -> w | take(2))";
        break;
      case 28:
        text += " | group_by_window(x -> x % 3, (k, w) -> w | batch(2), window_size=" + k +
                ") | map(b -> sum(b))";
        break;
      case 29:
        text += " | group_by_reducer(x -> x % 5, init=k -> k, reduce=(s, x) -> s + x, "
                "finalize=s -> s * 2)";
        break;
      case 30: text += " | batch(" + k + ") | rebatch([2, 3]) | unbatch()"; break;
      case 31:
        text +=
            " | map(x -> fill([abs(x) % 4], x)) | ragged_batch(" + k + ") | unbatch() | unbatch()";
        break;
      case 32:
        text += " | map(x -> fill([abs(x) % 6], x)) | bucket_by_sequence_length(v -> size(v), "
                "boundaries=[2, 4], batch_sizes=[2, 3, " +
                k + "]) | map(b -> sum(b))";
        break;
      case 33:
        text += " | map(x -> fill([abs(x) % 6], x)) | pack_sequences(7, window=" + k +
                ") | map({tokens, segment_ids, **_} -> sum(tokens) * 10 + int64(max(segment_ids)))";
        break;
      case 34: text += " | take_while(x -> x % 17 != " + seed + ")"; break;
      case 35: text += " | scan(" + k + ", (s, x) -> (s + x % 7, s * 3 + x))"; break;
      case 36: text += " | unique()"; break;
      case 37: text += " | ignore_errors()"; break;
      case 38: text += " | map(x -> 60 // (x - " + k + "), on_error=skip(max_count=2))"; break;
      case 39: text += " | map(x -> 60 // (x % " + k + "), on_error=replace(" + seed + "))"; break;
      case 40: text += " | echo(" + k + ")"; break;
      case 41: text += " | assert_cardinality(" + std::to_string(pick(40)) + ")"; break;
      case 42:
        text = "sample_from_datasets([" + text + ", counter(" + k + ", 3) | take(9)], weights=[" +
               k + ".0, 2.0], seed=" + seed + ")";
        break;
      case 43:
        text = "choose_from_datasets([" + text + ", range(9)], random(seed=" + seed +
               ") | take(40) | map(x -> x % 2), stop_on_empty_dataset=false)";
        break;
      case 44:
        text += " | rejection_resample(x -> abs(x) % 2, target_dist=[0.3, 0.7], seed=" + seed +
                ") | map((c, x) -> x * 2 + int64(c))";
        break;
      case 45:
        text = "concatenate(" + text + ", range(50) | map(x -> x + " + k +
               ") | global_shuffle(seed=" + seed + ") | batch(" + k + ") | map(b -> sum(b)))";
        break;
      case 46: text += " | apply(d -> d | with_options() | skip(1))"; break;
      case 47: text += " | window(" + k + ") | map(w -> reduce(w, 1, (s, x) -> s * 3 + x))"; break;
      default: break;
    }
  }
  return text;
}

struct Setting {
  int threads;
  int64_t block_rows;
  bool rewrite, automatic;
};

PlanPtr prepared(const std::string& text, const Setting& s) {
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
  PrepareOptions prepare;
  prepare.rewrite = s.rewrite;
  prepare.automatic = s.automatic;
  prepare.threads = s.threads;
  return prepare_plan(built.plan, prepare, nullptr);
}

RunOptions run_options(const Setting& s) {
  RunOptions options;
  options.threads = s.threads;
  options.block_rows = s.block_rows;
  options.memory_bytes = 256 << 20;
  return options;
}

std::string stream(const std::string& text, const Setting& s) {
  const PlanPtr plan = prepared(text, s);
  BlockIterator iterator(plan, run_options(s), std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  Block block;
  while (iterator.next(&block, 4096)) digest.add(block);
  return digest.ordered().text() + " " + std::to_string(digest.elements());
}

// The same with checkpoints: again and again the iterator goes, and another one, on other threads
// and in another process for all it knows, goes on where the text says.
std::string restarted_stream(const std::string& text, bool rewrite, std::mt19937_64& random) {
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
  PrepareOptions prepare;
  prepare.rewrite = rewrite;
  prepare.threads = 2;
  const PlanPtr plan = prepare_plan(built.plan, prepare, nullptr);
  StreamDigest digest(plan->spec);
  std::optional<ResumePoint> from;
  for (;;) {
    RunOptions options;
    options.threads = std::array{1, 2, 8}[random() % 3];
    options.block_rows = std::array{1, 7, 4096}[random() % 3];
    options.memory_bytes = 256 << 20;
    options.marks = random() % 8 != 0;  // without marks all is run again: slow, and right
    BlockIterator iterator(plan, options, std::make_shared<PipelineState>(), {}, from);
    Block block;
    for (auto left = static_cast<int64_t>(random() % 40); left >= 0; left -= block.rows) {
      if (!iterator.next(&block, 1 + static_cast<int64_t>(random() % 9)))
        return digest.ordered().text() + " " + std::to_string(digest.elements());
      digest.add(block);
    }
    from = ResumePoint{iterator.number(), read_position(write_position(iterator.position()))};
  }
}

// As a tuner would, only worse: before each pull the limit of some stage jumps.
std::string stream_under_moving_limits(const std::string& text, const Setting& s,
                                       std::mt19937_64& random) {
  const PlanPtr plan = prepared(text, s);
  const std::vector<const PlanNode*> stages = topological(*plan);
  BlockIterator iterator(plan, run_options(s), std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  Block block;
  do {
    if (block.rows > 0) digest.add(block);
    const PlanNode* stage = stages[random() % stages.size()];
    iterator.run().counters(stage)->limit.store(static_cast<int64_t>(random() % 12),
                                                std::memory_order_relaxed);
  } while (iterator.next(&block, 1 + static_cast<int64_t>(random() % 9)));
  return digest.ordered().text() + " " + std::to_string(digest.elements());
}

// The digest after each element.
std::vector<std::string> digests_of(const std::string& text) {
  const Setting plain{1, 4096, false, false};
  const PlanPtr plan = prepared(text, plain);
  BlockIterator iterator(plan, run_options(plain), std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  std::vector<std::string> out{digest.ordered().text()};
  for (Block block; iterator.next(&block, 1);) {
    digest.add(block);
    out.push_back(digest.ordered().text());
  }
  return out;
}

}  // namespace

TEST_CASE("random pipelines give one stream while the limits of their stages change") {
  register_datasets();
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  MESSAGE("PENSTOCK_TEST_SEED=" << first);
  const int rounds = given ? 1 : 40;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(first + static_cast<uint64_t>(round));
    const std::string text = random_pipeline(random);
    CAPTURE(first + static_cast<uint64_t>(round));
    CAPTURE(text);
    const std::string expected = stream(text, {1, 4096, false, false});
    for (const Setting& s : {Setting{2, 1, true, true}, Setting{8, 7, true, true},
                             Setting{8, 1, false, true}, Setting{2, 4096, true, true}})
      CHECK(stream_under_moving_limits(text, s, random) == expected);
  }
}

TEST_CASE("a random pipeline that is cancelled at any time has given a beginning of its stream") {
  register_datasets();
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  MESSAGE("PENSTOCK_TEST_SEED=" << first);
  const int rounds = given ? 1 : 60;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(first + static_cast<uint64_t>(round));
    const std::string text = random_pipeline(random);
    CAPTURE(first + static_cast<uint64_t>(round));
    CAPTURE(text);
    const std::vector<std::string> expected = digests_of(text);
    for (const Setting& s : {Setting{1, 7, true, true}, Setting{8, 1, true, true}}) {
      const PlanPtr plan = prepared(text, s);
      BlockIterator iterator(plan, run_options(s), std::make_shared<PipelineState>());
      StreamDigest digest(plan->spec);
      // The canceller is let go at some pull, and cancels somewhere in those that follow.
      const uint64_t pull = random() % 20, spins = random() % 2000;
      std::atomic<bool> go{false};
      std::thread canceller([&] {
        while (!go.load()) std::this_thread::yield();
        for (std::atomic<uint64_t> i{0}; i < spins; ++i) {
        }
        iterator.cancel();
      });
      bool ended = false;
      try {
        Block block;
        for (uint64_t i = 0;; ++i) {
          if (i == pull) go.store(true);
          if (!iterator.next(&block, 3)) break;
          digest.add(block);
        }
        ended = true;
      } catch (const Error& e) {
        CHECK(e.code() == Code::cancelled);
      }
      go.store(true);
      canceller.join();
      const auto n = static_cast<size_t>(digest.elements());
      REQUIRE(n < expected.size());
      CHECK(digest.ordered().text() == expected[n]);
      CHECK((!ended || n + 1 == expected.size()));
    }
  }
}

TEST_CASE("random pipelines go on from checkpoints as if nothing had happened") {
  register_datasets();
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  MESSAGE("PENSTOCK_TEST_SEED=" << first);
  const int rounds = given ? 1 : 60;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(first + static_cast<uint64_t>(round));
    const std::string text = random_pipeline(random);
    CAPTURE(first + static_cast<uint64_t>(round));
    CAPTURE(text);
    const std::string expected = stream(text, {1, 4096, false, false});
    for (int repetition = 0; repetition < 4; ++repetition)
      CHECK(restarted_stream(text, repetition % 2 == 0, random) == expected);
  }
}

TEST_CASE("random pipelines give one stream under every setting") {
  register_datasets();
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t first = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  MESSAGE("PENSTOCK_TEST_SEED=" << first);
  const int rounds = given ? 1 : 40;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937_64 random(first + static_cast<uint64_t>(round));
    const std::string text = random_pipeline(random);
    CAPTURE(first + static_cast<uint64_t>(round));
    CAPTURE(text);
    const std::string expected = stream(text, {1, 4096, false, false});
    for (const Setting& s :
         {Setting{1, 1, false, false}, Setting{2, 7, false, true}, Setting{8, 4096, false, true},
          Setting{1, 7, true, false}, Setting{2, 4096, true, true}, Setting{8, 1, true, true},
          Setting{8, 7, true, true}}) {
      CAPTURE(s.threads);
      CAPTURE(s.block_rows);
      CAPTURE(s.rewrite);
      CHECK(stream(text, s) == expected);
    }
  }
}

TEST_CASE("a run can be cancelled in any state") {
  register_datasets();
  for (const char* text : {
           "range(1000000000000) | map(x -> x + 1) | filter(x -> x < 0)",
           "range(1000000000000) | map(x -> x + 1, num_parallel_calls=2) | filter(x -> x < 0)",
           "range(1000000000000) | prefetch(10) | filter(x -> x < 0) | prefetch(3)",
           "range(1000000000000) | interleave(x -> range(3) | filter(y -> y > 5), cycle_length=4)",
           "range(1000000000000) | shuffle(1000000000, seed=1)",
           "range(1000000000000) | filter(x -> x < 0) | repeat() | batch(3)",
           "range(1000000000000) | skip(1000000000000)",
       }) {
    CAPTURE(text);
    const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
    RunOptions options;
    options.threads = 2;
    options.memory_bytes = 1 << 30;
    BlockIterator iterator(built.plan, options, std::make_shared<PipelineState>());
    std::atomic<bool> started{false};
    std::thread canceller([&] {
      while (!started.load()) std::this_thread::yield();
      iterator.cancel();
    });
    Block block;
    started.store(true);
    bool cancelled = false;
    try {
      while (iterator.next(&block, 4096)) {
      }
    } catch (const Error& e) {
      cancelled = e.code() == Code::cancelled;
    }
    canceller.join();
    CHECK(cancelled);
  }
}

TEST_CASE("the canonical print of what is run gives the same stream") {
  register_datasets();
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    const std::string text = random_pipeline(random);
    CAPTURE(text);
    const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
    const std::string printed = format_program(unparse(*prepare_plan(built.plan, {}, nullptr)));
    CAPTURE(printed);
    CHECK(stream(printed, {2, 4096, false, false}) == stream(text, {1, 4096, false, false}));
  }
}

}  // namespace penstock
