#include "penstock/dataset.h"

#include <algorithm>
#include <unordered_set>

#include "api/dataset_impl.h"
#include "api/generator.h"
#include "api/memory_source.h"
#include "api/recorded.h"
#include "api/spec.h"
#include "base/random.h"
#include "datasets/datasets.h"
#include "io/file.h"
#include "optimizer/prepare.h"
#include "plan/diagnostic.h"
#include "plan/format.h"
#include "plan/parser.h"
#include "plan/unparse.h"

namespace penstock {
namespace {

using Impl = DatasetAccess::Impl;

ExprPtr made(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }

Expr of_kind(Expr::Kind kind, std::string text = {}) {
  Expr out;
  out.kind = kind;
  out.text = std::move(text);
  return out;
}

std::string input_name(size_t i) { return "_input" + (i == 0 ? std::string() : std::to_string(i)); }

// Counts the random nodes of a plan, without those that are reached through `below`.
int64_t count_random(const PlanNode& top, const PlanNode* below = nullptr) {
  int64_t out = 0;
  std::vector<const PlanNode*> left{&top};
  std::unordered_set<const PlanNode*> seen{below};
  while (!left.empty()) {
    const PlanNode* node = left.back();
    left.pop_back();
    if (!seen.insert(node).second) continue;
    bool random = node->op->random;
    for (const auto& [name, f] : node->functions) random |= f->effects() == Effects::random;
    out += random ? 1 : 0;
    for (const PlanPtr& input : node->inputs) left.push_back(input.get());
  }
  return out;
}

std::shared_ptr<Impl> derived(const std::vector<Dataset>& inputs) {
  register_datasets();
  auto out = std::make_shared<Impl>();
  for (const Dataset& input : inputs) {
    const Impl& impl = DatasetAccess::impl(input);
    if (!impl.environment.empty()) {
      throw Error(Code::unimplemented,
                  "a nested dataset that uses values of its element is only iterated; write its "
                  "stages in the function that makes it");
    }
    out->kept.add_all_of(impl.kept);
  }
  if (!inputs.empty()) out->options = DatasetAccess::impl(inputs[0]).options;
  return out;
}

// The tree (over `inputs` as _input, _input1, ...) as a Dataset.
Dataset build(const std::string& stage, ExprPtr tree, const std::vector<Dataset>& inputs) {
  const std::shared_ptr<Impl> out = derived(inputs);
  try {
    BuildOptions options;
    // Stages built one by one draw their seeds apart: by the number of random ones below.
    int64_t random = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Impl& input = DatasetAccess::impl(inputs[i]);
      if (input.plan->op->sink)
        throw Error(Code::failed_precondition, "the pipeline ends in a value", stage);
      options.datasets[input_name(i)] = input.plan;
      random += input.random_nodes >= 0 ? input.random_nodes : count_random(*input.plan);
    }
    options.seed =
        random == 0 ? out->options.seed : mix(out->options.seed, static_cast<uint64_t>(random));
    check_own_arguments(*tree);
    Program program;
    program.source = std::make_shared<const Source>();
    program.result = tree;
    BuiltPlan built = build_plan(program, options);
    out->plan = std::move(built.plan);
    // A walk over the whole plan for each stage would make long chains quadratic.
    if (inputs.size() == 1)
      out->random_nodes = random + count_random(*out->plan, options.datasets.begin()->second.get());
    for (SourcePtr& s : built.sources) out->kept.add(std::move(s));
    out->kept.add(std::move(tree));
  } catch (const Error&) {
    rethrow_as_stage(stage);
  }
  return DatasetAccess::make(out);
}

// name(inputs..., args..., named...)
Dataset build_call(const std::string& stage, const std::vector<Dataset>& inputs,
                   std::vector<Value> args, Named named) {
  std::vector<Value> all;
  for (size_t i = 0; i < inputs.size(); ++i) all.push_back(name(input_name(i)));
  all.insert(all.end(), args.begin(), args.end());
  return build(stage, call(stage, std::move(all), std::move(named)).expr(), inputs);
}

Value function_value(const std::string& stage, const UserFunction& f) {
  try {
    return f.value();
  } catch (const Error&) {
    rethrow_as_stage(stage);
  }
}

Value strings(const std::vector<std::string>& values) {
  std::vector<Value> items(values.begin(), values.end());
  return list(std::move(items));
}

Dataset slices(Attr values) {
  const std::shared_ptr<Impl> out = derived({});
  const std::string stage = "from_tensor_slices";
  try {
    const OperatorDef* op = OperatorRegistry::instance().find(stage);
    PENSTOCK_CHECK(op && !op->params.empty());
    Attrs args;
    args.set(op->params[0].name, std::move(values));
    out->plan = make_node(*op, {}, std::move(args));
  } catch (const ArgumentError& e) {
    throw Error(e.code, e.param.empty() ? e.message : e.param + ": " + e.message, stage);
  } catch (const Error&) {
    rethrow_as_stage(stage);
  }
  return DatasetAccess::make(out);
}

Dataset from_text(SourcePtr source, const Settings& settings) {
  const std::shared_ptr<Impl> out = derived({});
  BuildOptions options;
  options.settings = settings;
  try {
    BuiltPlan built = build_plan(source, options);
    out->plan = std::move(built.plan);
    for (SourcePtr& s : built.sources) out->kept.add(std::move(s));
    out->kept.add(std::move(source));
  } catch (const Error&) {
    rethrow_as_stage({});
  }
  return DatasetAccess::make(out);
}

}  // namespace

