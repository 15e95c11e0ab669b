#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/crc32c.h"
#include "datasets/datasets.h"
#include "io/file.h"
#include "penstock/penstock.h"
#include "plan/build.h"
#include "runtime/checkpoint.h"
#include "runtime/saved_run.h"

namespace penstock {
namespace {

PlanPtr plan_of(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"test", text}), {}).plan;
}

std::optional<Error> error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return std::nullopt;
}

std::vector<int64_t> rest(Iterator iterator) {
  std::vector<int64_t> out;
  Element e;
  while (iterator.next(&e)) out.push_back(e.value<int64_t>());
  return out;
}

TEST_CASE("a saved iterator is taken up where it stood, any number of times") {
  Options options;
  options.checkpoints = true;
  const auto make = [&] {
    return Dataset::parse("range(500) | shuffle(100, seed=3) | map(x -> x * 2) | "
                          "filter(x -> x % 3 == 0)")
        .with_options(options);
  };
  const std::vector<int64_t> all = rest(make().iterate());
  Iterator iterator = make().iterate();
  Element e;
  std::vector<int64_t> before;
  for (int i = 0; i < 57 && iterator.next(&e); ++i) before.push_back(e.value<int64_t>());
  const std::string saved = iterator.save();
  for (int i = 0; i < 10; ++i) iterator.next(&e);  // what comes later leaves the checkpoint alone
  for (int times = 0; times < 2; ++times) {
    std::vector<int64_t> joined = before;
    for (const int64_t x : rest(make().resume(saved))) joined.push_back(x);
    CHECK(joined == all);
  }
}

TEST_CASE("a checkpoint of another pipeline is refused by the name of the stage") {
  const auto make = [](const std::string& text) { return Dataset::parse(text); };
  const Dataset ds = make("range(100) | shuffle(10, seed=1) | batch(4)");
  Iterator iterator = ds.iterate();
  Element e;
  iterator.next(&e);
  const std::string saved = iterator.save();
  CHECK_NOTHROW(make("range(100) | shuffle(10, seed=1) | batch(4)").resume(saved));
  const auto refused = [&](const std::string& text) {
    const auto error = error_of([&] { make(text).resume(saved); });
    REQUIRE(error);
    CHECK(error->code() == Code::failed_precondition);
    return error->message();
  };
  CHECK(refused("range(100) | shuffle(10, seed=2) | batch(4)")
            .find("stage 2 from the source is `shuffle`") != std::string::npos);
  CHECK(refused("range(100) | shuffle(10, seed=1) | take(4)").find("was `batch` and is `take`") !=
        std::string::npos);
  CHECK(refused("range(100) | shuffle(10, seed=1)").find("was `batch` and is nothing") !=
        std::string::npos);
}

TEST_CASE("a checkpoint is refused by the name of a file that has changed") {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "penstock-files-XXXXXX").string();
  std::vector<char> name(folder.begin(), folder.end());
  name.push_back(0);
  REQUIRE(::mkdtemp(name.data()));
  const std::filesystem::path here = name.data();
  const auto write = [&](int64_t file, const std::string& text, time_t seconds) {
    const std::string path = here / ("f" + std::to_string(file));
    write_file_atomically(path, text);
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  };
  for (const int64_t files : {3, 40}) {
    CAPTURE(files);
    for (int64_t i = 0; i < files; ++i) write(i, "1\n2\n", 1000 + i);
    const Dataset ds =
        Dataset::parse("files(\"" + std::string(here / "f*") + "\") | flat_map(f -> text_line(f))");
    const std::string saved = ds.iterate().save();
    const auto refusal = [&] {
      const auto error = error_of([&] { ds.resume(saved); });
      return error ? error->message() : std::string("none");
    };
    CHECK(refusal() == "none");
    write(1, "1\n2\n", 9999);
    CHECK(refusal().find("f1, which `files` reads, has another time") != std::string::npos);
    write(1, "1\n", 9999);
    CHECK(refusal().find("/f1, which `files` reads, ha") != std::string::npos);
    write(1, "1\n", 1001);  // of many files one that is no newer cannot be named
    CHECK(refusal().find(files > 32 ? "`files` read 40 and reads 40"
                                    : "f1, which `files` reads, had 4 bytes and has 2 now") !=
          std::string::npos);
    write(1, "1\n2\n", 1001);
    CHECK(refusal() == "none");
    write(99, "", 1);
    CHECK(refusal().find(files > 32 ? "`files` read 40 and reads 41" : "there is a new file") !=
          std::string::npos);
    std::filesystem::remove(here / "f99");
  }
  std::filesystem::remove_all(here);
}

