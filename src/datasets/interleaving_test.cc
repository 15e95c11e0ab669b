// Coming files are opened before their turn, as many as asked for, and the order stays the same.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "datasets/datasets.h"
#include "io/file.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 12;

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/penstock-test-XXXXXX";
    REQUIRE(::mkdtemp(name));
    path_ = name;
    for (int i = 0; i < kFiles; ++i) {
      const std::string at(1, static_cast<char>('a' + i));
      write_file_atomically(path_ + "/" + at + ".txt", at + "1\n" + at + "2\n");
    }
  }
  ~Folder() { fs::remove_all(path_); }
  std::string files() const { return "files(\"" + path_ + "/*.txt\")"; }

 private:
  std::string path_;
};

PlanPtr plan_of(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

int64_t files_opened(Run& run) {
  int64_t out = 0;
  for (const auto& [node, stage] : run.stages())
    out += stage->counters.total(&StageCounts::files_opened);
  return out;
}

// Files that are open once the first element has come and nothing is being opened any more.
int64_t opened_behind_first(const std::string& text, int64_t expected, RunOptions options = {}) {
  BlockIterator iterator(plan_of(text), options, std::make_shared<PipelineState>());
  Block block;
  REQUIRE(iterator.next(&block, 1));
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (files_opened(iterator.run()) < expected && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);  // one more than expected would come now
  return files_opened(iterator.run());
}

std::vector<std::string> elements(const std::string& text) {
  BlockIterator iterator(plan_of(text), {}, std::make_shared<PipelineState>());
  std::vector<std::string> out;
  Block block;
  while (iterator.next(&block, 5)) {
    const Column rows = block.columns[0].expanded();
    for (int64_t i = 0; i < block.rows; ++i) out.emplace_back(rows.entries<BytesView>()[i].view());
  }
  return out;
}

TEST_CASE("coming files are opened under flat_map and cycle_length=1") {
  const Folder folder;
  const std::string flat = folder.files() + " | flat_map(f -> text_line(f))";
  const std::string one = folder.files() + " | interleave(f -> text_line(f), cycle_length=1";
  CHECK(opened_behind_first(flat, 4) == 4);
  CHECK(opened_behind_first(one + ")", 4) == 4);
  CHECK(opened_behind_first(one + ", num_parallel_calls=1)", 1) == 1);
  CHECK(opened_behind_first(one + ", num_parallel_calls=8)", 8) == 8);
  CHECK(opened_behind_first(one + ", num_parallel_calls=64)", kFiles) == kFiles);
}

TEST_CASE("no file is opened ahead in latency mode, or of what is no file") {
  const Folder folder;
  const std::string flat = folder.files() + " | flat_map(f -> text_line(f))";
  RunOptions options;
  options.latency = true;
  CHECK(opened_behind_first(flat, 1, options) == 1);
  CHECK(opened_behind_first("range(3) | flat_map(x -> range(x, x + 2) | take(1))", 0) == 0);
}

TEST_CASE("the order does not depend on how many files are opened ahead") {
  const Folder folder;
  for (const char* cycle : {"1", "2", "5", "20"}) {
    const std::string text =
        folder.files() + " | interleave(f -> text_line(f), cycle_length=" + cycle;
    const auto plain = elements(text + ", num_parallel_calls=1)");
    CHECK(plain.size() == 2 * kFiles);
    for (const char* calls : {"", ", num_parallel_calls=3", ", num_parallel_calls=64"})
      CHECK(elements(text + calls + ")") == plain);
  }
}

}  // namespace
}  // namespace penstock
