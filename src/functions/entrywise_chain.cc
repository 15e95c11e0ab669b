#include "functions/entrywise_chain.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/cancellation.h"
#include "base/recycled.h"
#include "functions/kernels/math/convert.h"
#include "functions/value_uses.h"

namespace penstock {
namespace {

constexpr int64_t kTileEntries = 1024;

bool is_plain(const LeafSpec& type) { return type.is_tensor() && type.dtype != DType::bytes; }

// Whether the node's op may stand in a chain.
bool is_entrywise(const Function& f, const FunctionNode& node) {
  if (node.kind != FunctionNode::Kind::op || !node.op->entrywise) return false;
  if (!is_plain(f.type(node.outputs[0]))) return false;
  for (const ValueId id : node.inputs) {
    if (!is_plain(f.type(id))) return false;
  }
  const EntrywiseKernel& kernel = *node.op->entrywise;
  if (!kernel.fails) return true;
  // Rows fail by the last input: not by a constant that is seen to be right.
  const FunctionNode* last = f.producer(node.inputs.back());
  if (!last || last->kind != FunctionNode::Kind::constant) return false;
  std::vector<DType> dtypes;
  for (const ValueId id : node.inputs) dtypes.push_back(f.type(id).dtype);
  const DType compute = kernel.compute(dtypes, f.type(node.outputs[0]).dtype);
  const Tensor value = converted(last->constant, compute);
  return !kernel.fails(compute, value.data(), value.entries_count());
}

// The nodes of a chain that begins at `first`: each takes what one before it makes. Nodes between
// them stay outside, and the chain ends where one of those takes what the chain makes.
std::vector<int> chain_from(const Function& f, size_t first, const std::vector<bool>& taken) {
  std::vector<int> out{static_cast<int>(first)};
  std::vector<bool> made(f.values.size(), false);
  const ValueId root = f.nodes[first].outputs[0];
  made[static_cast<size_t>(root)] = true;
  for (size_t i = first + 1; i < f.nodes.size(); ++i) {
    const FunctionNode& node = f.nodes[i];
    const bool joined = std::ranges::any_of(
        node.inputs, [&made](ValueId id) { return made[static_cast<size_t>(id)]; });
    if (!joined) continue;
    if (taken[i] || !is_entrywise(f, node) ||
        !(f.type(node.outputs[0]).shape == f.type(root).shape)) {
      break;
    }
    made[static_cast<size_t>(node.outputs[0])] = true;
    out.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace

std::vector<EntrywiseChain> EntrywiseChain::find(const Function& function) {
  std::vector<EntrywiseChain> out;
  std::vector<bool> taken(function.nodes.size(), false);
  for (size_t i = 0; i < function.nodes.size(); ++i) {
    if (taken[i] || !is_entrywise(function, function.nodes[i])) continue;
    std::vector<int> nodes = chain_from(function, i, taken);
    if (nodes.size() < 2) continue;
    for (const int n : nodes) taken[static_cast<size_t>(n)] = true;
    out.push_back(EntrywiseChain(function, std::move(nodes)));
  }
  return out;
}

EntrywiseChain::EntrywiseChain(const Function& f, std::vector<int> ops) : nodes_(std::move(ops)) {
  std::vector<Place> places(f.values.size(), {Place::Kind::operand, -1});
  std::vector<int> inside(f.values.size(), 0);  // uses by the chain's own nodes
  for (const int n : nodes_) {
    for (const ValueId id : f.nodes[static_cast<size_t>(n)].inputs)
      ++inside[static_cast<size_t>(id)];
  }
  const std::vector<int> uses = count_uses(f);
  const auto only_inside = [&](ValueId id) {
    return uses[static_cast<size_t>(id)] == inside[static_cast<size_t>(id)];
  };
  for (const int n : nodes_) {
    const ValueId id = f.nodes[static_cast<size_t>(n)].outputs[0];
    if (only_inside(id)) continue;
    places[static_cast<size_t>(id)] = {Place::Kind::output, static_cast<int>(outputs_.size())};
    outputs_.push_back(id);
  }
  std::vector<int> free_tiles, uses_left = inside;
  for (const int n : nodes_)
    add_op(f, f.nodes[static_cast<size_t>(n)], &places, &uses_left, &free_tiles);
  for (int n = 0; n < nodes_.back(); ++n) {
    const FunctionNode& node = f.nodes[static_cast<size_t>(n)];
    if (node.kind != FunctionNode::Kind::constant || !only_inside(node.outputs[0])) continue;
    if (inside[static_cast<size_t>(node.outputs[0])] == 0 ||
        std::ranges::find(inputs_, node.outputs[0]) != inputs_.end())
      continue;
    nodes_.push_back(n);
  }
  std::ranges::sort(nodes_);
}

int EntrywiseChain::take_tile(std::vector<int>* free_tiles) {
  if (free_tiles->empty()) return tiles_++;
  const int tile = free_tiles->back();
  free_tiles->pop_back();
  return tile;
}

void EntrywiseChain::add_op(const Function& f, const FunctionNode& node, std::vector<Place>* places,
                            std::vector<int>* uses_left, std::vector<int>* free_tiles) {
  const ValueId result = node.outputs[0];
  Op op{node.op->entrywise, {}, {}, {}, f.type(result).dtype, {}};
  std::vector<DType> dtypes;
  for (const ValueId id : node.inputs) dtypes.push_back(f.type(id).dtype);
  op.compute = op.kernel->compute(dtypes, op.output);
  op.made = op.kernel->gives_bool ? DType::boolean : op.compute;
  std::vector<int> done;  // tiles that are free behind this op: kernels read no place they write
  for (const ValueId id : node.inputs) {
    Argument argument = argument_of(f, id, op, places);
    // What only changes the dtype writes to its output at once.
    if (argument.dtype != op.compute && op.kernel->run) {
      argument.converted = take_tile(free_tiles);
      done.push_back(argument.converted);
    }
    if (--(*uses_left)[static_cast<size_t>(id)] == 0 && argument.place.kind == Place::Kind::tile)
      done.push_back(argument.place.index);
    op.arguments.push_back(argument);
  }
  if (op.made != op.output) {
    op.unconverted = take_tile(free_tiles);
    done.push_back(op.unconverted);
  }
  Place& to = (*places)[static_cast<size_t>(result)];
  if (to.kind != Place::Kind::output) to = {Place::Kind::tile, take_tile(free_tiles)};
  op.to = to;
  free_tiles->insert(free_tiles->end(), done.begin(), done.end());
  ops_.push_back(std::move(op));
}

EntrywiseChain::Argument EntrywiseChain::argument_of(const Function& f, ValueId id, const Op& op,
                                                     std::vector<Place>* places) {
  const FunctionNode* producer = f.producer(id);
  if (producer && producer->kind == FunctionNode::Kind::constant &&
      producer->constant.dims().rank() == 0) {
    constants_.push_back(converted(producer->constant, op.compute));
    return {{Place::Kind::constant, static_cast<int>(constants_.size()) - 1}, op.compute};
  }
  Place& place = (*places)[static_cast<size_t>(id)];
  if (place.kind == Place::Kind::operand && place.index < 0) {
    place.index = static_cast<int>(inputs_.size());
    inputs_.push_back(id);
  }
  return {place, f.type(id).dtype};
}

// One call of run: the operands made ready, and the tiles.
class EntrywiseChain::Pass {
 public:
  Pass(const EntrywiseChain& chain, std::span<const Operand> operands) : chain_(chain) {
    for (const Operand& operand : operands) inputs_.push_back({operand, 0, {}});
  }

  // The shape of a row, from the operands; false when they do not fit one pass.
  bool fit(int64_t rows) {
    const Dims* dims = nullptr;
    for (const Input& in : inputs_) {
      if (in.from.each_row && (!dims || in.from.dims.entries() > dims->entries()))
        dims = &in.from.dims;
    }
    if (!dims) return false;
    dims_ = *dims;
    entries_ = rows * dims_.entries();
    int64_t together = 1;  // entries after which all tables begin anew
    for (Input& in : inputs_) {
      if (in.from.each_row) {
        if (!(in.from.dims == dims_)) return false;
        continue;
      }
      in.period = in.from.dims.entries();
      const int behind = dims_.rank() - in.from.dims.rank();
      if (in.period == 0 || behind < 0) return false;
      if (in.period == 1) continue;
      for (int axis = 0; axis < in.from.dims.rank(); ++axis) {
        if (in.from.dims[axis] != dims_[axis + behind]) return false;
      }
      together = std::lcm(together, in.period);
      if (together > kTileEntries) return false;
    }
    tile_ = kTileEntries / together * together;
    return chained();
  }

  void run(const Allocate& allocate) {
    for (size_t i = 0; i < chain_.outputs_.size(); ++i) outputs_.push_back({allocate(i, dims_)});
    if (entries_ == 0) return;
    tiles_ = Tensor::make(DType::uint8, {std::max(1, chain_.tiles_) * tile_ * kEntryBytes});
    make_ready();
    for (int64_t at = 0; at < entries_; at += tile_) {
      if (at % (64 * tile_) == 0) check_cancelled();
      const int64_t n = std::min(tile_, entries_ - at);
      if (at == 0 || n < tile_) plan_tile(n);
      for (size_t i = 0; i < calls_.size(); ++i) run_op(chain_.ops_[i], calls_[i], at, n);
    }
  }

 private:
  struct Input {
    Operand from;
    int64_t period;  // 0: entries for each row; 1: one entry; else a table
    Tensor table;    // written out to a tile
  };
  struct Output {
    std::byte* data;
  };
  static constexpr size_t kMost = BroadcastPlan::kMaxInputs;
  static constexpr int64_t kEntryBytes = 8;  // of the widest dtype

  // An op over a tile of some size: which arguments repeat, and how the others go with them.
  struct Call {
    BroadcastPlan plan;
    std::array<const std::byte*, kMost> repeats;  // the same for each tile; null for others
    std::array<int64_t, kMost> entries;
  };

  // Each op has an argument that is as large as the rows: its result is, too.
  bool chained() const {
    return std::ranges::all_of(chain_.ops_, [this](const Op& op) {
      return std::ranges::any_of(op.arguments, [this](const Argument& a) {
        if (a.place.kind == Place::Kind::operand)
          return inputs_[static_cast<size_t>(a.place.index)].period == 0;
        return a.place.kind != Place::Kind::constant;
      });
    });
  }

  // Writes tables out to the length of a tile.
  void make_ready() {
    for (Input& in : inputs_) {
      if (in.period <= 1) continue;
      const int64_t size = dtype_size(in.from.dtype), bytes = in.period * size;
      in.table = Tensor::make(in.from.dtype, {tile_});
      for (int64_t k = 0; k < tile_ * size; k += bytes)
        std::memcpy(in.table.mutable_data() + k, in.from.data, static_cast<size_t>(bytes));
    }
  }

  std::byte* tile(int index) { return tiles_.mutable_data() + index * tile_ * kEntryBytes; }

  const std::byte* place_data(const Place& place, DType dtype, int64_t at) {
    switch (place.kind) {
      case Place::Kind::operand:
        return inputs_[static_cast<size_t>(place.index)].from.data + at * dtype_size(dtype);
      case Place::Kind::constant: return chain_.constants_[static_cast<size_t>(place.index)].data();
      case Place::Kind::tile: return tile(place.index);
      case Place::Kind::output:
        return outputs_[static_cast<size_t>(place.index)].data + at * dtype_size(dtype);
    }
    return nullptr;
  }

  void plan_tile(int64_t n) {
    calls_.clear();
    for (const Op& op : chain_.ops_) {
      Call call{};
      std::array<bool, kMost> steps{};
      for (size_t i = 0; i < op.arguments.size(); ++i) {
        const Place& place = op.arguments[i].place;
        steps[i] = place.kind != Place::Kind::constant;
        if (place.kind == Place::Kind::operand) {
          const Input& input = inputs_[static_cast<size_t>(place.index)];
          steps[i] = input.period != 1;
          if (input.period == 1) call.repeats[i] = input.from.data;
          if (input.period > 1) call.repeats[i] = input.table.data();
        }
        call.entries[i] = steps[i] ? n : 1;
      }
      call.plan = BroadcastPlan::flat(n, std::span(steps).first(op.arguments.size()));
      calls_.push_back(call);
    }
  }

  void run_op(const Op& op, const Call& call, int64_t at, int64_t n) {
    std::byte* const to = const_cast<std::byte*>(place_data(op.to, op.output, at));
    EntrywiseCall entrywise{
        call.plan, op.compute, {}, call.entries, op.unconverted < 0 ? to : tile(op.unconverted)};
    for (size_t i = 0; i < op.arguments.size(); ++i) {
      const Argument& a = op.arguments[i];
      const std::byte* in = call.repeats[i] ? call.repeats[i] : place_data(a.place, a.dtype, at);
      if (!op.kernel->run) return convert_entries(a.dtype, in, op.output, to, n);
      if (a.dtype != op.compute) {
        convert_entries(a.dtype, in, op.compute, tile(a.converted), call.entries[i]);
        in = tile(a.converted);
      }
      entrywise.in[i] = in;
    }
    op.kernel->run(entrywise);
    if (op.unconverted >= 0) convert_entries(op.made, tile(op.unconverted), op.output, to, n);
  }

  const EntrywiseChain& chain_;
  RecycledVector<Input> inputs_;
  RecycledVector<Output> outputs_;
  RecycledVector<Call> calls_;
  Dims dims_;
  int64_t entries_ = 0, tile_ = 0;
  Tensor tiles_;
};

bool EntrywiseChain::run(std::span<const Operand> operands, int64_t rows,
                         const Allocate& allocate) const {
  Pass pass(*this, operands);
  if (!pass.fit(rows)) return false;
  pass.run(allocate);
  return true;
}

}  // namespace penstock
