#include "penstock/extend.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "api/element.h"
#include "api/generator.h"
#include "api/user_error.h"
#include "base/cancellation.h"
#include "base/start_thread.h"
#include "datasets/datasets.h"
#include "plan/node.h"
#include "plan/user_code.h"
#include "runtime/open.h"

namespace penstock {
namespace {

constexpr int64_t kTurnNs = 1'000'000;  // rows are handed on at least so often
constexpr int kMostThrows = 1000;       // of a RowSource, one after the other

void check_name(const std::string& what, const std::string& name) {
  const auto word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool good = !name.empty() && word(name[0]) && std::ranges::all_of(name, [&](char c) {
    return word(c) || (c >= '0' && c <= '9');
  });
  if (!good) throw Error(Code::invalid_argument, what + ": not a name: " + name);
}

void check_free(const std::string& what, const std::string& name) {
  register_datasets();
  check_name(what, name);
  if (OpRegistry::instance().find(name) || OperatorRegistry::instance().find(name) ||
      parse_dtype(name)) {
    throw Error(Code::already_exists, what + ": the name is taken: " + name);
  }
}

void check_given(const std::string& what, const std::string& name, bool given, const char* field) {
  if (given) return;
  const std::string who = name.empty() ? what : what + ": " + name;
  throw Error(Code::invalid_argument, who + ": `" + field + "` is not set");
}

Param to_param(const Parameter& p) {
  check_name("parameter", p.name);
  Param::Kind kind = Param::Kind::integer;
  switch (p.kind) {
    case Parameter::Kind::integer: kind = Param::Kind::integer; break;
    case Parameter::Kind::number: kind = Param::Kind::floating; break;
    case Parameter::Kind::boolean: kind = Param::Kind::boolean; break;
    case Parameter::Kind::text: kind = Param::Kind::text; break;
  }
  if (!p.fallback) return required(p.name, kind);
  if (p.fallback->index() != static_cast<size_t>(p.kind)) {
    throw Error(Code::invalid_argument, "parameter " + p.name + ": its default is of another kind");
  }
  Attr fallback;
  switch (p.kind) {
    case Parameter::Kind::integer: fallback = Attr::integer(std::get<int64_t>(*p.fallback)); break;
    case Parameter::Kind::number: fallback = Attr::floating(std::get<double>(*p.fallback)); break;
    case Parameter::Kind::boolean: fallback = Attr::boolean(std::get<bool>(*p.fallback)); break;
    case Parameter::Kind::text: fallback = Attr::text(std::get<std::string>(*p.fallback)); break;
  }
  return optional(p.name, kind, std::move(fallback));
}

Arguments to_arguments(const std::vector<Parameter>& parameters, const Attrs& attrs) {
  std::vector<std::pair<std::string, ArgumentValue>> out;
  for (const Parameter& p : parameters) {
    const Attr& a = attrs[p.name];
    switch (p.kind) {
      case Parameter::Kind::integer: out.emplace_back(p.name, a.as_int()); break;
      case Parameter::Kind::number: out.emplace_back(p.name, a.as_float()); break;
      case Parameter::Kind::boolean: out.emplace_back(p.name, a.as_bool()); break;
      case Parameter::Kind::text: out.emplace_back(p.name, a.as_string()); break;
    }
  }
  return Arguments(std::move(out));
}

Shape to_shape(const ArrayType& type) {
  if (!type.shape) return Shape::unknown_rank();
  if (type.shape->size() > static_cast<size_t>(kMaxRank)) {
    throw Error(Code::invalid_argument, "an array type has rank " +
                                            std::to_string(type.shape->size()) + ", at most " +
                                            std::to_string(kMaxRank) + " is possible");
  }
  for (const int64_t size : *type.shape) {
    if (size < -1)
      throw Error(Code::invalid_argument,
                  "a size of an array type must be -1 (unknown) or more: " + std::to_string(size));
  }
  return Shape(*type.shape);
}

DType to_checked_dtype(Type type) {
  const int number = static_cast<int>(type);
  if (number < kDTypeCount) return to_dtype(type);
  throw Error(Code::invalid_argument, "no Type has the number " + std::to_string(number));
}

ArrayType to_array_type(DType dtype, const Shape& shape) {
  ArrayType out;
  out.type = to_type(dtype);
  out.shape = shape.has_rank() ? std::optional(shape.sizes()) : std::nullopt;
  return out;
}

Spec to_spec(const ElementType& element) {
  std::vector<Spec> items;
  for (const ArrayType& part : element.parts)
    items.push_back(Spec::tensor(to_checked_dtype(part.type), to_shape(part)));
  if (!element.keys.empty()) {
    if (element.keys.size() != items.size()) {
      throw Error(Code::invalid_argument, "the element type has " + std::to_string(items.size()) +
                                              " parts and " + std::to_string(element.keys.size()) +
                                              " keys");
    }
    return Spec::dict(element.keys, std::move(items));
  }
  return items.size() == 1 ? items[0] : Spec::tuple(std::move(items));
}

ElementType to_element_type(const Spec& spec) {
  ElementType out;
  for (const LeafSpec& leaf : spec.leaves())
    out.parts.push_back(to_array_type(leaf.dtype, leaf.shape));
  if (spec.kind == Spec::Kind::dict && spec.keys.size() == out.parts.size()) out.keys = spec.keys;
  return out;
}

UserCode user_code(const std::string& identity,
                   const std::string& remedy = "set `identity` in its definition") {
  if (!identity.empty()) return {identity, true};
  // Identity of this piece of code, valid in this process alone.
  static const uint64_t random = [] {
    std::random_device device;
    return (uint64_t{device()} << 32) | device();
  }();
  static std::atomic<uint64_t> count{0};
  return {"process " + std::to_string(random) + " " + std::to_string(getpid()) + " code " +
              std::to_string(++count),
          false, remedy};
}

// Counts what a RowSource throws without getting anywhere.
class Throws {
 public:
  void reset() { count_ = 0; }
  // The exception in flight, and whether the pass ends with it.
  ErrorPtr add(bool* ends) {
    ErrorPtr error = current_user_error();
    *ends = ++count_ == kMostThrows;
    if (!*ends || error->code() == Code::cancelled) return error;
    return std::make_shared<const Error>(error->code(),
                                         error->message() + " (thrown " + std::to_string(count_) +
                                             " times without an element between: the pass ends)",
                                         error->node());
  }

