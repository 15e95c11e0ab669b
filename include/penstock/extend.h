// Ops, sources and dataset operators of your own, usable from C++ and from text.
//
// Register before pipelines that use them are built, from one thread. A name must be free: else
// ALREADY_EXISTS. Everything here works row by row on concrete arrays; an exception fails the row.
// A std::exception becomes Error UNKNOWN, as does Error CANCELLED, which only Iterator::cancel
// means; other Errors keep their codes.
//
// `identity` names the code: any string that you change when the code gives other data, "tokens 3".
// Caches on disk, snapshots and checkpoints go by it. Without one, caches on disk and snapshots of
// what it gives are refused, and a checkpoint is resumed only in the process that took it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/function.h"
#include "penstock/tensor.h"

namespace penstock {

struct OpDef;  // internal

// What is known of an array before it is made.
struct ArrayType {
  Type type = Type::int64;
  std::optional<std::vector<int64_t>> shape =
      std::vector<int64_t>{};  // -1: unknown size; nullopt: unknown rank
};

// One array (no keys, one part), a tuple, or a dict where keys are given.
struct ElementType {
  std::vector<ArrayType> parts;
  std::vector<std::string> keys;
};

// A constant argument of an op or a stage.
using ArgumentValue = std::variant<int64_t, double, bool, std::string>;

// A parameter that takes a constant: its kind is that of `kind`; required unless it has a default.
struct Parameter {
  enum class Kind : uint8_t { integer, number, boolean, text };
  std::string name;
  Kind kind = Kind::integer;
  std::optional<ArgumentValue> fallback;
};

// The constant arguments of one call.
class Arguments {
 public:
  explicit Arguments(std::vector<std::pair<std::string, ArgumentValue>> values)
      : values_(std::move(values)) {}
  int64_t integer(const std::string& name) const { return std::get<int64_t>(at(name)); }
  double number(const std::string& name) const { return std::get<double>(at(name)); }
  bool boolean(const std::string& name) const { return std::get<bool>(at(name)); }
  const std::string& text(const std::string& name) const { return std::get<std::string>(at(name)); }

 private:
  const ArgumentValue& at(const std::string& name) const;
  std::vector<std::pair<std::string, ArgumentValue>> values_;
};

enum class Effect : uint8_t {
  pure,      // the outputs are a function of the inputs: may be run at build, shared and moved
  stateful,  // anything else: stays where it is
};

struct OpDefinition {
  std::string name;
  std::string doc;                  // one line
  std::vector<std::string> inputs;  // names of the arrays it takes
  std::vector<Parameter> parameters;
  // Types of the outputs (one, or several: a tuple). Throw Error for wrong inputs.
  std::function<std::vector<ArrayType>(std::span<const ArrayType>, const Arguments&)> infer;
  // One row. Called from many threads at once.
  std::function<std::vector<Array>(std::span<const Array>, const Arguments&)> row;
  Effect effect = Effect::pure;
  std::string identity;  // see above

  // Facts. Each default is safe for any op.

  // Entry i of the output depends on entries i of the (broadcast) inputs alone. The op then works
  // on ragged tensors too, and number literals among its inputs take the dtype of the others.
  bool elementwise = false;
  // `row` never throws for inputs that `infer` accepts.
  bool never_fails = false;
  // Reads files: the output never becomes a constant of a plan.
  bool reads_files = false;
  // Rough time of a row. Decides whether rows go to other threads before anything is measured.
  double nanoseconds = 1000;
};
void register_op(OpDefinition op);

// An op without a place in the table: for functions that C++ lambdas record,
//
//   const OwnOp lookup(definition);
//   ds.map([&](Value x) { return lookup({x["key"]}); });
//
// Its callables are freed with the last dataset and iterator that uses it. The text of such a
// pipeline is for people: parse refuses it. The name must be free, as that of register_op; several
// may have one name.
class OwnOp {
 public:
  explicit OwnOp(OpDefinition definition);
  Value operator()(std::vector<Value> args, Named named = {}) const;

 private:
  std::shared_ptr<const OpDef> op_;
};

// Gives the next element's arrays; false at the end. A throw is an error at this position, and it
// is called again; after 1000 throws without an element or input between them the pass ends.
using RowSource = std::function<bool(std::vector<Array>*)>;

struct SourceDefinition {
  std::string name;
  std::string doc;
  std::vector<Parameter> parameters;
  std::function<ElementType(const Arguments&)> element;
  // Begins a pass. The RowSource is used by one thread at a time. Caches on disk and checkpoints
  // notice a change of files that text arguments name.
  std::function<RowSource(const Arguments&)> open;
  std::string identity;  // see above
  // Number of elements of a pass; nullopt: unknown; -1: without end. A wrong number is an error at
  // the end of the pass.
  std::function<std::optional<int64_t>(const Arguments&)> cardinality;
  bool random = false;  // draws random numbers
};
void register_source(SourceDefinition source);

// Relation of the elements that an operator emits to those of its input.
enum class Relation : uint8_t {
  unknown,   // nothing is assumed
  same,      // one element (or throw) for each element of the input, in its order
  subset,    // some elements of the input, in its order: 0 or 1 before the next one is read
  multiply,  // any number for each element of the input, before the next one is read
  regroup,   // an element is made of several elements of the input
};

// Facts about an operator, which rewrites, checkpoints, traces and messages ask for. Each default
// is safe for any operator. A wrong fact gives wrong results or an error at the element that
// contradicts it.
struct OperatorFacts {
  // same, subset, multiply: errors after the operator name the file and record that an element
  // comes from, random ops draw by that element, and sizes and rates are estimated through it.
  // same: the cardinality is that of the input.
  Relation relation = Relation::unknown;
  // Elements are those of the input, unchanged, and which ones does not depend on their values:
  // components that nothing after it uses are not computed before it. Needs same or subset, and
  // no `element`.
  bool hands_on = false;
  // Keeps no state from one element to the next: a checkpoint resumes it without a rerun from the
  // beginning of its input, and the ranks after `shard` may become more or fewer. Needs same or
  // subset. `open` is called again on resume.
  bool stateless = false;
  // Ends before its input ends, or starts later: counts of a part do not scale to the whole.
  bool cuts = false;
  // Draws random numbers: a cache of what it emits holds one draw.
  bool random = false;
};

struct DatasetOperatorDefinition {
  std::string name;
  std::string doc;
  std::vector<Parameter> parameters;
  // Not set: elements are of the input's type. Parts of nested structures come in reading order.
  std::function<ElementType(const ElementType& input, const Arguments&)> element;
  // Begins a pass over `input`, a callable that throws Error for an element that failed and may be
  // called on. Runs on a thread of its own.
  std::function<RowSource(RowSource input, const Arguments&)> open;
  std::string identity;  // see above
  OperatorFacts facts;
};
void register_dataset_operator(DatasetOperatorDefinition op);

}  // namespace penstock
