// Positions with damaged marks: each is refused by an error, or resumes somewhere and ends.

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/checkpoint.h"
#include "runtime/run.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

const char* const kPipelines[] = {
    "range(90) | take(80) | skip(3) | shard(2, 1) | enumerate(5)",
    "range(40) | repeat(3) | assert_cardinality(120)",
    "range(30) | concatenate(range(5)) | scan(1, (s, x) -> (s + x, s))",
    "zip(range(50), range(60) | filter(x -> x % 3 == 0)) | batch(3)",
    "range(50) | batch(7) | rebatch([3, 4]) | unbatch()",
    "range(40) | map(x -> fill([x % 3], 1)) | padded_batch(5) | shuffle(4, seed=1)",
    "range(30) | flat_map(x -> range(x % 5)) | shuffle(9, seed=3)",
    "range(20) | interleave(x -> range(x % 6) | shuffle(3, seed=1), cycle_length=3)",
    "range(20) | flat_map(x -> range(x % 6) | skip(1) | prefetch(1))",
    "range(60) | window(10, shift=3) | flat_map(w -> w | batch(4))",
    "range(80) | group_by_window(x -> x % 3, (k, w) -> w | batch(4), window_size=8)",
    "range(80) | bucket_by_sequence_length(x -> x % 30, [10, 20], [3, 4, 5])",
    "range(70) | map(x -> fill([x % 9], 1)) | pack_sequences(16, window=4)",
    "range(60) | group_by_reducer(x -> x % 7, k -> k, (s, x) -> s + x, s -> s)",
    "range(60) | map(x -> x % 9) | unique() | repeat(2)",
    "range(90) | rejection_resample(x -> x % 3, [0.5, 0.3, 0.2], seed=1)",
    "sample_from_datasets([range(30), range(40)], weights=[0.3, 0.7], seed=1)",
    "choose_from_datasets([range(9), range(9)], range(15) | map(x -> x % 2))",
    "range(60) | global_shuffle(seed=1) | map(x -> 6 // (x - 20)) | ignore_errors()",
    "range(20) | cache() | repeat(3) | shuffle(4, seed=2) | cache() | repeat(2)",
    "range(9) | map(x -> {x: x}) | pad_to_cardinality(20)",
};

PlanPtr plan_of(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

// Emits up to `most` rows from the position, and returns the one after them.
StreamPosition run(const PlanPtr& plan, const StreamPosition& from, int64_t most) {
  RunOptions options;
  options.threads = 1;
  options.marks = true;
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>(), {},
                         ResumePoint{0, from});
  Block block;
  for (int64_t rows = 0; rows < most && iterator.next(&block, 5); rows += block.rows) {
  }
  return iterator.position();
}

// All positions that have a mark.
void add_marks(Json* position, std::vector<Json*>* out) {
  if (!position->contains("stage")) return;
  out->push_back(position);
  for (Json& input : (*position)["inputs"]) add_marks(&input, out);
}

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  void apply(Json* root) {
    std::vector<Json*> marks;
    add_marks(root, &marks);
    if (marks.empty()) return;
    Json& mark = *marks[below(marks.size())];
    Json& inputs = mark["inputs"];
    switch (below(9)) {
      case 0:
      case 1:
      case 2: change(&mark); break;
      case 3: mark["rows"] = number(); break;
      case 4: inputs.push_back(*marks[below(marks.size())]); break;
      case 5:
        if (!inputs.empty()) inputs.erase(below(inputs.size()));
        break;
      case 6:
        for (const char* key : {"stage", "form", "version"})
          mark[key] = Json((*marks[below(marks.size())])[key]);
        break;
      case 7: mark.erase("state"); break;
      default: mark = {{"rows", mark["rows"]}};
    }
  }

  uint64_t below(uint64_t n) { return random_() % n; }

 private:
  int64_t number() {
    const int64_t some[] = {-1, 0, 1, 2, 5, 40, INT32_MAX, kMostResumed, INT64_MAX, INT64_MIN};
    return some[below(std::size(some))];
  }
  void change(Json* mark) {
    if (!mark->contains("numbers")) return;
    Json& numbers = (*mark)["numbers"];
    if (const uint64_t what = below(4); what == 0 || numbers.empty()) {
      numbers.push_back(number());
    } else if (what == 1) {
      numbers.erase(below(numbers.size()));
    } else {
      numbers[below(numbers.size())] = number();
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("a damaged mark is refused or resumes somewhere") {
  const char* given = std::getenv("PENSTOCK_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : 1;
  MESSAGE("PENSTOCK_TEST_SEED=" << seed);
  Damage damage(seed);
  int refused = 0, resumed = 0;
  for (const std::string text : kPipelines) {
    CAPTURE(text);
    const PlanPtr plan = plan_of(text);
    for (int times = 0; times < 30; ++times) {
      Json json =
          Json::parse(write_position(run(plan, {}, static_cast<int64_t>(damage.below(40)))));
      for (uint64_t n = 1 + damage.below(3); n > 0; --n) damage.apply(&json);
      CAPTURE(json.dump());
      try {
        run(plan, read_position(json.dump()), 5000);
        ++resumed;
      } catch (const Error& e) {
        const bool fits = e.code() == Code::data_loss || e.code() == Code::failed_precondition;
        CHECK_MESSAGE(fits, std::string(e.what()));
        ++refused;
      }
    }
  }
  CHECK(refused > 0);
  CHECK(resumed > 0);
}

}  // namespace penstock
