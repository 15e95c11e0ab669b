// Names, patterns, lets and results of a function.

#include "plan/unparse_function.h"

#include <algorithm>

#include "plan/lexer.h"
#include "plan/unparse.h"

namespace penstock::unparsing {
namespace {

constexpr int kDeepest = 40;          // the parser refuses nesting beyond 200
constexpr int64_t kShortEntries = 8;  // constants used twice and longer than that get a name
constexpr int64_t kShortBytes = 64;

bool names_leaf(const Pattern& pattern) {
  return pattern.kind != Pattern::Kind::name || pattern.name != "_";
}

PatternPtr wrap_pattern(Pattern::Kind kind, std::vector<PatternPtr> items) {
  auto out = std::make_shared<Pattern>();
  out->kind = kind;
  out->items = std::move(items);
  return out;
}

ExprPtr wrap_lambda(std::vector<PatternPtr> patterns, ExprPtr body) {
  auto out = std::make_shared<Expr>();
  out->kind = Expr::Kind::lambda;
  out->patterns = std::move(patterns);
  out->items = {std::move(body)};
  return out;
}

}  // namespace

std::string new_name(const std::string& hint, std::string_view fallback, Names* taken) {
  std::string base = hint.substr(hint.find_last_of("/.") + 1);
  auto usable = [](const std::string& name) {
    return is_name(name) && !is_reserved(name) && name != "_" && name != "import" &&
           !parse_dtype(name);
  };
  if (!usable(base)) base = fallback;
  std::string name = base;
  for (int n = 2; !taken->insert(name).second; ++n) name = base + std::to_string(n);
  return name;
}

std::set<int> needed_sources(const Function& function) {
  std::set<ValueId> needed(function.results.begin(), function.results.end());
  for (const FunctionNode& node : function.nodes) {
    if (node.kind == FunctionNode::Kind::op) needed.insert(node.inputs.begin(), node.inputs.end());
    if (node.kind == FunctionNode::Kind::conditional) {
      needed.insert(node.inputs[0]);
      for (const FunctionPtr& body : node.bodies) {
        for (const int source : needed_sources(*body))
          needed.insert(node.inputs[static_cast<size_t>(source) + 1]);
      }
    }
    if (node.kind != FunctionNode::Kind::dataset) continue;
    const std::vector<EnvironmentUse> use = environment_use(*node.dataset, node.inputs.size());
    for (size_t i = 0; i < use.size(); ++i) {
      if (use[i].in_args + use[i].in_functions > 0) needed.insert(node.inputs[i]);
    }
  }
  std::set<int> out;
  for (size_t i = 0; i < function.captures.size(); ++i) {
    if (needed.contains(function.input_count() + static_cast<ValueId>(i)))
      out.insert(function.capture_sources[i]);
  }
  return out;
}

FunctionUnparser::FunctionUnparser(const Function& function, std::span<const ExprPtr> environment,
                                   Names taken)
    : function_(function),
      environment_(environment),
      taken_(std::move(taken)),
      values_(function.values.size()) {
  for (const FunctionNode& node : function_.nodes) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      at(node.outputs[i]).producer = &node;
      at(node.outputs[i]).output = i;
    }
    if (Spec spec = structure(node); !spec.is_leaf()) structures_.emplace(&node, std::move(spec));
  }
  count_uses();
  size_t next = 0;
  find_whole_results(function_.output, &next);
}

bool FunctionUnparser::is_constant(ValueId id) const {
  const FunctionNode* node = at(id).producer;
  return node && node->kind == FunctionNode::Kind::constant;
}

bool FunctionUnparser::is_long_constant(ValueId id) const {
  if (!is_constant(id)) return false;
  const Tensor& t = at(id).producer->constant;
  return t.entries_count() > kShortEntries || t.payload_bytes() > kShortBytes;
}

// The tree that the node's outputs are the leaves of.
Spec FunctionUnparser::structure(const FunctionNode& node) const {
  if (node.kind == FunctionNode::Kind::conditional) return node.bodies[0]->output;
  if (node.kind != FunctionNode::Kind::op) return Spec::of(function_.type(node.outputs[0]));
  std::vector<InferInput> inputs;
  for (const ValueId id : node.inputs) {
    inputs.push_back(
        {function_.type(id), is_constant(id) ? &at(id).producer->constant : nullptr, {}});
  }
  return node.op->infer({inputs, node.attrs, node.bodies});
}

