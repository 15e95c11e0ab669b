#include "cluster/feed.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penstock::cluster {
namespace {

constexpr double kSteady = 1e-3;   // spreads below it are taken as none
constexpr double kWait_s = 1e-12;  // shorter waits are rounding

double normal(RandomStream* random) {
  const double u = 1 - random->next_double(), v = random->next_double();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

// Draws from a gamma distribution of mean 1 (Marsaglia and Tsang, 2000).
double gamma(double shape, RandomStream* random) {
  if (shape < 1) {
    const double power = std::pow(1 - random->next_double(), 1 / shape);
    return gamma(shape + 1, random) * (shape + 1) / shape * power;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(random), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = 1 - random->next_double();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v / shape;
  }
}

}  // namespace

FeedQueue::FeedQueue(const Feed& feed, uint64_t seed, int32_t worker)
    : feed_(feed),
      random_(seed, 0, mix(0x66656564, static_cast<uint64_t>(worker))),
      taken_s_(static_cast<size_t>(feed.buffer), 0.0) {}

double FeedQueue::draw() {
  if (feed_.spread < kSteady) return 1 / feed_.rate;
  return gamma(1 / (feed_.spread * feed_.spread), &random_) / feed_.rate;
}

double FeedQueue::take(double now_s) {
  const size_t slot = feed_.buffer == 0 ? 0 : static_cast<size_t>(taken_ % feed_.buffer);
  const double room_s = feed_.buffer == 0 ? now_s : taken_s_[slot];
  end_s_ = std::max(end_s_, room_s) + draw();
  const double there_s = std::max(now_s, end_s_);
  if (feed_.buffer > 0) taken_s_[slot] = there_s;
  ++taken_;
  waited_ += there_s > now_s + kWait_s;
  return there_s;
}

}  // namespace penstock::cluster
