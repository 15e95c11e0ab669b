#include "report/top_frame.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/table.h"

namespace penstock {
namespace {

StageTrace stage(int id, const char* op, std::vector<int> inputs, double cpu_seconds) {
  StageTrace s;
  s.id = id;
  s.op = s.label = op;
  s.inputs = std::move(inputs);
  s.elements = 1000;
  s.blocks = 100;
  s.bytes = 4'000'000;
  s.cpu_seconds = cpu_seconds;
  return s;
}

// 2 s of prefetch | map | tfrecord on two cores, with a consumer that waits half of the time.
TopView job() {
  Trace t;
  t.options = {2, 1 << 30, 4096};
  t.machine.cores = 2;
  t.interval.seconds = 2;
  t.interval.process_cpu_seconds = 2.5;
  t.interval.elements = 1000;
  t.interval.waited_seconds = 1;
  t.interval.consumer_seconds = 1;
  t.peak_memory_bytes = 300'000'000;
  t.stages = {stage(0, "prefetch", {1}, 0), stage(1, "map", {2}, 1.9),
              stage(2, "tfrecord", {}, 0.1)};
  t.stages[0].rows_ahead = 8;
  t.stages[1].thread_group = t.stages[2].thread_group = 1;
  TopView v;
  v.pid = 4711;
  v.command = "python3 train.py";
  v.run = 2;
  v.runs = 3;
  v.up_seconds = 90;
  v.elements = 45'000;
  v.analysis = analyze(t);
  v.note = "q leaves; the job goes on";
  return v;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

TEST_CASE("top: a frame says who runs, what holds it, and what each stage does") {
  TopView v = job();
  v.analysis.trace.decisions = {
      {{1.5, 1, "calls", 1, 2, "its own thread limits the rate to 500/s", 1.9, 1.8, false}}};
  CHECK(joined(top_frame(v, 80, 24)) ==
        R"(4711 python3 train.py                               run 2, one of 3, up 1.50 min
500/s, 45k elements; the consumer waits 50 %; 1.25 of 2 cores; 300 MB
input-bound: 1 ms of each 2 ms step (50 %) wait for input; map holds the rate (1
  thread, 100 % busy)

stage    limit cores busy starv block ahead rate/s bytes/s
prefetch     1  0.00    0   100     0     8    500    2 MB
map          1  0.95   95     5     0          500    2 MB
tfrecord     1  0.05    5     0    95          500    2 MB

Live tuner
  1.50 s map: calls 1 -> 2, predicted 1.90x, measured 1.80x: its own thread lim…
q leaves; the job goes on
)");
}

TEST_CASE("top: no line is wider and no frame higher than the terminal") {
  TopView v = job();
  v.command = std::string(300, 'x');
  v.analysis.trace.decisions.emplace();
  for (int i = 0; i < 20; ++i)
    v.analysis.trace.decisions->push_back(
        {1.0 * i, 1, "calls", 1, 2, std::string(200, 'w'), 2, {}, false});
  for (const size_t width : {20, 40, 80, 200}) {
    for (size_t height = 1; height < 40; ++height) {
      const std::vector<std::string> lines = top_frame(v, width, height);
      CHECK(lines.size() <= height);
      CHECK(lines.back() == shortened(v.note, width));
      for (const std::string& line : lines) CHECK(text_width(line) <= width);
    }
  }
}

TEST_CASE("top: stages that use the least CPU are left out where there is no room") {
  Trace t = job().analysis.trace;
  t.stages.clear();
  constexpr int kStages = 40;
  for (int i = 0; i < kStages; ++i)
    t.stages.push_back(stage(i, i == 17 ? "busiest" : "map", {}, i == 17 ? 1.0 : 0.01));
  for (int i = 0; i + 1 < kStages; ++i) t.stages[static_cast<size_t>(i)].inputs = {i + 1};
  TopView v = job();
  v.analysis = analyze(t);
  const std::string text = joined(top_frame(v, 80, 24));
  CHECK(text.find("busiest") != std::string::npos);
  CHECK(text.find(" stages that use less CPU") != std::string::npos);
  CHECK(top_frame(v, 80, 24).size() == 24);
}

TEST_CASE("top: a job from which no element has come has a frame and an object") {
  TopView v;
  v.command = "python3 train.py";
  CHECK(joined(top_frame(v, 80, 24)).find("no verdict") != std::string::npos);
  Trace t = job().analysis.trace;
  t.interval.elements = 0;
  for (StageTrace& s : t.stages) s.elements = s.blocks = s.bytes = 0;
  v.analysis = analyze(t);
  CHECK(joined(top_frame(v, 80, 24)).find("tfrecord") != std::string::npos);
  const Json object = top_json(v);
  for (const Json& s : object["stages"]) CHECK(s["rate"] == 0);
}

}  // namespace
}  // namespace penstock
