// shuffle(buffer_size, seed): each output is drawn from a window of buffer_size elements, whose place is
// then filled with the next input. buffer_size none: the whole input.
//
// Draw k belongs to output k of this pass, so the order depends on the seed and the epoch alone. An
// error is a value in a slot. Rows of fixed size are kept by column and written in place; others as
// tensors of their own, so that a slot never keeps a whole read buffer alive.

#include <algorithm>
#include <optional>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

// The slots' values of one component.
class SlotColumn {
 public:
  void put(size_t slot, const Column& column, int64_t row) {
    if (!decided_) decide(column);
    if (fixed_ && (column.kind() != Column::Kind::dense && column.kind() != Column::Kind::constant)) become_tensors();
    if (fixed_ && !(column.row_dims() == dims_)) become_tensors();
    if (fixed_) {
      const size_t at = slot * bytes_;
      if (flat_.size() < at + bytes_) flat_.resize(std::max(at + bytes_, flat_.size() * 2));
      std::memcpy(flat_.data() + at, column.row_data(row), bytes_);
      count_ = std::max(count_, slot + 1);
      return;
    }
    if (tensors_.size() <= slot) tensors_.resize(slot + 1);
    Tensor value = column.row(row);
    tensors_[slot] = value.object() ? value : value.copy();
  }

  void take(size_t slot, size_t moved) {  // the value of `slot` goes to `out_`; `moved` takes its place
    if (fixed_) {
      out_flat_.insert(out_flat_.end(), flat_.begin() + static_cast<std::ptrdiff_t>(slot * bytes_), flat_.begin() + static_cast<std::ptrdiff_t>((slot + 1) * bytes_));
      if (moved != slot) std::memcpy(flat_.data() + slot * bytes_, flat_.data() + moved * bytes_, bytes_);
    } else {
      if (slot >= tensors_.size()) tensors_.resize(slot + 1);
      out_tensors_.push_back(std::move(tensors_[slot]));
      if (moved != slot) tensors_[slot] = std::move(tensors_[moved]);
    }
    ++out_rows_;
  }

  Column finish() {
    const auto rows = static_cast<int64_t>(out_rows_);
    out_rows_ = 0;
    if (fixed_) {
      Column out = Column::dense(dtype_, dims_, rows);
      if (!out_flat_.empty()) std::memcpy(out.mutable_data(), out_flat_.data(), out_flat_.size());
      out_flat_.clear();
      return out;
    }
    ColumnBuilder builder;
    for (Tensor& t : out_tensors_) builder.append(Column::constant(std::move(t), 1));
    out_tensors_.clear();
    return builder.take(rows);
  }

 private:
  void decide(const Column& column) {
    decided_ = true;
    const bool flat = column.kind() == Column::Kind::dense || column.kind() == Column::Kind::constant;
    fixed_ = flat && column.dtype() != DType::bytes && column.row_bytes() <= 256;
    if (!fixed_) return;
    dtype_ = column.dtype();
    dims_ = column.row_dims();
    bytes_ = static_cast<size_t>(column.row_bytes());
  }

  void become_tensors() {
    fixed_ = false;
    auto tensor_at = [this](const std::vector<std::byte>& from, size_t i) {
      Tensor t = Tensor::make(dtype_, dims_);
      if (bytes_ > 0) std::memcpy(t.mutable_data(), from.data() + i * bytes_, bytes_);
      return t;
    };
    for (size_t i = 0; i < count_; ++i) tensors_.push_back(tensor_at(flat_, i));
    for (size_t i = 0; i < out_rows_; ++i) out_tensors_.push_back(tensor_at(out_flat_, i));
    flat_.clear();
    out_flat_.clear();
  }

  bool decided_ = false, fixed_ = false;
  DType dtype_ = DType::int64;
  Dims dims_;
  size_t bytes_ = 0, count_ = 0, out_rows_ = 0;
  std::vector<std::byte> flat_, out_flat_;
  std::vector<Tensor> tensors_, out_tensors_;
};

