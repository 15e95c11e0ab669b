// Measures the time from cancel() until the iterator and all its threads are gone: pipelines of
// many kinds, each cancelled at random times. Prints one JSON object, in milliseconds. --tiny
// cancels each of them once.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/image_data.h"
#include "datasets/datasets.h"
#include "plan/build.h"
#include "runtime/counters.h"
#include "runtime/run.h"

namespace penstock {
namespace {

struct Case {
  const char* name;
  std::string text;          // runs for long, or forever
  int64_t memory_bytes = 0;  // 0: as much as there is
};

std::vector<Case> cases_in(const std::string& folder) {
  const std::string photographs = "tfrecord(\"" + folder + "/photographs\") | repeat()";
  const std::string lines = "text_line(\"" + folder + "/lines\")";
  const std::string endless = "range(1000000000000000)";
  return {
      {"map_filter_batch", endless + " | map(x -> x * 3) | filter(x -> x % 7 == 0) | batch(128)"},
      {"filter_drops_all", endless + " | filter(x -> x < 0)"},
      {"skip", endless + " | skip(900000000000000)"},
      {"shuffle_fills", endless + " | map(x -> [x, x]) | shuffle(1000000000)"},
      {"flat_map_of_nothing", endless + " | flat_map(x -> range(0))"},
      {"interleave_of_nothing", endless + " | interleave(x -> range(0), cycle_length=16)"},
      {"unbatch_of_nothing", endless + " | map(x -> zeros([0])) | unbatch()"},
      {"window", endless + " | window(100000000) | flat_map(w -> w)"},
      {"group_by_window",
       endless + " | group_by_window(x -> x % 3, (k, w) -> w | batch(100000000), 100000000)"},
      {"scan", endless + " | scan(0, (s, x) -> (s + x, s)) | filter(x -> x < 0)"},
      {"unique", endless + " | map(x -> x % 10) | unique()"},
      {"loop_in_a_row",
       endless +
           " | map(x -> while_loop((0, x), (i, s) -> i < 1000000000, (i, s) -> (i + 1, s + i), "
           "1000000000))"},
      {"sort_of_a_million", endless + " | map(x -> sort(random_uniform([1000000])))"},
      {"lines_of_a_file", lines + " | repeat() | map(l -> split(l, \" \")) | ragged_batch(64)"},
      {"csv", "csv(\"" + folder + "/lines\", [int64], field_delim=\" \") | repeat()"},
      {"files_in_turn", "from_list([\"" + folder +
                            "/lines\"]) | repeat() | "
                            "interleave(f -> text_line(f), cycle_length=8, num_parallel_calls=8)"},
      {"cache_in_memory", lines + " | cache() | filter(l -> size(l) > 1000) | repeat()"},
      {"cache_on_disk", lines + " | repeat() | cache(\"" + folder + "/entries\")"},
      {"photographs", photographs + " | map(r -> resize(decode_jpeg(r, channels=3), [224, 224]), "
                                    "num_parallel_calls=2) | batch(32) | prefetch(2)"},
      {"photographs_one_thread",
       photographs + " | map(r -> resize(decode_jpeg(r, channels=3), [224, 224])) | shuffle(100)"},
      // Threads wait for room most of the time.
      {"memory_work_ahead",
       endless + " | map(x -> fill([x % 2 + 1000000], float32(x)), num_parallel_calls=2) | "
                 "map(a -> a * 2.0, num_parallel_calls=2) | prefetch(16)",
       24 << 20},
      {"memory_batches",
       endless + " | map(x -> fill([x % 2 + 1000000], float32(x)), num_parallel_calls=2) | "
                 "padded_batch(4) | prefetch(4)",
       64 << 20},
      {"memory_shuffle_too_large",
       endless + " | map(x -> fill([x % 2 + 100000], x), num_parallel_calls=2) | shuffle(1000)",
       64 << 20},
      {"memory_photographs",
       photographs + " | map(r -> decode_jpeg(r, channels=3), num_parallel_calls=2) | "
                     "map(p -> resize(p, [224, 224]), num_parallel_calls=2) | prefetch(16)",
       24 << 20},
  };
}

void write_data(const std::string& folder, bool tiny) {
  const ImageSize size = tiny ? ImageSize{60, 80, 3} : ImageSize{1200, 1600, 3};
  std::vector<uint8_t> pixels(static_cast<size_t>(size.elements()));
  std::mt19937 random(1);
  for (size_t k = 0; k < pixels.size(); ++k)
    pixels[k] = static_cast<uint8_t>((k / 9 % 180) + random() % 60);
  RecordWriter writer(folder + "/photographs");
  for (int i = 0; i < 20; ++i) writer.write(encode_jpeg(pixels.data(), size, 90, true));
  writer.close();
  std::ofstream lines(folder + "/lines");
  for (int i = 0; i < (tiny ? 1000 : 1000000); ++i) lines << i << '\n';
}

double ms_since(int64_t from) { return static_cast<double>(now_ns() - from) * 1e-6; }

// Time until next() returns, and until the iterator is gone.
struct Times {
  double given_up = 0, gone = 0;
};

Times cancel_after(const PlanPtr& plan, int64_t memory_bytes, std::chrono::microseconds when) {
  RunOptions options;
  options.threads = 2;
  options.memory_bytes = memory_bytes;
  auto iterator = std::make_unique<BlockIterator>(plan, options, std::make_shared<PipelineState>());
  std::future<void> consumer = std::async(std::launch::async, [&] {
    Block block;
    try {
      while (iterator->next(&block, 4096)) {
      }
    } catch (const Error& e) {
      if (e.code() != Code::cancelled) throw;
    }
  });
  std::this_thread::sleep_for(when);
  Times out;
  const int64_t start = now_ns();
  iterator->cancel();
  consumer.get();
  out.given_up = ms_since(start);
  iterator.reset();
  out.gone = ms_since(start);
  return out;
}

double at(std::vector<double>* times, double share) {
  std::ranges::sort(*times);
  return (*times)[static_cast<size_t>(share * static_cast<double>(times->size() - 1))];
}

int run(bool tiny) {
  char folder[] = "/tmp/penstock-bench-XXXXXX";
  if (!::mkdtemp(folder)) return 1;
  write_data(folder, tiny);
  std::mt19937 random(7);
  std::uniform_int_distribution<int> when_us(0, tiny ? 2000 : 60000);
  std::vector<double> all;
  std::printf("{\"bench\": \"cancel\", \"unit\": \"ms until the iterator is gone\"");
  for (const Case& c : cases_in(folder)) {
    const PlanPtr plan =
        build_plan(std::make_shared<const Source>(Source{"bench", c.text}), {}).plan;
    std::vector<double> gone;
    double given_up = 0;
    for (int i = 0; i < (tiny ? 1 : 50); ++i) {
      const Times times =
          cancel_after(plan, c.memory_bytes, std::chrono::microseconds(when_us(random)));
      given_up = std::max(given_up, times.given_up);
      gone.push_back(times.gone);
    }
    all.insert(all.end(), gone.begin(), gone.end());
    std::printf(",\n \"%s\": {\"median\": %.2f, \"most\": %.2f, \"most_of_next\": %.2f}", c.name,
                at(&gone, 0.5), at(&gone, 1), given_up);
    std::fflush(stdout);
  }
  std::printf(",\n \"all\": {\"median\": %.2f, \"p99\": %.2f, \"most\": %.2f}}\n", at(&all, 0.5),
              at(&all, 0.99), at(&all, 1));
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::register_datasets();
  return penstock::run(argc > 1 && std::strcmp(argv[1], "--tiny") == 0);
}
