// Running ops and functions: once for constants, and compiled for the stream.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "functions/function.h"

namespace penstock {

class EntrywiseChain;
class ReadCounter;

// Runs a pure op on constants. False when the row fails (the error is left to run time) or the
// result would be larger than 16 MiB.
bool evaluate_op(const OpDef& op, const Attrs& attrs, std::span<const Tensor> inputs,
                 const Spec& result, std::vector<Tensor>* outputs);

// A nested dataset as a value: a template and the environment it is to be opened with.
class DatasetValue final : public Object {
 public:
  DatasetValue(PlanPtr plan, std::vector<Tensor> environment)
      : plan_(std::move(plan)), environment_(std::move(environment)) {}
  const PlanPtr& plan() const { return plan_; }
  const std::vector<Tensor>& environment() const { return environment_; }

 private:
  PlanPtr plan_;
  std::vector<Tensor> environment_;
};

// What functions must know of plans; defined in plan.
Effects plan_effects(const PlanNode& plan);
bool same_plan(const PlanNode& a, const PlanNode& b);

// Where the rows of large results go: dense columns to be filled slot by slot (a batch buffer).
struct Placement {
  std::vector<Column> columns;  // one for each result; an unset one (rows() == 0) has no place
};

// A function made ready to run. Immutable; any number of threads may call it at once.
class CompiledFunction {
 public:
  // `environment` holds the values of the pipeline's captures. `reads` counts the files that are
  // read, here and in each run; it outlives the function.
  CompiledFunction(FunctionPtr function, std::span<const Tensor> environment,
                   ReadCounter* reads = nullptr);
  // The same function with other captures: shares what the first one has built (patterns, tables).
  CompiledFunction(const CompiledFunction& other, std::span<const Tensor> environment,
                   ReadCounter* reads = nullptr);
  ~CompiledFunction();
  const Function& function() const;

  // Rows of `in` (errors kept, skipped) to rows of the same number in `out`. Failing rows become
  // errors at their place. Origin, seq and mark pass through. `in` may be consumed.
  void run(Block& in, Block* out, const Placement* placement = nullptr) const;

  // One row; throws Error. `inputs` are the leaves of the input.
  std::vector<Tensor> run_row(std::vector<Tensor> inputs, const RowId& row) const;
  // The same for the body of a node: `environment` holds the node's inputs, which captures name.
  std::vector<Tensor> run_body(std::vector<Tensor> inputs, std::span<const Tensor> environment,
                               const RowId& row) const;

 private:
  struct Step;
  void bind(std::span<const Tensor> environment);
  void run_by_rows(const Block& in, Block* out, const Placement* placement) const;
  void run_by_columns(Block& in, Block* out) const;
  using Columns = RecycledVector<Column>;  // by value
  void run_step_on_columns(const Step& step, const Block& in, Columns* values,
                           std::vector<RowError>* errors) const;
  void run_step_on_each_row(const Step& step, const Block& in, const BlockCall& call) const;
  bool run_chain_on_columns(const EntrywiseChain& chain, int64_t rows, Columns* values) const;
  std::vector<Tensor> results_of(std::vector<Tensor> values, const RowId& row) const;
  void run_steps(std::vector<Tensor>& values, const RowId& row, const Placement* placement,
                 int64_t slot) const;
  void run_step(const Step& step, std::vector<Tensor>& values, const RowId& row,
                const Placement* placement, int64_t slot) const;
  bool run_chain_on_row(const EntrywiseChain& chain, std::vector<Tensor>& values,
                        const Placement* placement, int64_t slot) const;
  static Tensor place_of(const Step& step, size_t output, const Placement* placement, int64_t slot);

  struct Program;
  std::shared_ptr<const Program> program_;
  std::vector<Tensor> captures_;
  ReadCounter* reads_ = nullptr;  // null if no op reads files while it runs
};

}  // namespace penstock
