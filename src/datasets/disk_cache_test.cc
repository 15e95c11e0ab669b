// Caches in a folder: what makes an entry, who writes it, and what never counts as one.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "datasets/datasets.h"
#include "io/file.h"
#include "plan/build.h"
#include "runtime/named_files.h"
#include "runtime/run.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/penstock-test-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

PlanPtr plan_of(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

// The first `most` rows of a pass; INT64_MIN stands for an error.
std::vector<int64_t> pass(const PlanPtr& plan, size_t most = 1000) {
  BlockIterator iterator(plan, {}, std::make_shared<PipelineState>());
  std::vector<int64_t> out;
  Block block;
  while (out.size() < most && iterator.next(&block, 3)) {
    const Column rows = block.columns[0].expanded();
    for (int64_t i = 0; i < block.rows; ++i)
      out.push_back(block.error_at(i) ? INT64_MIN : rows.entries<int64_t>()[i]);
  }
  return out;
}

std::vector<std::string> files_in(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> out;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().string().ends_with(suffix)) out.push_back(file.path().string());
  }
  return out;
}

std::string cached(const std::string& stages, const std::string& folder,
                   const std::string& options = "") {
  return stages + " | cache(\"" + folder + "\"" + options + ")";
}

const std::vector<int64_t> kNumbers{1, 2, 3, 4, 5};

TEST_CASE("an entry comes to be at the end of a whole pass and is read from then on") {
  const Folder folder;
  const std::string file = folder / "lines.txt", cache = folder / "cache";
  write_file_atomically(file, "1\n2\n3\n4\n5\n");
  const std::string lines = "text_line(\"" + file + "\") | map(x -> to_number(x, int64))";
  CHECK(pass(plan_of(cached(lines, cache)), 2).size() >= 2);
  CHECK(fs::is_empty(cache));
  CHECK(pass(plan_of(cached(lines, cache))) == kNumbers);
  const auto entries = files_in(cache, "");
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].ends_with(".snapshot"));
  // That it is read shows when the entry of another plan stands in its place.
  CHECK(pass(plan_of(cached("range(10, 12)", cache))) == std::vector<int64_t>{10, 11});
  for (const std::string& other : files_in(cache, ".snapshot")) {
    if (other != entries[0]) fs::rename(other, entries[0]);
  }
  CHECK(pass(plan_of(cached(lines, cache))) == std::vector<int64_t>{10, 11});
}

TEST_CASE("a key goes by the plan, and by size and time of the files it names") {
  const Folder folder;
  const std::string file = folder / "a.txt";
  write_file_atomically(file, "1\n");
  const PlanPtr one = plan_of("text_line(\"" + file + "\")");
  const PlanPtr all =
      plan_of("files(\"" + (folder / "*.txt") + "\") | flat_map(f -> text_line(f))");
  const std::string before = identity_with_files(*one), all_before = identity_with_files(*all);
  CHECK(before.size() == 32);
  CHECK(identity_with_files(*plan_of("text_line(\"" + file + "\")")) == before);
  CHECK(identity_with_files(*plan_of("text_line(\"" + file + "\") | take(1)")) != before);
  const timespec times[2] = {{1, 0}, {1, 0}};
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
  const std::string retimed = identity_with_files(*one);
  CHECK(retimed != before);
  const PlanPtr inside =
      plan_of("range(2) | flat_map(i -> text_line(\"" + file + "\") | map(l -> [l, \"/\"]))");
  const std::string inside_before = identity_with_files(*inside);
  const std::string sharing = fingerprint(*inside).sharing;
  write_file_atomically(file, "1\n2\n");
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
  CHECK(identity_with_files(*one) != retimed);  // another size at the same time
  CHECK(identity_with_files(*inside) != inside_before);
  CHECK(fingerprint(*inside).sharing == sharing);
  write_file_atomically(file, "1\n");
  REQUIRE(::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
  write_file_atomically(folder / "b.txt", "2\n");
  CHECK(identity_with_files(*one) == retimed);
  CHECK(identity_with_files(*all) != all_before);
}

TEST_CASE("damaged entries and leftovers are made anew, errors leave none") {
  const Folder folder;
  const std::string cache = folder / "cache";
  const PlanPtr plan = plan_of(cached("range(1, 6) | map(x -> x)", cache));
  CHECK(pass(plan) == kNumbers);
  const auto entries = files_in(cache, ".snapshot");
  REQUIRE(entries.size() == 1);
  const std::string whole = read_file(entries[0], 1 << 20);
  for (const size_t kept : {size_t{0}, size_t{7}, size_t{60}, whole.size() - 1}) {
    write_file_atomically(entries[0], std::string_view(whole).substr(0, kept));
    CHECK(pass(plan) == kNumbers);
    CHECK(read_file(entries[0], 1 << 20) == whole);
  }
  write_file_atomically(entries[0] + ".tmp-1-1", "half");
  fs::remove(entries[0]);
  CHECK(pass(plan) == kNumbers);
  CHECK(files_in(cache, "").size() == 1);
  const std::vector<int64_t> failing{6, INT64_MIN, -6};
  const PlanPtr bad = plan_of(cached("range(3) | map(x -> 6 // (1 - x))", cache));
  CHECK(pass(bad) == failing);
  CHECK(pass(bad) == failing);
  CHECK(files_in(cache, ".snapshot").size() == 1);
}

TEST_CASE("whatever byte of an entry is damaged, every pass gives the elements") {
  for (const char* options :
       {"", ", compression=\"LZ4\"", ", compression=\"GZIP\"", ", compression=\"SNAPPY\""}) {
    const Folder folder;
    const std::string cache = folder / "cache";
    const PlanPtr plan = plan_of(cached("range(1, 6) | map(x -> x)", cache, options));
    CHECK(pass(plan) == kNumbers);
    const auto entries = files_in(cache, ".snapshot");
    REQUIRE(entries.size() == 1);
    const std::string whole = read_file(entries[0], 1 << 20);
    for (size_t at = 0; at < whole.size(); at += 3) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      write_file_atomically(entries[0], damaged);
      CHECK(pass(plan) == kNumbers);
    }
    write_file_atomically(entries[0], whole);
  }
}

