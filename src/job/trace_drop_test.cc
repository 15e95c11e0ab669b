#include "job/trace_drop.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "penstock/dataset.h"
#include "penstock/iterator.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

void drain(const Dataset& dataset) {
  Iterator it = dataset.iterate();
  for (Element element; it.next(&element);) {
  }
}

// Runs `body` in a process whose traces go to a folder; returns the traces.
template <typename Body>
std::vector<Trace> left_by(const Body& body) {
  const fs::path folder =
      fs::temp_directory_path() / ("penstock-trace-drop-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("PENSTOCK_TRACE_DIR", folder.c_str(), 1);
    body();
    ::_exit(0);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::vector<Trace> out;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder))
      out.push_back(read_trace(entry.path().string()));
  }
  fs::remove_all(folder);
  return out;
}

TEST_CASE("trace_drop: a process leaves one trace, that of its longest run") {
  const std::vector<Trace> left = left_by([] {
    drain(Dataset::range(10));
    drain(Dataset::range(200'000).map("x -> x + 1"));
    drain(Dataset::range(10));
  });
  REQUIRE(left.size() == 1);
  CHECK(left[0].interval.elements == 200'000);
  CHECK(left[0].program.find("200000") != std::string::npos);
}

TEST_CASE("trace_drop: a process that opens no pipeline leaves nothing") {
  CHECK(left_by([] {}).empty());
}

TEST_CASE("trace_drop: a folder that cannot be made does not end the job") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("PENSTOCK_TRACE_DIR", "/proc/none/traces", 1);
    ::close(2);
    drain(Dataset::range(10));
    drain(Dataset::range(10));
    ::_exit(0);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace penstock
