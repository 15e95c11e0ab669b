// A pipeline as an immutable graph of nodes, and what an operator is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
class Resharding;    // datasets/resharding.h
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

// Relation of the rows that an operator emits to those of its inputs.
enum class Rows : uint8_t {
  unknown,   // nothing is assumed
  same,      // exactly one row for each row of its only input
  subset,    // some rows of its only input, each at most once
  mixed,     // rows of several inputs, as they are or side by side
  multiply,  // any number of rows for a row of the input
  regroup,   // a row is made of several rows of the input, or of a part of one
};

// Role of an operator in a chain (runtime/chain.h), which runs neighbours on one block. It calls
// its first function for each row, remembers nothing, and is opened by open_chain.
enum class ChainRole : uint8_t {
  none,
  map,     // the row becomes what the function returns
  filter,  // the row stays if the function returns true
};

// Arguments of a source that are its elements.
enum class Literal : uint8_t {
  none,     // its arguments are something else
  element,  // its argument is the only element
  list,     // its argument is a list of the elements
};

// Size of the batches of a stage that stacks consecutive rows and does nothing else.
struct PlainBatch {
  int64_t size = 0;
  bool drop_remainder = false;
};

// Facts about an operator. Other parts of the program ask for these, never for its name; each
// default holds for any operator.
struct OperatorDef {
  std::string name;
  std::vector<Param> params;
  std::string doc;         // one line
  bool source = false;     // takes no dataset
  bool sink = false;       // returns a value
  bool asks_plan = false;  // a sink that asks what its input is: it is not rewritten
  Rows rows = Rows::unknown;
  ChainRole chain = ChainRole::none;
  // Elements are elements of its only input, unchanged; which ones does not depend on their values.
  bool hands_on = false;
  // Starts or stops in the middle of its input: counts of a part do not scale to the whole.
  bool cuts = false;
  // Which elements it hands on depends on their places alone; an error has a place, too.
  bool by_place = false;
  // Computes its input ahead of the consumer on other threads and does nothing else.
  bool reads_ahead = false;
  // Holds all elements of its input after the first pass: later passes do not read the input.
  bool caches = false;
  // Nothing is remembered between blocks: where its input stands says where it stands.
  bool passes_marks = false;
  bool random = false;    // order or values depend on a seed
  bool internal = false;  // made by rewrites only; not callable from text
  // Parameter that says how many times it reads its input; -1 or none: without end.
  std::string passes_param{};
  // Returns true if the arguments make its elements those of its input, one for one.
  bool (*changes_nothing)(const PlanNode& node) = nullptr;
  // Returns true if it keeps its elements in files, which belong to one pipeline.
  bool (*keeps_files)(const PlanNode& node) = nullptr;
  // Cardinality is a promise of the user: it may be wrong until the rows have been counted.
  bool promises_cardinality = false;
  // tf.data has its elements by index: at() fails with the code for a wrong number of elements.
  bool peer_has_index = false;
  // How its state moves to another number of ranks. Null: it depends on all rows of its rank, or it
  // holds parts of rows.
  const Resharding* resharding = nullptr;
  bool deals_rows = false;  // to ranks: it keeps every `num_shards`-th, from `index` on

  // Parameter that names the files, or patterns of files, that a source reads.
  std::string files_param{};
  bool lists_files = false;  // its elements are the names of these files
  // Parameter for a function of the dataset of the datasets of single files, each opened with
  // `like`.
  std::string reader_param{};
  Literal literal = Literal::none;
  // Parameter of a source that holds a captured dataset, for which the source stands.
  std::string stands_for{};
  // Returns true if it emits the integers of range(start, stop, step), which are arguments of it,
  // known or captured.
  bool (*counts_up)(const PlanNode& node) = nullptr;
  std::optional<PlainBatch> (*plain_batch)(const PlanNode& node) = nullptr;

  std::function<void(NodeDraft&)> infer;
  // What function `param` is called with, given what is already in the draft.
  std::function<Spec(const NodeDraft&, std::string_view param)> function_input;
  // Several loose arguments (reduce's state and element) instead of one element.
  int function_arity = 1;
  std::string state_param{};  // the function whose state goes round, where there are others besides
  bool state_in_pair = false;  // that function returns (state, element)
  std::function<std::unique_ptr<Cursor>(const PlanPtr&, OpenContext&)> open;
  // Where rows can be had by their index, whatever the rows before them: null for other operators.
  std::function<std::unique_ptr<Indexed>(const PlanPtr&, const OpenContext&)> open_indexed;
  // Sinks: computes the value's leaves from an opened input.
  std::function<std::vector<Tensor>(const PlanPtr&, OpenContext&)> run_sink;

  // Elements are those of its input, one for one and in order, whatever the arguments.
  bool is_transparent() const { return hands_on && passes_marks && rows == Rows::same; }
  // A part of its input makes a part of its output of about the same share.
  bool scales() const {
    return source || sink || (rows != Rows::unknown && !cuts && passes_param.empty());
  }
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
