#include "functions/function_costs.h"

#include <algorithm>
#include <chrono>

#include "functions/ragged_columns.h"
#include "functions/result_rows.h"

namespace penstock {
namespace {

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

class Profiler {
 public:
  Profiler(const Function& function, const Block& in)
      : function_(function), in_(in), values_(function.values.size()), errors_(in.errors) {
    for (int i = 0; i < function.input_count(); ++i)
      values_[static_cast<size_t>(i)] = in.columns[static_cast<size_t>(i)];
  }

  // What a node takes, in ns, and touches, in bytes: of all rows.
  struct Work {
    double nanoseconds = 0;
    double bytes = 0;
  };

  Work run(const FunctionNode& node) {
    inputs_.clear();
    for (const ValueId id : node.inputs) inputs_.push_back(values_[static_cast<size_t>(id)]);
    RecycledVector<Column> outputs(node.outputs.size());
    if (node.kind == FunctionNode::Kind::constant) {
      outputs[0] = Column::constant(node.constant, in_.rows);
      keep(node, std::move(outputs));
      return {};
    }
    std::vector<DType> dtypes;
    for (const ValueId id : node.outputs) dtypes.push_back(function_.type(id).dtype);
    const std::shared_ptr<const void> state =
        node.op && node.op->prepare ? node.op->prepare(node.attrs) : nullptr;
    std::vector<std::unique_ptr<CompiledFunction>> bodies;
    for (const FunctionPtr& body : node.bodies)
      bodies.push_back(std::make_unique<CompiledFunction>(body, std::span<const Tensor>()));
    const size_t failed_before = errors_.size();
    const double start = now();
    const BlockCall call{node.attrs, state.get(), in_.rows,   inputs_,
                         outputs,    dtypes,      in_.origin, &errors_};
    const bool done = node.op && node.op->block &&
                      (node.op->block(call) || run_over_ragged_columns(*node.op, call));
    if (!done) run_rows(node, state.get(), bodies, dtypes, &outputs);
    const double taken = now() - start;
    if (errors_.size() > failed_before) {
      std::ranges::sort(errors_, {}, &RowError::row);
      const auto rest = std::ranges::unique(errors_, {}, &RowError::row);
      errors_.erase(rest.begin(), rest.end());
    }
    const double bytes = bytes_of(inputs_) + bytes_of(outputs);
    keep(node, std::move(outputs));
    return {taken, bytes};
  }

 private:
  static double bytes_of(const RecycledVector<Column>& columns) {
    double bytes = 0;
    for (const Column& column : columns) {
      if (column.kind() != Column::Kind::constant)
        bytes += static_cast<double>(column.payload_bytes());
    }
    return bytes;
  }

  void keep(const FunctionNode& node, RecycledVector<Column> outputs) {
    for (size_t i = 0; i < outputs.size(); ++i)
      values_[static_cast<size_t>(node.outputs[i])] = uniform_as_dense(std::move(outputs[i]));
  }

  void run_rows(const FunctionNode& node, const void* state,
                std::span<const std::unique_ptr<CompiledFunction>> bodies,
                const std::vector<DType>& dtypes, RecycledVector<Column>* outputs) {
    std::vector<ResultRows> results;
    results.reserve(node.outputs.size());
    for (const ValueId id : node.outputs)
      results.emplace_back(function_.type(id), in_.rows, nullptr);
    for (int64_t r = 0; r < in_.rows; ++r) {
      const bool failed =
          std::ranges::any_of(errors_, [r](const RowError& e) { return e.row == r; });
      try {
        if (failed) throw Error(Code::internal, "failed before");
        std::vector<Tensor> made = run_row(node, state, bodies, dtypes, r);
        for (size_t i = 0; i < results.size(); ++i) results[i].add(r, std::move(made[i]));
      } catch (const Error& e) {
        for (ResultRows& result : results) result.add_failed(r);
        if (!failed) errors_.push_back({r, std::make_shared<const Error>(e)});
      }
    }
    for (size_t i = 0; i < results.size(); ++i) (*outputs)[i] = results[i].finish();
  }

  std::vector<Tensor> run_row(const FunctionNode& node, const void* state,
                              std::span<const std::unique_ptr<CompiledFunction>> bodies,
                              const std::vector<DType>& dtypes, int64_t r) const {
    std::vector<Tensor> inputs;
    for (const Column& column : inputs_) inputs.push_back(column.row(r));
    const RowId row{in_.origin.lineage(r), in_.origin.epoch(r), 0};
    if (node.kind == FunctionNode::Kind::dataset)
      return {Tensor(std::make_shared<const DatasetValue>(node.dataset, inputs))};
    if (node.kind == FunctionNode::Kind::conditional) {
      const size_t side = inputs[0].entry<bool>() ? 0 : 1;
      return bodies[side]->run_body({}, std::span(inputs).subspan(1), row);
    }
    std::vector<Tensor> made(node.outputs.size());
    std::vector<OutputSlot> slots;
    for (size_t i = 0; i < made.size(); ++i) slots.emplace_back(dtypes[i], &made[i]);
    node.op->row({node.attrs, state, inputs, slots, row, bodies});
    return made;
  }

  const Function& function_;
  const Block& in_;
  std::vector<Column> values_;
  std::vector<RowError> errors_;
  RecycledVector<Column> inputs_;
};

}  // namespace

std::vector<OpCost> function_costs(const Function& function, const Block& in) {
  std::vector<OpCost> out;
  Profiler profiler(function, in);
  for (const FunctionNode& node : function.nodes) {
    const Profiler::Work work = profiler.run(node);
    if (node.kind == FunctionNode::Kind::constant) continue;
    const auto first = static_cast<size_t>(node.outputs[0]);
    const std::string op = node.op                                        ? node.op->name
                           : node.kind == FunctionNode::Kind::conditional ? "if"
                                                                          : "dataset";
    const auto rows = static_cast<double>(std::max<int64_t>(in.rows, 1));
    out.push_back({op, function.values[first].name, function.values[first].type,
                   work.nanoseconds / rows, work.bytes / rows});
  }
  return out;
}

}  // namespace penstock
