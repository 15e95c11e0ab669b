#include "cluster/gaps.h"

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "base/error.h"

namespace penstock::cluster {
namespace {

struct Count {
  int64_t all = 0, unknown = 0, filled = 0;
};

bool has_size(const Op& op) { return is_transfer(op.resource) || is_collective(op.resource); }

std::string of(int64_t part, int64_t all, const char* what) {
  return std::to_string(part) + " of " + std::to_string(all) + " " + what;
}

// Mean sizes of transfers over the steps that know them. The key of a transfer is its link, its
// name, and the number of transfers of that name before it in its step.
class Sizes {
 public:
  explicit Sizes(const Profile& profile) {
    for (const Step& step : profile.steps) {
      Names before;
      for (const Op& op : step.ops) {
        if (!has_size(op)) continue;
        const Key k = key(op, &before);
        if (!op.known) continue;
        auto& [sum, n] = means_[k];
        sum += static_cast<double>(op.bytes);
        n += 1;
      }
    }
  }

  // Fills unknown sizes of the step; returns how many.
  int64_t fill(Step* step) const {
    int64_t out = 0;
    Names before;
    for (Op& op : step->ops) {
      if (!has_size(op)) continue;
      const auto it = means_.find(key(op, &before));
      if (op.known || it == means_.end()) continue;
      op.bytes = std::llround(it->second.first / it->second.second);
      op.known = true;
      ++out;
    }
    return out;
  }

 private:
  using Name = std::tuple<Resource, int32_t, std::string>;
  using Names = std::map<Name, int32_t>;
  using Key = std::pair<Name, int32_t>;

  static Key key(const Op& op, Names* before) {
    Name name{op.resource, op.server, op.name};
    const int32_t k = (*before)[name]++;
    return {std::move(name), k};
  }

  std::map<Key, std::pair<double, double>> means_;  // sum, count
};

void note_sizes(const Count& count, Profile* profile) {
  if (count.unknown == 0) return;
  if (count.unknown == count.all) {
    throw Error(Code::invalid_argument, "profile: " + profile->source + ": none of its " +
                                            std::to_string(count.all) +
                                            " transfers has a size: record them (TensorFlow: "
                                            "trace_level=FULL_TRACE; PyTorch: record_shapes=True)");
  }
  std::string text = of(count.unknown, count.all, "transfers have no size: taken ");
  const int64_t empty = count.unknown - count.filled;
  if (count.filled > 0) text += "from the same transfer in other steps";
  if (count.filled > 0 && empty > 0) text += ", " + std::to_string(empty) + " of them ";
  if (empty > 0) text += "as 0 bytes";
  profile->notes.push_back(text);
}

void note_times(const Count& count, const char* whose, Profile* profile) {
  if (count.unknown == 0) return;
  profile->notes.push_back(of(count.unknown, count.all, "ops of the ") + whose +
                           " have no recorded time: taken as 0 s");
}

}  // namespace

void fill_gaps(Profile* profile) {
  Count transfers, worker, server;
  for (const Step& step : profile->steps) {
    for (const Op& op : step.ops) {
      if (op.resource == Resource::none) continue;
      Count& count = has_size(op) ? transfers : op.resource == Resource::server ? server : worker;
      ++count.all;
      count.unknown += !op.known;
    }
  }
  if (transfers.unknown > 0) {
    const Sizes sizes(*profile);
    for (Step& step : profile->steps) transfers.filled += sizes.fill(&step);
  }
  note_sizes(transfers, profile);
  note_times(worker, "worker", profile);
  note_times(server, "servers", profile);
}

}  // namespace penstock::cluster
