// Sharded pipelines that go on with another number of ranks: what the ranks before and after give
// together is what there is, each element once.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "api/operator_copies_test.h"
#include "penstock/penstock.h"

namespace penstock {
namespace {

// SHARD in the text becomes the rank's shard.
Dataset rank_of(std::string text, int64_t ranks, int64_t rank, int threads = 2,
                int64_t block_rows = 4096) {
  register_operator_copies();
  const std::string shard = "shard(" + std::to_string(ranks) + ", " + std::to_string(rank) + ")";
  for (size_t at = text.find("SHARD"); at != std::string::npos; at = text.find("SHARD"))
    text.replace(at, 5, shard);
  Options options;
  options.checkpoints = true;
  options.threads = threads;
  options.block_rows = block_rows;
  return Dataset::parse(text).with_options(options);
}

// Adds the numbers of up to `most` elements; zeros are padding.
int64_t read(Iterator* iterator, int64_t most, std::vector<int64_t>* out) {
  int64_t elements = 0;
  Element e;
  for (; elements < most && iterator->next(&e); ++elements) {
    const Array a = e.array();
    for (const int64_t x : a.as<int64_t>()) {
      if (x != 0) out->push_back(x);
    }
  }
  return elements;
}

std::vector<int64_t> sorted(std::vector<int64_t> values) {
  std::ranges::sort(values);
  return values;
}

// What one rank gives undisturbed.
std::vector<int64_t> whole(const std::string& text) {
  std::vector<int64_t> out;
  Iterator iterator = rank_of(text, 1, 0).iterate();
  read(&iterator, INT64_MAX, &out);
  return sorted(out);
}

// The ranks of one number of ranks, from the first element to the last.
class Job {
 public:
  Job(std::string text, std::mt19937_64* random) : text_(std::move(text)), random_(random) {}

  // So many ranks go on, each by so many elements or, with none given, to its end.
  void go_on(int64_t ranks, std::vector<int64_t> steps) {
    std::vector<std::string> saved;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const Dataset dataset = rank_of(text_, ranks, rank, pick({1, 2, 8}), pick({1, 7, 4096}));
      Iterator iterator = saved_.empty() ? dataset.iterate() : dataset.resume(saved_);
      if (steps.empty()) {
        read(&iterator, INT64_MAX, &given);
        continue;
      }
      // Halfway the rank is killed, and goes on as usual.
      const int64_t n = steps[static_cast<size_t>(rank)];
      if (read(&iterator, n / 2, &given) == n / 2) {
        Iterator again = dataset.resume(iterator.save());
        read(&again, n - n / 2, &given);
        saved.push_back(again.save());
      } else {
        saved.push_back(iterator.save());
      }
    }
    saved_ = std::move(saved);
  }

  std::vector<int64_t> given;

 private:
  int pick(std::initializer_list<int> of) { return of.begin()[(*random_)() % of.size()]; }