 private:
  int count_ = 0;
};

RowSource opened(const std::function<RowSource()>& open) {
  RowSource out = call_user(open);
  if (!out) throw Error(Code::invalid_argument, "`open` returned a callable that is empty");
  return out;
}

std::string text_of(DType dtype, const std::string& shape) {
  return std::string(dtype_name(dtype)) + shape;
}

// Row arrays as tensors; throws where they are not what was declared.
std::vector<Tensor> checked_row(const std::vector<Array>& row, std::span<const LeafSpec> declared) {
  if (row.size() != declared.size()) {
    throw Error(Code::invalid_argument, "gave " + std::to_string(row.size()) +
                                            " arrays, declared " + std::to_string(declared.size()));
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < row.size(); ++i) {
    Tensor t = ArrayAccess::tensor(row[i]);
    if (t.dtype() != declared[i].dtype || !declared[i].shape.admits(t.dims())) {
      throw Error(Code::invalid_argument, "array " + std::to_string(i) + " is " +
                                              text_of(t.dtype(), t.dims().text()) + ", declared " +
                                              declared[i].text());
    }
    out.push_back(std::move(t));
  }
  return out;
}

Column to_column(DType dtype, std::vector<Tensor> rows) {
  const Dims dims = rows[0].dims();
  const auto count = static_cast<int64_t>(rows.size());
  const bool one_shape =
      std::ranges::all_of(rows, [&](const Tensor& t) { return t.dims() == dims; });
  if (dtype == DType::bytes && one_shape && dims.rank() == 0) {
    std::vector<std::string_view> views;
    for (const Tensor& t : rows) views.push_back(bytes_at(t));
    Tensor all = Tensor::of_strings(views);
    return Column::dense(dtype, dims, count, all.buffer(), all.mutable_data());
  }
  constexpr int64_t kSmall = 64 << 10;
  const int64_t bytes = rows[0].data_bytes();
  if (dtype == DType::bytes || !one_shape || bytes > kSmall)
    return Column::variable(dtype, std::move(rows));
  Column out = Column::dense(dtype, dims, count);
  for (size_t i = 0; i < rows.size() && bytes > 0; ++i) {
    std::memcpy(out.mutable_data() + i * static_cast<size_t>(bytes), rows[i].data(),
                static_cast<size_t>(bytes));
  }
  return out;
}

// Rows being collected into a block.
class Rows {
 public:
  explicit Rows(const Spec& spec) : leaves_(spec.leaves()), columns_(leaves_.size()) {}
  void add(const std::vector<Array>& row) {
    std::vector<Tensor> tensors = checked_row(row, leaves_);
    for (size_t i = 0; i < tensors.size(); ++i) columns_[i].push_back(std::move(tensors[i]));
    ++count_;
  }
  int64_t count() const { return count_; }
  void finish(Block* out, const Origin& origin) {
    out->clear();
    out->rows = std::exchange(count_, 0);
    for (size_t i = 0; i < columns_.size(); ++i)
      out->columns.push_back(to_column(leaves_[i].dtype, std::exchange(columns_[i], {})));
    out->origin = origin;
  }

