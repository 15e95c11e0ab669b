// Values and nodes of a function as expressions.

#include <algorithm>

#include "functions/kernels/control/control.h"
#include "plan/spelling.h"
#include "plan/unparse_function.h"

namespace penstock::unparsing {
namespace {

std::string_view call_name(const FunctionNode& node, DType first) {
  const Spelling spelling = spelling_of(node.op->name);
  const bool strings = first == DType::bytes;
  const bool written = spelling.form == Form::plain ||
                       (spelling.form == Form::of_strings && strings) ||
                       (spelling.form == Form::of_others && !strings);
  return written ? spelling.text : spelling.op;
}

bool all_defaults(const FunctionNode& node) {
  return std::ranges::all_of(node.op->params, [&](const Param& p) {
    const Attr* given = node.attrs.find(p.name);
    return !given || *given == p.fallback;
  });
}

}  // namespace

Place FunctionUnparser::place_of(const FunctionNode& node, size_t i) const {
  const DType dtype = function_.type(node.inputs[i]).dtype;
  if (node.op->literal_as_first == static_cast<int>(i)) {
    return dtype == function_.type(node.inputs[0]).dtype ? Place::opposite : Place::mixed;
  }
  // A literal would be cast as it is read.
  if (spelling_of(node.op->name).form == Form::cast) return Place::mixed;
  size_t first = 0;
  if (!unifies_literals(*node.op, node.inputs.size(), &first) || i < first) return Place::alone;
  bool typed = false;
  for (size_t k = first; k < node.inputs.size(); ++k) {
    if (function_.type(node.inputs[k]).dtype != dtype) return Place::mixed;
    typed |= !is_constant(node.inputs[k]);
  }
  return typed ? Place::opposite : Place::mixed;
}

ExprPtr FunctionUnparser::input(const FunctionNode& node, size_t i, bool lists) {
  return value(node.inputs[i], place_of(node, i), lists);
}

// `lists`: where a tensor is expected, [a, b] is a stack.
ExprPtr FunctionUnparser::value(ValueId id, Place place, bool lists) {
  const Value& v = at(id);
  if (!v.name.empty()) return name_expr(v.name);
  if (!v.producer) {
    const auto capture = static_cast<size_t>(id - function_.input_count());
    const auto source = static_cast<size_t>(function_.capture_sources[capture]);
    PENSTOCK_CHECK(source < environment_.size() && environment_[source]);
    return environment_[source];
  }
  if (v.producer->kind == FunctionNode::Kind::constant)
    return constant_expr(v.producer->constant, place);
  if (structures_.contains(v.producer)) return pick(*v.producer, v.output);
  return node_expr(*v.producer, lists);
}

ExprPtr FunctionUnparser::node_expr(const FunctionNode& node, bool lists) {
  switch (node.kind) {
    case FunctionNode::Kind::constant: return constant_expr(node.constant, Place::alone);
    case FunctionNode::Kind::conditional: return conditional_expr(node);
    case FunctionNode::Kind::dataset: return dataset_expr(node);
    case FunctionNode::Kind::op: return op_expr(node, lists);
  }
  return nullptr;
}

ExprPtr FunctionUnparser::op_expr(const FunctionNode& node, bool lists) {
  switch (spelling_of(node.op->name).form) {
    case Form::binary:
    case Form::lazy:
    case Form::prefix:
      if (ExprPtr out = operator_expr(node)) return out;
      break;
    case Form::cast:
      if (function_.type(node.inputs[0]).dtype == node.attrs["dtype"].as_dtype()) break;
      return cast_expr(node);
    case Form::list:
      if (!lists || !all_defaults(node) ||
          std::ranges::all_of(node.inputs, [this](ValueId id) { return is_constant(id); }))
        break;
      return stack_expr(node);
    case Form::subscript: return subscript_expr(node);
    case Form::lookup: return lookup_expr(node);
    case Form::pipeline: return input(node, 0);
    default: break;
  }
  return call_expr(node);
}

ExprPtr FunctionUnparser::cast_expr(const FunctionNode& node) {
  CallBuilder call{std::string(dtype_name(node.attrs["dtype"].as_dtype()))};
  call.add_loose(input(node, 0));
  return call.finish();
}

ExprPtr FunctionUnparser::stack_expr(const FunctionNode& node) {
  std::vector<ExprPtr> items;
  for (size_t i = 0; i < node.inputs.size(); ++i) items.push_back(input(node, i));
  return list_expr(std::move(items));
}

// lookup(table(dataset, ...), s)
ExprPtr FunctionUnparser::lookup_expr(const FunctionNode& node) {
  CallBuilder table{"table"}, call{"lookup"};
  table.add_loose(input(node, 0));
  for (const Param& p : node.op->params) {
    const Attr* given = node.attrs.find(p.name);
    if (given && !given->is_none()) table.add(p, attr_expr(*given, p.kind, environment_), true);
  }
  call.add_loose(table.finish());
  call.add_loose(input(node, 1));
  return call.finish();
}

// Null where the language has no operator for it, or would read it as something else.
ExprPtr FunctionUnparser::operator_expr(const FunctionNode& node) {
  if (!all_defaults(node)) return nullptr;
  const Spelling spelling = spelling_of(node.op->name);
  const std::string text(spelling.text);
  if (spelling.form == Form::prefix) {
    const bool sign_of_literal = text == "-" && is_constant(node.inputs[0]);
    return sign_of_literal ? nullptr : unary_expr(text, input(node, 0));
  }
  if (node.inputs.size() != 2) return nullptr;
  // `a and b` leaves b uncomputed where a decides: that is a conditional when b may fail.
  if (spelling.form == Form::lazy && (is_constant(node.inputs[0]) || may_fail(node.inputs[1])))
    return nullptr;
  ExprPtr left = input(node, 0);
  return binary_expr(text, std::move(left), input(node, 1));
}

// Whether the expression that is spelled at a use of the value holds anything that fails.
bool FunctionUnparser::may_fail(ValueId id) const {
  const Value& v = at(id);
  if (!v.producer || !v.name.empty() || v.producer->kind == FunctionNode::Kind::constant)
    return false;
  if (v.producer->kind != FunctionNode::Kind::op || v.producer->op->can_fail) return true;
  return std::ranges::any_of(v.producer->inputs, [this](ValueId i) { return may_fail(i); });
}

ExprPtr FunctionUnparser::subscript_expr(const FunctionNode& node) {
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::subscript;
  out->items = {input(node, 0)};
  size_t dynamic = 1;
  auto part = [&](const Attr& attr) -> ExprPtr {
    if (attr.is_none()) return nullptr;
    if (attr == Attr::text("dynamic")) return value(node.inputs[dynamic++], Place::alone);
    return integer_expr(attr.as_int());
  };
  for (const Attr& piece : node.attrs["pieces"].items()) {
    const std::string kind = piece.items()[0].as_string();
    Subscript s;
    if (kind == "ellipsis") {
      s.kind = Subscript::Kind::ellipsis;
    } else if (kind == "slice") {
      s.kind = Subscript::Kind::slice;
      s.begin = part(piece.items()[1]);
      s.end = part(piece.items()[2]);
      s.step = part(piece.items()[3]);
    } else {
      s.index = kind == "newaxis" ? none_expr() : part(piece.items()[1]);
    }
    out->subscripts.push_back(std::move(s));
  }
  return out;
}

// True when leaving the argument out gives the same constant.
bool FunctionUnparser::is_default(const FunctionNode& node, size_t i, const Param& param) const {
  if (param.required || param.fallback.is_none() || !is_constant(node.inputs[i])) return false;
  const Tensor& given = at(node.inputs[i]).producer->constant;
  const Tensor& fallback = param.fallback.tensor();
  if (!is_number(fallback.dtype()) || fallback.dims().rank() != 0) return given.same(fallback);
  if (given.dims().rank() != 0 || !is_number(given.dtype())) return false;
  const Place place = place_of(node, i);
  if (place == Place::mixed) return false;
  const DType alone = is_float(fallback.dtype()) ? DType::float32 : fallback.dtype();
  if (place == Place::alone && given.dtype() != alone) return false;
  if (is_float(fallback.dtype()) && !is_float(given.dtype())) return false;
  if (is_integer(given.dtype())) return integer_at(given) == integer_at(fallback);
  // The default is narrowed as a literal would be.
  return given.dtype() == DType::float32
             ? number_at(given) == static_cast<double>(static_cast<float>(number_at(fallback)))
             : number_at(given) == number_at(fallback);
}

ExprPtr FunctionUnparser::call_expr(const FunctionNode& node) {
  const DType first = node.inputs.empty() ? DType::int64 : function_.type(node.inputs[0]).dtype;
  CallBuilder call{std::string(call_name(node, first))};
  const auto& params = node.op->params;
  // Inputs that stand for one parameter each whatever the call looks like; the rest is loose.
  const auto single = [](const Param& p) {
    return p.kind == Param::Kind::tensor && (p.required || !p.fallback.is_none());
  };
  auto later = static_cast<size_t>(std::ranges::count_if(params, single));
  size_t next = 0, body = 0, structure = 0;
  for (const Param& p : params) {
    if (single(p)) --later;
    const size_t left = node.inputs.size() - next;
    if (p.kind == Param::Kind::tensor) {
      if (left <= later || is_default(node, next, p)) {
        next += left > later ? 1 : 0;
        call.name_what_follows();
      } else {
        call.add(p, input(node, next));
        ++next;
      }
    } else if (p.kind == Param::Kind::tensors) {
      std::vector<ExprPtr> items;
      for (; node.inputs.size() - next > later; ++next) items.push_back(input(node, next, false));
      const bool loose = call.positional() && !items.empty() &&
                         !(items.size() == 1 && is_constant(node.inputs[next - 1]));
      if (!loose)
        call.add(p, tuple_expr(std::move(items)));
      else
        for (ExprPtr& item : items) call.add_loose(std::move(item));
      call.name_what_follows();
    } else if (p.kind == Param::Kind::structure) {
      const std::vector<Spec> specs = control_structures(*node.op, node.bodies);
      call.add(p, structure_expr(specs[structure++], node, &next));
    } else if (p.kind == Param::Kind::function && body < node.bodies.size()) {
      // The inputs before what is captured are those of the structures.
      const auto own = static_cast<size_t>(node.bodies[0]->input_count());
      std::vector<ExprPtr> environment = environment_of(std::span(node.inputs).subspan(own));
      environment.insert(environment.begin(), own, nullptr);
      call.add(p, lambda_expr(*node.bodies[body++], environment, taken_));
    } else {
      const Attr* given = node.attrs.find(p.name);
      const bool seed = p.name == "seed" && given && !given->is_none();
      if (given && (p.required || seed || !(*given == p.fallback))) {
        call.add(p, attr_expr(*given, p.kind, {}), !p.required);
      } else {
        call.name_what_follows();
      }
    }
  }
  return call.finish();
}

// Inputs from *next on as the leaves of a structure.
ExprPtr FunctionUnparser::structure_expr(const Spec& spec, const FunctionNode& node, size_t* next) {
  if (spec.kind == Spec::Kind::none) return none_expr();
  if (spec.is_leaf()) return value(node.inputs[(*next)++], Place::alone);
  std::vector<ExprPtr> items;
  for (const Spec& item : spec.items) items.push_back(structure_expr(item, node, next));
  return spec.kind == Spec::Kind::tuple ? tuple_expr(std::move(items))
                                        : dict_expr(spec.keys, std::move(items));
}

// What values of this function are called inside: names, literals, or, where only an argument of a
// stage needs it, the expression itself.
std::vector<ExprPtr> FunctionUnparser::environment_of(std::span<const ValueId> ids) {
  std::vector<ExprPtr> out;
  for (const ValueId id : ids) {
    // A captured value may be in no use any more, and have no name then.
    out.push_back(at(id).uses > 0 ? value(id, Place::mixed, false) : nullptr);
  }
  return out;
}

ExprPtr FunctionUnparser::conditional_expr(const FunctionNode& node) {
  const std::vector<ExprPtr> environment = environment_of(std::span(node.inputs).subspan(1));
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::conditional;
  out->items.push_back(value(node.inputs[0], Place::alone));
  for (const FunctionPtr& side : node.bodies) {
    out->items.push_back(FunctionUnparser(*side, environment, taken_).body());
  }
  return out;
}

ExprPtr FunctionUnparser::dataset_expr(const FunctionNode& node) {
  return plan_expr(*node.dataset, environment_of(node.inputs), taken_);
}

}  // namespace penstock::unparsing
