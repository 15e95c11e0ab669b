#include "datasets/file_order.h"

#include "base/random.h"

namespace penstock {

std::vector<size_t> file_order(size_t n, bool shuffle, uint64_t seed, const OpenContext& context) {
  std::vector<size_t> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = i;
  if (!shuffle) return out;
  std::vector<size_t> order;
  for (size_t k = 0; k < n; ++k) {
    const size_t slot =
        RandomStream(seed, context.epoch, mix(context.lineage, k)).next_below(n - k);
    order.push_back(out[slot]);
    out[slot] = out.back();
    out.pop_back();
  }
  return order;
}

}  // namespace penstock