 private:
  const std::vector<LeafSpec> leaves_;
  std::vector<std::vector<Tensor>> columns_;
  int64_t count_ = 0;
};

class RowSourceCursor final : public Cursor {
 public:
  RowSourceCursor(RowSource source, const Spec& spec, const OpenContext& context)
      : source_(std::move(source)), rows_(spec), run_(context.run), context_(context) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (error_) throw Error(*std::exchange(error_, nullptr));
    const int64_t start = now_ns();
    const int64_t most = std::min(pull.max_rows, run_->options().block_rows);
    while (!ended_ && rows_.count() < most) {
      run_->check_cancelled();
      try {
        std::vector<Array> row;
        if (source_(&row)) {
          rows_.add(row);
          throws_.reset();
        } else {
          ended_ = true;
        }
      } catch (...) {
        error_ = throws_.add(&ended_);
        break;
      }
      if (now_ns() - start > kTurnNs) break;
    }
    if (rows_.count() > 0) {
      const int64_t first = position_;
      position_ += rows_.count();
      rows_.finish(out, source_origin(context_, first));
      return Poll::ready;
    }
    if (error_) throw Error(*std::exchange(error_, nullptr));
    return Poll::end;
  }

 private:
  RowSource source_;
  Rows rows_;
  Run* const run_;
  const OpenContext context_;
  int64_t position_ = 0;
  bool ended_ = false;
  Throws throws_;
  ErrorPtr error_;
};

// The user's code pulls its input and may not be left while it does, so it runs on a thread of its
// own that takes turns with the cursor: one of the two works at any time, and whoever has the turn
// owns all fields.
class RowOperatorCursor final : public Cursor {
 public:
  RowOperatorCursor(std::function<RowSource(RowSource)> open, CursorPtr input, const Spec& spec,
                    const OpenContext& context)
      : open_(std::move(open)),
        input_(std::move(input)),
        rows_(spec),
        run_(context.run),
        context_(context) {}
  ~RowOperatorCursor() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      turn_.notify_all();
    }
    thread_.join();
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (!thread_.joinable() && !finished_ && !start_thread(&thread_, [this] { work(); })) {
      finished_ = true;
      throw no_thread_error("for an operator of the program");
    }
    for (;;) {
      if (rows_.count() > 0) {
        const int64_t first = position_;
        position_ += rows_.count();
        rows_.finish(out, source_origin(context_, first));
        return Poll::ready;
      }
      if (error_) throw Error(*std::exchange(error_, nullptr));
      if (finished_) return Poll::end;
      if (wants_input_) {
        const Poll poll = input_->pull(&in_, pull);
        if (poll == Poll::pending) return poll;
        input_ended_ = poll == Poll::end;
        if (input_ended_) in_.clear();
        row_ = 0;
        wants_input_ = false;
      }
      run_->check_cancelled();
      most_ = std::min(pull.max_rows, run_->options().block_rows);
      turn_start_ns_ = now_ns();
      std::unique_lock lock(mutex_);
      workers_turn_ = true;
      turn_.notify_all();
      turn_.wait(lock, [this] { return !workers_turn_; });
    }
  }

 private:
  // The worker's side. False when the cursor goes away.
  bool wait_for_turn(std::unique_lock<std::mutex>& lock) {
    turn_.wait(lock, [this] { return workers_turn_ || stop_; });
    return !stop_;
  }
  bool give_turn() {
    std::unique_lock lock(mutex_);
    workers_turn_ = false;
    turn_.notify_all();
    return wait_for_turn(lock);
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stop_;
  }

  bool read(std::vector<Array>* out) {
    while (row_ == in_.rows) {
      if (input_ended_) return false;
      wants_input_ = true;
      if (stopped() || !give_turn()) throw Error(Code::cancelled, "cancelled");
    }
    const int64_t row = row_++;
    throws_.reset();
    if (const ErrorPtr* error = in_.error_at(row)) throw Error(**error);
    out->clear();
    for (const Column& c : in_.columns) out->push_back(ArrayAccess::of(c.row(row)));
    return true;
  }

  void work() {
    const ScopedPool pool(&run_->pool());
    const ScopedCancellation cancellation(run_->cancel_flag());
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_turn(lock)) return;
    }
    produce();
    const std::lock_guard lock(mutex_);
    finished_ = true;
    workers_turn_ = false;
    turn_.notify_all();
  }

  // Until the end or until the cursor goes away.
  void produce() {
    RowSource source;
    try {
      source = opened([this] { return open_([this](std::vector<Array>* r) { return read(r); }); });
    } catch (...) {
      error_ = current_error();
      return;
    }
    for (bool ended = false; !ended;) {
      bool full = false;
      try {
        std::vector<Array> row;
        if (!source(&row)) return;
        rows_.add(row);
        throws_.reset();
        full = rows_.count() >= most_ || now_ns() - turn_start_ns_ > kTurnNs;
      } catch (...) {
        if (stopped()) return;
        error_ = throws_.add(&ended);
        full = true;
      }
      if (full && !give_turn()) return;
    }
  }

  const std::function<RowSource(RowSource)> open_;
  const CursorPtr input_;
  Rows rows_;
  Run* const run_;
  const OpenContext context_;
  Block in_;
  int64_t row_ = 0;  // of in_, the next to be read
  int64_t most_ = 1;
  int64_t turn_start_ns_ = 0;
  int64_t position_ = 0;
  bool wants_input_ = false, input_ended_ = false, finished_ = false;
  Throws throws_;
  ErrorPtr error_;
  std::mutex mutex_;  // of the turn
  std::condition_variable turn_;
  bool workers_turn_ = false, stop_ = false;
  std::thread thread_;
};

