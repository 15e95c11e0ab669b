// Any bytes as a checkpoint, and as the position in one, without a checksum before the reader:
// refused, or a pipeline that resumes there and runs to its end.
#include "fuzz/read_all.h"
#include "runtime/checkpoint.h"
#include "runtime/saved_run.h"

namespace penstock {
namespace {

constexpr const char* kPipeline = R"pipe(range(90) | shuffle(20, seed=1) | enumerate()
| interleave((i, x) -> range(x % 5) | map(y -> (i, x + y)), cycle_length=3, block_length=2)
| filter((i, x) -> x % 7 != 1) | shard(3, 1) | skip(2) | batch(4) | flat_map(b -> from_tensors(b))
| repeat(2) | take(40))pipe";

PlanPtr make_plan() {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"fuzz.pipe", kPipeline}), {}).plan;
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penstock;
  static const PlanPtr plan = make_plan();
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    parse_checkpoint(text, *plan);
  } catch (const Error&) {
  }
  try {
    ResumePoint from;
    from.position = read_position(text);
    read_blocks(plan, from);
  } catch (const Error&) {
  }
  return 0;
}
