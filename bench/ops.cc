// Measures every function op: ns per row and bytes per ns (GB/s) of its kernel on one thread.
//
// An op runs on its rows in bench/ops.txt, else on its documented example (tests/functions/),
// whose rows are repeated to a block; if an example has several calls, the first one counts. A call
// that the plan folds into a constant runs in no row. An op with folded calls only is an error
// until ops.txt has rows for it, or the reason why it has none; so the bench fails for a new op
// without a line.
//
// Prints one JSON object. --tiny measures each op once, on a few rows. Names after the flags select
// these ops only.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "bench/op_cases.h"
#include "bench/timing.h"
#include "datasets/datasets.h"
#include "functions/evaluate.h"
#include "functions/function_costs.h"
#include "plan/build.h"
#include "plan/builtin_names.h"
#include "plan/node.h"
#include "runtime/run.h"

namespace {

using namespace penstock;

// Repeats the block, without its failed rows, to about `bytes`.
Block repeated(const Block& few, int64_t bytes, int64_t most) {
  std::vector<int32_t> good, indices;
  for (int64_t r = 0; r < few.rows; ++r) {
    if (!few.error_at(r)) good.push_back(static_cast<int32_t>(r));
  }
  if (good.empty()) throw std::runtime_error("every row fails");
  const int64_t each = std::max<int64_t>(1, few.payload_bytes() / few.rows);
  const int64_t rows = std::clamp<int64_t>(bytes / each, 4, most);
  for (int64_t i = 0; i < rows; ++i) indices.push_back(good[static_cast<size_t>(i) % good.size()]);
  Block out = few.gather(indices);
  for (Column& column : out.columns) column = column.expanded();
  return out;
}

// Returns the first rows of a stage, with those on which the function fails marked.
Block first_rows(const PlanPtr& input, const FunctionPtr& f) {
  RunOptions options;
  options.threads = 1;
  BlockIterator rows(input, options, std::make_shared<PipelineState>());
  Block block, out;
  if (!rows.next(&block, 16)) throw std::runtime_error("no rows");
  Block copy = block;
  CompiledFunction(f, {}).run(copy, &out);
  block.errors = out.errors;
  return block;
}

class Bench {
 public:
  explicit Bench(bool tiny) : tiny_(tiny) {}

  // Measures the op in the first function of the pipeline that has a node of it.
  std::optional<OpCost> measure(const std::string& op, const std::string& pipeline) const {
    const BuiltPlan built =
        build_plan(std::make_shared<const Source>(Source{"bench/ops", pipeline}), {});
    for (const PlanNode* node : topological(*built.plan)) {
      for (const auto& [name, f] : node->functions) {
        const bool runs = node->inputs.size() == 1 && f->captures.empty() &&
                          std::ranges::any_of(f->nodes, [&](auto& n) { return n.is(op); });
        if (runs) return cost(op, f, first_rows(node->inputs[0], f));
      }
    }
    return std::nullopt;
  }

 private:
  OpCost cost(const std::string& op, const FunctionPtr& f, const Block& few) const {
    const Block block = tiny_ ? repeated(few, 1, 4) : repeated(few, 256 << 10, 4096);
    OpCost best;
    const double start = now_seconds();
    do {
      const std::vector<OpCost> costs = function_costs(*f, block);
      const OpCost& one = *std::ranges::find(costs, op, &OpCost::op);
      if (best.op.empty() || one.nanoseconds_per_row < best.nanoseconds_per_row) best = one;
    } while (!tiny_ && now_seconds() - start < 0.05);
    return best;
  }

  bool tiny_;
};

// The names that docs and users know an op by.
std::vector<std::string> names_of(const std::string& op) {
  std::vector<std::string> out{op};
  const std::string plain = op.starts_with("reduce_") ? op.substr(7) : op;
  if (plain != op && plain_op_name(plain) == op) out.push_back(plain);
  if (op == "split_text") out.push_back("split");
  return out;
}

std::string table_row(const std::string& name, const OpCost& cost) {
  char line[120];
  const double speed = cost.bytes_per_row / std::max(cost.nanoseconds_per_row, 1e-9);
  std::snprintf(line, sizeof line, "%-34s %12.1f %12.0f %9.3f\n", name.c_str(),
                cost.nanoseconds_per_row, cost.bytes_per_row, speed);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  register_datasets();
  const bool tiny = argc > 1 && std::strcmp(argv[1], "--tiny") == 0;
  const std::vector<std::string> wanted(argv + (tiny ? 2 : 1), argv + argc);
  const std::filesystem::path root = PENSTOCK_SOURCE_DIR;
  bench::OpCases cases(root);
  std::filesystem::current_path(root / "tests/functions");  // examples name files from there
  const Bench bench(tiny);
  nlohmann::json lines = nlohmann::json::array(), without = nlohmann::json::object();
  std::string text = "op                                   ns per row bytes of row      GB/s\n";
  int missing = 0;
  for (const OpDef* op : OpRegistry::instance().all()) {
    const bool asked = wanted.empty() || std::ranges::find(wanted, op->name) != wanted.end();
    // The pipeline inside a function stands for the one, lookup for the other.
    if (!asked || op->name == "value_of" || op->name == "lookup_in") continue;
    if (const std::string* why = cases.reason(op->name)) {
      without[op->name] = *why;
      continue;
    }
    std::optional<OpCost> cost;
    std::string wrong = "no node of it in " + cases.pipeline(op->name);
    try {
      cost = bench.measure(op->name, cases.pipeline(op->name));
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    if (!cost) {
      std::fprintf(stderr, "%s: no line: %s\n", op->name.c_str(), wrong.c_str());
      ++missing;
      continue;
    }
    for (const std::string& name : names_of(op->name)) {
      lines.push_back({{"op", name},
                       {"ns_per_row", cost->nanoseconds_per_row},
                       {"bytes_per_row", cost->bytes_per_row}});
      text += table_row(name, *cost);
    }
  }
  const size_t count = lines.size();
  std::printf("%s\n", nlohmann::json{{"ops", count},
                                     {"lines", std::move(lines)},
                                     {"without", std::move(without)},
                                     {"text", text}}
                          .dump()
                          .c_str());
  return missing ? 1 : 0;
}
