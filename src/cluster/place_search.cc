#include "cluster/place_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace penstock::cluster {
namespace {

constexpr size_t kMostMoved = 12;  // largest variables; only these move
constexpr int kMostTrials = 400;
constexpr int32_t kSteps = 40, kWarmUp = 8;
constexpr double kGain = 1.002;    // gain that a move must bring: less is noise of the draws
constexpr size_t kMostSteps = 10;  // steps of the profile used

class Search {
 public:
  Search(const Profile& profile, int32_t servers, const Question& question)
      : profile_(profile), servers_(servers), question_(question) {
    if (profile_.steps.size() > kMostSteps) profile_.steps.resize(kMostSteps);
    question_.workers = {question.workers.back()};
    question_.steps = kSteps;
    question_.warm_up = kWarmUp;
    question_.replications = 2;
    question_.feed = {};
  }

  Places best() {
    places_ = places_of(profile_, servers_, Placement::greedy);
    rate_ = rate(places_);
    keep_if_faster(places_of(profile_, servers_, Placement::round_robin), 1.0);
    const std::vector<std::string> names = largest();
    for (bool better = true; better && trials_ < kMostTrials;) {
      better = false;
      for (const std::string& name : names) {
        for (int32_t s = 0; s < servers_; ++s) better = move(name, s) || better;
        for (const std::string& other : names) better = swap(name, other) || better;
      }
    }
    return places_;
  }

 private:
  double rate(const Places& places) {
    ++trials_;
    return predict({put(profile_, servers_, places)}, question_)[0].steps_per_s;
  }

  bool keep_if_faster(const Places& places, double gain) {
    if (trials_ >= kMostTrials) return false;
    const double found = rate(places);
    if (found <= rate_ * gain) return false;
    rate_ = found;
    places_ = places;
    return true;
  }

  bool move(const std::string& name, int32_t server) {
    if (places_[name] == server) return false;
    Places trial = places_;
    trial[name] = server;
    return keep_if_faster(trial, kGain);
  }

  bool swap(const std::string& a, const std::string& b) {
    if (a >= b || places_[a] == places_[b]) return false;
    Places trial = places_;
    std::swap(trial[a], trial[b]);
    return keep_if_faster(trial, kGain);
  }

  std::vector<std::string> largest() const {
    const Step& step = profile_.steps[0];
    const std::vector<int32_t> variables = variables_of(step);
    std::map<std::string, int64_t> bytes;
    for (size_t i = 0; i < step.ops.size(); ++i) {
      if (is_transfer(step.ops[i].resource) && variables[i] >= 0)
        bytes[step.ops[static_cast<size_t>(variables[i])].name] += step.ops[i].bytes;
    }
    std::vector<std::pair<int64_t, std::string>> order;
    for (const auto& [name, b] : bytes) order.emplace_back(-b, name);
    std::ranges::sort(order);
    if (order.size() > kMostMoved) order.resize(kMostMoved);
    std::vector<std::string> out;
    for (auto& [b, name] : order) out.push_back(std::move(name));
    return out;
  }

  Profile profile_;
  int32_t servers_;
  Question question_;
  Places places_;
  double rate_ = 0;
  int trials_ = 0;
};

// Chooses by the full prediction with equal draws for all candidates: the search uses few steps, so
// differences within its noise mean nothing.
Places best_of(const Profile& profile, int32_t servers, Question question) {
  question.workers = {question.workers.back()};
  question.feed = {};
  Places out;
  double most = -1;
  for (Places places : std::array{places_of(profile, servers, Placement::greedy),
                                  places_of(profile, servers, Placement::round_robin),
                                  Search(profile, servers, question).best()}) {
    const double rate = predict({put(profile, servers, places)}, question)[0].steps_per_s;
    if (rate <= most) continue;
    most = rate;
    out = std::move(places);
  }
  return out;
}

}  // namespace

Profile place_optimised(const Profile& profile, int32_t servers, const Question& question) {
  Profile out = put(profile, servers, best_of(profile, servers, question));
  out.notes.push_back("for " + std::to_string(servers) + (servers == 1 ? " server" : " servers") +
                      " the variables are placed where " + std::to_string(question.workers.back()) +
                      (question.workers.back() == 1 ? " worker is" : " workers are") +
                      " predicted to be fastest");
  return out;
}

}  // namespace penstock::cluster