TEST_CASE(
    "a damaged chunk in the middle: no row is lost or given twice, and the entry is whole again") {
  const Folder folder;
  const std::string cache = folder / "cache";
  const PlanPtr plan =
      plan_of(cached("range(200) | shuffle(50, seed=3) | map(x -> fill([2000], x))", cache) +
              " | map(x -> x[0])");
  const std::vector<int64_t> numbers = pass(plan);
  REQUIRE(numbers.size() == 200);
  const auto entries = files_in(cache, ".snapshot");
  REQUIRE(entries.size() == 1);
  const std::string whole = read_file(entries[0], 1 << 30);
  const PlanPtr entry = plan_of("load(\"" + entries[0] + "\") | map(x -> x[0])");
  for (const size_t at : {whole.size() / 8, whole.size() / 2, whole.size() - 100}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(~damaged[at]);
    write_file_atomically(entries[0], damaged);
    CHECK(pass(plan) == numbers);
    CHECK(pass(entry) == numbers);  // its blocks may be cut otherwise
  }
}

TEST_CASE("while one writes, another computes") {
  const Folder folder;
  const std::string cache = folder / "cache";
  const PlanPtr plan = plan_of(cached("range(1, 6) | map(x -> x)", cache));
  BlockIterator writer(plan, {}, std::make_shared<PipelineState>());
  Block block;
  REQUIRE(writer.next(&block, 1));
  REQUIRE(files_in(cache, ".lock").size() == 1);
  CHECK(pass(plan) == kNumbers);
  CHECK(files_in(cache, ".snapshot").empty());
  int64_t rows = block.rows;
  while (writer.next(&block, 1)) rows += block.rows;
  CHECK(rows == 5);
  CHECK(files_in(cache, ".snapshot").size() == 1);
  CHECK(files_in(cache, ".lock").empty());
}

TEST_CASE("a size limit takes whole entries away, those not used for longest first") {
  const Folder folder;
  const std::string cache = folder / "cache", limit = ", size_limit=700";
  const auto of = [&](int i) {
    return plan_of(
        cached("range(" + std::to_string(i) + ", " + std::to_string(i + 5) + ")", cache, limit));
  };
  pass(of(1));
  const auto first = files_in(cache, ".snapshot");
  REQUIRE(first.size() == 1);
  REQUIRE(fs::file_size(first[0]) < 350);
  fs::last_write_time(first[0], fs::file_time_type::clock::now() - std::chrono::hours(2));
  pass(of(2));
  for (const std::string& file : files_in(cache, ".snapshot")) {
    if (file != first[0])
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  pass(of(1));  // used now
  for (int i = 3; i < 6; ++i) pass(of(i));
  CHECK(files_in(cache, ".snapshot").size() == 2);
  pass(plan_of(cached("range(1000)", cache, limit)));
  CHECK(files_in(cache, ".snapshot").size() == 2);
}

}  // namespace
}  // namespace penstock
