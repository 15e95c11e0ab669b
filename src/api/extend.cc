#include "penstock/extend.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "api/element.h"
#include "base/cancellation.h"
#include "datasets/datasets.h"
#include "plan/node.h"
#include "runtime/open.h"

namespace penstock {
namespace {

constexpr int64_t kTurnNs = 1'000'000;  // rows are handed on at least so often

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
  if (!given)
    throw Error(Code::invalid_argument, what + ": " + name + ": `" + field + "` is not set");
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
  return type.shape ? Shape(*type.shape) : Shape::unknown_rank();
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
    items.push_back(Spec::tensor(to_dtype(part.type), to_shape(part)));
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
        } else {
          ended_ = true;
        }
      } catch (...) {
        error_ = current_error();
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
    if (!thread_.joinable() && !finished_) thread_ = std::thread([this] { work(); });
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
      source = open_([this](std::vector<Array>* row) { return read(row); });
    } catch (...) {
      error_ = current_error();
      return;
    }
    for (;;) {
      bool full = false;
      try {
        std::vector<Array> row;
        if (!source(&row)) return;
        rows_.add(row);
        full = rows_.count() >= most_ || now_ns() - turn_start_ns_ > kTurnNs;
      } catch (...) {
        if (stopped()) return;
        error_ = current_error();
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
      declared.push_back(LeafSpec::tensor(to_dtype(type.type), to_shape(type)));
    }
    std::vector<Tensor> outputs = checked_row(state.op->row(inputs, state.arguments), declared);
    if (outputs.size() != call.outputs.size())
      throw Error(Code::invalid_argument, "`infer` gives another number of outputs now");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dtype() != call.outputs[i].dtype())
        throw Error(Code::invalid_argument, "`infer` gives another dtype now");
      call.outputs[i].set(std::move(outputs[i]));
    }
  } catch (const Error& e) {
    throw Error(e.code(), state.op->name + ": " + e.message());
  } catch (const std::exception& e) {
    throw Error(Code::unknown, state.op->name + ": " + e.what());
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
    try {
      ElementType outputs;
      outputs.parts = op->infer(inputs, to_arguments(op->parameters, context.attrs));
      if (outputs.parts.empty()) context.fail("`infer` gives no output");
      return to_spec(outputs);
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
    try {
      draft.node.spec = to_spec(source->element(to_arguments(source->parameters, draft.node.args)));
    } catch (const Error& e) {
      NodeDraft::fail({}, e.message(), e.code());
    }
  };
  def.open = [source](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    RowSource rows = source->open(to_arguments(source->parameters, node->args));
    return std::make_unique<RowSourceCursor>(std::move(rows), node->spec, context);
  };
  OperatorRegistry::instance().add(std::move(def));
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
    try {
      draft.node.spec = op->element
                            ? to_spec(op->element(to_element_type(input),
                                                  to_arguments(op->parameters, draft.node.args)))
                            : input;
    } catch (const Error& e) {
      NodeDraft::fail({}, e.message(), e.code());
    }
  };
  def.open = [op](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    auto open = [op, arguments = to_arguments(op->parameters, node->args)](RowSource input) {
      return op->open(std::move(input), arguments);
    };
    return std::make_unique<RowOperatorCursor>(std::move(open), context.open_input(*node),
                                               node->spec, context);
  };
  OperatorRegistry::instance().add(std::move(def));
}

}  // namespace penstock