void rethrow_as_stage(const std::string& stage) {
  try {
    throw;
  } catch (const PipeError& e) {
    // The texts that the spans point into may be gone; the message was rendered while they were
    // there.
    std::string text = e.message(), node = stage;
    // "batch: size must be positive: 0": the stage is said apart.
    const std::string& said = e.diagnostics().front().message;
    const std::string first = said.substr(0, said.find(": "));
    const bool others = stage.empty() || stage == "apply";  // a text of several stages
    if (first.size() < said.size() &&
        (first == stage || (others && OperatorRegistry::instance().find(first)))) {
      node = first;
      if (const size_t at = text.find(said); at != std::string::npos)
        text.erase(at, first.size() + 2);
    }
    throw Error(e.code(), std::move(text), node);
  } catch (const Error& e) {
    throw e.at(stage);
  }
}

const std::shared_ptr<const Dataset::Impl>& Dataset::impl() const {
  if (!impl_) throw Error(Code::failed_precondition, "Dataset: was moved from; assign it anew");
  return impl_;
}

RunOptions Dataset::Impl::run_options() const {
  RunOptions out;
  out.threads = options.threads;
  out.memory_bytes = options.memory_bytes;
  out.block_rows = options.block_rows;
  out.latency = options.latency;
  out.marks = options.checkpoints;
  return out;
}

const PlanPtr& Dataset::Impl::to_run() const {
  std::call_once(once_, [this] {
    if (prepared) {
      to_run_ = plan;
      return;
    }
    PrepareOptions prepare;
    prepare.rewrite = prepare.automatic = options.optimize;
    prepare.threads = options.threads > 0 ? options.threads : usable_cores();
    to_run_ = prepare_plan(plan, prepare, nullptr, &filled_);
  });
  return to_run_;
}

Tuning Dataset::Impl::tuning() const {
  to_run();
  return {options.tune && options.optimize, filled_};
}

std::shared_ptr<PipelineState> Dataset::Impl::state() const {
  static auto* mutex = new ForkMutex;
  const std::lock_guard lock(*mutex);
  if (forks_ != fork_count()) {
    const uint64_t iterators = state_->next_iterator();
    state_ = std::make_shared<PipelineState>();
    for (uint64_t i = 0; i < iterators; ++i) state_->next_iterator();
    forks_ = fork_count();
  }
  return state_;
}

