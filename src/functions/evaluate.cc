#include "functions/evaluate.h"

#include <algorithm>
#include <optional>

#include "base/cancellation.h"
#include "data/charged.h"
#include "data/room_keeper.h"
#include "functions/entrywise_chain.h"
#include "functions/result_rows.h"
#include "functions/step.h"
#include "functions/value_uses.h"
#include "io/read_counter.h"

namespace penstock {

const LeafSpec& InferContext::tensor(int i) const {
  const LeafSpec& type = inputs[static_cast<size_t>(i)].type;
  if (!type.is_tensor()) fail(i, "is " + type.text() + ", expected a tensor");
  return type;
}

const LeafSpec& InferContext::tensor_of(int i, DType dtype) const {
  const LeafSpec& type = tensor(i);
  if (type.dtype != dtype)
    fail(i, "is " + type.text() + ", expected " + std::string(dtype_name(dtype)));
  return type;
}

void InferContext::check_rank(int i, int rank) const {
  const LeafSpec& type = tensor(i);
  if (type.shape.has_rank() && type.shape.rank() != rank) {
    fail(i, "is " + type.text() + ", expected rank " + std::to_string(rank));
  }
}

std::vector<int64_t> InferContext::known_ints(int i) const {
  std::vector<int64_t> out;
  const Tensor* value = inputs[static_cast<size_t>(i)].constant;
  if (!value || !is_integer(value->dtype())) return out;
  for (int64_t k = 0; k < value->entries_count(); ++k) out.push_back(integer_at(*value, k));
  return out;
}

std::byte* OutputSlot::allocate(const Dims& dims) {
  if (place_ && place_->dims() == dims) {
    *result_ = *place_;
  } else {
    *result_ = Tensor::make(dtype_, dims);
  }
  return result_->mutable_data();
}

namespace {

// Bytes of a tensor as far as its shape is known, without overflow: sizes are arguments.
double static_bytes(const LeafSpec& leaf) {
  if (!leaf.shape.is_static()) return 0;
  double bytes = static_cast<double>(dtype_size(leaf.dtype));
  for (const int64_t size : leaf.shape.sizes()) bytes *= static_cast<double>(size);
  return bytes;
}

constexpr int64_t kMostConstantBytes = 16 << 20;

// Results of known shape are up to 16 MiB, others (strings are as long as they come out) up to
// `most_bytes`; kernels may take four times as much.
bool evaluate_leaves(const OpDef& op, const Attrs& attrs, std::span<const Tensor> inputs,
                     const std::vector<LeafSpec>& leaves, int64_t most_bytes,
                     std::vector<Tensor>* outputs) {
  if (op.reads_files) return false;
  for (const LeafSpec& leaf : leaves) {
    const bool plain = leaf.is_tensor() || leaf.kind == LeafSpec::Kind::optional;
    if (!plain || static_bytes(leaf) > kMostConstantBytes) return false;
  }
  try {
    const std::shared_ptr<const void> state = op.prepare ? op.prepare(attrs) : nullptr;
    outputs->assign(leaves.size(), Tensor());
    std::vector<OutputSlot> slots;
    for (size_t i = 0; i < leaves.size(); ++i) slots.emplace_back(leaves[i].dtype, &(*outputs)[i]);
    {
      const ScopedLimit limit(4 * most_bytes);
      op.row({attrs, state.get(), inputs, slots, {}});
    }
    return std::ranges::all_of(*outputs, [most_bytes](const Tensor& t) {
      return t.object() || t.payload_bytes() <= most_bytes;
    });
  } catch (const std::exception&) {  // of Error and of containers
    return false;
  }
}

// What depends on no row, and was not folded when the plan was built: arrays of files, and what is
// made of them. A step that fails is left to its rows.
template <typename Step>
void evaluate_known(const Function& function, std::vector<Step>* steps) {
  // They are the run's, which has a budget.
  const int64_t most_bytes = std::max(kMostConstantBytes, current_pool().budget_bytes() / 64);
  std::vector<const Tensor*> known(function.values.size(), nullptr);
  std::vector<Tensor> inputs;
  for (Step& step : *steps) {
    const FunctionNode& node = *step.node;
    if (node.kind == FunctionNode::Kind::constant) {
      known[static_cast<size_t>(node.outputs[0])] = &node.constant;
      continue;
    }
    if (node.kind != FunctionNode::Kind::op || node.op->effects != Effects::pure ||
        !node.bodies.empty())
      continue;
    inputs.clear();
    for (const ValueId id : node.inputs) {
      if (const Tensor* value = known[static_cast<size_t>(id)]) inputs.push_back(*value);
    }
    if (inputs.size() < node.inputs.size()) continue;
    std::vector<LeafSpec> leaves;
    for (const ValueId id : node.outputs) leaves.push_back(function.type(id));
    if (node.op->known_at_open) {
      step.known = {*static_cast<const Tensor*>(step.state.get())};
    } else if (!evaluate_leaves(*node.op, node.attrs, inputs, leaves, most_bytes, &step.known)) {
      step.known.clear();
    }
    for (size_t i = 0; i < step.known.size(); ++i)
      known[static_cast<size_t>(node.outputs[i])] = &step.known[i];
  }
}

// For each value: in which result's place it is made, -1 for none. Results are made in their own,
// and so is what an op changes in place into such a result.
std::vector<int> find_places(const Function& f, const std::vector<int>& result_of) {
  const std::vector<int> uses = count_uses(f);
  std::vector<int> places = result_of;
  for (size_t i = f.nodes.size(); i-- > 0;) {
    const FunctionNode& node = f.nodes[i];
    if (node.kind != FunctionNode::Kind::op || !node.op->in_place) continue;
    const ValueId from = node.inputs[0], to = node.outputs[0];
    const LeafSpec &type = f.type(from), &made = f.type(to);
    const FunctionNode* producer = f.producer(from);
    // What is known at build is not to be written to: only what an op makes.
    if (!producer || producer->kind != FunctionNode::Kind::op ||
        uses[static_cast<size_t>(from)] != 1 || type.dtype != made.dtype ||
        !(type.shape == made.shape)) {
      continue;
    }
    places[static_cast<size_t>(from)] = places[static_cast<size_t>(to)];
  }
  return places;
}

}  // namespace

bool evaluate_op(const OpDef& op, const Attrs& attrs, std::span<const Tensor> inputs,
                 const Spec& result, std::vector<Tensor>* outputs) {
  return evaluate_leaves(op, attrs, inputs, result.leaves(), kMostConstantBytes, outputs);
}

CompiledFunction::Program::Program(FunctionPtr compiled) : function(std::move(compiled)) {
  const Function& f = *function;
  result_of.assign(f.values.size(), -1);
  for (size_t i = 0; i < f.results.size(); ++i)
    result_of[static_cast<size_t>(f.results[i])] = static_cast<int>(i);
  for (const FunctionNode& node : f.nodes) {
    Step step{&node, nullptr, {}, {}, {}, {}, -1, false};
    if (node.op && node.op->prepare) step.state = node.op->prepare(node.attrs);
    for (const FunctionPtr& body : node.bodies)
      step.bodies.push_back(std::make_unique<CompiledFunction>(body, std::span<const Tensor>()));
    for (const ValueId id : node.outputs) step.dtypes.push_back(f.type(id).dtype);
    steps.push_back(std::move(step));
  }
  maker.assign(f.values.size(), -1);
  for (size_t n = 0; n < f.nodes.size(); ++n) {
    for (const ValueId id : f.nodes[n].outputs)
      maker[static_cast<size_t>(id)] = static_cast<int>(n);
  }
  const std::vector<int> places = find_places(f, result_of);
  for (Step& step : steps) {
    for (const ValueId id : step.node->outputs)
      step.places.push_back(places[static_cast<size_t>(id)]);
  }
  evaluate_known(f, &steps);
  chains = EntrywiseChain::find(f);
  for (size_t c = 0; c < chains.size(); ++c) {
    const std::span<const int> nodes = chains[c].nodes();
    for (const int n : nodes) steps[static_cast<size_t>(n)].chain = static_cast<int>(c);
    steps[static_cast<size_t>(nodes.back())].ends_chain = true;
  }
  constexpr int64_t kSmallRow = 16 << 10;
  by_rows = std::ranges::any_of(f.values, [](const FunctionValue& v) {
    return v.type.is_tensor() && static_bytes(v.type) > kSmallRow;
  });
  repeatable = f.effects() != Effects::stateful;
  reads_files = std::ranges::any_of(steps, [](const Step& step) {
    const bool reads = step.node->op && step.node->op->reads_files && step.known.empty();
    return reads || std::ranges::any_of(
                        step.bodies, [](const auto& body) { return body->program_->reads_files; });
  });
  by_rows |= std::ranges::any_of(f.nodes, [](const FunctionNode& n) {
    return n.kind == FunctionNode::Kind::conditional || (n.op && n.op->large_rows);
  });
}

CompiledFunction::CompiledFunction(FunctionPtr function, std::span<const Tensor> environment,
                                   ReadCounter* reads) {
  const ScopedReadCounter counted(reads ? reads : ReadCounter::current());
  program_ = std::make_shared<const Program>(std::move(function));
  if (program_->reads_files) reads_ = reads;
  bind(environment);
}

CompiledFunction::CompiledFunction(const CompiledFunction& other,
                                   std::span<const Tensor> environment, ReadCounter* reads)
    : program_(other.program_), reads_(other.program_->reads_files ? reads : nullptr) {
  bind(environment);
}

void CompiledFunction::bind(std::span<const Tensor> environment) {
  if (environment.empty()) return;
  for (const int source : function().capture_sources)
    captures_.push_back(environment[static_cast<size_t>(source)]);
}

const Function& CompiledFunction::function() const { return *program_->function; }

CompiledFunction::~CompiledFunction() = default;

void CompiledFunction::run_steps(std::vector<Tensor>& values, const RowId& row,
                                 const Placement* placement, int64_t slot) const {
  for (const Step& step : program_->steps) {
    if (step.chain < 0) {
      run_step(step, values, row, placement, slot);
    } else if (step.ends_chain) {
      const EntrywiseChain& chain = program_->chains[static_cast<size_t>(step.chain)];
      if (run_chain_on_row(chain, values, placement, slot)) continue;
      for (const int n : chain.nodes())
        run_step(program_->steps[static_cast<size_t>(n)], values, row, placement, slot);
    }
  }
}

// Where an output that has a place is made: a place has the row's shape. Else an empty tensor.
Tensor CompiledFunction::place_of(const Step& step, size_t output, const Placement* placement,
                                  int64_t slot) {
  const int result = placement ? step.places[output] : -1;
  if (result < 0 || placement->columns[static_cast<size_t>(result)].rows() == 0) return {};
  return placement->columns[static_cast<size_t>(result)].row(slot);
}

bool CompiledFunction::run_chain_on_row(const EntrywiseChain& chain, std::vector<Tensor>& values,
                                        const Placement* placement, int64_t slot) const {
  RecycledVector<EntrywiseChain::Operand> operands;
  const Tensor* largest = nullptr;
  for (const ValueId id : chain.inputs()) {
    const Tensor& value = values[static_cast<size_t>(id)];
    if (!largest || value.entries_count() > largest->entries_count()) largest = &value;
  }
  for (const ValueId id : chain.inputs()) {
    const Tensor& value = values[static_cast<size_t>(id)];
    operands.push_back(
        {value.dtype(), value.dims(), value.data(), value.dims() == largest->dims()});
  }
  const auto allocate = [&](size_t output, const Dims& dims) {
    const ValueId id = chain.outputs()[output];
    const Step& step =
        program_->steps[static_cast<size_t>(program_->maker[static_cast<size_t>(id)])];
    const Tensor place = place_of(step, 0, placement, slot);
    return OutputSlot(step.dtypes[0], &values[static_cast<size_t>(id)], place).allocate(dims);
  };
  return chain.run(operands, 1, std::ref(allocate));
}

void CompiledFunction::run_step(const Step& step, std::vector<Tensor>& values, const RowId& row,
                                const Placement* placement, int64_t slot) const {
  const FunctionNode& node = *step.node;
  if (node.kind == FunctionNode::Kind::constant) {
    values[static_cast<size_t>(node.outputs[0])] = node.constant;
    return;
  }
  if (!step.known.empty()) {
    for (size_t i = 0; i < node.outputs.size(); ++i)
      values[static_cast<size_t>(node.outputs[i])] = step.known[i];
    return;
  }
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) inputs.push_back(values[static_cast<size_t>(id)]);
  if (node.kind == FunctionNode::Kind::dataset) {
    values[static_cast<size_t>(node.outputs[0])] =
        Tensor(std::make_shared<const DatasetValue>(node.dataset, inputs));
    return;
  }
  if (node.kind == FunctionNode::Kind::conditional) {
    const CompiledFunction& body = *step.bodies[inputs[0].entry<bool>() ? 0 : 1];
    std::vector<Tensor> made = body.run_body({}, std::span(inputs).subspan(1), row);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      values[static_cast<size_t>(node.outputs[i])] = std::move(made[i]);
    return;
  }
  Tensor places[8];
  std::vector<OutputSlot> slots;
  slots.reserve(node.outputs.size());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Tensor* value = &values[static_cast<size_t>(node.outputs[i])];
    if (i < 8) places[i] = place_of(step, i, placement, slot);
    if (i < 8 && places[i].data()) {
      slots.emplace_back(step.dtypes[i], value, places[i]);
    } else {
      slots.emplace_back(step.dtypes[i], value);
    }
  }
  node.op->row({node.attrs, step.state.get(), inputs, slots, row, step.bodies});
}

