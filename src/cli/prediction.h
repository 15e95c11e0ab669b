// Output of predict: text, JSON, and the page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/advice.h"
#include "cluster/deadline.h"
#include "cluster/optimus.h"
#include "cluster/predict.h"

namespace penstock::cli {

struct Prediction {
  std::vector<cluster::Point> points;
  std::vector<cluster::MeasuredRun> measured;
  std::vector<std::string> notes;
  cluster::Question question;
  int64_t examples = 0;  // per step, 0: unknown
  std::optional<cluster::Prices> prices;
  double budget = 0;                          // per hour
  std::optional<cluster::Deadline> deadline;  // only with examples
};

// Prints the lines above the table and its header; then each point in its turn, and the lines
// below. `late_note` is a note that only the points could determine.
void print_head(const Prediction& p);
void print_point(const cluster::Point& point, const Prediction& p);
void print_advice(const Prediction& p, const std::optional<std::string>& late_note);
nlohmann::ordered_json prediction_json(const Prediction& p);
std::string prediction_page(const Prediction& p, const std::string& title);

}  // namespace penstock::cli