struct OpState {
  std::shared_ptr<const OpDefinition> op;
  Arguments arguments;
};

void run_row(const RowCall& call) {
  const OpState& state = *static_cast<const OpState*>(call.state);
  try {
    std::vector<Array> inputs;
    std::vector<ArrayType> types;
    for (const Tensor& t : call.inputs) {
      inputs.push_back(ArrayAccess::of(t));
      types.push_back(to_array_type(t.dtype(), Shape(t.dims())));
    }
    // What is promised for these very shapes is checked: memory is laid out by it.
    std::vector<LeafSpec> declared;
    for (const ArrayType& type : state.op->infer(types, state.arguments)) {
      declared.push_back(LeafSpec::tensor(to_checked_dtype(type.type), to_shape(type)));
    }
    std::vector<Tensor> outputs = checked_row(state.op->row(inputs, state.arguments), declared);
    if (outputs.size() != call.outputs.size())
      throw Error(Code::invalid_argument, "`infer` gives another number of outputs now");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dtype() != call.outputs[i].dtype())
        throw Error(Code::invalid_argument, "`infer` gives another dtype now");
      call.outputs[i].set(std::move(outputs[i]));
    }
  } catch (...) {
    const ErrorPtr error = current_user_error();
    throw Error(error->code(), state.op->name + ": " + error->message());
  }
}

void infer_element(NodeDraft* draft, const std::function<ElementType()>& element) {
  try {
    draft->node.spec = to_spec(call_user(element));
  } catch (const Error& e) {
    NodeDraft::fail({}, e.message(), e.code());
  }
}

}  // namespace

const ArgumentValue& Arguments::at(const std::string& name) const {
  const auto it = std::ranges::find(values_, name, &std::pair<std::string, ArgumentValue>::first);
  if (it == values_.end()) throw Error(Code::not_found, "there is no parameter `" + name + "`");
  return it->second;
}

