// Chains of ten elementwise ops over blocks of scalars and over rows of a thousand numbers, int64
// and float32, on one thread: ns per number, against one plain loop that does the ten ops in
// registers, compiled with -O3 for any x86-64 and for this machine's vectors.
//
// Prints one JSON object. --tiny runs a hundredth.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "datasets/datasets.h"
#include "functions/evaluate.h"
#include "plan/build.h"
#include "plan/node.h"

namespace {

using namespace penstock;

// The functions below, written by hand.
#define INTEGER_CHAIN(x) \
  (std::min<int64_t>(std::abs((((((x) * 3 + 7) ^ 0x55) - 11) & 0xfffff) - 1000), 900'000) * 5 + 2)
#define FLOAT_CHAIN(x)                                                                           \
  (std::max(std::min(std::abs(((((x) * 3.0f + 7.0f) / 1.5f) - 11.0f) * 0.25f), 1000.0f), 2.0f) * \
       0.125f +                                                                                  \
   2.0f)
const char* const kInteger =
    "minimum(abs(bitwise_and(bitwise_xor(x * 3 + 7, 0x55) - 11, 0xfffff) - 1000), 900000) * 5 + 2";
const char* const kFloat =
    "maximum(minimum(abs(((x * 3.0 + 7.0) / 1.5 - 11.0) * 0.25), 1000.0), 2.0) * 0.125 + 2.0";

#define LOOPS(suffix, attributes)                                                            \
  __attribute__((noinline, attributes)) void integers_##suffix(const int64_t* in, int64_t n, \
                                                               int64_t* out) {               \
    for (int64_t i = 0; i < n; ++i) out[i] = INTEGER_CHAIN(in[i]);                           \
  }                                                                                          \
  __attribute__((noinline, attributes)) void floats_##suffix(const float* in, int64_t n,     \
                                                             float* out) {                   \
    for (int64_t i = 0; i < n; ++i) out[i] = FLOAT_CHAIN(in[i]);                             \
  }
LOOPS(plain, optimize("O3"))
#define WIDE optimize("O3"), target("arch=x86-64-v3")
LOOPS(wide, WIDE)

FunctionPtr function_of(const std::string& text) {
  const BuiltPlan built = build_plan(std::make_shared<const Source>(Source{"bench", text}), {});
  if (!built.plan || built.plan->functions.empty()) {
    std::fprintf(stderr, "no function in: %s\n", text.c_str());
    std::exit(1);
  }
  return built.plan->functions.back().second;
}

// Measures one chain over one kind of rows: ours and both loops, in turn; checks that all agree.
template <typename T, typename Loop, typename WideLoop>
void measure(const char* name, const std::string& text, int64_t rows, int64_t width, int rounds,
             Loop loop, WideLoop wide, const char* end) {
  const CompiledFunction function(function_of(text), {});
  const int64_t n = rows * width;
  std::vector<T> in(static_cast<size_t>(n)), expected(in.size());
  for (int64_t i = 0; i < n; ++i) in[static_cast<size_t>(i)] = static_cast<T>(i % 50'021 - 20'000);
  const Dims dims = width == 1 ? Dims{} : Dims{width};
  const Tensor all = Tensor::vector<T>(in);
  Block from, out;
  from.rows = rows;
  const Column column = Column::dense(DTypeOf<T>::value, dims, rows, all.buffer(),
                                      const_cast<std::byte*>(all.data()));
  double ours = 1e9, bare = 1e9, vectors = 1e9;
  for (int i = 0; i < rounds; ++i) {
    ours = std::min(ours, shortest(20, [&] {
                      from.columns = {column};  // a run may consume them
                      function.run(from, &out);
                    }));
    vectors = std::min(vectors, shortest(20, [&] { wide(in.data(), n, expected.data()); }));
    bare = std::min(bare, shortest(20, [&] { loop(in.data(), n, expected.data()); }));
  }
  if (std::memcmp(expected.data(), out.columns[0].data(), in.size() * sizeof(T)) != 0) {
    std::fprintf(stderr, "%s: the loop and the function differ\n", name);
    std::exit(1);
  }
  const double scale = 1e9 / static_cast<double>(n);
  std::printf("\"%s\": {\"ns\": %.3f, \"loop_ns\": %.3f, \"wide_loop_ns\": %.3f, "
              "\"times_loop\": %.2f, \"times_wide_loop\": %.2f}%s",
              name, ours * scale, bare * scale, vectors * scale, ours / bare, ours / vectors, end);
}

}  // namespace

int main(int argc, char** argv) {
  register_datasets();
  const int rounds = argc > 1 && std::strcmp(argv[1], "--tiny") == 0 ? 1 : 100;
  const std::string scalar = "range(9) | map(x -> ",
                    floats = "range(9) | map(x -> float32(x)) | map(x -> ";
  const std::string rows = "range(9) | map(x -> fill([1024], x)) | map(x -> ",
                    float_rows = "range(9) | map(x -> fill([1024], float32(x))) | map(x -> ";
  std::printf("{");
  measure<int64_t>("int64", scalar + kInteger + ")", 4096, 1, rounds, integers_plain, integers_wide,
                   ", ");
  measure<float>("float32", floats + kFloat + ")", 4096, 1, rounds, floats_plain, floats_wide,
                 ", ");
  measure<int64_t>("int64_rows", rows + kInteger + ")", 64, 1024, rounds, integers_plain,
                   integers_wide, ", ");
  measure<float>("float32_rows", float_rows + kFloat + ")", 64, 1024, rounds, floats_plain,
                 floats_wide, "}\n");
}
