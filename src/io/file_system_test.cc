#include "io/file_system.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "io/file.h"
#include "io/glob.h"
#include "io/memory_file_system_test.h"
#include "io/read_counter.h"
#include "io/staging_folder.h"

namespace penstock {
namespace {

Code code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::unknown;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.message();
  }
  return {};
}

// Calls f with a new folder on each file system.
void on_each(const std::function<void(const std::string&)>& f) {
  char name[] = "/tmp/penstock-files-XXXXXX";
  const std::string local = ::mkdtemp(name);
  add_file_system("memory-files", std::make_unique<MemoryFileSystem>());
  for (const std::string& folder :
       {local + "/path", "file://" + local + "/scheme", std::string("memory-files://box/a")}) {
    CAPTURE(folder);
    make_folder(folder);
    f(folder);
  }
  remove_tree(local);
}

std::vector<std::string> names_in(const std::string& folder) {
  const ResolvedName at = resolve_name("list", folder);
  std::vector<std::string> out;
  for (const FolderEntry& entry : at.files->list(at.name)) out.push_back(entry.name);
  std::ranges::sort(out);
  return out;
}

TEST_CASE("every file system: files are written whole, read at offsets and removed") {
  on_each([](const std::string& folder) {
    const std::string path = folder + "/x";
    CHECK(file_status(path).kind == FileStatus::Kind::missing);
    CHECK(code_of([&] { File file(path); }) == Code::not_found);
    {
      AtomicFile unfinished(path);
      unfinished.append("never committed");
    }
    CHECK(!file_status(path).exists());
    write_file_atomically(path, "first");
    const FileStatus before = file_status(path);
    write_file_atomically(path, "0123456789");
    const FileStatus after = file_status(path);
    CHECK(after.is_file());
    CHECK(after.bytes == 10);
    CHECK((before.bytes != after.bytes || before.etag != after.etag));
    const File file(path);
    CHECK(file.size() == 10);
    char out[4];
    CHECK(file.pread(std::as_writable_bytes(std::span(out)), 3) == 4);
    CHECK(std::string_view(out, 4) == "3456");
    CHECK(file.pread(std::as_writable_bytes(std::span(out)), 8) == 2);
    CHECK(file.pread(std::as_writable_bytes(std::span(out)), 10) == 0);
    CHECK(read_regular("open", path, 100) == "0123456789");
    CHECK(read_file(path, 100) == "0123456789");
    CHECK(code_of([&] { read_file(path, 9); }) == Code::resource_exhausted);
    const ResolvedName at = resolve_name("remove", path);
    CHECK(at.files->remove(at.name));
    CHECK(at.files->remove(at.name));
    CHECK(!file_status(path).exists());
  });
}

TEST_CASE("every file system: folders are listed, matched, staged and removed") {
  on_each([](const std::string& folder) {
    make_folder(folder + "/d/e");
    for (const char* name : {"/b.txt", "/a.txt", "/d/c.txt", "/d/e/f.txt"})
      write_file_atomically(folder + name, name);
    CHECK(names_in(folder) == std::vector<std::string>{"a.txt", "b.txt", "d"});
    CHECK(file_status(folder + "/d").is_folder());
    CHECK(code_of([&] { names_in(folder + "/none"); }) == Code::not_found);
    CHECK(match_files({folder + "/*.txt"}) ==
          std::vector<std::string>{folder + "/a.txt", folder + "/b.txt"});
    CHECK(match_files({folder + "/*/?.txt"}) == std::vector<std::string>{folder + "/d/c.txt"});
    CHECK(match_files({folder + "/a.txt"}) == std::vector<std::string>{folder + "/a.txt"});
    CHECK(code_of([&] { match_files({folder + "/*.csv"}); }) == Code::not_found);
    std::vector<std::string> walked;
    const ResolvedName at = resolve_name("list", folder);
    walk_folder(*at.files, at.name, [&](const std::string& name, FileStatus::Kind kind) {
      if (kind == FileStatus::Kind::file) walked.push_back(name.substr(at.name.size()));
    });
    std::ranges::sort(walked);
    CHECK(walked == std::vector<std::string>{"/a.txt", "/b.txt", "/d/c.txt", "/d/e/f.txt"});
    {
      StagingFolder staged(folder + "/new", false);
      write_file_atomically(staged.path() + "/1", "one");
      CHECK(!file_status(folder + "/new/1").exists());
      staged.publish();
    }
    CHECK(read_file(folder + "/new/1", 100) == "one");
    CHECK(names_in(folder + "/new") == std::vector<std::string>{"1"});
    {
      StagingFolder staged(folder + "/new", false);
      CHECK(code_of([&] { AtomicFile file(staged.path() + "/1"); }) == Code::already_exists);
    }
    remove_tree(folder + "/d");
    CHECK(names_in(folder) == std::vector<std::string>{"a.txt", "b.txt", "new"});
    const ResolvedName lock = resolve_name("write", folder + "/x.lock");
    CHECK(lock.files->try_lock(lock.name) != nullptr);
  });
}

TEST_CASE("names belong to the file system of their scheme") {
  CHECK(scheme_of("data/x").empty());
  CHECK(scheme_of("s3://bucket/x") == "s3");
  CHECK(scheme_of("C++://x").empty());
  CHECK(scheme_of("://x").empty());
  CHECK(resolve_name("open", "file:///data/x").name == "/data/x");
  CHECK(message_of([] { resolve_name("open", "file://data/x"); }) ==
        "open: file://data/x: after file:// an absolute path is expected, as in "
        "file:///data/train.tfrecord");
  CHECK(message_of([] {
          File file("nowhere://x");
        }).starts_with("open: nowhere://x: no file system is known for nowhere://; known are"));
  CHECK(file_status("nowhere://x").kind == FileStatus::Kind::unknown);
}

TEST_CASE("opens and reads are counted in the innermost scope") {
  struct Counter final : ReadCounter {
    void opened() override { ++files; }
    void read(int64_t n) override { bytes += n; }
    void waited(int64_t) override {}
    int64_t files = 0, bytes = 0;
  };
  on_each([](const std::string& folder) {
    write_file_atomically(folder + "/x", "0123456789");
    Counter outer, inner;
    const ScopedReadCounter counted(&outer);
    CHECK(read_regular("open", folder + "/x", 100).size() == 10);
    {
      const ScopedReadCounter within(&inner);
      char out[4];
      File(folder + "/x").pread(std::as_writable_bytes(std::span(out)), 8);
    }
    CHECK(outer.files == 1);
    CHECK(outer.bytes == 10);
    CHECK(inner.files == 1);
    CHECK(inner.bytes == 2);
  });
}

}  // namespace
}  // namespace penstock
