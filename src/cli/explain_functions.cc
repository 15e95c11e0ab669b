#include "cli/explain_functions.h"

#include <algorithm>

#include "report/table.h"

namespace penstock::cli {
namespace {

std::string human_ns(double nanoseconds) { return human_seconds(nanoseconds * 1e-9); }

}  // namespace

std::string functions_text(const std::vector<FunctionReport>& reports) {
  std::string out;
  for (const FunctionReport& report : reports) {
    out += report.stage + ": " + human_ns(report.nanoseconds_per_row) + " a row, of " +
           std::to_string(report.rows) + " rows\n";
    TextTable table({{"op", TextTable::Align::left, 24},
                     {"value", TextTable::Align::left, 14},
                     {"gives", TextTable::Align::left, 20},
                     {"a row"},
                     {"share"}});
    for (const OpCost& cost : report.ops) {
      table.add_row(
          {cost.op, cost.name, cost.gives.text(), human_ns(cost.nanoseconds_per_row),
           human_percent(cost.nanoseconds_per_row / std::max(report.nanoseconds_per_row, 1e-9))});
    }
    out += table.text(2) + "\n";
  }
  return out.empty() ? "no stage has a function of its elements\n" : out;
}

nlohmann::json functions_json(const std::vector<FunctionReport>& reports) {
  nlohmann::json out = nlohmann::json::array();
  for (const FunctionReport& report : reports) {
    nlohmann::json ops = nlohmann::json::array();
    for (const OpCost& cost : report.ops) {
      ops.push_back({{"op", cost.op},
                     {"name", cost.name},
                     {"gives", cost.gives.text()},
                     {"ns_per_row", cost.nanoseconds_per_row}});
    }
    out.push_back({{"stage", report.stage},
                   {"function", report.function},
                   {"rows", report.rows},
                   {"ns_per_row", report.nanoseconds_per_row},
                   {"ops", ops}});
  }
  return out;
}

}  // namespace penstock::cli