TEST_CASE("a damaged checkpoint is refused") {
  const Dataset ds = Dataset::parse("range(100) | shuffle(10, seed=1)");
  const std::string saved = ds.iterate().save();
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string bad = saved;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK(error_of([&] { ds.resume(bad); }));
    CHECK(error_of([&] { ds.resume(saved.substr(0, i)); }));
  }
  for (const char* text : {"", "{}", "[]", "{\"rows\": -1}", "{\"rows\": 0, \"stage\": 1}",
                           "{\"rows\":0,\"stage\":\"a\",\"inputs\":[],\"numbers\":[]}",
                           "{\"rows\":0,\"stage\":\"a\",\"form\":\"b\",\"version\":1,\"inputs\":[],"
                           "\"packed\":\"!\"}",
                           "{\"rows\":0,\"stage\":\"a\",\"form\":\"b\",\"version\":1,\"inputs\":[],"
                           "\"packed\":\"gA==\"}"}) {
    CAPTURE(text);
    const auto error = error_of([&] { read_position(text); });
    REQUIRE(error);
    CHECK(error->code() == Code::data_loss);
  }
}

TEST_CASE("a checkpoint of another format is refused with the reason") {
  const std::string body = R"({"penstock_checkpoint":2,"stages":[]})";
  char sum[16];
  std::snprintf(sum, sizeof sum, "%08x", crc32c(std::as_bytes(std::span(body))));
  const auto error = error_of([&] { Dataset::range(3).resume(body + "\n" + sum + "\n"); });
  REQUIRE(error);
  CHECK(error->code() == Code::failed_precondition);
  CHECK(error->message() ==
        "the checkpoint has format 2, this program reads 3; finish the run with the program that "
        "wrote it, or remove the checkpoint to start anew");
}

// The stages are `range(9) | skip(2)`.
std::string opening_error(const std::string& skip_mark) {
  RunOptions options;
  options.threads = 1;
  options.marks = true;
  const std::string range =
      R"({"rows":0,"stage":"range","form":"index","version":1,"numbers":[3],"inputs":[]})";
  ResumePoint from;
  from.position =
      read_position(R"({"rows":0,"stage":"skip",)" + skip_mark + R"(,"inputs":[)" + range + "]}");
  const auto error = error_of([&] {
    BlockIterator(plan_of("range(9) | skip(2)"), options, std::make_shared<PipelineState>(), {},
                  from);
  });
  return error ? std::string(code_name(error->code())) + " " + error->message() : "none";
}

TEST_CASE("a mark that the stage cannot read is refused by its field or form") {
  CHECK(opening_error(R"("form":"skip","version":1,"numbers":[0])") == "none");
  CHECK(opening_error(R"("form":"skip","version":2,"numbers":[0])") ==
        "FAILED_PRECONDITION the checkpoint's mark of `skip` has form skip 2, this program reads "
        "skip 1; resume with the program that wrote it, or remove the checkpoint to start anew");
  CHECK(opening_error(R"("form":"take","version":1,"numbers":[0])")
            .find("has form take 1, this program reads skip 1") != std::string::npos);
  const std::string damaged = "DATA_LOSS the checkpoint is damaged: the mark of `skip` ";
  CHECK(opening_error(R"("form":"skip","version":1,"numbers":[])") ==
        damaged + "has no field left");
  CHECK(opening_error(R"("form":"skip","version":1,"numbers":[-7])") == damaged + "says left -7");
  CHECK(opening_error(R"("form":"skip","version":1,"numbers":[0,1])") ==
        damaged + "has 1 numbers too many");
}

struct EachField {
  static constexpr MarkForm kForm{"test", 3};
  int64_t number = 0, count = 0;
  uint64_t id = 0;
  bool flag = false;
  std::vector<int64_t> counts;
  std::vector<bool> flags;
  static void fields(auto& mark, auto& f) {
    f.number("number", mark.number);
    f.flag("flag", mark.flag);
    if (mark.flag) f.count("count", mark.count);
    f.counts("counts", mark.counts);
    f.id("id", mark.id);
    f.flags("flags", mark.flags);
  }
  bool operator==(const EachField&) const = default;
};

TEST_CASE("a mark has its fields again after it was written") {
  for (const EachField& fields : {EachField(), EachField{-5, 7, UINT64_MAX, true, {3, 0}, {true}},
                                  EachField{INT64_MIN, 0, 1, false, {}, {false, true, false}}}) {
    const StreamPosition at{make_mark(nullptr, "op", fields, {}), 4};
    const StreamPosition read = read_position(write_position(at));
    CHECK(read.rows == 4);
    CHECK(stage_mark(read.mark)->stage() == "op");
    CHECK(decoded_mark<EachField>(*stage_mark(read.mark)) == fields);
    const size_t numbers = stage_mark(read.mark)->encoded().size();
    for (size_t n = 0; n < numbers; ++n) {  // cut short
      const auto some = stage_mark(read.mark)->encoded().first(n);
      const StageMark cut(nullptr, "op", EachField::kForm,
                          RecycledVector<int64_t>(some.begin(), some.end()), {});
      const auto error = error_of([&] { decoded_mark<EachField>(cut); });
      REQUIRE(error);
      CHECK(error->code() == Code::data_loss);
    }
  }
}

