#include "runtime/chain.h"

#include <algorithm>

#include "data/true_rows.h"
#include "functions/file_reads.h"
#include "runtime/file_read_cursor.h"
#include "runtime/serial.h"
#include "runtime/stage_cursor.h"

namespace penstock {
namespace {

// Rows for which the predicate (a bool scalar, or a vector of one) holds; errors stay.
std::shared_ptr<const RowIndices> kept_rows(const Block& predicate) {
  auto out = make_recycled<RowIndices>();
  RowIndices& kept = *out;
  const Column& c = predicate.columns[0];
  if (c.kind() == Column::Kind::dense && c.row_dims().rank() == 0 && predicate.errors.empty()) {
    kept.resize(static_cast<size_t>(predicate.rows + kTrueRowsSlack));
    kept.resize(static_cast<size_t>(true_rows(c.entries<bool>(), predicate.rows, kept.data())));
    return out;
  }
  for (int32_t i = 0; i < predicate.rows; ++i) {
    if (predicate.error_at(i) || holds(predicate, i)) kept.push_back(i);
  }
  return out;
}

// A predicate's shape may be known only now: what is not one entry is an error at its row.
void check_predicate(Block* predicate) {
  const Column& c = predicate->columns[0];
  if ((c.kind() == Column::Kind::dense || c.kind() == Column::Kind::constant) &&
      c.row_dims().entries() == 1)
    return;
  std::vector<RowError> errors;
  for (int64_t i = 0; i < predicate->rows; ++i) {
    if (const ErrorPtr* e = predicate->error_at(i)) {
      errors.push_back({i, *e});
    } else if (c.dims_of(i).entries() != 1) {
      errors.push_back(
          {i, std::make_shared<const Error>(
                  Code::invalid_argument,
                  "predicate must give one bool, it has shape " + c.dims_of(i).text())});
    }
  }
  predicate->errors = std::move(errors);
}

// Errors of this stage say so, and which record their row comes from.
void name_errors(Block* block, const Chain::Stage& stage) {
  for (RowError& e : block->errors) {
    if (!e.error->node().empty()) continue;
    const std::string place = stage.places ? stage.places->of(block->origin.lineage(e.row)) : "";
    e.error = std::make_shared<const Error>(
        e.error->code(), e.error->message() + (place.empty() ? "" : " (" + place + ")"),
        stage.name);
  }
}

void name_errors(Block* block, const std::string& name) {
  for (RowError& e : block->errors) {
    if (e.error->node().empty()) e.error = std::make_shared<const Error>(e.error->at(name));
  }
}

Block evaluate_predicate(const CompiledFunction& predicate, const Block& rows) {
  Block out, input = rows;
  predicate.run(input, &out);
  check_predicate(&out);
  return out;
}

void run_filter(const Chain::Stage& stage, Block* block) {
  Block predicate = evaluate_predicate(*stage.function, *block);
  name_errors(&predicate, stage);
  std::shared_ptr<const RowIndices> kept = kept_rows(predicate);
  block->errors = std::move(predicate.errors);
  if (static_cast<int64_t>(kept->size()) == block->rows) return;
  MarkPtr mark = std::move(block->mark);  // the block's last row is done with, kept or not
  *block = block->pick(std::move(kept));
  block->mark = std::move(mark);
}

}  // namespace

Block run_predicate(const CompiledFunction& predicate, const Block& rows,
                    const std::string& stage) {
  Block out = evaluate_predicate(predicate, rows);
  name_errors(&out, stage);
  return out;
}

void Chain::run(Block* block, const Placement* placement) const {
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    StageClock clock(stage.counters);
    if (stage.filter) {
      run_filter(stage, block);
    } else {
      Block out;
      stage.function->run(*block, &out, i + 1 == stages_.size() ? placement : nullptr);
      if (!out.errors.empty()) name_errors(&out, stage);
      *block = std::move(out);
    }
    if (i + 1 < stages_.size() && stage.counters) {  // the last stage is counted by its cursor
      stage.counters->add(&StageCounts::elements, block->rows);
      stage.counters->add(&StageCounts::blocks, 1);
      stage.counters->add(&StageCounts::bytes, block->payload_bytes());
    }
    if (block->rows == 0) return;
  }
}

