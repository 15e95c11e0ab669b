// Costs of the door to storage: a read of a local file through io/file.h beside a bare pread, and
// how near a throttled run comes to the speed that was asked for. Prints one JSON object. --tiny
// reads little.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "bench/timing.h"
#include "datasets/datasets.h"
#include "io/file.h"
#include "plan/build.h"
#include "runtime/run.h"

namespace penstock {
namespace {

using Json = nlohmann::ordered_json;

// Reads of 4 KiB, warm in the page cache.
Json local_reads(const std::string& path, int64_t reads) {
  constexpr int64_t kBytes = 4096;
  std::vector<std::byte> buffer(static_cast<size_t>(kBytes));
  const File file(path);
  const int bare = ::open(path.c_str(), O_RDONLY);
  const int64_t pages = file.size() / kBytes;
  const double ours = shortest(5, [&] {
    for (int64_t i = 0; i < reads; ++i) file.pread(buffer, i % pages * kBytes);
  });
  const double theirs = shortest(5, [&] {
    for (int64_t i = 0; i < reads; ++i)
      if (::pread(bare, buffer.data(), buffer.size(), i % pages * kBytes) < 0) return;
  });
  ::close(bare);
  const double ns = 1e9 / static_cast<double>(reads);
  return {{"ns_per_4k_read", ours * ns}, {"ns_per_4k_pread", theirs * ns}};
}

double seconds_to_read(const std::string& path, const ThrottleOptions& throttle) {
  const std::string text = "text_line(\"" + path + "\")";
  const PlanPtr plan = build_plan(std::make_shared<const Source>(Source{"bench", text}), {}).plan;
  RunOptions options;
  options.throttle = throttle;
  const double start = now_seconds();
  BlockIterator iterator(plan, options, std::make_shared<PipelineState>());
  Block block;
  while (iterator.next(&block, 4096)) {
    if (!block.errors.empty()) throw Error(*block.errors[0].error);
  }
  return now_seconds() - start;
}

// One file, so one stream: without several reads in flight a delay of 5 ms for each 512 KiB gives
// at most 105 MB/s.
Json slow_reads(const std::string& path, int64_t bytes) {
  constexpr double kAsked = 200e6;
  constexpr int64_t kDelayNs = 5'000'000;
  const double mb = static_cast<double>(bytes) * 1e-6;
  return {{"asked_mb_per_s", kAsked * 1e-6},
          {"mb_per_s", mb / seconds_to_read(path, {.bytes_per_second = kAsked})},
          {"mb_per_s_read_delay_5ms", mb / seconds_to_read(path, {.read_ns = kDelayNs})}};
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  using namespace penstock;
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  register_datasets();
  const std::string path = "/tmp/penstock-bench-storage-" + std::to_string(::getpid());
  const int64_t bytes = tiny ? 8 << 20 : 256 << 20;
  write_file_atomically(path, [bytes] {
    std::string lines(static_cast<size_t>(bytes), 'x');
    for (size_t i = 99; i < lines.size(); i += 100) lines[i] = '\n';
    return lines;
  }());
  const Json out{{"local", local_reads(path, tiny ? 1000 : 200'000)},
                 {"throttled", slow_reads(path, bytes)}};
  std::puts(out.dump(2).c_str());
  ::unlink(path.c_str());
  return 0;
}
