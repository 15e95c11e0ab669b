// What predict prints: text, JSON, and the page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/advice.h"
#include "cluster/predict.h"

namespace penstock::cli {

struct Prediction {
  std::vector<cluster::Point> points;
  std::vector<std::string> notes;
  cluster::Question question;
  int64_t examples = 0;  // a step, 0 unknown
  std::optional<cluster::Prices> prices;
  double budget = 0;
};

// Prints what stands above the table, its head included; then each point in its turn, and what
// stands below. `late_note` is one that only the points could tell.
void print_head(const Prediction& p);
void print_point(const cluster::Point& point, const Prediction& p);
void print_advice(const Prediction& p, const std::optional<std::string>& late_note);
nlohmann::ordered_json prediction_json(const Prediction& p);
std::string prediction_page(const Prediction& p, const std::string& title);

}  // namespace penstock::cli
