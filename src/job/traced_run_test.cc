#include "job/traced_run.h"

#include <doctest/doctest.h>

#include "job/pipeline.h"

namespace penstock {
namespace {

TEST_CASE("a traced run: its slices add up to its elements after the first") {
  const LoadedPipeline p =
      load_pipeline(std::make_shared<const Source>(Source{
                        "test", "range(300) | map(x -> sum(exp(fill([60000], float32(x)))))"}),
                    {});
  const Trace trace =
      traced_run(p.plan, p.run_options, std::make_shared<PipelineState>(), {}).trace;
  REQUIRE(trace.fill);
  REQUIRE(!trace.slices.empty());
  int64_t elements = 0;
  for (const TraceSlice& s : trace.slices) {
    elements += s.elements;
    CHECK(s.stage_elements.size() == trace.stages.size());
  }
  CHECK(elements == 299);
  const Trace back = parse_trace(trace_text(trace), "memory");
  CHECK(trace_text(back) == trace_text(trace));
}

}  // namespace
}  // namespace penstock
