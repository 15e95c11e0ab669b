// From tree to plan: names are looked up, user's functions expanded, literals typed, ops inferred.
//
// Internal to the room; build.h is the way in. One Elaborator serves one text. Symbols are what
// expressions stand for while a plan is being built; structures (tuples, dicts), functions and
// constants exist only here, the graphs that come out hold tensors alone.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/build.h"
#include "plan/diagnostic.h"
#include "plan/node.h"

namespace penstock {

struct Names;
struct StaticForm;
struct Sym;
using NamesPtr = std::shared_ptr<const Names>;

// Where values live. A function scope builds a graph. A template scope stands for the pipelines
// inside a function: it owns no graph, only the list of values of the function that they capture.
// The body of a conditional is a function scope that hangs from another one directly.
struct Scope {
  Scope* parent = nullptr;  // null: the top, where everything is constant
  bool is_template = false;
  std::unique_ptr<FunctionBuilder> builder;  // function scopes
  std::vector<ValueId> environment;          // templates and bodies: captured values of `parent`
  std::unique_ptr<Scope> pipelines;          // function scopes: the template of pipelines inside
};

struct Closure {
  ExprPtr lambda;
  NamesPtr names;
  std::string name;  // for messages; a built-in op when lambda is null
};

// A number literal has no dtype until it meets one.
enum class Weak : uint8_t { no, integer, floating };

struct Sym {
  enum class Kind : uint8_t {
    none,
    automatic,
    dtype,
    constant,
    value,
    tuple,
    dict,
    list,
    function,
    dataset
  };
  Kind kind = Kind::none;
  Tensor tensor;         // constant
  Weak weak = Weak::no;  // constant
  DType dtype = DType::int64;
  Scope* scope = nullptr;  // value: the function scope; dataset: the template of its captures
  ValueId id = -1;         // value
  std::vector<std::string> keys;
  std::vector<Sym> items;
  std::shared_ptr<const Closure> closure;
  PlanPtr plan;

  static Sym of(Tensor tensor, Weak weak = Weak::no);
  static Sym tuple(std::vector<Sym> items);
  static Sym dict(std::vector<std::string> keys, std::vector<Sym> items);
  bool is_constant() const { return kind == Kind::constant; }
  // A constant without entries: it takes any dtype.
  bool is_empty() const { return is_constant() && !tensor.object() && tensor.entries_count() == 0; }
  bool is_tensor_like() const {
    return kind == Kind::constant || kind == Kind::value || kind == Kind::list;
  }
};

// Names in scope, innermost first; immutable, shared by closures.
struct Names {
  std::string name;
  Sym sym;
  NamesPtr outer;
};

// One argument of a call: its expression's place, and what it stands for.
struct Argument {
  Span span;
  std::string key;  // empty: positional
  Sym sym;
};

class Elaborator {
 public:
  explicit Elaborator(const BuildOptions& options);
  Sym run(const Program& program);
  Sym expression(const Expr& expr, const NamesPtr& names);
  NamesPtr bind_names(const std::map<std::string, PlanPtr>& datasets) const;
  PlanPtr as_plan(const Sym& sym, Span span);
  FunctionPtr function(const Sym& closure, const Spec& input, Span span);
  // The error with further mistakes in names of the program, which does not go on after the first.
  PipeError with_name_mistakes(const PipeError& error, const Program& program) const;
  // Every text that nodes of the result may point into.
  std::vector<SourcePtr> sources() const;
  std::vector<std::string> warnings;

 private:
  friend class Depth;
  // elaborate.cc
  NamesPtr statement(const Statement& statement, NamesPtr names);
  NamesPtr import_file(const Statement& statement, NamesPtr names);
  static std::string import_path(const Statement& statement);
  NamesPtr bind(const Pattern& pattern, const Sym& value, NamesPtr names);
  Sym lookup(const Expr& name, const NamesPtr& names);
  Sym closure_call(const Closure& closure, std::vector<Argument> arguments, Span span);
  uint64_t next_seed();

