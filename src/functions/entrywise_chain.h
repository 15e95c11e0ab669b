// Several entrywise ops of a function as one pass: tile by tile, what is between them in L1.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "functions/function.h"
#include "functions/kernels/math/entrywise.h"

namespace penstock {

// A set of nodes that each make entry i of their output from entries i of their inputs, joined by
// values that the set makes. Immutable; for any number of threads.
class EntrywiseChain {
 public:
  // What a value from outside holds when the chain runs.
  struct Operand {
    DType dtype;
    Dims dims;
    const std::byte* data;
    bool each_row;  // its own entries for each row; else the same ones for all
  };
  // Memory for entries [rows, ...dims] of an output; called once for each.
  using Allocate = std::function<std::byte*(size_t output, const Dims& dims)>;

  // The chains of a function. None holds a node whose rows can fail. A chain can be run at the
  // place of its last node: no node before that takes what it makes.
  static std::vector<EntrywiseChain> find(const Function& function);

  // The nodes that it does, ascending: its ops, and the constants that only those take.
  std::span<const int> nodes() const { return nodes_; }
  // Values from outside, to be given to run in this order.
  std::span<const ValueId> inputs() const { return inputs_; }
  // Values that others need.
  std::span<const ValueId> outputs() const { return outputs_; }

  // False, nothing done, when the operands' shapes are not those of one pass: all that differ by
  // row have one shape, and the others repeat along it.
  bool run(std::span<const Operand> operands, int64_t rows, const Allocate& allocate) const;

 private:
  // Where an argument comes from, or a result goes: an operand, a number known at build, a buffer
  // of a tile, an output.
  struct Place {
    enum class Kind : uint8_t { operand, constant, tile, output } kind;
    int index;
  };
  struct Argument {
    Place place;
    DType dtype;
    int converted = -1;  // the tile that holds it in the computing dtype
  };
  struct Op {
    const EntrywiseKernel* kernel;
    std::vector<Argument> arguments;
    DType compute, made, output;
    Place to;
    int unconverted = -1;  // the tile for what is made, where that is not the output's dtype
  };
  class Pass;

  EntrywiseChain(const Function& function, std::vector<int> ops);
  void add_op(const Function& function, const FunctionNode& node, std::vector<Place>* places,
              std::vector<int>* uses_left, std::vector<int>* free_tiles);
  Argument argument_of(const Function& function, ValueId id, const Op& op,
                       std::vector<Place>* places);
  int take_tile(std::vector<int>* free_tiles);

  std::vector<int> nodes_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<Tensor> constants_;  // in the computing dtype of the op that takes each
  std::vector<Op> ops_;
  int tiles_ = 0;
};

}  // namespace penstock