class ShuffleCursor final : public Cursor {
 public:
  ShuffleCursor(CursorPtr input, int64_t size, uint64_t seed, uint64_t epoch, uint64_t lineage, size_t columns)
      : input_(std::move(input)), size_(size), seed_(seed), epoch_(epoch), lineage_(lineage), columns_(columns) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      check_cancelled_between_blocks();
      while (made_ < pull.max_rows && (static_cast<int64_t>(slots_.size()) >= size_ || ended_) && !slots_.empty()) draw();
      if (made_ == pull.max_rows || (made_ > 0 && (ended_ || at_ == in_.rows))) return emit(out);
      if (ended_) return Poll::end;
      if (at_ == in_.rows) {
        in_ = Block();
        at_ = 0;
        const Poll poll = input_->pull(&in_, {std::min<int64_t>(4096, std::max(pull.max_rows, size_ - static_cast<int64_t>(slots_.size()))), pull.waker});
        if (poll == Poll::pending) return poll;
        if (poll == Poll::end) {
          ended_ = true;
          input_.reset();
          in_ = Block();
          continue;
        }
      }
      while (at_ < in_.rows && static_cast<int64_t>(slots_.size()) < size_) put(slots_.size());
    }
  }

 private:
  struct Slot {
    uint64_t lineage, epoch;
    ErrorPtr error;
  };

  static void check_cancelled_between_blocks() {
    if (Run* run = Run::current()) run->check_cancelled();
  }

  void put(size_t slot) {
    const ErrorPtr* error = in_.errors.empty() ? nullptr : in_.error_at(at_);
    Slot value{in_.origin.lineage(at_), in_.origin.epoch(at_), error ? *error : nullptr};
    if (slot == slots_.size()) {
      slots_.push_back(std::move(value));
    } else {
      slots_[slot] = std::move(value);
    }
    for (size_t c = 0; c < columns_.size() && !error; ++c) columns_[c].put(slot, in_.columns[c], at_);
    ++at_;
  }

  // One output; its slot takes the next input where one is at hand, else the last slot's value.
  void draw() {
    const size_t n = slots_.size();
    RandomStream random(seed_, epoch_, mix(lineage_, static_cast<uint64_t>(drawn_++)));
    const size_t slot = static_cast<size_t>(random.next_below(n));
    if (slots_[slot].error) {
      errors_.push_back({made_, slots_[slot].error});
    }
    lineages_.push_back(slots_[slot].lineage);
    epochs_.push_back(slots_[slot].epoch);
    ++made_;
    // The next input goes to the slot itself, so a full window stays full without moving others.
    const bool refill = at_ < in_.rows;
    for (SlotColumn& c : columns_) c.take(slot, refill ? slot : n - 1);
    if (refill) {
      put(slot);
    } else {
      if (slot != n - 1) slots_[slot] = std::move(slots_[n - 1]);
      slots_.pop_back();
      // In the middle of the input the window is filled up again before the next draw.
    }
  }

  Poll emit(Block* out) {
    out->clear();
    out->rows = made_;
    for (SlotColumn& c : columns_) out->columns.push_back(c.finish());
    out->origin = Origin::of(std::move(lineages_), std::move(epochs_));
    out->errors = std::move(errors_);
    lineages_.clear();
    epochs_.clear();
    errors_.clear();
    made_ = 0;
    return Poll::ready;
  }

  CursorPtr input_;
  const int64_t size_;
  const uint64_t seed_, epoch_, lineage_;
  std::vector<SlotColumn> columns_;
  std::vector<Slot> slots_;
  Block in_;
  int64_t at_ = 0;  // next row of in_
  int64_t drawn_ = 0;
  bool ended_ = false;
  int64_t made_ = 0;  // rows of the block being made
  std::vector<uint64_t> lineages_, epochs_;
  std::vector<RowError> errors_;
};

bool whole_input(const Attr& size) { return size.is_none() || (size.is_tensor() && size.as_int() == -2); }

}  // namespace

OperatorDef shuffle_operator() {
  OperatorDef op;
  op.name = "shuffle";
  op.doc = "Elements in random order, drawn from a window of buffer_size (none: all).";
  op.params = {required("input", Param::Kind::dataset), required("buffer_size", Param::Kind::tensor), optional("seed", Param::Kind::integer, {}),
               optional("reshuffle_each_iteration", Param::Kind::boolean, Attr::boolean(true))};
  op.params[1].accepts_none = true;
  op.keeps_rows = op.random = true;
  op.infer = [](NodeDraft& draft) {
    if (!whole_input(draft.node.args["buffer_size"])) draft.int_at_least("buffer_size", 1, "must be positive, or none for the whole input", 1);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = draft.input().cardinality;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const Attr size = context.arg(*node, "buffer_size");
    const int64_t n = whole_input(size) ? INT64_MAX : size.as_int();
    if (n < 1) throw Error(Code::invalid_argument, "buffer_size must be positive: " + std::to_string(n));
    const bool anew = node->arg("reshuffle_each_iteration").as_bool();
    return std::make_unique<ShuffleCursor>(context.open_input(*node), n, static_cast<uint64_t>(node->arg("seed").as_int()),
                                           anew ? context.epoch : 0, context.lineage, static_cast<size_t>(node->spec.leaf_count()));
  };
  return op;
}

}  // namespace penstock