  // elaborate_expression.cc
  Sym literal(const Expr& expr);
  Sym list(const Expr& expr, const NamesPtr& names);
  Sym structure(const Expr& expr, const NamesPtr& names);
  Sym unary(const Expr& expr, const NamesPtr& names);
  Sym binary(const Expr& expr, const NamesPtr& names);
  Sym short_circuit(const Expr& expr, const NamesPtr& names);
  Sym conditional(const Expr& expr, const NamesPtr& names);
  Sym field(const Expr& expr, const NamesPtr& names);
  [[noreturn]] void fail_field(const Expr& expr, const Sym& of);
  void check_module(const Expr& expr, const NamesPtr& names);
  bool is_item_of_one_tuple(const Sym& x);
  Sym subscript(const Expr& expr, const NamesPtr& names);
  Sym choose(const Sym& condition, const std::function<Sym()>& then_side,
             const std::function<Sym()>& else_side, Span span);

  // elaborate_call.cc
  Sym call(const Expr& expr, const NamesPtr& names, const Sym* piped, Span piped_span);
  Sym call_named(const std::string& name, std::vector<Argument> arguments, Span span);
  Sym op_call(const OpDef& op, std::vector<Argument> arguments, Span span);
  static std::string written_name(const OpDef& op, Span span);
  const OpDef* ragged_form(const std::string& name, const std::vector<Argument>& arguments) const;
  std::vector<const Argument*> match(const std::string& what, const std::vector<Param>& params,
                                     const std::vector<Argument>& arguments, Span span,
                                     std::vector<const Argument*>* rest);

  // elaborate_special.cc: calls that exist only while a plan is built. Each returns false if the
  // arguments are those of an op of the same name.
  using Arguments = std::vector<Argument>;
  struct SpecialForm {
    std::string_view name;
    bool (Elaborator::*make)(const Arguments& arguments, Span span, Sym* out);
  };
  static std::span<const SpecialForm> special_forms();
  friend bool is_special_form(std::string_view name);
  bool special_call(const std::string& name, const Arguments& arguments, Span span, Sym* out);
  bool map_structure_form(const Arguments& arguments, Span span, Sym* out);
  bool apply_form(const Arguments& arguments, Span span, Sym* out);
  bool repeated_form(const Arguments& arguments, Span span, Sym* out);
  bool feature_form(const Arguments& arguments, Span span, Sym* out);
  bool ragged_literal_form(const Arguments& arguments, Span span, Sym* out);
  bool sparse_form(const Arguments& arguments, Span span, Sym* out);
  bool lookup_form(const Arguments& arguments, Span span, Sym* out);
  bool size_form(const Arguments& arguments, Span span, Sym* out);

  // elaborate_table.cc
  const Sym* dataset_of_table(const Sym& sym) const;
  Sym lookup_in(const Sym& dataset, const std::vector<Argument>& arguments, Span span);
  Sym static_form(const StaticForm& form, const std::vector<Argument>& arguments, Span span);

  // elaborate_literal.cc
  Sym ragged_literal(const std::vector<Argument>& arguments, Span span);
  Sym sparse_literal(const std::vector<Argument>& arguments, Span span);

  // elaborate_control.cc
  Sym control_call(const OpDef& op, const std::vector<const Argument*>& found, Span span);
  Sym first_state(const OpDef& def, const Sym& init, const Sym& f, const Spec& item, Span span);
  FunctionPtr body(const Sym& closure, const Spec& input, Span span,
                   std::vector<ValueId>* captured);

  // elaborate_readers.cc
  PlanPtr parallel_reads(const OperatorDef& def, Attrs args, int64_t reads, Span span);
  Sym load_by(const OperatorDef& def, std::vector<Argument> arguments, Span span);
  const Argument* names_dataset(const OperatorDef& def,
                                const std::vector<Argument>& arguments) const;
  Sym read_named_files(const OperatorDef& def, std::vector<Argument> arguments,
                       const Argument& names, Span span);

