// Any bytes as a checkpoint, and as the position in one, without a checksum before the reader:
// refused, or a pipeline that resumes there and runs to its end.
#include "fuzz/read_all.h"
#include "runtime/checkpoint.h"
#include "runtime/saved_run.h"

namespace penstock {
namespace {

// Have between them a mark of each form but those of files.
constexpr const char* kPipelines[] = {
    R"pipe(range(90) | shuffle(20, seed=1) | enumerate()
| interleave((i, x) -> range(x % 5) | map(y -> (i, x + y)), cycle_length=3, block_length=2)
| filter((i, x) -> x % 7 != 1) | shard(3, 1) | skip(2) | batch(4) | flat_map(b -> from_tensors(b))
| repeat(2) | take(40))pipe",
    R"pipe(zip(range(60) | map(x -> x % 9) | cache() | unique() | concatenate(range(9)),
sample_from_datasets([range(90) | window(4, shift=3) | flat_map(w -> w), range(50)], seed=1))
| group_by_window((a, b) -> b % 3, (k, w) -> w | batch(4), window_size=8) | unbatch() | batch(3) | rebatch([3, 2])
| ignore_errors() | repeat(2))pipe",
    R"pipe(range(90) | rejection_resample(x -> x % 3, [0.5, 0.3, 0.2], seed=1) | map((c, x) -> fill([x % 9], c))
| pack_sequences(16, window=4) | map({tokens, **_} -> sum(tokens)) | scan(1, (s, x) -> (s + x, s))
| group_by_reducer(x -> x % 7, init=k -> k, reduce=(s, x) -> s + x, finalize=s -> s) | map(x -> {x: x})
| assert_cardinality(20) | pad_to_cardinality(20))pipe"};

std::vector<PlanPtr> make_plans() {
  register_datasets();
  std::vector<PlanPtr> out;
  for (const char* text : kPipelines)
    out.push_back(build_plan(std::make_shared<const Source>(Source{"fuzz.pipe", text}), {}).plan);
  return out;
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  static const std::vector<PlanPtr> plans = make_plans();
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    parse_checkpoint(text, *plans[0]);
  } catch (const Error&) {
  }
  for (const PlanPtr& plan : plans) {
    try {
      ResumePoint from;
      from.position = read_position(text);
      read_blocks(plan, from);
    } catch (const Error&) {
    }
  }
  return 0;
}
