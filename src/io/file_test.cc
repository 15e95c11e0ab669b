#include "io/file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/source_dir_test.h"
#include "io/glob.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() { path = std::string(::mkdtemp(name)) + "/"; }
  ~Folder() { fs::remove_all(path); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), {}));
  }
  char name[32] = "/tmp/penstock-io-XXXXXX";
  std::string path;
};

Code code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::unknown;
}

TEST_CASE("a file is written whole and read back") {
  const Folder folder;
  const std::string path = folder.path + "a";
  write_file_atomically(path, "first");
  write_file_atomically(path, "second");
  CHECK(read_file(path, 100) == "second");
  CHECK(read_file(path, 6) == "second");
  CHECK(code_of([&] { read_file(path, 5); }) == Code::resource_exhausted);
  CHECK(folder.files() == 1);
  CHECK(!read_file("/proc/self/status", 1 << 20).empty());
  const File file(path);
  CHECK(file.size() == 6);
  char out[4];
  CHECK(file.pread(std::as_writable_bytes(std::span(out)), 3) == 3);
  CHECK(std::string(out, 3) == "ond");
}

TEST_CASE("what cannot be read or written says so and leaves nothing") {
  const Folder folder;
  CHECK(code_of([&] { File(folder.path + "none"); }) == Code::not_found);
  CHECK(code_of([&] { File file(folder.path); }) == Code::failed_precondition);
  CHECK(code_of([&] { File file("/dev/null"); }) == Code::invalid_argument);
  CHECK(code_of([&] { write_file_atomically(folder.path + "none/a", "x"); }) == Code::not_found);
  fs::create_directory(folder.path + "folder");
  CHECK_THROWS_AS(write_file_atomically(folder.path + "folder", "x"), Error);
  {
    AtomicFile(folder.path + "b").append("never committed");
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("a write that fails half way leaves the old file") {
  const Folder folder;
  const std::string path = folder.path + "a";
  write_file_atomically(path, "old");
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_THROWS_AS(write_file_atomically(path, std::string(5000, 'x')), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(read_file(path, 100) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("records of tf.data: list_files") {
  const fs::path before = fs::current_path();
  fs::current_path(source_dir() + "/tests/golden/tfdata");
  std::ifstream in("list_files.jsonl");
  REQUIRE(in);
  int checked = 0;
  for (std::string line; std::getline(in, line);) {
    const auto record = nlohmann::json::parse(line);
    const std::string pipe = record["pipe"];
    const size_t end = pipe.rfind(", shuffle=false)");
    if (end == std::string::npos) continue;
    CAPTURE(pipe);
    const auto argument = nlohmann::json::parse(pipe.substr(11, end - 11));
    const auto patterns = argument.is_array() ? argument.get<std::vector<std::string>>()
                                              : std::vector<std::string>{argument};
    ++checked;
    // A pattern in a list that matches no file is refused; tf.data ignores it.
    const bool each_matches = std::ranges::all_of(patterns, [](const std::string& pattern) {
      return code_of([&] { match_files({pattern}); }) != Code::not_found;
    });
    if (record["error"].is_null() && each_matches) {
      CHECK(match_files(patterns) == record["elements"].get<std::vector<std::string>>());
    } else {
      CHECK(code_of([&] { match_files(patterns); }) == Code::not_found);
    }
  }
  CHECK(checked >= 10);
  fs::current_path(before);
}

TEST_CASE("patterns") {
  const Folder folder;
  for (const char* name : {"a*b", "axb", "c", "d[1]"}) {
    write_file_atomically(folder.path + name, "");
  }
  auto match = [&](const std::string& pattern) {
    std::vector<std::string> out;
    try {
      for (const std::string& path : match_files({folder.path + pattern})) {
        out.push_back(path.substr(folder.path.size()));
      }
    } catch (const Error&) {
    }
    return out;
  };
  using Names = std::vector<std::string>;
  CHECK(match("a*b") == Names{"a*b", "axb"});
  CHECK(match("a\\*b") == Names{"a*b"});
  CHECK(match("?") == Names{"c"});
  CHECK(match("[!a]") == Names{"c"});
  CHECK(match("d\\[1]") == Names{"d[1]"});
  CHECK(match("c") == Names{"c"});
  CHECK(match("c/*").empty());
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  CHECK(match_files({"?"}) == Names{"./c"});
  fs::current_path(before);
  try {
    match_files({"/nowhere/a", "/nowhere/*"});
    FAIL("matched");
  } catch (const Error& e) {
    CHECK(e.message() == "no file matches \"/nowhere/a\", \"/nowhere/*\"");
  }
}

}  // namespace
}  // namespace penstock