  const std::string text_;
  std::mt19937_64* const random_;
  std::vector<std::string> saved_;
};

// Numbers from 1 on: 0 is padding.
const char* const kPipelines[] = {
    "range(1, 100) | SHARD",
    "range(1, 1000) | shuffle(50, seed=1) | SHARD | map(x -> x * 2, num_parallel_calls=2)",
    "range(1, 200) | SHARD | filter(x -> x % 3 != 1) | batch(4) | prefetch(2)",
    "range(1, 500) | SHARD | shuffle(20, seed=3) | batch(4)",
    "range(1, 300) | SHARD | filter(x -> x % 5 != 1) | shuffle(20, seed=3) | filter(x -> x % 3 != "
    "1)"
    " | map(x -> x * 3) | batch(3)",
    "range(1, 300) | SHARD | shuffle(10, seed=3) | shuffle(20, seed=4) | batch(3)",
    "range(1, 60) | SHARD | shuffle(8, seed=1) | batch(4) | repeat(4)",
    "range(1, 60) | SHARD | repeat(4) | batch(7)",
    "range(1, 60) | shuffle(30, seed=2) | repeat(3) | SHARD | batch(4)",
    "range(1, 60) | SHARD | filter(x -> x % 4 != 0) | shuffle(200, seed=1) | repeat(3)",
    "range(1, 300) | SHARD | map(x -> fill([x % 6 + 1], x)) | bucket_by_sequence_length(v -> "
    "size(v),"
    " boundaries=[2, 4], batch_sizes=[2, 3, 4]) | prefetch(1)",
    "range(1, 300) | SHARD | map(x -> fill([x % 6 + 1], x)) | pack_sequences(9, window=3)"
    " | map({tokens, **_} -> tokens)",
    "range(1, 200) | SHARD | map(x -> fill([x % 6 + 1], x)) | padded_batch(max_tokens=20)",
    "range(1, 200) | SHARD | map(x -> fill([x % 6 + 1], x)) | padded_batch(3)",
    "range(1, 300) | SHARD | batch(3) | shuffle(10, seed=1)",
    "range(1, 6) | interleave(x -> range(x * 100, x * 100 + 50), cycle_length=3) | SHARD | "
    "batch(4)",
    "range(1, 100) | SHARD | map(x -> 60 // (x - 31) * 0 + x) | ignore_errors() | batch(2)",
    "range(1, 100) | batch(3) | unbatch() | enumerate() | map((i, x) -> i * 0 + x) | SHARD",
    "range(1, 20) | SHARD | interleave(x -> range(x * 20, x * 20 + x), cycle_length=3)",
    "range(1, 20) | SHARD | interleave(x -> range(x * 20, x * 20 + x), cycle_length=2, "
    "block_length=3, num_parallel_calls=2) | filter(x -> x % 5 != 0) | batch(3)",
    "range(1, 20) | SHARD | flat_map(x -> range(x * 20, x * 20 + x))",
    "range(1, 30) | SHARD | interleave(x -> range(x * 20, x * 20 + 40 // (x % 7)), cycle_length=3) "
    "|"
    " ignore_errors() | shuffle(7, seed=1) | batch(2)",
    "range(1, 20) | SHARD | flat_map(x -> range(x * 20, x * 20 + 2 * x) | filter(y -> y % 3 > 0))"
    " | shuffle(30, seed=2) | batch(4)",
    "range(1, 30) | SHARD | shuffle(5, seed=1) | interleave(x -> range(x * 20, x * 20 + 13) |"
    " shuffle(4, seed=9), cycle_length=4) | shuffle(30, seed=2) | repeat(3)",
    "range(1, 12) | shuffle(4, seed=3) | repeat(2) | SHARD | filter(x -> x % 4 != 0) |"
    " interleave(x -> range(x * 20, x * 20 + 13) | map(y -> y + 1), cycle_length=4, "
    "block_length=2) | shuffle(9, seed=3) | batch(2) | prefetch(2)",
    "range(1, 200) | SHARD | my_filter(x -> x % 4 != 0) | my_shuffle(20, seed=3) | my_batch(4) |"
    " my_prefetch(2) | my_repeat(2)",
};

}  // namespace

TEST_CASE("ranks may become more or fewer, and each element is given once") {
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  MESSAGE("PENSTOCK_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const std::string text : kPipelines) {
    CAPTURE(text);
    const std::vector<int64_t> expected = whole(text);
    for (const auto& [from, to] : {std::pair(2, 3), {3, 1}, {1, 4}, {4, 4}, {5, 2}}) {
      CAPTURE(from);
      CAPTURE(to);
      std::vector<int64_t> steps(static_cast<size_t>(from)), later(static_cast<size_t>(to));
      for (int64_t& n : steps) n = static_cast<int64_t>(random() % 60);
      for (int64_t& n : later) n = static_cast<int64_t>(random() % 30);
      Job job(text, &random);
      job.go_on(from, steps);
      Job twice = job;
      job.go_on(to, {});
      CHECK(sorted(job.given) == expected);
      // And again before that change is digested.
      twice.go_on(to, later);
      twice.go_on(2, {3, 11});
      twice.go_on(3, {});
      CHECK(sorted(twice.given) == expected);
    }
  }
}

TEST_CASE("a new rank's elements do not depend on threads or blocks") {
  for (const std::string text : kPipelines) {
    CAPTURE(text);
    std::vector<std::string> saved;
    std::vector<int64_t> ignored;
    for (int64_t rank = 0; rank < 3; ++rank) {
      Iterator iterator = rank_of(text, 3, rank).iterate();
      read(&iterator, 5 + 7 * rank, &ignored);
      saved.push_back(iterator.save());
    }
    std::vector<int64_t> first, second;
    Iterator one = rank_of(text, 2, 1, 1, 1).resume(saved);
    read(&one, INT64_MAX, &first);
    std::ranges::reverse(saved);  // the order of the checkpoints means nothing
    Iterator other = rank_of(text, 2, 1, 8, 4096).resume(saved);
    read(&other, INT64_MAX, &second);
    CHECK(first == second);
  }
}

TEST_CASE("a cache or prefetch may come or go as well") {
  const std::string with = "range(1, 40) | SHARD | cache() | prefetch(1) | batch(2) | cache()";
  const std::string plain = "range(1, 40) | SHARD | batch(2)";
  std::vector<std::string> saved;
  std::vector<int64_t> given;
  for (int64_t rank = 0; rank < 2; ++rank) {
    Iterator iterator = rank_of(with, 2, rank).iterate();
    read(&iterator, 3 + rank, &given);
    saved.push_back(iterator.save());
  }
  for (int64_t rank = 0; rank < 3; ++rank) {
    Iterator iterator = rank_of(plain, 3, rank).resume(saved);
    read(&iterator, INT64_MAX, &given);
  }
  CHECK(sorted(given) == whole(plain));
}

