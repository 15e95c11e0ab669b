// Functions over the rows of a block, op by op: each over all rows.

#include <algorithm>

#include "functions/entrywise_chain.h"
#include "functions/ragged_columns.h"
#include "functions/result_rows.h"
#include "functions/step.h"

namespace penstock {
namespace {

bool failed(const std::vector<RowError>& errors, int64_t row) {
  return std::ranges::any_of(errors, [row](const RowError& e) { return e.row == row; });
}

}  // namespace

void CompiledFunction::run_by_columns(Block& in, Block* out) const {
  const Function& f = function();
  Columns values(f.values.size());
  for (int i = 0; i < f.input_count(); ++i)
    values[static_cast<size_t>(i)] = std::move(in.columns[static_cast<size_t>(i)]);
  for (size_t i = 0; i < captures_.size(); ++i) {
    values[static_cast<size_t>(f.input_count()) + i] = Column::constant(captures_[i], in.rows);
  }
  std::vector<RowError> errors = in.errors;
  for (const Step& step : program_->steps) {
    if (step.chain < 0) {
      run_step_on_columns(step, in, &values, &errors);
    } else if (step.ends_chain) {
      const EntrywiseChain& chain = program_->chains[static_cast<size_t>(step.chain)];
      if (run_chain_on_columns(chain, in.rows, &values)) continue;
      for (const int n : chain.nodes())
        run_step_on_columns(program_->steps[static_cast<size_t>(n)], in, &values, &errors);
    }
  }
  out->columns.clear();
  out->columns.reserve(f.results.size());
  for (const ValueId id : f.results) out->columns.push_back(values[static_cast<size_t>(id)]);
  out->errors = std::move(errors);
}

bool CompiledFunction::run_chain_on_columns(const EntrywiseChain& chain, int64_t rows,
                                            Columns* values) const {
  RecycledVector<EntrywiseChain::Operand> operands;
  for (const ValueId id : chain.inputs()) {
    const Column& c = (*values)[static_cast<size_t>(id)];
    const bool dense = c.kind() == Column::Kind::dense;
    if (!dense && c.kind() != Column::Kind::constant) return false;
    operands.push_back({c.dtype(), c.row_dims(), c.data(), dense});
  }
  const auto allocate = [&](size_t output, const Dims& dims) {
    const auto id = static_cast<size_t>(chain.outputs()[output]);
    (*values)[id] = Column::dense(function().values[id].type.dtype, dims, rows);
    return (*values)[id].mutable_data();
  };
  return chain.run(operands, rows, std::ref(allocate));
}

void CompiledFunction::run_step_on_columns(const Step& step, const Block& in, Columns* values,
                                           std::vector<RowError>* errors) const {
  const FunctionNode& node = *step.node;
  if (node.kind == FunctionNode::Kind::constant) {
    (*values)[static_cast<size_t>(node.outputs[0])] = Column::constant(node.constant, in.rows);
    return;
  }
  if (!step.known.empty()) {
    for (size_t i = 0; i < node.outputs.size(); ++i)
      (*values)[static_cast<size_t>(node.outputs[i])] = Column::constant(step.known[i], in.rows);
    return;
  }
  RecycledVector<Column> inputs, outputs(node.outputs.size());
  for (const ValueId id : node.inputs) inputs.push_back((*values)[static_cast<size_t>(id)]);
  const size_t known = errors->size();
  const BlockCall call{node.attrs, step.state.get(), in.rows,   inputs,
                       outputs,    step.dtypes,      in.origin, errors};
  const bool done = node.op && node.op->block &&
                    (node.op->block(call) || run_over_ragged_columns(*node.op, call));
  if (done && errors->size() > known) {  // of two errors at a row the first one counts
    std::ranges::stable_sort(*errors, {}, &RowError::row);
    const auto rest = std::ranges::unique(*errors, {}, &RowError::row);
    errors->erase(rest.begin(), rest.end());
  }
  if (!done) run_step_on_each_row(step, in, call);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto id = static_cast<size_t>(node.outputs[i]);
    // Results stay of one kind from block to block.
    (*values)[id] = program_->result_of[id] < 0 ? uniform_as_dense(std::move(outputs[i]))
                                                : std::move(outputs[i]);
  }
}

void CompiledFunction::run_step_on_each_row(const Step& step, const Block& in,
                                            const BlockCall& call) const {
  const FunctionNode& node = *step.node;
  std::vector<RowError>& errors = *call.errors;
  std::vector<ResultRows> results;
  results.reserve(node.outputs.size());
  for (const ValueId id : node.outputs) results.emplace_back(function().type(id), in.rows, nullptr);
  std::vector<Tensor> row_inputs(call.inputs.size()), row_outputs(node.outputs.size());
  std::vector<OutputSlot> slots;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    slots.emplace_back(step.dtypes[i], &row_outputs[i]);
  for (int64_t r = 0; r < in.rows; ++r) {
    if (!errors.empty() && failed(errors, r)) {
      for (ResultRows& result : results) result.add_failed(r);
      continue;
    }
    try {
      for (size_t i = 0; i < call.inputs.size(); ++i) row_inputs[i] = call.inputs[i].row(r);
      if (node.kind == FunctionNode::Kind::dataset) {
        row_outputs[0] = Tensor(std::make_shared<const DatasetValue>(node.dataset, row_inputs));
      } else {
        node.op->row({node.attrs,
                      step.state.get(),
                      row_inputs,
                      slots,
                      {in.origin.lineage(r), in.origin.epoch(r), 0},
                      step.bodies});
      }
      for (size_t i = 0; i < results.size(); ++i) results[i].add(r, std::move(row_outputs[i]));
    } catch (...) {
      for (ResultRows& result : results) result.add_failed(r);
      errors.push_back({r, current_error()});
    }
  }
  std::ranges::sort(errors, {}, &RowError::row);
  for (size_t i = 0; i < results.size(); ++i) call.outputs[i] = results[i].finish();
}

}  // namespace penstock