std::vector<Tensor> CompiledFunction::run_row(std::vector<Tensor> inputs, const RowId& row) const {
  const ScopedReadCounter counted(reads_ ? reads_ : ReadCounter::current());
  std::vector<Tensor> values = std::move(inputs);
  values.resize(function().values.size());
  std::ranges::copy(captures_, values.begin() + function().input_count());
  return results_of(std::move(values), row);
}

std::vector<Tensor> CompiledFunction::run_body(std::vector<Tensor> inputs,
                                               std::span<const Tensor> environment,
                                               const RowId& row) const {
  std::vector<Tensor> values = std::move(inputs);
  values.resize(function().values.size());
  const auto first = static_cast<size_t>(function().input_count());
  for (size_t i = 0; i < function().captures.size(); ++i)
    values[first + i] = environment[static_cast<size_t>(function().capture_sources[i])];
  return results_of(std::move(values), row);
}

std::vector<Tensor> CompiledFunction::results_of(std::vector<Tensor> values,
                                                 const RowId& row) const {
  run_steps(values, row, nullptr, 0);
  std::vector<Tensor> out;
  for (const ValueId id : function().results) out.push_back(values[static_cast<size_t>(id)]);
  return out;
}

void CompiledFunction::run_by_rows(const Block& in, Block* out, const Placement* placement) const {
  const Function& f = function();
  std::vector<ResultRows> results;
  results.reserve(f.results.size());
  Placement places;
  for (size_t i = 0; i < f.results.size(); ++i) {
    const bool placed = placement && placement->columns[i].rows() >= in.rows;
    const Column place = placed ? placement->columns[i].slice(0, in.rows) : Column();
    results.emplace_back(f.type(f.results[i]), in.rows, placed ? &place : nullptr);
    // Large rows are made in their slot of the column; small ones are copied there.
    const Column& dense = results.back().dense();
    places.columns.push_back(dense.rows() > 0 && dense.row_bytes() >= 512 ? dense : Column());
  }
  std::vector<RowError> errors = in.errors;
  std::vector<Tensor> values(f.values.size());
  const ScopedRepeatable repeatable(program_->repeatable);
  for (int64_t r = 0; r < in.rows; ++r) {
    if (in.error_at(r)) {
      for (ResultRows& result : results) result.add_failed(r);
      continue;
    }
    check_cancelled();
    for (bool done = false; !done;) {
      ErrorPtr error;
      try {
        for (int i = 0; i < f.input_count(); ++i)
          values[static_cast<size_t>(i)] = in.columns[static_cast<size_t>(i)].row(r);
        std::ranges::copy(captures_, values.begin() + f.input_count());
        run_steps(values, {in.origin.lineage(r), in.origin.epoch(r), 0}, &places, r);
      } catch (...) {
        check_cancelled();
        error = current_error();
      }
      done = !ScopedRepeatable::gave_way();
      if (!done) {  // whatever came of it: an op may have made a value of the failure
        std::ranges::fill(values, Tensor());
        ScopedRepeatable::wait_for_turn();
      } else if (error) {
        for (ResultRows& result : results) result.add_failed(r);
        errors.push_back({r, std::move(error)});
      } else {
        for (size_t i = 0; i < results.size(); ++i)
          results[i].add(r, values[static_cast<size_t>(f.results[i])]);
      }
    }
  }
  std::ranges::sort(errors, {}, &RowError::row);
  out->columns.clear();
  for (ResultRows& result : results) out->columns.push_back(result.finish());
  out->errors = std::move(errors);
}

void CompiledFunction::run(Block& in, Block* out, const Placement* placement) const {
  const int64_t rows = in.rows;
  Origin origin = in.origin;
  MarkPtr mark = in.mark;
  const uint64_t seq = in.seq;
  std::optional<ScopedReadCounter> counted;
  if (reads_) counted.emplace(reads_);
  if (program_->by_rows) {
    run_by_rows(in, out, placement);
  } else {
    run_by_columns(in, out);
  }
  out->rows = rows;
  out->origin = std::move(origin);
  out->seq = seq;
  out->mark = std::move(mark);
}

}  // namespace penstock
