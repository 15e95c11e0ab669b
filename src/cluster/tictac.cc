// Both orders need, for each computing op, the set of downlink transfers it waits for. Sets are bit
// vectors, merged in topological order; ops with equal sets are merged into one group, which keeps
// the number of groups small even if the step has thousands of ops.
//
// TIC is independent of timing: every transfer counts 1, and transfers are sorted by M+, with ties.
// TAC repeats the analysis after each chosen transfer, which is quadratic; hence the limit of 2000
// transfers.
#include "cluster/tictac.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <string>

#include "base/error.h"

namespace penstock::cluster {
namespace {

constexpr size_t kMostTransfers = 2000;
constexpr double kNever = std::numeric_limits<double>::infinity();

using Bits = std::vector<uint64_t>;

// The worker's part of a step: for each computing op, the downlink transfers it waits for.
class Graph {
 public:
  Graph(const Step& step, const std::vector<double>& seconds) {
    for (size_t i = 0; i < step.ops.size(); ++i) {
      if (step.ops[i].resource == Resource::downlink) transfers_.push_back(static_cast<int32_t>(i));
    }
    if (transfers_.size() > kMostTransfers) {
      throw Error(Code::resource_exhausted,
                  "predict: order tic or tac of more than 2000 transfers a step: " +
                      std::to_string(transfers_.size()));
    }
    std::vector<int32_t> number(step.ops.size(), -1);
    for (size_t r = 0; r < transfers_.size(); ++r) {
      number[static_cast<size_t>(transfers_[r])] = static_cast<int32_t>(r);
      seconds_.push_back(seconds[static_cast<size_t>(transfers_[r])]);
    }
    const size_t words = (transfers_.size() + 63) / 64;
    std::vector<Bits> waits(step.ops.size(), Bits(words, 0));
    for (const int32_t i : topological_order(step)) {
      const auto at = static_cast<size_t>(i);
      if (number[at] >= 0) {
        const auto r = static_cast<size_t>(number[at]);
        waits[at][r / 64] |= uint64_t{1} << (r % 64);
        continue;
      }
      for (const int32_t d : step.ops[at].deps) {
        for (size_t w = 0; w < words; ++w) waits[at][w] |= waits[static_cast<size_t>(d)][w];
      }
      if (step.ops[at].resource == Resource::worker) groups_[waits[at]] += seconds[at];
    }
    waits_ = Bits(words, ~uint64_t{0});
  }

  size_t size() const { return transfers_.size(); }
  int32_t op(size_t r) const { return transfers_[r]; }
  double seconds(size_t r) const { return seconds_[r]; }
  void arrive(size_t r) { waits_[r / 64] &= ~(uint64_t{1} << (r % 64)); }

  // Computes for each outstanding transfer: the computing that waits for it alone, and the least
  // time of a set of transfers that includes it and lets another op run.
  void update(std::vector<double>* alone_s, std::vector<double>* together_s) const {
    alone_s->assign(size(), 0);
    together_s->assign(size(), kNever);
    for (const auto& [bits, compute_s] : groups_) {
      std::vector<size_t> open;
      for (size_t w = 0; w < bits.size(); ++w) {
        for (uint64_t left = bits[w] & waits_[w]; left != 0; left &= left - 1)
          open.push_back(64 * w + static_cast<size_t>(std::countr_zero(left)));
      }
      if (open.size() == 1) (*alone_s)[open[0]] += compute_s;
      if (open.size() < 2) continue;
      double sum_s = 0;
      for (const size_t r : open) sum_s += seconds_[r];
      for (const size_t r : open) (*together_s)[r] = std::min((*together_s)[r], sum_s);
    }
  }

 private:
  std::vector<int32_t> transfers_;
  std::vector<double> seconds_;
  std::map<Bits, double> groups_;  // computing time by the set of transfers it waits for
  Bits waits_;                     // outstanding transfers
};

}  // namespace

std::vector<int32_t> tic_priorities(const Step& step) {
  std::vector<double> seconds(step.ops.size(), 0);
  for (size_t i = 0; i < seconds.size(); ++i)
    seconds[i] = step.ops[i].resource == Resource::downlink ? 1 : 0;
  const Graph graph(step, seconds);
  std::vector<double> alone_s, together_s;
  graph.update(&alone_s, &together_s);
  std::vector<double> levels = together_s;
  std::ranges::sort(levels);
  std::vector<int32_t> out(step.ops.size(), -1);
  for (size_t r = 0; r < graph.size(); ++r) {
    const auto before = std::ranges::lower_bound(levels, together_s[r]) - levels.begin();
    out[static_cast<size_t>(graph.op(r))] = static_cast<int32_t>(before);
  }
  return out;
}

std::vector<int32_t> tac_priorities(const Step& step, const std::vector<double>& seconds) {
  Graph graph(step, seconds);
  std::vector<int32_t> out(step.ops.size(), -1);
  std::vector<double> alone_s, together_s;
  std::vector<bool> placed(graph.size(), false);
  // The comparison is not a strict order: take the first element that no later one beats in one
  // pass.
  const auto before = [&](size_t a, size_t b) {
    const double left = std::min(alone_s[b], graph.seconds(a));
    const double right = std::min(alone_s[a], graph.seconds(b));
    return left != right ? left < right : together_s[a] < together_s[b];
  };
  for (int32_t k = 0; k < static_cast<int32_t>(graph.size()); ++k) {
    graph.update(&alone_s, &together_s);
    size_t best = graph.size();
    for (size_t r = 0; r < graph.size(); ++r) {
      if (!placed[r] && (best == graph.size() || before(r, best))) best = r;
    }
    placed[best] = true;
    graph.arrive(best);
    out[static_cast<size_t>(graph.op(best))] = k;
  }
  return out;
}

}  // namespace penstock::cluster