const std::shared_ptr<const ElementLayout>& Dataset::Impl::layout() const {
  std::call_once(layout_once_,
                 [this] { layout_ = std::make_shared<const ElementLayout>(plan->spec); });
  return layout_;
}

Dataset Dataset::range(int64_t stop) { return build_call("range", {}, {stop}, {}); }

Dataset Dataset::range(int64_t start, int64_t stop, int64_t step, Named named) {
  return build_call("range", {}, {start, stop, step}, std::move(named));
}

Dataset Dataset::from_tensor_slices(const std::vector<int64_t>& values) {
  return from_tensor_slices(Array::of(values));
}
Dataset Dataset::from_tensor_slices(const std::vector<float>& values) {
  return from_tensor_slices(Array::of(values));
}
Dataset Dataset::from_tensor_slices(const std::vector<std::string>& values) {
  return from_tensor_slices(Array::texts(values));
}
Dataset Dataset::from_tensor_slices(const Array& values) {
  return slices(Attr::of(ArrayAccess::tensor(values)));
}

Dataset Dataset::from_tensor_slices(const std::vector<std::pair<std::string, Array>>& columns) {
  std::vector<std::string> keys;
  std::vector<Attr> items;
  for (const auto& [key, array] : columns) {
    keys.push_back(key);
    items.push_back(Attr::of(ArrayAccess::tensor(array)));
  }
  return slices(Attr::dict(std::move(keys), std::move(items)));
}

Dataset Dataset::from_tensor_slices(const std::vector<Array>& columns) {
  std::vector<Attr> items;
  for (const Array& array : columns) items.push_back(Attr::of(ArrayAccess::tensor(array)));
  return slices(Attr::tuple(std::move(items)));
}

Dataset Dataset::from_memory(const std::vector<Array>& columns,
                             const std::vector<std::string>& keys, const std::string& identity) {
  if (!keys.empty() && keys.size() != columns.size())
    throw Error(Code::invalid_argument,
                "there are " + std::to_string(columns.size()) + " arrays and " +
                    std::to_string(keys.size()) + " keys",
                "from_memory");
  std::vector<std::pair<std::string, Array>> named;
  for (size_t i = 0; i < keys.size(); ++i) named.emplace_back(keys[i], columns[i]);
  const Dataset slices = !keys.empty()         ? from_tensor_slices(named)
                         : columns.size() == 1 ? from_tensor_slices(columns[0])
                                               : from_tensor_slices(columns);
  const PlanPtr& node = slices.impl()->plan;
  const std::shared_ptr<Impl> out = derived({});
  const auto op = memory_operator(node, identity.empty() ? contents_identity(*node) : identity);
  Attrs args;
  args.set("arrays", Attr::text(node->spec.text()));
  args.set("identity", Attr::text(identity));
  out->plan = make_node(*op, {}, std::move(args));
  out->kept.add(op);
  return DatasetAccess::make(out);
}

Dataset Dataset::files(const std::string& pattern, Named named) {
  return build_call("files", {}, {pattern}, std::move(named));
}
Dataset Dataset::tfrecord(const std::string& file, Named named) {
  return build_call("tfrecord", {}, {file}, std::move(named));
}
Dataset Dataset::tfrecord(const std::vector<std::string>& files, Named named) {
  return build_call("tfrecord", {}, {strings(files)}, std::move(named));
}
Dataset Dataset::text_line(const std::string& file, Named named) {
  return build_call("text_line", {}, {file}, std::move(named));
}
Dataset Dataset::text_line(const std::vector<std::string>& files, Named named) {
  return build_call("text_line", {}, {strings(files)}, std::move(named));
}

Dataset Dataset::source(const std::string& name, std::vector<Value> args, Named named) {
  return build_call(name, {}, std::move(args), std::move(named));
}

Dataset Dataset::generator(const ElementType& element, std::function<RowSource()> open,
                           const std::string& identity) {
  const std::shared_ptr<Impl> out = derived({});
  const auto op = generator_operator(element, std::move(open), identity);
  try {
    Attrs args;
    args.set("identity", Attr::text(identity));
    out->plan = make_node(*op, {}, std::move(args));
  } catch (const ArgumentError& e) {
    throw Error(e.code, e.message, op->name);
  }
  out->kept.add(op);
  return DatasetAccess::make(out);
}

