// Pipelines read and write any file system, not only local paths; and the files that they read are
// counted for the stage that reads them, whether a source or a function.

#include <doctest/doctest.h>

#include <string>

#include "datasets/datasets.h"
#include "io/file.h"
#include "io/memory_file_system_test.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

struct Result {
  std::string elements;  // separated by spaces
  int64_t bytes_read = 0, files_opened = 0;
};

// Runs the pipeline, and adds up the counters of the stages called `stage`.
Result run_pipeline(const std::string& text, const std::string& stage = "") {
  register_datasets();
  CAPTURE(text);
  const BuiltPlan plan = build_plan(std::make_shared<const Source>(Source{"test", text}));
  RunOptions options;
  options.threads = 2;
  Result out;
  const auto add = [&out](const Tensor& t, int64_t i) {
    out.elements += out.elements.empty() ? "" : " ";
    out.elements +=
        t.dtype() == DType::bytes ? std::string(bytes_at(t, i)) : std::to_string(integer_at(t, i));
  };
  if (plan.plan->op->sink) {
    for (const Tensor& t : run_sink(plan.plan, options, std::make_shared<PipelineState>()))
      add(t, 0);
    return out;
  }
  BlockIterator rows(plan.plan, options, std::make_shared<PipelineState>());
  Block block;
  while (rows.next(&block, 16)) {
    for (const RowError& error : block.errors) out.elements += " !" + error.error->message();
    if (!block.errors.empty()) continue;
    for (int64_t row = 0; row < block.rows; ++row) {
      for (const Column& column : block.columns) {
        const Tensor t = column.row(row);
        for (int64_t i = 0; i < t.entries_count(); ++i) add(t, i);
      }
    }
  }
  for (const auto& [node, running] : rows.run().stages()) {
    if (node->op->name != stage) continue;
    out.bytes_read += running->counters.total(&StageCounts::bytes_read);
    out.files_opened += running->counters.total(&StageCounts::files_opened);
  }
  return out;
}

void add_files() {
  add_file_system("mem", std::make_unique<MemoryFileSystem>());
  write_file_atomically("mem://box/a.txt", "one\ntwo\n");
  write_file_atomically("mem://box/b.txt", "three\n");
  write_file_atomically("mem://box/words", "two\nthree\none\n");
  write_file_atomically("mem://images/cat/1.png", "meow");
  write_file_atomically("mem://images/dog/deep/2.png", "woof");
  write_file_atomically("mem://box/numbers", std::string("\1\2\3\4", 4));
  write_file_atomically("mem://box/large", std::string(2 << 20, '\1'));
}

TEST_CASE("sources read any file system") {
  add_files();
  CHECK(run_pipeline("files(\"mem://box/*.txt\")").elements == "mem://box/a.txt mem://box/b.txt");
  const Result lines =
      run_pipeline("files(\"mem://box/*.txt\") | flat_map(f -> text_line(f))", "text_line");
  CHECK(lines.elements == "one two three");
  CHECK(lines.bytes_read == 14);
  CHECK(lines.files_opened == 2);
  CHECK(run_pipeline("text_line(\"mem://box/*.txt\")").elements == "one two three");
  CHECK(run_pipeline("image_folder(\"mem://images\")").elements == "meow 0 woof 1");
}

TEST_CASE("elements are saved, cached and loaded on any file system") {
  add_files();
  CHECK(run_pipeline("range(5) | save(\"mem://out/all\")").elements == "5");
  CHECK(run_pipeline("load(\"mem://out/all\")").elements == "0 1 2 3 4");
  CHECK(run_pipeline("range(6) | save(\"mem://out/shards\", shard_func=x -> x % 2)").elements ==
        "6");
  CHECK(run_pipeline("load(\"mem://out/shards/*\")").elements == "0 2 4 1 3 5");
  const std::string cached = "text_line(\"mem://box/a.txt\") | cache(\"mem://cache\")";
  CHECK(run_pipeline(cached, "text_line").bytes_read == 8);
  const Result again = run_pipeline(cached, "text_line");
  CHECK(again.elements == "one two");
  CHECK(again.bytes_read == 0);
  write_file_atomically("mem://box/a.txt", "ONE\nTWO\n");  // same size: the etag tells them apart
  CHECK(run_pipeline(cached, "text_line").elements == "ONE TWO");
}

TEST_CASE("files that a function reads are counted for its stage") {
  add_files();
  // Read ahead on the I/O pool, and in the op itself within a condition.
  for (const char* f : {"read_file(f)", "if f != \"\" then read_file(f) else f"}) {
    const Result read =
        run_pipeline(std::string("files(\"mem://box/*.txt\") | map(f -> ") + f + ")", "map");
    CHECK(read.elements == "one\ntwo\n three\n");
    CHECK(read.bytes_read == 14);
    CHECK(read.files_opened == 2);
  }
  const Result array =
      run_pipeline("range(3) | map(i -> load_array(\"mem://box/numbers\", dtype=uint8)[i])", "map");
  CHECK(array.elements == "1 2 3");
  CHECK(array.files_opened == 1);
  CHECK(array.bytes_read >= 4);
  // A file system without mappings: large arrays are read.
  const Result large =
      run_pipeline("range(2) | map(i -> load_array(\"mem://box/large\", dtype=uint8)[i])", "map");
  CHECK(large.elements == "1 1");
  CHECK(large.bytes_read >= 2 << 20);
  const Result table = run_pipeline(
      "text_line(\"mem://box/a.txt\") | map(s -> lookup(vocabulary(\"mem://box/words\"), s))",
      "map");
  CHECK(table.elements == "2 0");
  CHECK(table.files_opened == 1);
  CHECK(table.bytes_read == 14);
}

TEST_CASE("a name of an unknown file system is refused, naming the stage") {
  std::string message;
  try {
    run_pipeline("text_line(\"nowhere://x\")");
  } catch (const Error& e) {
    message = e.message();
  }
  CHECK(message.find("open: nowhere://x: no file system is known for nowhere://") !=
        std::string::npos);
}

}  // namespace
}  // namespace penstock