void FunctionUnparser::count_uses() {
  for (const FunctionNode& node : function_.nodes) {
    const bool captures =
        node.kind == FunctionNode::Kind::conditional || node.kind == FunctionNode::Kind::dataset;
    if (captures) {
      count_captured(node);
    } else if (!node.bodies.empty()) {
      count_captured(node);
    } else {
      for (const ValueId id : node.inputs) ++at(id).uses;
    }
  }
  for (const ValueId id : function_.results) ++at(id).uses;
}

void FunctionUnparser::count_captured(const FunctionNode& node) {
  if (node.kind != FunctionNode::Kind::dataset) {
    // The sources of a conditional's bodies are counted behind its condition, those of an op's
    // from its first input on, which is a structure's.
    const bool is_op = node.kind == FunctionNode::Kind::op;
    const size_t own = is_op ? static_cast<size_t>(node.bodies[0]->input_count()) : 1;
    for (size_t i = 0; i < own; ++i) ++at(node.inputs[i]).uses;
    for (const FunctionPtr& body : node.bodies) {
      for (const int source : needed_sources(*body)) {
        Value& v = at(node.inputs[static_cast<size_t>(source) + (is_op ? 0 : 1)]);
        ++v.uses;
        v.must_name = true;
      }
    }
    return;
  }
  const std::vector<EnvironmentUse> use = environment_use(*node.dataset, node.inputs.size());
  for (size_t i = 0; i < use.size(); ++i) {
    Value& v = at(node.inputs[i]);
    v.uses += use[i].in_args + use[i].in_functions;
    // An argument of a stage is an expression of this function; what functions in there see is not.
    v.must_name |= use[i].in_functions > 0;
  }
}

// A part of the result that is all that a node gives, in order, needs no names.
void FunctionUnparser::find_whole_results(const Spec& spec, size_t* next) {
  const size_t first = *next;
  const auto count = static_cast<size_t>(spec.leaf_count());
  if (!spec.is_leaf() && count > 0) {
    const FunctionNode* node = at(function_.results[first]).producer;
    const auto known = node ? structures_.find(node) : structures_.end();
    bool whole = known != structures_.end() && known->second.same_structure(spec) &&
                 node->outputs.size() == count;
    for (size_t i = 0; whole && i < count; ++i) {
      const ValueId id = function_.results[first + i];
      whole = id == node->outputs[i] && at(id).uses == 1 && !at(id).must_name;
    }
    if (whole) {
      whole_[first] = node;
      *next += count;
      return;
    }
  }
  if (spec.is_leaf()) ++*next;
  for (const Spec& item : spec.items) find_whole_results(item, next);
}

bool FunctionUnparser::wants_name(const FunctionNode& node) {
  const bool whole = std::ranges::any_of(whole_, [&](const auto& w) { return w.second == &node; });
  int uses = 0;
  bool must = false;
  for (const ValueId id : node.outputs) {
    uses += at(id).uses;
    must |= at(id).must_name;
  }
  if (node.kind == FunctionNode::Kind::constant)
    return uses > 1 && is_long_constant(node.outputs[0]);
  // Naming a pipeline changes nothing: each use stands for one of its own.
  if (node.kind == FunctionNode::Kind::dataset) return false;
  int depth = 0;
  for (const ValueId id : node.inputs)
    depth = std::max(depth, at(id).name.empty() ? at(id).depth + 1 : 0);
  for (const ValueId id : node.outputs) at(id).depth = depth;
  return !whole && uses > 0 && (must || uses > 1 || depth > kDeepest);
}

std::string FunctionUnparser::hint(ValueId id, const std::string& otherwise) const {
  const std::string& given = function_.values[static_cast<size_t>(id)].name;
  return given.empty() ? otherwise : given;
}

// Inputs have their names already: the pattern is made first.
void FunctionUnparser::name_values() {
  for (const FunctionNode& node : function_.nodes) {
    if (!wants_name(node)) continue;
    const auto known = structures_.find(&node);
    std::vector<std::string> keys =
        known == structures_.end() ? std::vector<std::string>{} : known->second.paths();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value& v = at(node.outputs[i]);
      if (v.uses > 0)
        v.name = new_name(hint(node.outputs[i], i < keys.size() ? keys[i] : ""), "v", &taken_);
    }
  }
}

