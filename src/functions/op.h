// What a function op is, and the table of all of them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "data/block.h"
#include "functions/attr.h"

namespace penstock {

class Function;
class CompiledFunction;
using FunctionPtr = std::shared_ptr<const Function>;

enum class Effects : uint8_t {
  pure,      // the outputs are a function of inputs and attributes
  random,    // draws, keyed by the row: reproducible, differs between epochs
  stateful,  // anything else: stays where it is
};

// A type error: which argument (index into inputs, or the name of an attribute) and what is wrong.
struct TypeError {
  int input = -1;
  std::string attr;
  std::string message;
};

struct InferInput {
  LeafSpec type;
  const Tensor* constant = nullptr;  // the value, where it is known at build
  // Of a vector of integers: the entries that are known at build, -1 for the others; empty when
  // none is, or where `constant` says all.
  std::vector<int64_t> partial;
};

// What `infer` sees: the inputs in order of the signature, and all attributes (defaults filled in).
struct InferContext {
  std::span<const InferInput> inputs;
  const Attrs& attrs;
  std::span<const FunctionPtr> bodies;

  [[noreturn]] void fail(int input, std::string message) const {
    throw TypeError{input, {}, std::move(message)};
  }
  [[noreturn]] void fail(std::string message) const { throw TypeError{-1, {}, std::move(message)}; }
  // Throws unless input i is a dense tensor.
  const LeafSpec& tensor(int i) const;
  // ... of this dtype: "is int64, expected bytes".
  const LeafSpec& tensor_of(int i, DType dtype) const;
  // ... of a rank that may be `rank`.
  void check_rank(int i, int rank) const;
  // The entries of a constant integer input, or empty when it is not known yet (`partial` may know
  // some).
  std::vector<int64_t> known_ints(int i) const;
};

struct RowId {
  uint64_t lineage = 0;
  uint64_t epoch = 0;
  uint32_t round = 0;  // of enclosing loops
};

// Where an output tensor goes. Each output is set exactly once, by allocate or by set.
class OutputSlot {
 public:
  OutputSlot(DType dtype, Tensor* result) : dtype_(dtype), result_(result) {}
  OutputSlot(DType dtype, Tensor* result, const Tensor& place)
      : dtype_(dtype), result_(result), place_(&place) {}
  DType dtype() const { return dtype_; }
  // Uninitialised entries of the output: in its slot of the batch buffer where that was given and
  // has these dims.
  std::byte* allocate(const Dims& dims);
  template <typename T>
  T* allocate_as(const Dims& dims) {
    return reinterpret_cast<T*>(allocate(dims));
  }
  // Shares an existing tensor of the output's dtype.
  void set(Tensor tensor) { *result_ = std::move(tensor); }
  // After allocate: string entries point into `buffer`.
  void keep(const BufferRef& buffer) { result_->mutable_buffer().keep(buffer); }
  void keep_all_of(const BufferRef& buffer) { result_->mutable_buffer().keep_all_of(buffer); }