bool Chain::filters() const {
  return std::ranges::any_of(stages_, [](const Stage& s) { return s.filter; });
}

std::unique_ptr<Placement> Chain::make_placement(int64_t rows) const {
  constexpr int64_t kWorthPlacing = 4096;
  const Stage& last = stages_.back();
  if (last.filter || rows <= 0) return nullptr;
  auto out = std::make_unique<Placement>();
  bool any = false;
  for (size_t i = 0; i < last.dtypes.size(); ++i) {
    out->columns.emplace_back();
    if (last.row_bytes[i] < kWorthPlacing) continue;
    out->columns.back() = Column::dense(last.dtypes[i], last.row_dims[i], rows);
    any = true;
  }
  return any ? std::move(out) : nullptr;
}

void BlockSizer::observe(int64_t rows, uint64_t spent, int64_t bytes) {
  const double per_row = std::max(1.0, static_cast<double>(spent) * ns_per_tick() /
                                           static_cast<double>(std::max<int64_t>(1, rows)));
  const double row_bytes =
      static_cast<double>(bytes) / static_cast<double>(std::max<int64_t>(1, rows));
  const double by_time = kTaskNs / per_row;
  const double by_bytes = row_bytes > 0 ? kBlockBytes / row_bytes : 1e9;
  const auto target = static_cast<int64_t>(
      std::clamp(std::min(by_time, by_bytes), 1.0, static_cast<double>(most_)));
  rows_ = std::min(target, rows_ * 4);
}

namespace {

// Returns true if rows of the plan stand for single records, if for any: a row that is made of
// several has the lineage of the first of them.
bool gives_records(const PlanNode& plan) {
  const auto joins_rows = [](const PlanNode* node) {
    const Rows rows = node->op->rows;
    return !node->op->source && (rows == Rows::unknown || rows == Rows::regroup);
  };
  const PlanNode* node = &plan;
  for (; node->inputs.size() == 1; node = node->inputs[0].get()) {
    if (joins_rows(node)) return false;
  }
  return node->inputs.empty() ? !joins_rows(node)
                              : std::ranges::none_of(topological(*node), joins_rows);
}

// Makes the chain's stage of the node, which runs with the calls of `head`.
Chain::Stage make_stage(const PlanPtr& node, const PlanNode& head, const OpenContext& context) {
  Chain::Stage stage;
  stage.filter = node->op->chain == ChainRole::filter;
  stage.function = context.program(*node, node->functions.front().first);
  RunStage* in_run = context.run->stage(node.get());
  if (node.get() != &head) in_run->controls.head.store(&head, std::memory_order_relaxed);
  stage.counters = context.run->options().count ? &in_run->counters : nullptr;
  stage.name = node->op->name;
  for (const LeafSpec& leaf : node->spec.leaves()) {
    const bool fixed = leaf.is_tensor() && leaf.shape.is_static() && leaf.dtype != DType::bytes;
    stage.dtypes.push_back(leaf.dtype);
    stage.row_dims.push_back(fixed ? leaf.shape.dims() : Dims());
    stage.row_bytes.push_back(fixed ? leaf.shape.entries() * dtype_size(leaf.dtype) : -1);
  }
  return stage;
}

// Files that the stage's function reads come with its input instead, where their names can be made
// first: gives what makes them, else null.
std::shared_ptr<const CompiledFunction> take_file_reads(const PlanNode& node,
                                                        const OpenContext& context,
                                                        Chain::Stage* stage) {
  if (stage->filter || is_serial()) return nullptr;
  const std::optional<FileReads> reads = split_file_reads(*node.functions.front().second);
  if (!reads) return nullptr;
  stage->function = std::make_shared<const CompiledFunction>(reads->rest, context.environment,
                                                             context.run->reads(&node));
  return std::make_shared<const CompiledFunction>(reads->names, context.environment);
}

CursorPtr with_file_reads(CursorPtr input, const PlanNode& node, Run* run,
                          std::shared_ptr<const CompiledFunction> names) {
  const size_t columns =
      static_cast<size_t>(node.inputs[0]->spec.leaf_count()) + names->function().results.size();
  NodeCounters* const counters = run->options().count ? run->counters(&node) : nullptr;
  CursorPtr out = open_file_reads(std::move(input), run, &run->stage(&node)->controls,
                                  std::move(names), [counters](const std::string& name) {
                                    FileBytes file = read_file_bytes(name);
                                    if (!counters) return file;
                                    counters->add(&StageCounts::files_opened, 1);
                                    counters->add(&StageCounts::bytes_read, file.size);
                                    return file;
                                  });
  // Its errors are the stage's, which names them.
  out->set_identity({nullptr, "", columns, nullptr, run->options().marks, true});
  return out;
}

// Calls that the user asked for; none where they are left open.
std::optional<int64_t> asked_calls(const PlanNode& node) {
  const Attr& calls = parallel_node(node).arg("num_parallel_calls");
  if (calls.is_auto() || calls.is_none() || calls.is_capture()) return {};
  return std::max<int64_t>(1, calls.as_int());
}

bool is_stateful(const PlanNode& node) {
  return node.functions.front().second->effects() == Effects::stateful;
}

// Returns whether rows keep their order. A checkpoint is a position in an order: with marks there
// is one.
bool is_ordered(const PlanNode& node, const OpenContext& context) {
  const Attr& deterministic = node.arg("deterministic");
  if (context.run->options().marks) return true;
  return deterministic.is_none() ? context.ordered : deterministic.as_bool();
}

bool in_chain(const PlanNode& node) { return node.op->chain != ChainRole::none; }

}  // namespace

