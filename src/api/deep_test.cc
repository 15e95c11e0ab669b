// Pipelines of thousands of stages: they are planned in a while, and run or refused.

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "penstock/penstock.h"
#include "plan/build.h"
#include "runtime/stack.h"

namespace penstock {
namespace {

std::string chain(const std::string& source, const std::string& stage, int count) {
  std::string out = source;
  for (int i = 0; i < count; ++i) out += " | " + stage;
  return out;
}

// The number of elements, or what was refused.
struct Ended {
  int64_t elements = 0;
  std::optional<Error> error;
};

Ended drained(const std::string& text, bool optimize) {
  Options options;
  options.threads = 2;
  options.optimize = optimize;
  Ended out;
  try {
    Iterator iterator = Dataset::parse(text).with_options(options).iterate();
    for (Element e; iterator.next(&e);) ++out.elements;
  } catch (const Error& e) {
    out.error = e;
  }
  return out;
}

// Operators whose cursors pull from one another. Each gives what it gets, or about that.
struct Stage {
  std::string text;
  int stages = 1;
  int most = kMostStages;  // that fit on a stack when built with sanitizers
};
const Stage kStages[] = {
    {"shuffle(2, seed=1)"},
    {"take(9)"},
    {"batch(1) | unbatch()", 2},
    {"padded_batch(1) | rebatch(1) | unbatch()", 3},
    {"window(1) | flat_map(w -> w)", 2},
    {"interleave(x -> range(x, x + 1) | take(1), cycle_length=2)", 1, kMostStages / 2},
    {"concatenate(range(0))"},
    {"scan(0, (s, x) -> (s, x))"},
    {"cache()"},
    {"prefetch(1)"},
    {"map(x -> x, num_parallel_calls=2) | prefetch(1)", 2},
};

}  // namespace

TEST_CASE("stages on each other run up to the limit, and are refused above it") {
  for (const Stage& stage : kStages) {
    CAPTURE(stage.text);
    for (const bool ahead : {false, true}) {  // pulled by this thread, and by one of the pool
      CAPTURE(ahead);
      const int count = (stage.most - 8) / stage.stages;
      const Ended most =
          drained(chain("range(3)", stage.text, count) + (ahead ? " | prefetch(1)" : ""), false);
      CHECK((most.error ? most.error->what() : std::string()) == "");
      CHECK(most.elements == 3);
    }
    const Ended more =
        drained(chain("range(3)", stage.text, kMostStages / stage.stages + 1), false);
    REQUIRE(more.error);
    CHECK(more.error->code() == Code::resource_exhausted);
    CHECK(more.error->message().find("stages stand on each other") != std::string::npos);
  }
}

TEST_CASE("chains as long as text allows are planned, printed and known by their fingerprint") {
  for (const char* stage : {"map(x -> x + 1)", "shuffle(2, seed=1)", "take(-1)",
                            "map(x -> (x, x)) | shuffle(2, seed=1) | map((x, y) -> x)"}) {
    CAPTURE(stage);
    const std::string text = chain("range(3)", stage, 2000);
    const Dataset ds = Dataset::parse(text);
    CHECK(Dataset::parse(ds.text()).fingerprint() == ds.fingerprint());
    CHECK(!ds.optimized().text().empty());
  }
  for (const bool optimize : {false, true}) {
    const Ended ended = drained(chain("range(3)", "map(x -> x + 1)", 6000), optimize);
    CHECK((ended.error ? ended.error->what() : std::string()) == "");
    CHECK(ended.elements == 3);
  }
}

TEST_CASE("a pipeline made of very many calls goes away again") {
  Dataset ds = Dataset::range(3);
  for (int i = 0; i < 3'000; ++i) ds = ds.take(9);
  CHECK(ds.cardinality() == 3);
  CHECK_THROWS_AS(ds.iterate(), Error);
}

}  // namespace penstock