 private:
  DType dtype_;
  Tensor* result_;
  const Tensor* place_ = nullptr;
};

// One call of a row kernel. A kernel throws Error for a row that fails ("op: what: value").
struct RowCall {
  const Attrs& attrs;
  const void* state;  // what prepare made
  std::span<const Tensor> inputs;
  std::span<OutputSlot> outputs;
  RowId row;
  // Of an op with functions for parameters: these, whose captures name inputs.
  std::span<const std::unique_ptr<CompiledFunction>> bodies = {};
};

// One call of a block kernel: `rows` rows at once. Outputs are columns to be set. Rows in `failed`
// (ascending) are to be left out of error reports; their inputs are defined memory.
struct BlockCall {
  const Attrs& attrs;
  const void* state;
  int64_t rows;
  std::span<const Column> inputs;
  std::span<Column> outputs;
  std::span<const DType> output_dtypes;
  const Origin& origin;
  std::vector<RowError>* errors;  // kernels append; rows ascending
};

using RowKernel = void (*)(const RowCall&);
// False when it does not handle these column kinds or shapes: the row kernel is used.
using BlockKernel = bool (*)(const BlockCall&);

struct EntrywiseKernel;  // functions/kernels/math/entrywise.h

// Entries of an input that are known at build; -1: not this one. Empty: none is known.
struct KnownEntries {
  LeafSpec type;
  std::vector<int64_t> entries;
};

// Memory traffic of an op, for estimates of its cost.
enum class Touches : uint8_t {
  everything,  // reads its inputs, writes its outputs
  outputs,     // reads only as much as it writes
  nothing,     // looks at shapes, shares memory
};

// Shape of a loop over functions: what the functions are called with and what they return.
struct LoopForm {
  bool items = true;   // over the items of the first structure along axis 0
  bool state = true;   // the last structure is a state that the last function returns
  bool pairs = false;  // that function returns (state, output of the item)
};

struct OpDef {
  std::string name;
  std::vector<Param> params;
  std::string doc;  // one line
  // Output structure and types. Throws TypeError.
  std::function<Spec(const InferContext&)> infer;
  RowKernel row = nullptr;
  BlockKernel block = nullptr;
  // State shared by all calls of a node (a compiled pattern, a parser); made once at open.
  std::function<std::shared_ptr<const void>(const Attrs&)> prepare;
  Effects effects = Effects::pure;
  // Set for ops that this kernel does and nothing else: several of them become one pass.
  const EntrywiseKernel* entrywise = nullptr;
  bool elementwise = false;  // output entry i depends on entries i of the (broadcast) inputs only
  bool can_fail = false;     // some rows of valid types give an error
  bool large_rows = false;   // works on rows of many kilobytes: run depth first
  // The row kernel may be given its first input's memory for its output; see OutputSlot.
  bool in_place = false;
  double cost_ns = 50;  // rough cost of a row, before anything is measured
  std::string group;    // "math", "image", ... for `penstock ops`

  // Facts that other parts of the program ask for. Each default holds for any op.

  // First of the inputs among which number literals take the dtype of the others; all of them if
  // there are not more inputs. kNone: literals keep their own dtype, unless the op is elementwise.
  static constexpr int kNone = -1;
  int literals_from = kNone;
  // Input whose literals take the dtype of input 0.
  int literal_as_first = kNone;
  // Returns true if the op computes integer literals as floats. `literals` have one dtype.
  bool (*real_literals)(std::span<const Tensor> literals) = nullptr;
  // Works entry by entry on ragged inputs although its inputs differ in dtype or number;
  // elementwise ops do so anyway.
  bool lifts_ragged = false;
  // Reads files: its result never becomes a constant of a plan, which names files only.
  bool reads_files = false;
  // The output is the bytes of the file that input 0 names: a chain may have them read earlier.
  bool is_file_content = false;
  // `prepare` returns the output as a Tensor: a constant from the time a pipeline is opened.
  bool known_at_open = false;
  // Identity of the data that the attributes stand for, part of the identity of a plan. Throws
  // Error if the data cannot be read.
  std::string (*data_identity)(const Attrs& attrs) = nullptr;
  Touches touches = Touches::everything;
  // The output, if it follows from the static shape of the only input.
  Tensor (*of_shape)(const Shape& shape) = nullptr;
  // Returns the entries of the output, a vector of integers, as far as they follow from those of
  // the inputs. Null: nothing is known.
  std::vector<int64_t> (*known_entries)(std::span<const KnownEntries> inputs) = nullptr;
  LoopForm loop;  // of an op with functions for parameters
};

// Returns true if number literals take the dtype of the op's other arguments: those from `*first`
// on.
bool unifies_literals(const OpDef& op, size_t inputs, size_t* first);

class OpRegistry {
 public:
  // All built-in ops; ops of users are added by add before pipelines are built.
  static OpRegistry& instance();
  // CHECKs that the name is free.
  void add(OpDef op);
  const OpDef* find(std::string_view name) const;
  std::vector<const OpDef*> all() const;  // by name

 private:
  OpRegistry();
  std::vector<std::unique_ptr<OpDef>> ops_;
};

// Distance-based suggestion among `names`: " (did you mean x?)", or nothing.
std::string did_you_mean(std::string_view name, std::span<const std::string> names);

}  // namespace penstock