bool goes_along(const PlanNode& node) {
  return node.op->chain == ChainRole::filter && in_chain(*node.inputs[0]) &&
         node.functions.front().second->effects() != Effects::stateful;
}

const PlanNode& parallel_node(const PlanNode& node) {
  const PlanNode* out = &node;
  while (goes_along(*out)) out = out->inputs[0].get();
  return *out;
}

CursorPtr open_chain(const PlanPtr& node, OpenContext& context) {
  const bool serial = is_serial();
  const PlanNode& parallel = parallel_node(*node);
  const std::optional<int64_t> asked = asked_calls(*node);
  bool stateful = is_stateful(*node);
  std::vector<Chain::Stage> stages{make_stage(node, parallel, context)};
  PlanPtr bottom = node;
  std::shared_ptr<const CompiledFunction> names = take_file_reads(*node, context, &stages.back());
  while (!names && in_chain(*bottom->inputs[0]) &&
         (serial || goes_along(*bottom) || asked_calls(*bottom->inputs[0]) == asked)) {
    bottom = bottom->inputs[0];
    stateful |= is_stateful(*bottom);
    stages.push_back(make_stage(bottom, parallel, context));
    names = take_file_reads(*bottom, context, &stages.back());
  }
  std::ranges::reverse(stages);
  if (gives_records(*bottom->inputs[0])) {
    for (Chain::Stage& stage : stages) stage.places = &context.run->places();
  }
  CursorPtr input = context.open_input(*bottom);
  if (names) input = with_file_reads(std::move(input), *bottom, context.run, std::move(names));
  auto chain = std::make_shared<const Chain>(std::move(stages));
  StageOptions options;
  options.chain = std::move(chain);
  options.ordered = is_ordered(parallel, context);
  if (!options.chain->filters()) options.batch = context.batch;
  options.depth = context.depth;
  options.counters = context.run->counters(&parallel);
  if (!serial) {
    options.controls = &context.run->stage(&parallel)->controls;
    // Calls of a function with a state stay in order, unless the user wants it otherwise.
    options.controls->calls.start(asked.value_or(1),
                                  stateful && !asked ? 1 : 4 * context.run->options().threads,
                                  asked.has_value());
  }
  return open_stage(std::move(input), context.run, options);
}

}  // namespace penstock
