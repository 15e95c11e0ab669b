#include "fleet/fleet.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>

#include "datasets/datasets.h"
#include "io/file.h"

namespace penstock {
namespace {

// 100 elements in 10 s from one stage, for which the consumer waited `waited` seconds in all.
Trace made_trace(double waited, double process_cpu) {
  register_datasets();
  Trace t;
  t.program = "range(100)";
  t.options = {2, 1'000'000, 4096};
  t.machine.cores = 2;
  t.interval.seconds = 10;
  t.interval.process_cpu_seconds = process_cpu;
  t.interval.elements = 100;
  t.interval.waited_seconds = waited;
  t.interval.consumer_seconds = 10 - waited;
  StageTrace s;
  s.op = s.label = "range";
  s.elements = s.blocks = 100;
  s.bytes = 800;
  s.cpu_seconds = 1;
  t.stages = {s};
  return t;
}

TEST_CASE("fleet: shares of CPU time and of jobs that wait") {
  FleetSum sum;
  // Waits per step: 1 us, 0.5 ms, 10 ms and 99 ms.
  for (const double waited : {1e-4, 0.05, 1.0, 9.9}) sum.add(made_trace(waited, 4));
  const Fleet& f = sum.fleet();
  CHECK(f.jobs == 4);
  CHECK(f.measured_jobs == 4);
  CHECK(f.pipeline_cpu_seconds == doctest::Approx(4));
  CHECK(f.process_cpu_seconds == doctest::Approx(16));
  CHECK(f.waits[0].jobs == 3);
  CHECK(f.waits[1].jobs == 2);
  CHECK(f.waits[2].jobs == 0);
  CHECK(f.operators.at("range") == 4);
  CHECK(f.bytes.at("range") == 3200);
}

TEST_CASE("fleet: a job without an element has no wait") {
  FleetSum sum;
  Trace t = made_trace(5, 4);
  t.interval.elements = t.stages[0].elements = 0;
  sum.add(t);
  CHECK(sum.fleet().jobs == 1);
  CHECK(sum.fleet().measured_jobs == 0);
  CHECK(sum.fleet().holders.empty());
}

TEST_CASE("fleet: files that are no whole trace are named, none ends the reading") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("penstock-fleet-test." + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directory(folder);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const std::string text = trace_text(made_trace(1, 4));
  std::string newer = text;
  newer.replace(newer.find("\"version\": 1"), 12, "\"version\": 9");
  write_file_atomically(at("whole"), text);
  write_file_atomically(at("double"), text);
  write_file_atomically(at("cut"), text.substr(0, text.size() / 2));
  write_file_atomically(at("newer"), newer);
  write_file_atomically(at("notes"), "range(3)");
  FleetSum sum;
  for (const char* name : {"whole", "double", "cut", "newer", "notes", "absent"})
    sum.add_file(at(name));
  fs::remove_all(folder);
  using Why = LeftOut::Why;
  CHECK(sum.fleet().jobs == 1);
  REQUIRE(sum.fleet().left_out.size() == 5);
  const Why expected[] = {Why::doubled, Why::damaged, Why::damaged, Why::other_file,
                          Why::unreadable};
  for (size_t i = 0; i < 5; ++i) CHECK(sum.fleet().left_out[i].why == expected[i]);
}

}  // namespace
}  // namespace penstock