Dataset Dataset::parse(const std::string& text, const Settings& settings) {
  return from_text(std::make_shared<const Source>(Source{"text", text}), settings);
}

Dataset Dataset::read(const std::string& path, const Settings& settings) {
  constexpr int64_t kMostBytes = 64 << 20;
  return from_text(std::make_shared<const Source>(Source{path, read_file(path, kMostBytes)}),
                   settings);
}

Dataset Dataset::stage(const std::string& name, std::vector<Value> args, Named named) const {
  return build_call(name, {*this}, std::move(args), std::move(named));
}

Dataset Dataset::map(const UserFunction& f, Named named) const {
  return stage("map", {function_value("map", f)}, std::move(named));
}
Dataset Dataset::filter(const UserFunction& predicate) const {
  return stage("filter", {function_value("filter", predicate)});
}
Dataset Dataset::enumerate(int64_t start) const {
  return start == 0 ? stage("enumerate") : stage("enumerate", {start});
}
Dataset Dataset::flat_map(const UserFunction& f) const {
  return stage("flat_map", {function_value("flat_map", f)});
}
Dataset Dataset::interleave(const UserFunction& f, Named named) const {
  return stage("interleave", {function_value("interleave", f)}, std::move(named));
}
Dataset Dataset::shuffle(int64_t buffer_size, Named named) const {
  return stage("shuffle", {buffer_size}, std::move(named));
}
Dataset Dataset::repeat() const { return stage("repeat"); }
Dataset Dataset::repeat(int64_t count) const { return stage("repeat", {count}); }
Dataset Dataset::take(int64_t count) const { return stage("take", {count}); }
Dataset Dataset::skip(int64_t count) const { return stage("skip", {count}); }
Dataset Dataset::shard(int64_t num_shards, int64_t index) const {
  return stage("shard", {num_shards, index});
}

Dataset Dataset::batch(int64_t size, bool drop_remainder, Named named) const {
  if (drop_remainder) named.emplace_back("drop_remainder", true);
  return stage("batch", {size}, std::move(named));
}

Dataset Dataset::padded_batch(int64_t size, Named named) const {
  return stage("padded_batch", {size}, std::move(named));
}

Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  std::vector<Value> items;
  for (size_t i = 0; i < datasets.size(); ++i) items.push_back(name(input_name(i)));
  return build("zip", call("zip", {tuple(std::move(items))}).expr(), datasets);
}

Dataset Dataset::zip(const std::vector<std::pair<std::string, Dataset>>& datasets) {
  Named items;
  std::vector<Dataset> inputs;
  for (const auto& [key, dataset] : datasets) {
    items.emplace_back(key, name(input_name(inputs.size())));
    inputs.push_back(dataset);
  }
  return build("zip", call("zip", {dict(std::move(items))}).expr(), inputs);
}

Dataset Dataset::combine(const std::string& name, const std::vector<Dataset>& datasets,
                         std::vector<Value> args, Named named) {
  return build(name, call(name, std::move(args), std::move(named)).expr(), datasets);
}

Value Dataset::input(size_t i) { return name(input_name(i)); }

Dataset Dataset::concatenate(const Dataset& other) const {
  return build_call("concatenate", {*this, other}, {}, {});
}
Dataset Dataset::cache() const { return stage("cache"); }
Dataset Dataset::cache(const std::string& path) const { return stage("cache", {path}); }
Dataset Dataset::prefetch() const { return stage("prefetch"); }
Dataset Dataset::prefetch(int64_t buffer_size) const { return stage("prefetch", {buffer_size}); }

