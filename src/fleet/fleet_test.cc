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
  std::vector<std::string> paths;
  for (const char* name : {"whole", "double", "cut", "newer", "notes", "absent"})
    paths.push_back(at(name));
  sum.add_files(paths, 3);
  fs::remove_all(folder);
  using Why = LeftOut::Why;
  CHECK(sum.fleet().jobs == 1);
  REQUIRE(sum.fleet().left_out.size() == 5);
  const Why expected[] = {Why::doubled, Why::damaged, Why::damaged, Why::other_file,
                          Why::unreadable};
  for (size_t i = 0; i < 5; ++i) CHECK(sum.fleet().left_out[i].why == expected[i]);
}

// A job that reads `source_bytes` of files, of which it filters one half, with a stage of one
// thread that could use the other core.
Trace reading_trace(int64_t source_bytes, const std::string& program) {
  Trace t = made_trace(9.9, 12);
  t.program = program;
  StageTrace map = t.stages[0], filter = t.stages[0], source = t.stages[0];
  map.op = map.label = "map";
  map.cpu_seconds = 9.5;
  map.can_parallel = map.stateless = map.keeps_rows = true;
  map.inputs = {1};
  filter.op = filter.label = "filter";
  filter.id = 1;
  filter.stateless = true;
  filter.inputs = {2};
  filter.bytes = 800;
  source.op = source.label = "tfrecord";
  source.id = 2;
  source.elements = 200;
  source.bytes = 1600;
  source.bytes_read = 2000;
  source.source_bytes = source_bytes;
  t.stages = {map, filter, source};
  return t;
}

TEST_CASE("fleet: sizes, combinations, ratios, programs and the fixes that pay most") {
  FleetSum sum;
  constexpr int64_t kGb = 1'000'000'000;
  for (int i = 0; i < 3; ++i) sum.add(reading_trace(kGb / 2, "a"));
  sum.add(reading_trace(500 * kGb, "b"));
  sum.add(reading_trace(2000 * kGb, "c"));
  for (int i = 0; i < 12; ++i) sum.add(made_trace(1, 4));
  const Fleet& f = sum.fleet();
  CHECK(f.sizes[0].jobs == 3);
  CHECK(f.sizes[1].jobs == 1);
  CHECK(f.sizes[2].jobs == 1);
  CHECK(f.sizes[2].process_cpu_seconds == doctest::Approx(12));
  CHECK(f.sizes[3].jobs == 12);
  CHECK(f.combinations.at("filter map tfrecord") == 5);
  CHECK(f.combinations.at("range") == 12);
  CHECK(f.whole.jobs == 5);
  CHECK(f.whole.smaller == 5);
  CHECK(f.filters.bytes.out / f.filters.bytes.in == doctest::Approx(0.5));
  CHECK(f.maps.bytes.out / f.maps.bytes.in == doctest::Approx(1));
  const Reuse reuse = reuse_of(f, 1);
  CHECK(reuse.programs == 4);
  CHECK(reuse.repeated_jobs == 2 + 11);
  const double of_reading = f.fixes.at(0).pipeline_cpu_seconds;  // of one job
  CHECK(reuse.saved_cpu_seconds == doctest::Approx(2 * of_reading + 11));
  CHECK(reuse.saved_by_most == doctest::Approx(std::max(2 * of_reading, 11.0)));
  CHECK(f.software_jobs == 5);
  REQUIRE(f.fixes.size() == 5);
  CHECK(f.fixes[0].gain > 1.5);
  CHECK(f.fixes[0].saved_seconds > 3);
  CHECK(f.fixes[0].saved_seconds < 10);
}

TEST_CASE("fleet: slices of a trace change nothing, and damage in them is named") {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("penstock-fleet-slices." + std::to_string(getpid())))
                               .string();
  Trace t = reading_trace(1'000'000, "a program with \"slices\": [1]");
  for (int i = 0; i < 20; ++i)
    t.slices.push_back({0.5, 0.6, 5, {5, 5, 10}, {0, 0, 100}, {0.4, 0, 0.05}});
  write_file_atomically(path, trace_text(t));
  const auto read = read_job(path);
  const JobFacts* facts = std::get_if<JobFacts>(&read);
  REQUIRE(facts);
  t.slices.clear();
  const JobFacts without = job_facts(t);
  CHECK(facts->exposed_seconds == doctest::Approx(without.exposed_seconds));
  CHECK(facts->gain == doctest::Approx(without.gain));
  CHECK(facts->program == without.program);
  const std::string text = read_file(path, 1 << 20);
  write_file_atomically(path, text.substr(0, text.find("\"slices\": [") + 40));
  CHECK(std::get<LeftOut>(read_job(path)).why == LeftOut::Why::damaged);
  std::filesystem::remove(path);
}

TEST_CASE("fleet: of many fixes the ten that save most are kept, the most first") {
  FleetSum sum;
  for (int i = 0; i < 30; ++i) {
    JobFacts job;
    job.elements = 1;
    job.saved_seconds = (i * 7) % 30;
    sum.add(job);
  }
  const std::vector<JobFacts>& fixes = sum.fleet().fixes;
  REQUIRE(fixes.size() == Fleet::kMostFixes);
  for (size_t i = 0; i < fixes.size(); ++i)
    CHECK(fixes[i].saved_seconds == doctest::Approx(29.0 - static_cast<double>(i)));
}

}  // namespace
}  // namespace penstock
