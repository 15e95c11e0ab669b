#include "trace/trace.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "trace/stage_counters.h"

namespace penstock {
namespace {

Trace made_trace() {
  Trace t;
  t.program = "range(10)\n| map(x -> x + 1)\n";
  t.options = {2, 1 << 30, 4096};
  t.machine = {2, "a \"CPU\"", 1 << 30, "Linux 6"};
  t.interval = {1.5, 2.25, 10, 0.001, 0.5, 0.25, true, false, 0.75};
  t.threads = {{"consumer", 1, 0.25, 0.125, 0, 0}, {"io", 2, 0.5, std::nullopt, 0.5, 0.25}};
  t.peak_memory_bytes = 123;
  t.stages.resize(2);
  t.stages[0].op = "map";
  t.stages[0].label = "map: add";
  t.stages[0].inputs = {1};
  t.stages[0].cpu_seconds = 0.125;
  t.stages[1].id = 1;
  t.stages[1].op = t.stages[1].label = "range";
  t.stages[1].cardinality = 10;
  t.stages[1].spec = "int64";
  auto fill = std::make_shared<Trace>();
  fill->interval = {0.5, 0.75, 1, 0.5, 0.25, 0, false, false};
  fill->stages.resize(2);
  fill->stages[1].elements = 7;
  t.fill = std::move(fill);
  t.slices = {{0.25, 0.5, 4, {4, 8}, {0, 16}, {0.125, 0}}, {0.5, 0.75, 5, {5, 5}, {0, 0}, {0, 0}}};
  t.decisions = {{0.5, 0, "calls", 1, 4, "its calls limit the rate", 3.5, 1.25, true},
                 {0.75, 1, "rows_ahead", 2, 1, "", 1, std::nullopt, false}};
  return t;
}

std::string message_of(const Json& json) {
  try {
    trace_from_json(json, "f.trace");
  } catch (const Error& e) {
    CHECK(e.code() == Code::invalid_argument);
    return e.message();
  }
  return "no error";
}

TEST_CASE("a trace as JSON and back is the same trace") {
  const Json json = trace_to_json(made_trace());
  CHECK(trace_to_json(trace_from_json(json, "memory")) == json);
  CHECK(looks_like_trace(json.dump()));
  CHECK_FALSE(looks_like_trace("range(10)\n"));
}

TEST_CASE("a trace that is older than threads and fill is read") {
  Json json = trace_to_json(made_trace());
  json.erase("threads");
  json.erase("fill");
  json.erase("slices");
  json.erase("decisions");
  json["interval"].erase("other_cpu_seconds");
  const Trace old = trace_from_json(json, "memory");
  CHECK(old.threads.empty());
  CHECK_FALSE(old.fill);
  CHECK(old.slices.empty());
  CHECK_FALSE(old.decisions);
  CHECK_FALSE(old.interval.other_cpu_seconds.has_value());
}

TEST_CASE("a trace that is older than a counter is read") {
  Json json = trace_to_json(made_trace());
  visit_stage_counters([&](const char* key, auto, auto, bool is_old) {
    Json older = json;
    older["stages"][0].erase(key);
    older["fill"]["stages"][0].erase(key);
    CAPTURE(key);
    CHECK((message_of(older) == "no error") == !is_old);
  });
}

TEST_CASE("a trace file is read back") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "penstock_trace_test.trace").string();
  write_trace(path, made_trace());
  CHECK(trace_to_json(read_trace(path)) == trace_to_json(made_trace()));
  std::remove(path.c_str());
  CHECK_THROWS_AS(read_trace(path), Error);
}

TEST_CASE("a malformed trace is refused with file and key") {
  const Json good = trace_to_json(made_trace());
  Json json = good;
  json["version"] = 99;
  CHECK(message_of(json) == "trace: f.trace: version: is 99, this program reads up to 1");
  json = good;
  json["stages"][1].erase("elements");
  CHECK(message_of(json) == "trace: f.trace: stages[1].elements: is missing");
  json = good;
  json["stages"][1]["inputs"] = {0};  // a cycle
  CHECK(message_of(json) == "trace: f.trace: stages[1].inputs: must be later stages");
  json = good;
  json["fill"]["stages"].erase(1);
  CHECK(message_of(json) ==
        "trace: f.trace: fill.stages: must be a list with as many stages as the trace");
  json = good;
  json["slices"][1]["stage_elements"] = {5};
  CHECK(message_of(json) ==
        "trace: f.trace: slices[1]: must have one entry for each stage in its lists");
  json = good;
  json["decisions"][0]["stage"] = 2;
  CHECK(message_of(json) == "trace: f.trace: decisions[0].stage: must be the id of a stage");
  json = good;
  json["interval"]["seconds"] = "long";
  CHECK(message_of(json) == "trace: f.trace: interval.seconds: must be a number");
  json = good;
  json["stages"][0]["bytes"] = UINT64_MAX;
  CHECK(message_of(json).starts_with("trace: f.trace: stages[0].bytes: must be an integer"));
  CHECK(message_of(Json::array()) == "trace: f.trace: it: must be an object");
  CHECK_THROWS_AS(parse_trace("{", "f.trace"), Error);
}

// For any replacement of one value the trace is either read or refused.
TEST_CASE("no value breaks the reader") {
  const Json flat = trace_to_json(made_trace()).flatten();
  for (const auto& [key, old] : flat.items()) {
    for (const Json& value : {Json(), Json(-3), Json(1e300), Json("x"), Json(true), Json(INT64_MAX),
                              Json(UINT64_MAX)}) {
      Json changed = flat;
      changed[key] = value;
      try {
        trace_from_json(changed.unflatten(), "f");
      } catch (const Error& e) {
        CHECK(e.code() == Code::invalid_argument);
      }
    }
  }
}

TEST_CASE("trace: a difference leaves out everything that the earlier trace had counted") {
  Trace earlier = made_trace(), later = made_trace();
  CHECK(trace_difference(later, earlier).slices.empty());
  earlier.slices.clear();
  CHECK(trace_difference(later, earlier).slices.size() == 2);
  for (StageTrace& s : earlier.stages) {
    visit_stage_counters([&](const char*, auto, auto field, bool) { s.*field = 3; });
  }
  for (StageTrace& s : later.stages) {
    visit_stage_counters([&](const char*, auto, auto field, bool) { s.*field = 5; });
    s.limit = 2;
  }
  const Trace difference = trace_difference(later, earlier);
  int counters = 0;
  visit_stage_counters([&](const char* key, auto, auto field, bool) {
    CAPTURE(key);
    CHECK(difference.stages[0].*field == 2);
    ++counters;
  });
  CHECK(counters == 11);
  CHECK(difference.stages[0].limit == 2);
  CHECK(difference.interval.elements == 0);
}

}  // namespace
}  // namespace penstock
