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
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/tensor.h"

namespace penstock {

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
};
void register_op(OpDefinition op);

// Gives the next element's arrays; false at the end. A throw is an error at this position, and it
// is called again; after 1000 throws without an element or input between them the pass ends.
using RowSource = std::function<bool(std::vector<Array>*)>;

struct SourceDefinition {
  std::string name;
  std::string doc;
  std::vector<Parameter> parameters;
  std::function<ElementType(const Arguments&)> element;
  // Begins a pass. The RowSource is used by one thread at a time.
  std::function<RowSource(const Arguments&)> open;
  std::string identity;  // see above
};
void register_source(SourceDefinition source);

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
};
void register_dataset_operator(DatasetOperatorDefinition op);

}  // namespace penstock