TEST_CASE("what is left is dealt in the order of the input") {
  std::vector<std::string> saved;
  for (int64_t rank = 0; rank < 2; ++rank) {
    std::vector<int64_t> ignored;
    Iterator iterator = rank_of("range(1, 20) | SHARD", 2, rank).iterate();
    read(&iterator, rank == 0 ? 5 : 2, &ignored);  // 1 3 5 7 9, 2 4
    saved.push_back(iterator.save());
  }
  for (int64_t rank = 0; rank < 3; ++rank) {
    Iterator iterator = rank_of("range(1, 20) | SHARD", 3, rank).resume(saved);
    std::vector<int64_t> values;
    read(&iterator, INT64_MAX, &values);
    const std::vector<std::vector<int64_t>> expected = {
        {6, 11, 14, 17}, {8, 12, 15, 18}, {10, 13, 16, 19}};
    CHECK(values == expected[static_cast<size_t>(rank)]);
  }
}

TEST_CASE("later passes are sharded as usual") {
  std::vector<std::string> saved;
  for (int64_t rank = 0; rank < 2; ++rank) {
    std::vector<int64_t> ignored;
    Iterator iterator = rank_of("range(1, 9) | SHARD | repeat(3)", 2, rank).iterate();
    read(&iterator, rank == 0 ? 6 : 1, &ignored);  // 1 3 5 7 1 3, 2
    saved.push_back(iterator.save());
  }
  Iterator iterator = rank_of("range(1, 9) | SHARD | repeat(3)", 4, 1).resume(saved);
  std::vector<int64_t> values;
  read(&iterator, INT64_MAX, &values);
  // Of 4 6 8, then of 2 4 5 6 7 8, then its own.
  CHECK(values == std::vector<int64_t>{6, 4, 8, 2, 6});
}

TEST_CASE("checkpoints that do not make a whole are refused") {
  const std::string text = "range(1, 100) | SHARD | batch(2)";
  const auto saved = [](const std::string& of, int64_t ranks, int64_t rank) {
    std::vector<int64_t> ignored;
    Iterator iterator = rank_of(of, ranks, rank).iterate();
    read(&iterator, 3, &ignored);
    return iterator.save();
  };
  const auto refusal = [](const std::string& of, const std::vector<std::string>& from) {
    try {
      rank_of(of, 3, 0).resume(from);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const auto has = [](const std::string& message, const std::string& part) {
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  const std::string zero = saved(text, 2, 0), one = saved(text, 2, 1);
  has(refusal(text, {zero}), "the checkpoint of rank 1 is missing");
  has(refusal(text, {zero, zero}),
      "checkpoint 1: this checkpoint is of rank 0, as is checkpoint 0");
  has(refusal(text, {zero, saved(text, 3, 1)}), "is of 3 ranks, checkpoint 0 of 2 ranks");
  has(refusal(text, {zero, saved("range(1, 101) | SHARD | batch(2)", 2, 1)}),
      "checkpoint 1: the pipeline has changed since the checkpoint was taken: stage 1");
  has(refusal("range(1, 100) | SHARD | batch(3)", {zero, one}), "is `batch` with other arguments");
  has(refusal("range(1, 100) | SHARD | take(9)", {zero, one}), "take: what this stage holds");
  has(refusal("zip(range(9) | SHARD, range(9))", {zero, one}), "zip: what this stage holds");
  has(refusal("range(9) | SHARD | repeat(2) | flat_map(x -> range(x))", {zero, one}),
      "repeat: it stands between `shard` and a stage that opens datasets");
  has(refusal("range(9) | SHARD | flat_map(x -> range(x)) | interleave(x -> range(x))",
              {zero, one}),
      "flat_map: it stands between `shard` and a stage that opens datasets");
  has(refusal("range(1, 100) | batch(2)", {zero, one}), "has no stage `shard`");
  has(refusal(text, {zero, one.substr(0, one.size() / 2)}),
      "checkpoint 1: the checkpoint is damaged");
  has(refusal("range(1, 100) | SHARD | repeat(2) | shuffle(5)",
              {saved("range(1, 100) | SHARD | repeat(2) | shuffle(5)", 2, 0),
               saved("range(1, 100) | SHARD | repeat(2) | shuffle(5)", 2, 1)}),
      "repeat: what a shuffle holds of several passes");
  CHECK(refusal(text, {zero, one}) == "none");
  try {
    rank_of(text, 3, 0).resume(zero);
    CHECK(false);
  } catch (const Error& e) {
    has(e.what(), "the checkpoint is of rank 0 of 2, this is rank 0 of 3");
  }
}

}  // namespace penstock