Dataset Dataset::apply(const std::string& stages) const {
  struct Parsed {
    SourcePtr source;
    ExprPtr tree;
  };
  auto parsed = std::make_shared<Parsed>();
  ExprPtr tree;
  try {
    parsed->source = std::make_shared<const Source>(Source{"apply", stages});
    parsed->tree = parse_expression(parsed->source);
    // a | b | c becomes _input | a | b | c.
    std::vector<ExprPtr> calls;
    ExprPtr at = parsed->tree;
    for (; at->kind == Expr::Kind::pipe; at = at->items[0]) calls.push_back(at);
    if (at->kind != Expr::Kind::call)
      throw PipeError(at->span, "expected a stage: name(arguments)");
    auto pipe = [](ExprPtr left, const ExprPtr& call, Span span) {
      Expr e = of_kind(Expr::Kind::pipe);
      e.span = span;
      e.items = {std::move(left), call};
      return made(std::move(e));
    };
    tree = pipe(made(of_kind(Expr::Kind::name, input_name(0))), at, at->span);
    for (size_t i = calls.size(); i-- > 0;)
      tree = pipe(std::move(tree), calls[i]->items[1], calls[i]->span);
  } catch (const Error&) {
    rethrow_as_stage("apply");
  }
  const Expr* top = tree.get();
  struct Whole {
    std::shared_ptr<Parsed> parsed;
    ExprPtr tree;
  };
  return build(
      "apply",
      ExprPtr(std::make_shared<const Whole>(Whole{std::move(parsed), std::move(tree)}), top),
      {*this});
}

ElementSpec Dataset::element_spec() const { return to_element_spec(impl()->plan->spec); }
int64_t Dataset::cardinality() const { return impl()->plan->cardinality; }
std::string Dataset::text() const { return format_program(unparse(*impl()->plan)); }
const Options& Dataset::options() const { return impl()->options; }

Dataset Dataset::with_options(const Options& options) const {
  const auto out = std::make_shared<Impl>();
  out->kept = impl()->kept;
  out->plan = impl()->plan;
  out->environment = impl()->environment;
  out->prepared = impl()->prepared;
  out->options = options;
  if (options.threads < 0)
    throw Error(Code::invalid_argument,
                "threads must not be negative: " + std::to_string(options.threads));
  if (options.memory_bytes < 0) {
    throw Error(Code::invalid_argument,
                "memory_bytes must not be negative: " + std::to_string(options.memory_bytes));
  }
  if (options.block_rows < 1)
    throw Error(Code::invalid_argument,
                "block_rows must be positive: " + std::to_string(options.block_rows));
  return Dataset(out);
}

Dataset Dataset::optimized() const {
  const std::shared_ptr<Impl> out = derived({*this});
  PrepareOptions prepare;
  prepare.threads = impl()->options.threads > 0 ? impl()->options.threads : usable_cores();
  out->plan = prepare_plan(impl()->plan, prepare, nullptr);
  out->prepared = true;
  return Dataset(out);
}

Dataset Dataset::nested(const Element& element) {
  const std::shared_ptr<Impl> out = derived({});
  std::shared_ptr<const void> owner;
  const std::shared_ptr<const DatasetValue> dataset = ElementAccess::dataset(element, &owner);
  out->plan = dataset->plan();
  out->prepared = true;  // with the plan that it is a part of
  for (const Tensor& t : dataset->environment()) out->environment.push_back(t.copy());
  out->kept.add(std::move(owner));
  return Dataset(out);
}

Element Dataset::value() const {
  const PlanPtr& plan = impl()->to_run();
  if (!plan->op->sink)
    throw Error(Code::failed_precondition, "the pipeline gives elements, not a value",
                plan->op->name);
  return ElementAccess::of(plan->spec, run_sink(plan, impl()->run_options(), impl()->state()));
}

std::string Dataset::fingerprint() const { return stage("fingerprint").value()["identity"].text(); }
Element Dataset::at(int64_t index) const { return stage("at", {index}).value(); }
Element Dataset::get_single_element() const { return stage("get_single_element").value(); }

Element Dataset::reduce(const Value& initial, const UserFunction& f) const {
  return stage("reduce", {initial, function_value("reduce", f)}).value();
}

}  // namespace penstock
