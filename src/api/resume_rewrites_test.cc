// Checkpoints do not depend on rewrites, nor on stages that change no element: taken with or
// without them, at every element and after the last, they resume without or with them.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "penstock/penstock.h"

namespace penstock {
namespace {

// One thing that an iterator gives: an element, or an error's code.
struct Outcome {
  Element element;
  std::optional<Code> error;
  bool operator==(const Outcome& other) const {
    return error == other.error && (error || element.same(other.element));
  }
};

std::optional<Outcome> next_of(Iterator* iterator) {
  Outcome out;
  try {
    if (!iterator->next(&out.element)) return std::nullopt;
  } catch (const Error& e) {
    out.error = e.code();
  }
  return out;
}

std::vector<Outcome> rest(Iterator iterator) {
  std::vector<Outcome> out;
  while (std::optional<Outcome> next = next_of(&iterator)) out.push_back(*next);
  return out;
}

Dataset made(const std::string& text, bool optimize) {
  Options options;
  options.checkpoints = true;
  options.threads = 2;
  options.optimize = optimize;
  return Dataset::parse(text).with_options(options);
}

struct Way {
  std::string text;
  bool optimize;
};

Dataset made(const Way& way) { return made(way.text, way.optimize); }

// Iterates one way; the other one resumes at each position and has the same rest. The second time
// it resumes halfway again, the first way.
void check_positions(const Way& way, const Way& other) {
  CAPTURE(way.text);
  CAPTURE(other.text);
  CAPTURE(way.optimize);
  CAPTURE(other.optimize);
  const std::vector<Outcome> all = rest(made(way).iterate());
  const auto from = [&](size_t i) {
    return std::vector<Outcome>(all.begin() + static_cast<std::ptrdiff_t>(std::min(i, all.size())),
                                all.end());
  };
  CHECK(rest(made(other).iterate()) == all);
  Iterator iterator = made(way).iterate();
  for (size_t position = 0;; ++position) {
    CAPTURE(position);
    const std::string saved = iterator.save();
    CHECK(rest(made(other).resume(saved)) == from(position));
    Iterator resumed = made(other).resume(saved);
    size_t more = 0;
    while (more < 3 && next_of(&resumed)) ++more;
    CHECK(rest(made(way).resume(resumed.save())) == from(position + more));
    if (next_of(&iterator)) continue;
    CHECK(position == all.size());
    CHECK(rest(made(other).resume(iterator.save())).empty());
    return;
  }
}

void check_both_ways(const std::string& plain, const std::string& with) {
  for (const bool optimize : {true, false}) {
    check_positions({plain, optimize}, {with, optimize});
    check_positions({with, optimize}, {plain, !optimize});
  }
}

std::string refusal(const Dataset& dataset, const std::string& saved) {
  try {
    dataset.resume(saved);
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("checkpoints go from plans with rewrites to plans without, and back") {
  for (const char* text :
       {"range(7) | take(-1)", "range(7) | skip(0) | batch(2)", "range(7) | repeat(1) | take(5)",
        "range(7) | map(x -> x) | prefetch(0) | shuffle(3, seed=1)",
        "range(3) | take(-1) | repeat(2) | repeat(1) | skip(0) | batch(2) | take(-1)",
        "range(7) | map(x -> x + 1) | prefetch(3) | batch(2)",
        "range(7) | map(x -> x + 1) | prefetch(3) | batch(2) | prefetch() | take(-1)",
        "range(9) | map(x -> x + 1) | take(-1) | map(x -> 6 // (x - 4)) | filter(x -> true)",
        "range(9) | filter(x -> x > 2) | filter(x -> true) | map(x -> (x, x)) | shuffle(3, seed=2)",
        "range(6) | map(x -> reduce_sum(fill([5000], x))) | map(x -> x - 1)",
        "range(6) | take(-1) | flat_map(x -> range(x) | take(-1)) | skip(0)",
        "range(6) | repeat(1) | interleave(x -> range(x), cycle_length=2) | repeat(1)",
        "range(6) | skip(0) | window(2, shift=1) | flat_map(w -> w) | take(-1) | unique()",
        "zip(range(6) | take(-1), range(9) | skip(0) | cache()) | repeat(1) | enumerate()",
        "concatenate(range(3) | repeat(1), range(2) | take(-1)) | scan(0, (s, x) -> (s + x, s))",
        "range(8) | take(-1) | global_shuffle(seed=3) | shard(2, 1) | take(-1)",
        "range(4) | assert_cardinality(6) | take(-1) | map(x -> x)"}) {
    check_positions({text, true}, {text, false});
    check_positions({text, false}, {text, true});
  }
}

TEST_CASE("stages without effect may come and go") {
  check_both_ways("range(7) | batch(2) | repeat(2)",
                  "range(7) | take(-1) | batch(2) | skip(0) | repeat(1) | repeat(2) | prefetch(2)");
  check_both_ways("range(7) | map(x -> x + 1) | shuffle(3, seed=1)",
                  "range(7) | prefetch(2) | map(x -> x + 1) | map(x -> x) | shuffle(3, seed=1)");
}

TEST_CASE("an inserted cache does not invalidate a checkpoint") {
  for (const auto& [plain, with] : {
           std::pair("range(5) | repeat(3)", "range(5) | cache() | repeat(3)"),
           {"range(7) | batch(2) | repeat(3)", "range(7) | batch(2) | cache() | repeat(3)"},
           {"range(7) | skip(2) | map(x -> x * 2) | filter(x -> x % 3 != 1) | repeat(2) | "
            "shuffle(4, seed=1)",
            "range(7) | skip(2) | cache() | map(x -> x * 2) | filter(x -> x % 3 != 1) | cache() | "
            "prefetch(2) | repeat(2) | shuffle(4, seed=1)"},
           {"range(5) | map(x -> 6 // (x - 2)) | repeat(2)",
            "range(5) | map(x -> 6 // (x - 2)) | cache() | repeat(2) | cache()"},
           {"range(4) | repeat(3) | map(x -> (x, random_uniform([], seed=5)))",
            "range(4) | cache() | repeat(3) | map(x -> (x, random_uniform([], seed=5)))"},
           {"range(4) | flat_map(x -> range(x)) | repeat(2) | batch(4)",
            "range(4) | cache() | flat_map(x -> range(x)) | cache() | repeat(2) | batch(4)"},
           {"zip(range(6) | take(4), range(9) | batch(2)) | repeat(2)",
            "zip(range(6) | take(4) | cache(), range(9) | batch(2)) | cache() | repeat(2)"},
           {"range(6) | window(3, shift=1) | flat_map(w -> w) | unique() | repeat(2)",
            "range(6) | cache() | window(3, shift=1) | flat_map(w -> w) | cache() | unique() | "
            "repeat(2)"},
       }) {
    check_both_ways(plain, with);
  }
}

TEST_CASE("an inserted cache in a folder does not invalidate a checkpoint") {
  std::string folder = (std::filesystem::temp_directory_path() / "penstock-cache-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()));
  check_both_ways("range(7) | batch(2) | repeat(3)",
                  "range(7) | batch(2) | cache(\"" + folder + "\") | repeat(3)");
  std::filesystem::remove_all(folder);
}

TEST_CASE("a cache that is full reads the input for a checkpoint from before it") {
  const std::string plain = "range(6) | batch(2) | repeat(3)";
  const std::vector<Outcome> all = rest(made(plain, true).iterate());
  Iterator iterator = made(plain, true).iterate();
  next_of(&iterator);
  next_of(&iterator);
  const Dataset cached = made("range(6) | batch(2) | cache() | repeat(3)", true);
  CHECK(rest(cached.iterate()) == all);
  CHECK(rest(cached.resume(iterator.save())) == std::vector<Outcome>(all.begin() + 2, all.end()));
}

TEST_CASE("a cache of random elements is part of the data") {
  const std::string plain = "range(9) | shuffle(4, seed=1) | repeat(2)";
  const std::string cached = "range(9) | shuffle(4, seed=1) | cache() | repeat(2)";
  CHECK(refusal(made(cached, true), made(plain, true).iterate().save())
            .find("stage 3 from the source was `repeat` and is `cache` now") != std::string::npos);
  CHECK(refusal(made(plain, true), made(cached, true).iterate().save())
            .find("stage 3 from the source was `cache` and is `repeat` now") != std::string::npos);
}

TEST_CASE("a refusal counts the stages as written") {
  const std::string saved = made("range(9) | batch(2)", true).iterate().save();
  CHECK(refusal(made("range(9) | take(-1) | cache() | batch(3)", true), saved)
            .find("stage 4 from the source is `batch` with other arguments") != std::string::npos);
}

}  // namespace penstock
