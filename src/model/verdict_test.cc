#include <doctest/doctest.h>

#include <algorithm>

#include "model/model.h"

namespace penstock {
namespace {

using Holder = Verdict::Holder;
using State = Cause::State;

StageTrace stage_with(int id, const char* op, std::vector<int> inputs, double cpu_seconds) {
  StageTrace s;
  s.id = id;
  s.op = op;
  s.label = op;
  s.inputs = std::move(inputs);
  s.elements = 1000;
  s.blocks = 100;
  s.cpu_seconds = cpu_seconds;
  return s;
}

// 10 s on two cores of: tfrecord | map on both. The map is busy for 8 of 20 s.
Trace idle_trace() {
  Trace t;
  t.options = {2, 1 << 30, 4096};
  t.machine.cores = 2;
  t.interval = {10, 9, 1000, 0.1, 9, 0, false, false, 0.2};
  t.stages = {stage_with(0, "map", {1}, 8), stage_with(1, "tfrecord", {}, 0.5)};
  t.stages[0].thread_group = 1;
  t.stages[0].width = 2;
  t.stages[1].bytes_read = 50'000'000;
  t.threads = {{"consumer", 1, 0.1, 0.0, 0, 0},
               {"compute", 2, 8.0, 0.1, 0, 0},
               {"io", 1, 0.9, 0.0, 0.6, 0.58}};
  return t;
}

const Cause& cause_of(const Analysis& a, Holder holder) {
  return *std::ranges::find(a.verdict.causes, holder, &Cause::holder);
}

TEST_CASE("verdict: threads without a core wait for other programs, not for storage") {
  Trace t = idle_trace();
  t.interval.other_cpu_seconds = 11;
  t.threads[1].descheduled_seconds = 11.5;
  t.threads[2].reads_seconds = 6;  // 5.4 s of it without a core
  t.threads[2].descheduled_seconds = 5.4;
  const Analysis a = analyze(t);
  CHECK(a.verdict.holder == Holder::other_programs);
  CHECK(a.verdict.reason.find("wait for a core") != std::string::npos);
  CHECK(cause_of(a, Holder::storage).state == State::ruled_out);
  CHECK(a.waits.descheduled_seconds == doctest::Approx(16.9));
  CHECK(a.waits.other_cores == doctest::Approx(1.1));
}

TEST_CASE("verdict: reads that wait longer than threads for a core are the cause") {
  Trace t = idle_trace();
  t.stages[0].cpu_seconds = 1;
  t.interval.process_cpu_seconds = 2;
  t.interval.other_cpu_seconds = 17;
  t.threads = {{"consumer", 1, 0.5, 1.0, 0, 0},
               {"compute", 2, 1.0, 2.0, 0, 0},
               {"io", 8, 0.5, 4.0, 60, 0.5}};
  CHECK(analyze(t).verdict.holder == Holder::storage);
  t.threads[1].descheduled_seconds = 60;
  CHECK(analyze(t).verdict.holder == Holder::other_programs);
}

TEST_CASE("verdict: idle threads are no evidence against storage") {
  SUBCASE("reads of the page cache") {
    const Analysis a = analyze(idle_trace());
    CHECK(a.verdict.holder == Holder::unclear);
    CHECK(cause_of(a, Holder::storage).state == State::ruled_out);
    CHECK(cause_of(a, Holder::other_programs).state == State::ruled_out);
  }
  SUBCASE("a trace that does not say what threads waited for") {
    Trace t = idle_trace();
    t.threads.clear();
    t.interval.other_cpu_seconds.reset();
    const Analysis a = analyze(t);
    CHECK(a.verdict.holder == Holder::unclear);
    CHECK(cause_of(a, Holder::storage).state == State::unknown);
    CHECK(cause_of(a, Holder::other_programs).state == State::unknown);
    CHECK(a.verdict.reason.find("does not say") != std::string::npos);
  }
  SUBCASE("reads that wait") {
    Trace t = idle_trace();
    t.threads[2].reads_seconds = 9;
    const Analysis a = analyze(t);
    CHECK(a.verdict.holder == Holder::storage);
    CHECK(a.verdict.stage == 1);
    CHECK(a.waits.storage_seconds == doctest::Approx(8.42));
  }
  SUBCASE("a disk near its rate") {
    AnalyzeOptions options;
    options.disk_bytes_per_second = 5.5e6;
    CHECK(analyze(idle_trace(), options).verdict.holder == Holder::storage);
    options.disk_bytes_per_second = 50e6;
    CHECK(analyze(idle_trace(), options).verdict.holder == Holder::unclear);
  }
}

TEST_CASE("verdict: cores that work of no stage keeps busy are this process's own") {
  Trace t = idle_trace();
  t.interval.process_cpu_seconds = 19;
  const Analysis a = analyze(t);
  CHECK(a.verdict.holder == Holder::cpu);
  CHECK(a.verdict.reason.find("no stage") != std::string::npos);
}

TEST_CASE("verdict: the thread that decompresses a file is full like any other") {
  Trace t = idle_trace();
  t.stages[0].cpu_seconds = 1;
  t.threads[2].cpu_seconds = 9.5;
  const Analysis a = analyze(t);
  CHECK(a.verdict.holder == Holder::stage);
  CHECK(a.verdict.stage == 1);
  t.stages[1].parent = 0;  // one of many files that are read at once
  CHECK(analyze(t).verdict.holder == Holder::unclear);
}

TEST_CASE("verdict: every cause has a state, the holder's is that it holds") {
  for (const double cpu : {1.0, 8.0, 16.0, 20.0}) {
    Trace t = idle_trace();
    t.stages[0].cpu_seconds = cpu;
    const Analysis a = analyze(t);
    CHECK(a.verdict.causes.size() == 5);
    for (const Cause& c : a.verdict.causes) {
      CHECK((c.state == State::holds) == (c.holder == a.verdict.holder));
      CHECK_FALSE(c.why.empty());
    }
  }
}

TEST_CASE("code under one lock holds the rate, whatever threads are free") {
  Trace t = idle_trace();
  t.stages[0].cpu_seconds = 9.7;
  t.stages[0].lock_seconds = 9.5;
  t.stages[0].lock_wait_seconds = 9;
  const Analysis a = analyze(t);
  CHECK(a.verdict.holder == Holder::lock);
  CHECK(a.verdict.stage == 0);
  CHECK(a.verdict.reason == "map runs code under a lock, one thread at a time (95 % of the time)");
  CHECK(a.ceilings[0].kind == Ceiling::Kind::lock);
  CHECK(a.ceilings[0].rate == doctest::Approx(1000 / 9.5));
}

TEST_CASE("code that releases its lock while it computes is not held back by it") {
  Trace t = idle_trace();
  t.stages[0].cpu_seconds = 12;
  t.stages[0].lock_seconds = 12;
  CHECK(analyze(t).verdict.holder != Holder::lock);
  t.stages[0].lock_wait_seconds = 6;
  CHECK(analyze(t).verdict.holder == Holder::lock);
}

TEST_CASE("a lock that is free for half of the time is ruled out") {
  Trace t = idle_trace();
  t.stages[0].lock_seconds = 3;
  const Analysis a = analyze(t);
  CHECK(a.verdict.holder != Holder::lock);
  const auto lock = std::ranges::find(a.verdict.causes, Holder::lock, &Cause::holder);
  REQUIRE(lock != a.verdict.causes.end());
  CHECK(lock->state == State::ruled_out);
  CHECK(std::ranges::count(analyze(idle_trace()).verdict.causes, Holder::lock, &Cause::holder) ==
        0);
}

}  // namespace
}  // namespace penstock
