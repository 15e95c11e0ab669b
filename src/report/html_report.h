// penstock explain --html: one self-contained page that needs no network.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/explanation.h"

namespace penstock {

struct HtmlReport {
  struct Row {
    std::string label, before, after;
  };
  std::string title;
  Analysis before;
  ExplainOptions explain;         // the plan and the predicted rate
  std::optional<Analysis> after;  // measured after optimisation
  std::optional<std::string> program_before, program_after;
  std::vector<Row> comparison;  // the closing table
};

// Returns UTF-8; escapes every string of the report.
std::string html_report(const HtmlReport& report);

}  // namespace penstock
