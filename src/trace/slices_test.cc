#include "trace/slices.h"

#include <doctest/doctest.h>

namespace penstock {
namespace {

TraceSlice numbered(int64_t n) {
  TraceSlice out;
  out.seconds = 1;
  out.process_cpu_seconds = 0.5;
  out.elements = n;
  out.stage_elements = {n, 2 * n};
  out.stage_bytes_read = {0, 3 * n};
  out.stage_cpu_seconds = {0.25, 0};
  return out;
}

TEST_CASE("slices: a full list joins neighbours and loses nothing") {
  for (const int count : {1, 63, 64, 65, 200, 1000}) {
    SliceList list;
    for (int i = 1; i <= count; ++i) list.add(numbered(i));
    const std::vector<TraceSlice> slices = list.with(numbered(7));
    CAPTURE(count);
    CHECK(slices.size() < kMostSlices);
    TraceSlice sum = numbered(0);
    sum.seconds = 0;
    for (const TraceSlice& s : slices) add_slice(s, &sum);
    const int64_t elements = int64_t{count} * (count + 1) / 2 + 7;
    CHECK(sum.seconds == count + 1);
    CHECK(sum.elements == elements);
    CHECK(sum.stage_elements == std::vector<int64_t>{elements, 2 * elements});
    CHECK(sum.stage_bytes_read == std::vector<int64_t>{0, 3 * elements});
    // Neighbours stay together: means grow, but for the rest in the last slice.
    const auto mean = [&](size_t i) {
      return static_cast<double>(slices[i].elements) / slices[i].seconds;
    };
    for (size_t i = 1; i + 1 < slices.size(); ++i) CHECK(mean(i) > mean(i - 1));
  }
  SliceList list;
  for (int i = 0; i < 64; ++i) list.add(numbered(i));
  CHECK(list.seconds() == 2 * SliceList::kFirstSeconds);
}

}  // namespace
}  // namespace penstock