// Leaves without a name are left out: `_` in tuples, `**_` in dicts.
PatternPtr FunctionUnparser::pattern(const Spec& spec, std::span<const ValueId> leaves,
                                     size_t* next, const std::string& key) {
  if (spec.is_leaf()) {
    Value& v = at(leaves[(*next)++]);
    if (v.uses == 0) return name_pattern("_");
    if (v.name.empty()) v.name = new_name(hint(leaves[*next - 1], key), "x", &taken_);
    return name_pattern(v.name);
  }
  std::vector<PatternPtr> items;
  for (size_t i = 0; i < spec.items.size(); ++i) {
    items.push_back(
        pattern(spec.items[i], leaves, next, spec.kind == Spec::Kind::dict ? spec.keys[i] : key));
  }
  if (std::ranges::none_of(items, [](const PatternPtr& p) { return names_leaf(*p); }))
    return name_pattern("_");
  if (spec.kind == Spec::Kind::tuple) return wrap_pattern(Pattern::Kind::tuple, std::move(items));
  auto out = std::make_shared<Pattern>();
  out->kind = Pattern::Kind::dict;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!names_leaf(*items[i])) {
      out->rest = "_";
      continue;
    }
    out->keys.push_back(spec.keys[i]);
    out->items.push_back(std::move(items[i]));
  }
  return out;
}

ExprPtr FunctionUnparser::lambda() {
  std::vector<ValueId> leaves;
  for (int i = 0; i < function_.input_count(); ++i) leaves.push_back(i);
  size_t next = 0;
  std::vector<PatternPtr> patterns;
  if (function_.input.kind == Spec::Kind::tuple && function_.input.items.size() > 1) {
    for (const Spec& item : function_.input.items)
      patterns.push_back(pattern(item, leaves, &next, "x"));
  } else {
    patterns.push_back(pattern(function_.input, leaves, &next, "x"));
  }
  return wrap_lambda(std::move(patterns), body());
}

ExprPtr FunctionUnparser::body() {
  name_values();
  std::vector<std::pair<PatternPtr, ExprPtr>> lets;
  for (const FunctionNode& node : function_.nodes) {
    const bool named =
        std::ranges::any_of(node.outputs, [&](ValueId id) { return !at(id).name.empty(); });
    if (!named) continue;
    size_t next = 0;
    const auto known = structures_.find(&node);
    PatternPtr bound = known == structures_.end() ? name_pattern(at(node.outputs[0]).name)
                                                  : pattern(known->second, node.outputs, &next, "");
    ExprPtr made = node.kind == FunctionNode::Kind::constant
                       ? constant_expr(node.constant, Place::mixed)
                       : node_expr(node, false);
    lets.emplace_back(std::move(bound), std::move(made));
  }
  size_t next = 0;
  ExprPtr out = result(function_.output, &next);
  for (size_t i = lets.size(); i-- > 0;)
    out = let_expr(lets[i].first, lets[i].second, std::move(out));
  return out;
}

ExprPtr FunctionUnparser::result(const Spec& spec, size_t* next) {
  if (spec.kind == Spec::Kind::none) return none_expr();
  if (const auto whole = whole_.find(*next); whole != whole_.end() && !spec.is_leaf()) {
    if (structures_.at(whole->second).same_structure(spec)) {
      *next += whole->second->outputs.size();
      return node_expr(*whole->second, false);
    }
  }
  if (spec.is_leaf()) return value(function_.results[(*next)++], Place::alone, false);
  std::vector<ExprPtr> items;
  for (const Spec& item : spec.items) items.push_back(result(item, next));
  return spec.kind == Spec::Kind::tuple ? tuple_expr(std::move(items))
                                        : dict_expr(spec.keys, std::move(items));
}

// The one output that is used, by its path.
ExprPtr FunctionUnparser::pick(const FunctionNode& node, size_t output) {
  ExprPtr out = node_expr(node, false);
  const Spec* spec = &structures_.at(&node);
  size_t before = output;
  while (!spec->is_leaf()) {
    size_t i = 0;
    for (; before >= static_cast<size_t>(spec->items[i].leaf_count()); ++i) {
      before -= static_cast<size_t>(spec->items[i].leaf_count());
    }
    out = spec->kind == Spec::Kind::dict
              ? field_expr(std::move(out), spec->keys[i])
              : index_expr(std::move(out), integer_expr(static_cast<int64_t>(i)));
    spec = &spec->items[i];
  }
  return out;
}

ExprPtr lambda_expr(const Function& function, std::span<const ExprPtr> environment,
                    const Names& taken) {
  return FunctionUnparser(function, environment, taken).lambda();
}

}  // namespace penstock::unparsing

namespace penstock {

ExprPtr unparse_function(const Function& function) {
  using namespace unparsing;
  Names taken;
  std::vector<ExprPtr> environment;
  for (size_t i = 0; i < function.captures.size(); ++i) {
    const auto source = static_cast<size_t>(function.capture_sources[i]);
    if (environment.size() <= source) environment.resize(source + 1);
    const auto id = static_cast<size_t>(function.input_count()) + i;
    environment[source] = name_expr(new_name(function.values[id].name, "captured", &taken));
  }
  return lambda_expr(function, environment, taken);
}

}  // namespace penstock
