// Checkpoints do not depend on rewrites: taken with them on or off, at every element and behind the
// last, they are taken up with them off or on.

#include <doctest/doctest.h>

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

// Goes through the pipeline; what is saved at each place gives the rest of it under `other`.
void check_places(const std::string& text, bool optimize, bool other) {
  CAPTURE(text);
  CAPTURE(optimize);
  CAPTURE(other);
  const std::vector<Outcome> all = rest(made(text, optimize).iterate());
  CHECK(rest(made(text, other).iterate()) == all);
  Iterator iterator = made(text, optimize).iterate();
  for (size_t place = 0;; ++place) {
    CAPTURE(place);
    const std::vector<Outcome> expected(all.begin() + static_cast<std::ptrdiff_t>(place),
                                        all.end());
    CHECK(rest(made(text, other).resume(iterator.save())) == expected);
    if (next_of(&iterator)) continue;
    CHECK(place == all.size());
    CHECK(rest(made(text, other).resume(iterator.save())).empty());
    return;
  }
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
    check_places(text, true, false);
    check_places(text, false, true);
  }
}

}  // namespace penstock