  // elaborate_stage.cc, elaborate_failure_policy.cc
  Sym stage_call(const OperatorDef& op, std::vector<Argument> arguments, Span span);
  void move_datasets(const OperatorDef& op, std::vector<const Argument*>* found) const;
  Sym failure_policy(const Expr& expr, const NamesPtr& names);
  Sym with_failure_policy(Sym stage, const Argument& policy);
  Sym from_nested(const Argument& argument, Span span);
  Sym from_nested_list(const Argument& list, Span span);
  Sym stage_inputs(const Param& param, std::vector<const Argument*> arguments,
                   std::vector<PlanPtr>* inputs, Attrs* args);
  FunctionPtr stage_function(NodeDraft& draft, const Param& param, const Sym& closure, Span span);
  // A function whose scope hangs from `parent`; `made` gets the scope. With `apart`, a tuple of one
  // is passed as its item.
  FunctionPtr function_in(Scope* parent, const Sym& closure, const Spec& input, Span span,
                          Scope** made, bool apart);
  bool is_dataset(const Sym& sym) const;
  Sym as_dataset(const Sym& sym, Span span);
  Scope* template_scope();

  // elaborate_value.cc
  ValueId value_in(const Sym& sym, Scope* scope);  // a tensor value of that function scope
  ValueId repeated_in(ValueId id, Scope* scope);   // a value of the top, made again there
  int capture(const Sym& sym, Scope* pipelines);
  Sym tensor(const Sym& sym, Span span);  // lists become tensors; constant or value
  [[noreturn]] void fail_tensor(const Sym& sym, Span span) const;
  Sym strong(const Sym& sym);  // literals get their default dtype
  Sym coerce(const Sym& sym, DType dtype, Span span);
  void unify(std::vector<Sym>* syms, const std::vector<Span>& spans);
  LeafSpec type(const Sym& sym) const;
  Sym value(ValueId id);  // of the current scope; constants stay constants
  Sym from_spec(const Spec& spec, const std::vector<ValueId>& ids, size_t* next);
  // Leaves of a structure as values of the current scope.
  Spec flatten(const Sym& sym, Span span, std::vector<ValueId>* ids);
  Attr attribute(const Sym& sym, Param::Kind kind, Span span, bool accepts_none);
  Attr tree(const Sym& sym, Span span, bool lists_are_tensors);
  void check_evaluates(const OpDef& def, ValueId id, Span span) const;
  std::optional<Tensor> known_sizes(const OpDef& def, const std::vector<Sym>& inputs);
  Sym op(std::string_view name, std::vector<Sym> inputs, Attrs attrs, Span span,
         const std::vector<Span>& spans = {});
  Sym op(const OpDef& def, std::vector<Sym> inputs, Attrs attrs, Span span,
         const std::vector<Span>& spans);
  // A node of the current scope; an error of its types is said at the input's place.
  Spec add_node(const OpDef& def, std::vector<ValueId> inputs, Attrs attrs,
                std::vector<FunctionPtr> bodies, Span span, const std::vector<Span>& spans,
                std::vector<ValueId>* outputs);

  [[noreturn]] void fail(Span span, std::string message, Code code = Code::invalid_argument) const;
  static std::string source_text(Span span);

  const BuildOptions& options_;
  Scope top_;
  Scope* scope_ = nullptr;           // the function scope being built
  std::vector<std::string> stages_;  // names of enclosing stages, for messages
  bool bare_function_ = false;       // inside what stands for a function and has no `->`
  uint64_t seed_ = 0;
  uint64_t occurrence_ = 0;
  int depth_ = 0;
  int64_t steps_ = 0;
  std::vector<Program> programs_;         // imported files and the prelude, kept alive
  std::map<std::string, bool> imported_;  // true while it is being read
  std::map<std::string, bool> params_seen_;
  NamesPtr prelude_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // all ever made: symbols point to them
};

}  // namespace penstock
