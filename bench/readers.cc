// Reading files that are warm in the page cache, one core: TFRecord, text lines, csv, snapshots;
// each against a bare loop over the same bytes in the same run. Prints one JSON object. --tiny
// reads little.

#include <unistd.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/crc32c.h"
#include "datasets/datasets.h"

#include "io/file.h"
#include "io/record_writer.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

struct Bench {
  std::string folder;
  int64_t bytes;
  int rounds;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The minimum over several rounds, separately for each figure.
struct Seconds {
  double wall = 1e9, cpu = 1e9;
};

template <typename F>
Seconds best_seconds(int rounds, F&& f) {
  Seconds best;
  for (int i = 0; i < rounds; ++i) {
    const double cpu = cpu_seconds();
    const int64_t start = now_ns();
    f();
    best.wall = std::min(best.wall, static_cast<double>(now_ns() - start) * 1e-9);
    best.cpu = std::min(best.cpu, cpu_seconds() - cpu);
  }
  return best;
}

RunOptions one_core() {
  RunOptions options;
  options.threads = 1;
  options.io_threads = 1;
  return options;
}

PlanPtr plan_of(const std::string& text) {
  return build_plan(std::make_shared<const Source>(Source{"bench", text}), {}).plan;
}

// CPU time of the whole process over a pass: the work of one core.
struct Pass {
  double wall_s = 0, cpu_s = 0;
  int64_t rows = 0;
};

Pass drain(const PlanPtr& plan) {
  Pass out;
  const double cpu = cpu_seconds();
  const int64_t start = now_ns();
  BlockIterator iterator(plan, one_core(), std::make_shared<PipelineState>());
  Block block;
  while (iterator.next(&block, 4096)) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
    out.rows += block.rows;
  }
  out.wall_s = static_cast<double>(now_ns() - start) * 1e-9;
  out.cpu_s = cpu_seconds() - cpu;
  return out;
}

Pass best_pass(const PlanPtr& plan, int rounds) {
  Pass best = drain(plan);
  for (int i = 1; i < rounds; ++i) {
    const Pass pass = drain(plan);
    best.cpu_s = std::min(best.cpu_s, pass.cpu_s);
    best.wall_s = std::min(best.wall_s, pass.wall_s);
  }
  return best;
}

// The file read in chunks of 512 KiB into one buffer.
Seconds bare_read(const std::string& path, int rounds,
                  const std::function<void(std::span<const std::byte>)>& look = {}) {
  std::vector<std::byte> buffer(512 << 10);
  return best_seconds(rounds, [&] {
    const File file(path);
    for (int64_t at = 0; at < file.size();) {
      const int64_t got = file.pread(buffer, at);
      if (look) look(std::span(buffer).first(static_cast<size_t>(got)));
      at += got;
    }
  });
}

double gb(int64_t bytes, double seconds) { return static_cast<double>(bytes) * 1e-9 / seconds; }

Json compare(const std::string& path, const Pass& pass, const Seconds& bare) {
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path));
  return {{"gb_per_cpu_s", gb(bytes, pass.cpu_s)},
          {"gb_per_s", gb(bytes, pass.wall_s)},
          {"bare_gb_per_cpu_s", gb(bytes, bare.cpu)},
          {"ns_per_row", pass.cpu_s * 1e9 / static_cast<double>(pass.rows)}};
}

Json tfrecords(const Bench& bench, int64_t record_bytes) {
  const std::string path = bench.folder + "/" + std::to_string(record_bytes) + ".tfrecord";
  RecordWriter writer(path);
  const std::string record(static_cast<size_t>(record_bytes), 'x');
  for (int64_t i = 0; i < bench.bytes / record_bytes; ++i) writer.write(record);
  writer.close();
  uint32_t sum = 0;
  const Seconds bare =
      bare_read(path, bench.rounds, [&](std::span<const std::byte> b) { sum ^= crc32c(b); });
  return compare(path, best_pass(plan_of("tfrecord(\"" + path + "\")"), bench.rounds), bare);
}

Json lines(const Bench& bench) {
  const std::string path = bench.folder + "/lines.txt";
  std::string text;
  for (int64_t i = 0; i < bench.bytes / 100; ++i) text += std::string(99, 'x') + "\n";
  write_file_atomically(path, text);
  int64_t found = 0;
  const Seconds bare = bare_read(path, bench.rounds, [&](std::span<const std::byte> b) {
    found += std::count(b.begin(), b.end(), std::byte{'\n'});
  });
  return compare(path, best_pass(plan_of("text_line(\"" + path + "\")"), bench.rounds), bare);
}

