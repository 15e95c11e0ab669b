// One stream, whatever the setting: random pipelines give the same elements and errors in the same
// order for every number of threads, every block size, and with the optimizer on or off.

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "api/random_pipeline_test.h"
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

// The same with checkpoints: again and again the iterator goes, and another one, on other threads,
// with other rewrites and in another process for all it knows, goes on where the text says.
std::string restarted_stream(const std::string& text, std::mt19937_64& random) {
  const PlanPtr plans[] = {prepared(text, {2, 0, false, false}),
                           prepared(text, {2, 0, true, true})};
  StreamDigest digest(plans[0]->spec);
  std::optional<ResumePoint> from;
  for (;;) {
    RunOptions options;
    options.threads = std::array{1, 2, 8}[random() % 3];
    options.block_rows = std::array{1, 7, 4096}[random() % 3];
    options.memory_bytes = 256 << 20;
    options.marks = random() % 8 != 0;  // without marks all is run again: slow, and right
    BlockIterator iterator(plans[random() % 2], options, std::make_shared<PipelineState>(), {},
                           from);
    Block block;
    for (auto left = static_cast<int64_t>(random() % 40); left >= 0; left -= block.rows) {
      if (!iterator.next(&block, 1 + static_cast<int64_t>(random() % 9)))
        return digest.ordered().text() + " " + std::to_string(digest.elements());
      digest.add(block);
    }
    from = ResumePoint{iterator.number(), read_position(write_position(iterator.position()))};
  }
}

// As a tuner would, only worse: the controls of some stage jump.
void move_limits(Run& run, const std::vector<const PlanNode*>& stages, std::mt19937_64& random) {
  StageControls& stage = run.stage(stages[random() % stages.size()])->controls;
  visit_stage_controls([&](const char*, auto value) {
    if (random() % 2 == 0) (stage.*value).set(static_cast<int64_t>(random() % 12));
  });
  stage.hand_over =
      std::array{HandOver::automatic, HandOver::pool, HandOver::consumer}[random() % 3];
}

std::string stream_under_moving_limits(const std::string& text, const Setting& s,
                                       std::mt19937_64& random) {
  const PlanPtr plan = prepared(text, s);
  const std::vector<const PlanNode*> stages = topological(*plan);
  BlockIterator iterator(plan, run_options(s), std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  Block block;
  do {
    if (block.rows > 0) digest.add(block);
    move_limits(iterator.run(), stages, random);
  } while (iterator.next(&block, 1 + static_cast<int64_t>(random() % 9)));
  return digest.ordered().text() + " " + std::to_string(digest.elements());
}

// One order of tasks, limits that move and, now and then, a cancel; all of it can be had again from
// `random`. Returns what has come, and sets `ended` if that is all.
StreamDigest scheduled_stream(const std::string& text, const Setting& s, std::mt19937_64& random,
                              bool* ended) {
  const PlanPtr plan = prepared(text, s);
  const std::vector<const PlanNode*> stages = topological(*plan);
  RunOptions options = run_options(s);
  options.schedule_seed = random() | 1;
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  StreamDigest digest(plan->spec);
  const uint64_t cancelled_pull = random() % 4 == 0 ? random() % 20 : UINT64_MAX;
  *ended = false;
  try {
    Block block;
    for (uint64_t pull = 0;; ++pull) {
      if (random() % 2 == 0) move_limits(iterator.run(), stages, random);
      if (pull == cancelled_pull) iterator.cancel();
      if (!iterator.next(&block, 1 + static_cast<int64_t>(random() % 9))) break;
      digest.add(block);
    }
    *ended = true;
  } catch (const Error& e) {
    if (e.code() != Code::cancelled || cancelled_pull == UINT64_MAX) throw;
  }
  return digest;
}

// Returns true if the pipeline is refused before its start, since vectors of a known length are
// too long for a batch or too short for an index. The same vectors are error rows where their
// length is unknown.
bool is_refused(const std::string& text) {
  try {
    prepared(text, {1, 4096, false, false});
    return false;
  } catch (const Error& e) {
    if (e.code() != Code::invalid_argument && e.code() != Code::out_of_range) throw;
    return true;
  }
}

// Calls `test` for pipelines drawn from consecutive seeds. PENSTOCK_TEST_SEED names the first one,
// PENSTOCK_TEST_ROUNDS how many; a failure shows both seed and pipeline.
template <typename Test>
void for_random_pipelines(uint64_t rounds, const Test& test) {
  register_datasets();
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const char* wanted = std::getenv("PENSTOCK_TEST_ROUNDS");
  const uint64_t first = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  if (wanted != nullptr || given != nullptr)
    rounds = wanted ? std::strtoull(wanted, nullptr, 10) : 1;
  MESSAGE("PENSTOCK_TEST_SEED=" << first);
  uint64_t refused = 0;
  for (uint64_t seed = first; seed - first < rounds; ++seed) {
    std::mt19937_64 random(seed);
    const char* written = std::getenv("PENSTOCK_TEST_TEXT");  // instead of one that is drawn
    const std::string text = written ? written : random_pipeline(random);
    CAPTURE(seed);
    CAPTURE(text);
    if (given) MESSAGE(text);  // the only trace of it where the program hangs
    if (is_refused(text)) {
      ++refused;
      continue;
    }
    test(text, random);
  }
  CHECK(refused <= 5 + rounds / 20);  // most have to run
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
  for_random_pipelines(40, [](const std::string& text, std::mt19937_64& random) {
    const std::string expected = stream(text, {1, 4096, false, false});
    for (const Setting& s : {Setting{2, 1, true, true}, Setting{8, 7, true, true},
                             Setting{8, 1, false, true}, Setting{2, 4096, true, true}})
      CHECK(stream_under_moving_limits(text, s, random) == expected);
  });
}

TEST_CASE("random pipelines give one stream in every order of their tasks") {
  for_random_pipelines(50, [](const std::string& text, std::mt19937_64& random) {
    const std::vector<std::string> expected = digests_of(text);
    for (const Setting& s : {Setting{2, 1, true, true}, Setting{8, 7, true, true},
                             Setting{8, 1, false, true}, Setting{2, 4096, true, true}}) {
      bool ended = false;
      const StreamDigest digest = scheduled_stream(text, s, random, &ended);
      const auto n = static_cast<size_t>(digest.elements());
      REQUIRE(n < expected.size());
      CHECK(digest.ordered().text() == expected[n]);
      CHECK((!ended || n + 1 == expected.size()));
    }
  });
}

TEST_CASE("a random pipeline that is cancelled at any time has given a beginning of its stream") {
  for_random_pipelines(60, [](const std::string& text, std::mt19937_64& random) {
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
  });
}

TEST_CASE("random pipelines go on from checkpoints as if nothing had happened") {
  for_random_pipelines(60, [](const std::string& text, std::mt19937_64& random) {
    const std::string expected = stream(text, {1, 4096, false, false});
    for (int repetition = 0; repetition < 4; ++repetition)
      CHECK(restarted_stream(text, random) == expected);
  });
}

TEST_CASE("random pipelines give one stream under every setting") {
  for_random_pipelines(40, [](const std::string& text, std::mt19937_64&) {
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
  });
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
  for_random_pipelines(20, [](const std::string& text, std::mt19937_64&) {
    const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"test", text}), {});
    const std::string printed = format_program(unparse(*prepare_plan(built.plan, {}, nullptr)));
    CAPTURE(printed);
    CHECK(stream(printed, {2, 4096, false, false}) == stream(text, {1, 4096, false, false}));
  });
}

}  // namespace penstock
