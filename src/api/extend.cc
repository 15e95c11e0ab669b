#include "penstock/extend.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "api/element.h"
#include "api/generator.h"
#include "api/recorded.h"
#include "api/row_cursors.h"
#include "api/user_error.h"
#include "api/user_rows.h"
#include "datasets/datasets.h"
#include "datasets/resharding.h"
#include "plan/node.h"
#include "plan/user_code.h"
#include "runtime/open.h"

namespace penstock {
namespace {

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

// Facts that contradict each other.
void check_facts(const std::string& what, const DatasetOperatorDefinition& op) {
  const OperatorFacts& facts = op.facts;
  const bool one_by_one = facts.relation == Relation::same || facts.relation == Relation::subset;
  const auto refuse = [&](const std::string& why) {
    throw Error(Code::invalid_argument, what + ": " + op.name + ": " + why);
  };
  if (facts.hands_on && !one_by_one) refuse("hands_on needs Relation::same or Relation::subset");
  if (facts.hands_on && op.element)
    refuse("hands_on says that elements keep their type: `element` must not be set");
  if (facts.stateless && !one_by_one) refuse("stateless needs Relation::same or Relation::subset");
  if (facts.cuts && facts.relation == Relation::same)
    refuse("cuts says that elements of the input are missing, Relation::same that none is");
}

void state_facts(const OperatorFacts& facts, OperatorDef* def) {
  switch (facts.relation) {
    case Relation::unknown: def->rows = Rows::unknown; break;
    case Relation::same: def->rows = Rows::same; break;
    case Relation::subset: def->rows = Rows::subset; break;
    case Relation::multiply: def->rows = Rows::multiply; break;
    case Relation::regroup: def->rows = Rows::regroup; break;
  }
  def->hands_on = facts.hands_on;
  def->cuts = facts.cuts;
  def->random = facts.random;
  def->passes_marks = facts.stateless;
  def->promises_cardinality = facts.relation == Relation::same;
  if (facts.stateless) {
    def->resharding =
        facts.relation == Relation::same ? resharding_row_by_row() : resharding_subset();
  }
}

std::optional<int64_t> promised_elements(const SourceDefinition& source,
                                         const Arguments& arguments) {
  if (!source.cardinality) return {};
  const std::optional<int64_t> out = call_user([&] { return source.cardinality(arguments); });
  if (out && *out < -1)
    throw Error(Code::invalid_argument,
                "`cardinality` must be -1 (without end) or more: " + std::to_string(*out));
  return out;
}

void infer_cardinality(const SourceDefinition& source, NodeDraft* draft) {
  try {
    const std::optional<int64_t> promised =
        promised_elements(source, to_arguments(source.parameters, draft->node.args));
    if (promised) draft->node.cardinality = *promised < 0 ? kInfinite : *promised;
  } catch (const Error& e) {
    NodeDraft::fail({}, e.message(), e.code());
  }
}

void infer_element(NodeDraft* draft, const std::function<ElementType()>& element) {
  try {
    draft->node.spec = to_spec(call_user(element));
  } catch (const Error& e) {
    NodeDraft::fail({}, e.message(), e.code());
  }
}

// An op of a user's as the engine knows it.
OpDef to_op_def(const std::string& what, OpDefinition definition) {
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
  def.can_fail = !op->never_fails;
  def.elementwise = op->elementwise;
  def.reads_files = op->reads_files;
  def.cost_ns = op->nanoseconds;
  return def;
}

}  // namespace

const ArgumentValue& Arguments::at(const std::string& name) const {
  const auto it = std::ranges::find(values_, name, &std::pair<std::string, ArgumentValue>::first);
  if (it == values_.end()) throw Error(Code::not_found, "there is no parameter `" + name + "`");
  return it->second;
}

void register_op(OpDefinition definition) {
  const std::string name = definition.name, identity = definition.identity;
  OpRegistry::instance().add(to_op_def("register_op", std::move(definition)));
  set_user_code(OpRegistry::instance().find(name), user_code(identity));
}

OwnOp::OwnOp(OpDefinition definition) {
  const std::string identity = definition.identity;
  const auto forget = [](const OpDef* op) {
    forget_user_code(op);
    delete op;
  };
  op_ = std::shared_ptr<const OpDef>(new OpDef(to_op_def("OwnOp", std::move(definition))), forget);
  set_user_code(op_.get(), user_code(identity));
}

Value OwnOp::operator()(std::vector<Value> args, Named named) const {
  return call_own(op_, std::move(args), named);
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
    return open_row_source(open, *node, context);
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
    infer_cardinality(*source, &draft);
  };
  def.random = source->random;
  def.promises_cardinality = static_cast<bool>(source->cardinality);
  def.open = [source](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Arguments arguments = to_arguments(source->parameters, node->args);
    const auto open = [&] { return source->open(arguments); };
    return open_row_source(open, *node, context, promised_elements(*source, arguments));
  };
  OperatorRegistry::instance().add(std::move(def));
  set_user_code(OperatorRegistry::instance().find(source->name), user_code(source->identity));
}

void register_dataset_operator(DatasetOperatorDefinition definition) {
  const std::string what = "register_dataset_operator";
  check_free(what, definition.name);
  check_given(what, definition.name, static_cast<bool>(definition.open), "open");
  check_facts(what, definition);
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
    if (op->facts.relation == Relation::same) draft.node.cardinality = draft.input().cardinality;
    if (!op->element) return;
    infer_element(&draft, [&] {
      return op->element(to_element_type(input), to_arguments(op->parameters, draft.node.args));
    });
  };
  state_facts(op->facts, &def);
  def.open = [op](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    auto open = [op, arguments = to_arguments(op->parameters, node->args)](RowSource input) {
      return op->open(std::move(input), arguments);
    };
    return open_row_operator(std::move(open), context.open_input(*node), *node, context, op->facts);
  };
  OperatorRegistry::instance().add(std::move(def));
  set_user_code(OperatorRegistry::instance().find(op->name), user_code(op->identity));
}

}  // namespace penstock