// 40 columns as in Criteo's files: a label, 13 numbers, 26 words; and 40 numbers.
Json csv(const Bench& bench, bool words) {
  const std::string path = bench.folder + (words ? "/words.csv" : "/numbers.csv");
  std::string text;
  for (int64_t row = 0; static_cast<int64_t>(text.size()) < bench.bytes / 4; ++row) {
    for (int c = 0; c < 40; ++c) {
      char field[32];
      const auto value = static_cast<unsigned>(row * 40 + c) * 2654435761u;
      if (words && c >= 14) {
        std::snprintf(field, sizeof field, "%08x", value);
      } else if (c == 0) {
        std::snprintf(field, sizeof field, "%u", value & 1);
      } else {
        std::snprintf(field, sizeof field, "%u.%04u", value % 1000, value / 1000 % 10000);
      }
      text += field;
      text += c == 39 ? '\n' : ',';
    }
  }
  write_file_atomically(path, text);
  const std::string columns =
      words ? "int32, **repeated(0.0, 13), **repeated(\"\", 26)" : "int32, **repeated(0.0, 39)";
  int64_t commas = 0;
  const Seconds bare = bare_read(path, bench.rounds, [&](std::span<const std::byte> b) {
    commas += std::count(b.begin(), b.end(), std::byte{','});
  });
  return compare(
      path, best_pass(plan_of("csv(\"" + path + "\", columns=[" + columns + "])"), bench.rounds),
      bare);
}

// Rows of 64 KiB written and read, against a plain file of the same bytes, both synced.
Json snapshots(const Bench& bench) {
  const std::string path = bench.folder + "/rows.snapshot", plain = bench.folder + "/rows.bin";
  const int64_t rows = std::max<int64_t>(bench.bytes / 65536, 1);
  const PlanPtr save =
      plan_of("range(" + std::to_string(rows * 8192) + ") | batch(8192) | save(\"" + path + "\")");
  const Seconds write = best_seconds(
      bench.rounds, [&] { run_sink(save, one_core(), std::make_shared<PipelineState>()); });
  std::vector<int64_t> numbers(8192);
  const Seconds plain_write = best_seconds(bench.rounds, [&] {
    AtomicFile file(plain);
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = row * 8192 + static_cast<int64_t>(i);
      file.append({reinterpret_cast<const char*>(numbers.data()), 65536});
    }
    file.commit();
  });
  const Pass read = best_pass(plan_of("load(\"" + path + "\")"), bench.rounds);
  const Seconds plain_read = bare_read(plain, bench.rounds);
  uint64_t sum = 0;
  const Seconds verified_read = bare_read(plain, bench.rounds, [&](std::span<const std::byte> b) {
    sum ^= XXH3_64bits(b.data(), b.size());
  });
  const int64_t bytes = rows * 65536;
  return {{"write_over_plain_cpu", plain_write.cpu / write.cpu},
          {"write_over_plain_wall", plain_write.wall / write.wall},
          {"read_over_plain_cpu", plain_read.cpu / read.cpu_s},
          {"read_over_plain_wall", plain_read.wall / read.wall_s},
          {"read_over_verified_cpu", verified_read.cpu / read.cpu_s},
          {"check", sum == 0 ? 0 : 1},
          {"read_gb_per_cpu_s", gb(bytes, read.cpu_s)},
          {"write_gb_per_cpu_s", gb(bytes, write.cpu)}};
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  register_datasets();
  char folder[] = "/tmp/penstock-bench-XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  const Bench bench{folder, tiny ? 1 << 20 : 256 << 20, tiny ? 1 : 5};
  Json out;
  out["tfrecord_100kb"] = tfrecords(bench, 100'000);
  out["tfrecord_256b"] = tfrecords(bench, 256);
  out["text_line_100b"] = lines(bench);
  out["csv_40_numbers"] = csv(bench, false);
  out["csv_14_numbers_26_words"] = csv(bench, true);
  out["snapshot_64kb_rows"] = snapshots(bench);
  std::printf("%s\n", out.dump(2).c_str());
  std::filesystem::remove_all(folder);
  return 0;
}