// Rows behind the mark are made again: how many, after a long run, is the price of a restart.
int64_t rows_behind_mark(const std::string& text, size_t* bytes) {
  RunOptions options;
  options.threads = 1;
  options.marks = true;
  BlockIterator iterator(plan_of(text), options, std::make_shared<PipelineState>());
  Block block;
  for (int64_t rows = 0; rows < 20'000 && iterator.next(&block, 100); rows += block.rows) {
  }
  const StreamPosition position = iterator.position();
  *bytes = write_position(position).size();
  return position.mark ? position.rows : -1;
}

TEST_CASE("marks stay close and small") {
  for (const char* text : {
           "range(1000000)",
           "from_tensor_slices(arange(100000)) | map(x -> x + 1) | filter(x -> x % 2 == 0)",
           "range(1000000) | take(900000) | skip(10) | shard(2, 1) | enumerate()",
           "range(100) | repeat()",
           "range(100000) | concatenate(range(5))",
           "zip(range(1000000), range(1000000) | filter(x -> x % 3 == 0))",
           "range(1000000) | batch(7) | prefetch(2)",
           "range(1000000) | map(x -> fill([x % 3], 1), num_parallel_calls=2) | padded_batch(5)",
           "range(1000000) | flat_map(x -> range(100))",
           "range(1000000) | interleave(x -> range(100), cycle_length=8, block_length=3)",
           "range(1000000) | flat_map(x -> range(100) | skip(1))",
           "range(1000000) | batch(10) | unbatch()",
           "range(1000000) | batch(10) | rebatch([3, 4])",
           "range(1000000) | window(10, shift=3) | flat_map(w -> w | batch(4))",
           "range(1000000) | window(10, shift=30) | flat_map(w -> w)",
           "range(1000000) | group_by_window(x -> x % 30, (k, w) -> w | batch(10), window_size=10)",
           "range(1000000) | bucket_by_sequence_length(x -> x % 30, [10, 20], [8, 8, 8])",
           "range(1000000) | map(x -> fill([x % 30], 1)) | pack_sequences(64)",
           "range(1000000) | scan(0.5, (s, x) -> (s + float32(x), s))",
           "range(1000000) | rejection_resample(x -> x % 3, [0.5, 0.3, 0.2], seed=1)",
           "sample_from_datasets([range(1000000), range(1000000)], seed=1)",
           "range(1000000) | global_shuffle(seed=1)",
           "range(1000) | cache() | repeat()",
           "range(1000000) | shuffle(1000, seed=1)",
           "range(1000000) | shuffle(10000, seed=1)",
       }) {
    CAPTURE(text);
    size_t bytes = 0;
    const int64_t rows = rows_behind_mark(text, &bytes);
    CHECK(rows >= 0);
    CHECK(rows <= 10'000);  // shuffle marks once for each buffer's worth of elements
    CHECK(bytes < 64 << 10);
  }
}

// flat_map has two ways to run, which of them may change with a release: marks go from one to the
// other. The prefetch, which has no marks of its own, keeps the second from going by the block.
TEST_CASE("marks of flat_map go from block to cursor and back") {
  const std::string by_block = "range(60) | flat_map(x -> range(x % 9) | filter(y -> y % 3 != 1))";
  const std::string by_cursor =
      "range(60) | flat_map(x -> range(x % 9) | filter(y -> y % 3 != 1) | prefetch(1))";
  RunOptions options;
  options.threads = 1;
  options.marks = true;
  const auto opened = [&](const std::string& text, const std::optional<ResumePoint>& from) {
    return std::make_unique<BlockIterator>(
        plan_of(text), options, std::make_shared<PipelineState>(), std::vector<Tensor>(), from);
  };
  const auto read = [](BlockIterator& iterator, int64_t most) {
    std::vector<int64_t> out;
    Block block;
    while (static_cast<int64_t>(out.size()) < most && iterator.next(&block, 5)) {
      for (int64_t row = 0; row < block.rows; ++row) {
        if (const ErrorPtr* e = block.error_at(row)) FAIL(std::string((*e)->what()));
        out.push_back(integer_at(block.columns[0].row(row)));
      }
    }
    return out;
  };
  const std::vector<int64_t> all = read(*opened(by_block, {}), INT64_MAX);
  for (const auto& [first, second] :
       {std::pair(by_block, by_cursor), std::pair(by_cursor, by_block)}) {
    for (int64_t most = 1; most < static_cast<int64_t>(all.size()); most += 3) {
      const auto before = opened(first, {});
      std::vector<int64_t> got = read(*before, most);
      const ResumePoint point{0, read_position(write_position(before->position()))};
      const std::vector<int64_t> rest_of = read(*opened(second, point), INT64_MAX);
      got.insert(got.end(), rest_of.begin(), rest_of.end());
      CHECK(got == all);
    }
  }
}

}  // namespace
}  // namespace penstock
