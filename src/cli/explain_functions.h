// explain --functions: the cost of each op of each function of a pipeline.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "job/function_times.h"

namespace penstock::cli {

std::string functions_text(const std::vector<FunctionReport>& reports);
nlohmann::json functions_json(const std::vector<FunctionReport>& reports);

}  // namespace penstock::cli
