// Measures the time from a pipeline's text to the plan that is run. Prints one JSON object, in
// milliseconds: the best of several times, for pipelines of 50 nodes and for chains. --tiny
// measures each once.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "datasets/datasets.h"
#include "optimizer/prepare.h"
#include "penstock/penstock.h"
#include "plan/build.h"
#include "runtime/counters.h"

namespace penstock {
namespace {

std::string repeated(const std::string& source, const std::string& stages, int times) {
  std::string out = source;
  for (int i = 0; i < times; ++i) out += " | " + stages;
  return out;
}

double ms_since(int64_t from) { return static_cast<double>(now_ns() - from) * 1e-6; }

struct Times {
  double build = 1e9, prepare = 1e9;
  size_t nodes = 0;
};

Times times_of(const std::string& text, int rounds) {
  Times out;
  for (int i = 0; i < rounds; ++i) {
    const int64_t start = now_ns();
    const PlanPtr plan = build_plan(std::make_shared<const Source>(Source{"bench", text}), {}).plan;
    out.build = std::min(out.build, ms_since(start));
    out.nodes = topological(*plan).size();
    PrepareOptions options;
    options.automatic = true;
    options.threads = 2;
    const int64_t built = now_ns();
    const PlanPtr prepared = prepare_plan(plan, options, nullptr);
    out.prepare = std::min(out.prepare, ms_since(built));
  }
  return out;
}

double api_chain_ms(int stages) {
  const int64_t start = now_ns();
  Dataset d = Dataset::range(10);
  for (int i = 0; i < stages; ++i) d = d.take(5);
  return ms_since(start);
}

int run(bool tiny) {
  const int rounds = tiny ? 1 : 200;
  const std::pair<const char*, std::string> cases[] = {
      {"maps_and_filters_of_50",
       repeated("range(1000)", "map(x -> x * 3 + 1) | filter(x -> x % 7 != 0)", 24) +
           " | batch(8)"},
      {"stages_of_50",
       repeated("range(1000)",
                "map(x -> (x, x + 1)) | shuffle(100) | filter((x, y) -> x > 2) | batch(4) | "
                "prefetch(2) | unbatch() | map((x, y) -> x)",
                7)},
      {"images_of_50",
       repeated("files(\"a*\") | map(f -> read_file(f))",
                "map(b -> resize(decode_jpeg(b, channels=3), [224, 224])) | "
                "map(p -> cast(p, float32) / 255.0) | batch(8) | prefetch(2) | unbatch() | "
                "map(p -> encode_jpeg(cast(p * 255.0, uint8)))",
                8)},
  };
  std::printf("{\"bench\": \"planning\", \"unit\": \"ms\"");
  for (const auto& [name, text] : cases) {
    const Times t = times_of(text, rounds);
    std::fflush(stdout);
    std::printf(",\n \"%s\": {\"nodes\": %zu, \"build\": %.3f, \"prepare\": %.3f, \"all\": %.3f}",
                name, t.nodes, t.build, t.prepare, t.build + t.prepare);
  }
  const int chain = tiny ? 100 : 20000;
  std::printf(",\n \"take_calls\": {\"count\": %d, \"tenth\": %.2f, \"all\": %.2f}}\n", chain,
              api_chain_ms(chain / 10), api_chain_ms(chain));
  return 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) {
  penstock::register_datasets();
  return penstock::run(argc > 1 && std::strcmp(argv[1], "--tiny") == 0);
}
