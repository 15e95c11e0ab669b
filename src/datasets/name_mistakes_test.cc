#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/source_dir_test.h"
#include "datasets/datasets.h"
#include "plan/build.h"
#include "plan/diagnostic.h"

using namespace penstock;

namespace {

std::vector<Diagnostic> mistakes(const std::string& text) {
  try {
    build_plan(std::make_shared<const Source>(Source{"-", text}));
  } catch (const PipeError& e) {
    return e.diagnostics();
  }
  return {};
}

}  // namespace

TEST_CASE("names of pipelines that are right are no mistakes") {
  register_datasets();
  int right = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(source_dir() + "/tests/golden/tfdata")) {
    if (file.path().extension() != ".jsonl") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      const auto record = nlohmann::json::parse(line);
      if (!record.contains("pipe") || !record["pipe"].is_string()) continue;
      const std::string pipe = record["pipe"];
      CAPTURE(pipe);
      if (!mistakes(pipe).empty()) continue;
      ++right;
      CHECK(mistakes(pipe + " | no_such_stage()").size() == 1);
    }
  }
  CHECK(right > 100);
}

TEST_CASE("long chains are no deep ones") {
  register_datasets();
  std::string sum = "range(3) | map(x -> x", stages = "range(3)";
  for (int i = 0; i < 9000; ++i) {
    sum += " + y";
    stages += " | take(2)";
  }
  CHECK(mistakes(sum + ")").size() == 10);
  CHECK(mistakes(stages + " | takes(2)").size() == 1);
}
