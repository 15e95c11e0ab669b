// A recording has no windows, only starts and ends of transfers. The visible sign: transfers on a
// link end in the order small before large even if the large one began first, and the first small
// one ends later than its own bytes explain. The excess (`others`) is what the large transfer sent
// before the small ones had their turn: its window.
//
// One observation may be any stall, so a window must be seen in one step of five, and half of the
// observations must agree within 5 %. The median is robust against the others.
//
// A replay needs the window as pieces. Splitter walks through the ends in order and takes the
// excess before each end from the transfer that was overtaken. If several were in flight, the
// choice matters: a transfer that otherwise could not finish by its own recorded end must have sent
// first. A piece has no recorded end; its priority is just before the end of the transfer that
// overtook it, so that the replay sends it at the same position.
#include "cluster/recorded_window.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace penstock::cluster {
namespace {

constexpr double kLeastWindow_bytes = 1 << 20;
constexpr size_t kOneInSteps = 5;  // one step in this many must show the window
constexpr double kAgree = 0.05;    // two observations of the same window differ by less

using Ends = std::vector<size_t>;  // transfers over one link, in order of their recorded ends

std::map<std::pair<Resource, int32_t>, Ends> transfers_by_link(const Step& step) {
  std::map<std::pair<Resource, int32_t>, Ends> out;
  for (size_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (is_transfer(op.resource) && op.start_s >= 0) out[{op.resource, op.server}].push_back(i);
  }
  for (auto& [link, ends] : out)
    std::ranges::sort(ends, {}, [&](size_t i) { return step.ops[i].end_s; });
  return out;
}

// Returns the bytes that the link could carry from the previous end (or the start) to the end of
// transfer k.
double could_carry(const Step& step, const Ends& ends, size_t k, double rate) {
  const Op& op = step.ops[ends[k]];
  const double before_s = k > 0 ? step.ops[ends[k - 1]].end_s : 0;
  return (op.end_s - std::max(before_s, op.start_s)) * rate;
}

bool agree(double bytes, double window) { return std::fabs(bytes - window) < kAgree * window; }

// Returns the window on which enough observations agree; 0 if none. Stalls for other reasons are
// rare or differ in length.
double agreed(size_t steps, std::vector<double>* seen) {
  if (seen->empty() || seen->size() * kOneInSteps < steps) return 0;
  std::ranges::sort(*seen);
  const double median = (*seen)[seen->size() / 2];
  const auto near = std::ranges::count_if(*seen, [&](double b) { return agree(b, median); });
  return near * 2 >= static_cast<std::ptrdiff_t>(seen->size()) ? median : 0;
}

// Splits the transfers over one link into pieces, in order of their ends.
class Splitter {
 public:
  Splitter(const Step& recorded, double window, double rate, Step* step)
      : recorded_(recorded), window_(window), rate_(rate), step_(step) {}

  void split(const Ends& ends) {
    pieces_.clear();
    for (size_t k = 0; k < ends.size(); ++k) {
      double others = could_carry(recorded_, ends, k, rate_) - left(ends[k]);
      for (size_t next = overtaken(ends, k); next != ends[k]; next = overtaken(ends, k)) {
        const double piece = window_ + (pieces_[next].empty() ? 0 : kWindowGrowth_bytes);
        if (others < (1 - kAgree) * piece || left(next) <= piece) break;
        others -= piece;
        pieces_[next].push_back(add_piece(next, ends[k], piece));
      }
    }
    for (const auto& [op, pieces] : pieces_) {
      const auto whole = static_cast<int32_t>(op);
      for (Op& user : step_->ops) {
        if (std::ranges::find(user.deps, whole) != user.deps.end())
          user.deps.insert(user.deps.end(), pieces.begin(), pieces.end());
      }
      auto& waits = step_->ops[op].deps;  // the last piece comes last
      waits.insert(waits.end(), pieces.begin(), pieces.end());
    }
  }

 private:
  double left(size_t op) const { return static_cast<double>(step_->ops[op].bytes); }

  // Among transfers in flight at the end of transfer k that end later, returns the first that
  // cannot have sent everything before its own end, else the one with most bytes left; transfer k
  // itself if there is none.
  size_t overtaken(const Ends& ends, size_t k) const {
    size_t out = ends[k];
    double most = 0;
    for (size_t later = k + 1; later < ends.size(); ++later) {
      if (recorded_.ops[ends[later]].start_s >= recorded_.ops[ends[k]].end_s) continue;
      const double bytes = left(ends[later]);
      if (bytes <= window_) continue;
      if ((1 - kAgree) * bytes > could_carry(recorded_, ends, later, rate_)) return ends[later];
      if (bytes <= most) continue;
      out = ends[later];
      most = bytes;
    }
    return out;
  }

  int32_t add_piece(size_t op, size_t before, double bytes) {
    Op piece = step_->ops[op];
    piece.bytes = static_cast<int64_t>(bytes);
    piece.end_s = -1;
    piece.priority = std::nextafter(recorded_.ops[before].end_s, 0.0);
    step_->ops[op].bytes -= piece.bytes;
    step_->ops.push_back(std::move(piece));
    return static_cast<int32_t>(step_->ops.size()) - 1;
  }

  const Step& recorded_;
  double window_, rate_;
  Step* step_;
  std::map<size_t, std::vector<int32_t>> pieces_;  // by transfer
};

}  // namespace

Windows find_windows(const Profile& profile, double rate) {
  std::vector<double> down, up;
  for (const Step& step : profile.steps) {
    for (const auto& [link, ends] : transfers_by_link(step)) {
      for (size_t k = 0; k + 1 < ends.size(); ++k) {
        const double others =
            could_carry(step, ends, k, rate) - static_cast<double>(step.ops[ends[k]].bytes);
        const bool overtook = std::any_of(
            ends.begin() + static_cast<std::ptrdiff_t>(k) + 1, ends.end(), [&](size_t later) {
              return step.ops[later]
                  .start_s<step.ops[ends[k]].end_s&& static_cast<double>(step.ops[later].bytes)>
                      others;
            });
        if (others >= kLeastWindow_bytes && overtook)
          (link.first == Resource::downlink ? down : up).push_back(others);
      }
    }
  }
  return {agreed(profile.steps.size(), &down), agreed(profile.steps.size(), &up)};
}

Profile split_at_windows(const Profile& profile, const Windows& windows, double rate) {
  Profile out = profile;
  for (size_t s = 0; s < out.steps.size(); ++s) {
    for (const auto& [link, ends] : transfers_by_link(profile.steps[s])) {
      const double window =
          link.first == Resource::downlink ? windows.down_bytes : windows.up_bytes;
      if (window > 0) Splitter(profile.steps[s], window, rate, &out.steps[s]).split(ends);
    }
  }
  return out;
}

}  // namespace penstock::cluster
