#include "job/attach_server.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "job/attach_directory.h"
#include "job/attached_process.h"
#include "penstock/dataset.h"
#include "penstock/iterator.h"

namespace penstock {
namespace {

std::vector<int64_t> numbers(const std::vector<AttachedRun>& runs) {
  std::vector<int64_t> out;
  for (const AttachedRun& r : runs) out.push_back(r.run);
  return out;
}

TEST_CASE("attach: a process has a run for each open iterator, and traces of them") {
  Iterator first = Dataset::range(1000).iterate();
  const AttachedProcess self(getpid());
  const std::vector<int64_t> one = numbers(self.runs());
  Element element;
  for (int i = 0; i < 10; ++i) REQUIRE(first.next(&element));
  {
    const Iterator second = Dataset::range(5).batch(2).iterate();
    const std::vector<int64_t> two = numbers(self.runs());
    REQUIRE(two.size() == one.size() + 1);
    const Trace trace = self.trace(two.back(), true);
    CHECK(trace.program == "range(5)\n| batch(2)\n");
    CHECK(trace.interval.elements == 0);
  }
  CHECK(numbers(self.runs()) == one);
  const Trace before = self.trace(one.back(), false);
  CHECK(before.interval.elements == 10);
  for (int i = 0; i < 7; ++i) REQUIRE(first.next(&element));
  const Trace between = trace_between(before, self.trace(one.back(), false));
  CHECK(between.interval.elements == 7);
  CHECK(between.interval.seconds > 0);
  CHECK_THROWS_WITH_AS(self.trace(one.back() + 99, false), doctest::Contains("is over"), Error);
}

TEST_CASE("attach: only the owner can enter the directory of the sockets") {
  const auto directory = make_attach_directory();
  REQUIRE(directory);
  struct stat status{};
  REQUIRE(stat(directory->c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  CHECK(status.st_uid == geteuid());
  const std::string open =
      std::filesystem::temp_directory_path() / ("penstock-open-" + std::to_string(getpid()));
  REQUIRE(mkdir(open.c_str(), 0755) == 0);
  CHECK(distrust(open).find("chmod 700") != std::string::npos);
  REQUIRE(chmod(open.c_str(), 0700) == 0);
  CHECK(distrust(open).empty());
  REQUIRE(rmdir(open.c_str()) == 0);
  std::ofstream(open) << "a file";
  CHECK(distrust(open).find("not a directory") != std::string::npos);
  REQUIRE(unlink(open.c_str()) == 0);
}

TEST_CASE("attach: names of sockets are those of processes, and no others") {
  CHECK(pid_of_socket("4711.sock") == 4711);
  for (const char* name :
       {".", "sock", ".sock", "4711.sock.new", "x4711.sock", "-1.sock", "0.sock"})
    CHECK(!pid_of_socket(name));
  CHECK(!socket_address(std::string(200, 'x')));
}

TEST_CASE("attach: a forked child answers for its own runs, and leaves its parent's socket") {
  const Iterator here = Dataset::range(3).iterate();
  const AttachedProcess parent(getpid());
  const std::vector<int64_t> runs = numbers(parent.runs());
  int up[2], down[2];
  REQUIRE(pipe(up) == 0);
  REQUIRE(pipe(down) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    char c = 'r';
    {
      const Iterator there = Dataset::range(7).iterate();
      if (write(up[1], &c, 1) != 1 || read(down[0], &c, 1) != 1) _exit(1);
    }
    _exit(0);
  }
  char c = 0;
  REQUIRE(read(up[0], &c, 1) == 1);
  const AttachedProcess other(child);
  const std::vector<int64_t> theirs = numbers(other.runs());
  REQUIRE(theirs.size() == 1);
  CHECK(other.trace(theirs[0], false).program == "range(7)\n");
  REQUIRE(write(down[1], &c, 1) == 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  // It ended by _exit, as a killed process does: its socket is left for a reader to remove.
  CHECK_THROWS_AS(other.runs(), Error);
  CHECK_THROWS_AS(AttachedProcess{child}, Error);
  CHECK(!std::filesystem::exists(attach_socket(*make_attach_directory(), child)));
  CHECK(numbers(parent.runs()) == runs);
  for (const int fd : {up[0], up[1], down[0], down[1]}) close(fd);
}

}  // namespace
}  // namespace penstock
