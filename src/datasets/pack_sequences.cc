// pack_sequences(length, window=16, padding_values=none): several short sequences side by side in
// one row, with the segment and the position inside it of every entry.
//
// First fit: a sequence goes into the oldest of up to `window` open rows that has room for it, else
// a new one is begun and, where that is one too many, the oldest comes out. A full row comes out at
// once; the rest follow at the end, oldest first. Segments count from 1 in each row, 0 is padding.
// A sequence without entries takes no part; one longer than a row is an error; errors take no room.

#include <algorithm>
#include <deque>

#include "data/ragged.h"
#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/padding.h"
#include "datasets/refill.h"
#include "datasets/resharding.h"

namespace penstock {
namespace {

class PackCursor final : public Cursor {
 public:
  PackCursor(CursorPtr input, int64_t length, size_t window, std::vector<Padding> paddings,
             std::vector<LeafSpec> leaves, std::optional<HeldRows> from)
      : input_(std::move(input)),
        length_(length),
        window_(window),
        paddings_(std::move(paddings)),
        leaves_(std::move(leaves)) {
    refill_.start(*input_, std::move(from));
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (const auto done = std::ranges::find_if(open_, [&](const Row& r) { return is_done(r); });
          done != open_.end()) {
        const Row row = std::move(*done);
        open_.erase(done);
        return emit(row, out);
      }
      if (ended_) return Poll::end;
      if (at_ == in_.rows) {
        at_ = 0;
        in_ = Block();
        const Poll poll = input_->pull(&in_, pull);
        if (poll == Poll::pending) return poll;
        if (poll == Poll::ready) {
          refill_.note(*input_, in_.rows);
        } else {
          in_ = Block();
          ended_ = true;
        }
        continue;
      }
      const int64_t row = at_++;
      if (refill_.is_gone(ordinal(row))) continue;
      if (const ErrorPtr* e = in_.error_at(row)) {
        *out = error_block(*e, identity().columns, in_.origin.slice(row));
        mark(out);
        return Poll::ready;
      }
      add(row);
    }
  }

 private:
  struct Row {
    std::vector<std::vector<Tensor>> segments;  // each a tensor for each component
    int64_t used;
    Origin origin;
    std::vector<int64_t> arrived;  // which rows of the input the segments are
  };

  bool is_done(const Row& row) const {
    return ended_ || row.used == length_ || open_.size() > window_;
  }

  void add(int64_t row) {
    std::vector<Tensor> segment;
    for (const Column& c : in_.columns) segment.push_back(c.row(row));
    for (const Tensor& t : segment) {
      if (t.dims().rank() == 0 || t.dims()[0] != segment[0].dims()[0]) {
        throw Error(Code::invalid_argument,
                    "the components of a sequence differ in their first size: " +
                        segment[0].dims().text() + " and " + t.dims().text());
      }
    }
    const int64_t n = segment[0].dims()[0];
    if (n > length_) {
      throw Error(Code::invalid_argument, "a sequence of " + std::to_string(n) +
                                              " entries does not fit a row of " +
                                              std::to_string(length_) + "; cut it first");
    }
    if (n == 0) return;
    auto fits = std::ranges::find_if(open_, [&](const Row& r) { return length_ - r.used >= n; });
    if (fits == open_.end()) {
      open_.push_back({{}, 0, in_.origin.slice(row), {}});
      fits = std::prev(open_.end());
    }
    fits->used += n;
    fits->segments.push_back(std::move(segment));
    fits->arrived.push_back(ordinal(row));
  }

  // Which row of the input a row of in_ is.
  int64_t ordinal(int64_t row) const { return refill_.rows() - in_.rows + row; }

  void mark(Block* out) {
    if (!identity().marks) return;
    std::vector<int64_t> held;
    for (const Row& r : open_) held.insert(held.end(), r.arrived.begin(), r.arrived.end());
    HeldRows fields;
    const StreamPosition before = refill_.hold(ordinal(at_), std::move(held), &fields);
    set_mark(out, fields, {before});
  }

  Poll emit(const Row& row, Block* out) {
    out->clear();
    out->rows = 1;
    out->origin = row.origin;
    for (size_t c = 0; c < leaves_.size(); ++c)
      out->columns.push_back(Column::constant(packed(row, c), 1));
    Tensor ids = Tensor::make(DType::int32, {length_});
    Tensor positions = Tensor::make(DType::int32, {length_});
    auto *id = ids.mutable_entries<int32_t>(), *position = positions.mutable_entries<int32_t>();
    int64_t at = 0;
    for (size_t s = 0; s < row.segments.size(); ++s) {
      const int64_t n = row.segments[s][0].dims()[0];
      for (int64_t i = 0; i < n; ++i, ++at) {
        id[at] = static_cast<int32_t>(s) + 1;
        position[at] = static_cast<int32_t>(i);
      }
    }
    std::fill(id + at, id + length_, 0);
    std::fill(position + at, position + length_, 0);
    out->columns.push_back(Column::constant(std::move(ids), 1));
    out->columns.push_back(Column::constant(std::move(positions), 1));
    mark(out);
    return Poll::ready;
  }

