// A pipeline as an immutable graph of nodes, and what an operator is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "functions/evaluate.h"
#include "functions/function.h"
#include "plan/syntax.h"

namespace penstock {

class Cursor;        // runtime/cursor.h
class Indexed;       // runtime/indexed.h
struct OpenContext;  // runtime/open.h
struct OperatorDef;

inline constexpr int64_t kInfinite = -1;  // cardinalities
inline constexpr int64_t kUnknown = -2;

struct PlanNode {
  const OperatorDef* op = nullptr;
  std::vector<PlanPtr> inputs;
  Attrs args;  // in the order of op->params
  std::vector<std::pair<std::string, FunctionPtr>> functions;
  Spec spec;  // of an element; of the value for a sink
  int64_t cardinality = kUnknown;
  Span span;  // where it was written

  const FunctionPtr& function(std::string_view name) const;
  const Attr& arg(std::string_view name) const { return args[name]; }
  bool is(std::string_view name) const;
};

// A wrong argument: which parameter (empty: the operator as a whole) and what is wrong with it.
struct ArgumentError {
  std::string param;
  std::string message;
  Code code = Code::invalid_argument;
};

// A node on its way: infer reads inputs, args and functions, checks them and sets spec and
// cardinality.
struct NodeDraft {
  PlanNode node;
  [[noreturn]] static void fail(std::string param, std::string message,
                                Code code = Code::invalid_argument) {
    throw ArgumentError{std::move(param), std::move(message), code};
  }
  const PlanNode& input(size_t i = 0) const { return *node.inputs[i]; }
  // The integer argument, or `when_unknown` where it is a capture that is bound later. Fails when
  // it is below `least`, with `rule` as the message.
  int64_t int_at_least(std::string_view param, int64_t least, std::string_view rule,
                       int64_t when_unknown) const;
};

struct OperatorDef {
  std::string name;
  std::vector<Param> params;
  std::string doc;         // one line
  bool source = false;     // takes no dataset
  bool sink = false;       // gives a value
  bool asks_plan = false;  // a sink that asks what its input is: it is not rewritten
  bool stateless =
      false;  // a row goes in, at most one comes out, nothing is remembered: chains fuse
  bool keeps_rows = false;  // exactly one row out for each row in
  // Nothing is remembered between blocks: where its input stands says where it stands.
  bool passes_marks = false;
  bool random = false;    // order or values depend on a seed
  bool internal = false;  // made by rewrites only; not callable from text
  std::function<void(NodeDraft&)> infer;
  // What function `param` is called with, given what is already in the draft.
  std::function<Spec(const NodeDraft&, std::string_view param)> function_input;
  // Several loose arguments (reduce's state and element) instead of one element.
  int function_arity = 1;
  std::string state_param{};  // the function whose state goes round, where there are others besides
  std::function<std::unique_ptr<Cursor>(const PlanPtr&, OpenContext&)> open;
  // Where rows can be had by their index, whatever the rows before them: null for other operators.
  std::function<std::unique_ptr<Indexed>(const PlanPtr&, const OpenContext&)> open_indexed;
  // Sinks: computes the value's leaves from an opened input.
  std::function<std::vector<Tensor>(const PlanPtr&, OpenContext&)> run_sink;
};

// All operators; users may add their own before pipelines are built.
class OperatorRegistry {
 public:
  static OperatorRegistry& instance();
  void add(OperatorDef op);  // CHECKs that the name is free
  const OperatorDef* find(std::string_view name) const;
  std::vector<const OperatorDef*> all() const;  // by name

 private:
  std::vector<std::unique_ptr<OperatorDef>> ops_;
};

// Fills in defaults, infers spec and cardinality. Throws ArgumentError.
PlanPtr make_node(const OperatorDef& op, std::vector<PlanPtr> inputs, Attrs args,
                  std::vector<std::pair<std::string, FunctionPtr>> functions = {}, Span span = {});
// By name; CHECKs that it exists.
PlanPtr make_node(std::string_view op, std::vector<PlanPtr> inputs, Attrs args,
                  std::vector<std::pair<std::string, FunctionPtr>> functions = {}, Span span = {});
// `node` with other inputs, inferred anew.
PlanPtr with_inputs(const PlanNode& node, std::vector<PlanPtr> inputs);
PlanPtr with_arg(const PlanNode& node, std::string_view name, Attr value);

// Nodes below and with `root`, inputs before users; nested templates not entered.
std::vector<const PlanNode*> topological(const PlanNode& root);
// Some operator or function of it draws or is stateful.
bool plan_is_random(const PlanNode& root);

// Identity: hash of operators, data-deciding arguments, functions and seeds, without names and
// performance options. Sharing: the same without seeds.
struct Fingerprints {
  std::string identity;  // 32 hex digits
  std::string sharing;
};
Fingerprints fingerprint(const PlanNode& root);

}  // namespace penstock