void register_op(OpDefinition definition) {
  const std::string what = "register_op";
  check_free(what, definition.name);
  check_given(what, definition.name, static_cast<bool>(definition.infer), "infer");
  check_given(what, definition.name, static_cast<bool>(definition.row), "row");
  const auto op = std::make_shared<const OpDefinition>(std::move(definition));
  OpDef def;
  def.name = op->name;
  def.doc = op->doc;
  def.group = "extensions";
  for (const std::string& input : op->inputs) {
    check_name(what, input);
    def.params.push_back(required(input, Param::Kind::tensor));
  }
  for (const Parameter& p : op->parameters) def.params.push_back(to_param(p));
  def.infer = [op](const InferContext& context) {
    std::vector<ArrayType> inputs;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const LeafSpec& leaf = context.tensor(static_cast<int>(i));
      inputs.push_back(to_array_type(leaf.dtype, leaf.shape));
    }
    const auto outputs = [&]() -> ElementType {
      return {op->infer(inputs, to_arguments(op->parameters, context.attrs)), {}};
    };
    try {
      const ElementType made = call_user(outputs);
      if (made.parts.empty()) context.fail("`infer` gives no output");
      return to_spec(made);
    } catch (const Error& e) {
      context.fail(e.message());
    }
  };
  def.prepare = [op](const Attrs& attrs) -> std::shared_ptr<const void> {
    return std::make_shared<const OpState>(OpState{op, to_arguments(op->parameters, attrs)});
  };
  def.row = run_row;
  def.effects = op->effect == Effect::pure ? Effects::pure : Effects::stateful;
  def.can_fail = true;
  def.cost_ns = 1000;
  OpRegistry::instance().add(std::move(def));
  set_user_code(OpRegistry::instance().find(op->name), user_code(op->identity));
}

std::shared_ptr<const OperatorDef> generator_operator(const ElementType& element,
                                                      std::function<RowSource()> open,
                                                      const std::string& identity) {
  check_given("generator", "", static_cast<bool>(open), "open");
  const auto forget = [](const OperatorDef* op) {
    forget_user_code(op);
    delete op;
  };
  const std::shared_ptr<OperatorDef> def(new OperatorDef, forget);
  def->name = "generator";
  def->source = true;
  def->params = {optional("identity", Param::Kind::text, Attr::text(""))};
  def->infer = [element](NodeDraft& draft) { infer_element(&draft, [&] { return element; }); };
  def->open = [open = std::move(open)](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<RowSourceCursor>(opened(open), node->spec, context);
  };
  set_user_code(def.get(),
                user_code(identity, "give one to Dataset::generator, its third argument"));
  return def;
}

void register_source(SourceDefinition definition) {
  const std::string what = "register_source";
  check_free(what, definition.name);
  check_given(what, definition.name, static_cast<bool>(definition.element), "element");
  check_given(what, definition.name, static_cast<bool>(definition.open), "open");
  const auto source = std::make_shared<const SourceDefinition>(std::move(definition));
  OperatorDef def;
  def.name = source->name;
  def.doc = source->doc;
  def.source = true;
  for (const Parameter& p : source->parameters) def.params.push_back(to_param(p));
  def.infer = [source](NodeDraft& draft) {
    infer_element(
        &draft, [&] { return source->element(to_arguments(source->parameters, draft.node.args)); });
  };
  def.open = [source](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    RowSource rows =
        opened([&] { return source->open(to_arguments(source->parameters, node->args)); });
    return std::make_unique<RowSourceCursor>(std::move(rows), node->spec, context);
  };
  OperatorRegistry::instance().add(std::move(def));
  set_user_code(OperatorRegistry::instance().find(source->name), user_code(source->identity));
}

void register_dataset_operator(DatasetOperatorDefinition definition) {
  const std::string what = "register_dataset_operator";
  check_free(what, definition.name);
  check_given(what, definition.name, static_cast<bool>(definition.open), "open");
  const auto op = std::make_shared<const DatasetOperatorDefinition>(std::move(definition));
  OperatorDef def;
  def.name = op->name;
  def.doc = op->doc;
  def.params.push_back(required("input", Param::Kind::dataset));
  for (const Parameter& p : op->parameters) def.params.push_back(to_param(p));
  def.infer = [op](NodeDraft& draft) {
    const Spec& input = draft.input().spec;
    for (const LeafSpec& leaf : input.leaves()) {
      if (!leaf.is_tensor())
        NodeDraft::fail("input", "its elements must be tensors: " + input.text());
    }
    draft.node.spec = input;
    if (!op->element) return;
    infer_element(&draft, [&] {
      return op->element(to_element_type(input), to_arguments(op->parameters, draft.node.args));
    });
  };

  def.open = [op](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    auto open = [op, arguments = to_arguments(op->parameters, node->args)](RowSource input) {
      return op->open(std::move(input), arguments);
    };
    return std::make_unique<RowOperatorCursor>(std::move(open), context.open_input(*node),
                                               node->spec, context);
  };
  OperatorRegistry::instance().add(std::move(def));
  set_user_code(OperatorRegistry::instance().find(op->name), user_code(op->identity));
}

}  // namespace penstock