  // One component of all segments, padded to the row's length.
  Tensor packed(const Row& row, size_t component) const {
    const Dims inner = row.segments[0][component].dims().without_front();
    Tensor out = Tensor::make(leaves_[component].dtype, inner.with_front(length_));
    const auto entry = static_cast<size_t>(dtype_size(out.dtype()));
    std::byte* to = out.mutable_data();
    for (const std::vector<Tensor>& segment : row.segments) {
      const Tensor& t = segment[component];
      if (!(t.dims().without_front() == inner)) {
        throw Error(Code::invalid_argument,
                    "sequences of one row have entries of different shapes: " + inner.text() +
                        " and " + t.dims().without_front().text());
      }
      const auto bytes = static_cast<size_t>(t.data_bytes());
      if (bytes > 0) std::memcpy(to, t.data(), bytes);
      if (t.dtype() == DType::bytes) out.mutable_buffer().keep(t.buffer());
      to += bytes;
    }
    const Tensor& padding = paddings_[component].value;
    if (out.dtype() == DType::bytes) out.mutable_buffer().keep(padding.buffer());
    for (std::byte* end = out.mutable_data() + out.data_bytes(); to < end; to += entry)
      std::memcpy(to, padding.data(), entry);
    return out;
  }

  CursorPtr input_;
  Refill refill_;
  const int64_t length_;
  const size_t window_;
  const std::vector<Padding> paddings_;
  const std::vector<LeafSpec> leaves_;  // of a sequence
  std::deque<Row> open_;                // oldest first
  Block in_;
  int64_t at_ = 0;
  bool ended_ = false;
};

// {fields of a sequence, or tokens; segment_ids, positions}.
Spec packed_spec(const Spec& input, const std::vector<LeafSpec>& leaves, int64_t length) {
  const bool dict = input.kind == Spec::Kind::dict;
  std::vector<std::string> keys = dict ? input.keys : std::vector<std::string>{"tokens"};
  const Spec packed = input.with_leaves(leaves);
  std::vector<Spec> items = dict ? packed.items : std::vector<Spec>{packed};
  for (const char* key : {"segment_ids", "positions"}) {
    if (input.find(key) >= 0)
      NodeDraft::fail("input", "has a field " + std::string(key) + " already");
    keys.emplace_back(key);
    items.push_back(Spec::tensor(DType::int32, Shape(std::vector<int64_t>{length})));
  }
  return Spec::dict(std::move(keys), std::move(items));
}

void infer(NodeDraft& draft) {
  const int64_t length = draft.int_at_least("length", 1, "must be positive", -1);
  draft.int_at_least("window", 1, "must be positive", 1);
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  if (leaves.empty()) NodeDraft::fail("input", "at least one component is needed");
  for (LeafSpec& leaf : leaves) {
    if (!is_dense(leaf) || !leaf.shape.has_rank() || leaf.shape.rank() == 0)
      NodeDraft::fail("input", "is " + leaf.text() + ", expected a sequence of known rank");
    leaf = LeafSpec::tensor(leaf.dtype, leaf.shape.without_front().with_front(length));
  }
  read_paddings(draft.input(), {}, draft.node.args["padding_values"]);
  draft.node.spec = packed_spec(draft.input().spec, leaves, length);
  const int64_t n = draft.input().cardinality;
  draft.node.cardinality = n > 0 ? kUnknown : n;
}

}  // namespace

OperatorDef pack_sequences_operator() {
  OperatorDef op;
  op.name = "pack_sequences";
  op.doc = "Several short sequences in one row of `length`, with segment_ids and positions.";
  op.params = {required("input", Param::Kind::dataset), required("length", Param::Kind::tensor),
               optional("window", Param::Kind::tensor, Attr::integer(16)),
               optional("padding_values", Param::Kind::any, {})};
  op.rows = Rows::regroup;
  op.resharding = resharding_in_order<HeldRows>();
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t length = open_positive(context, *node, "length");
    const auto window = static_cast<size_t>(open_positive(context, *node, "window"));
    return std::make_unique<PackCursor>(
        context.open_input(*node), length, window, open_paddings(context, *node),
        node->inputs[0]->spec.leaves(), context.resumed<HeldRows>(*node));
  };
  return op;
}

}  // namespace penstock
