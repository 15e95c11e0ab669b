// pad_to_cardinality(cardinality, mask_key="valid"): the elements, then zeros and empty strings up
// to the number asked for; the mask says which are real.
//
// For dicts of static shapes. An entry of the mask's name is replaced.

#include <algorithm>

#include "base/random.h"
#include "datasets/datasets.h"
#include "runtime/open.h"

namespace penstock {
namespace {

Tensor zeros(const LeafSpec& leaf) {
  Tensor out = Tensor::make(leaf.dtype, leaf.shape.dims());
  if (leaf.dtype == DType::bytes) {
    for (int64_t i = 0; i < out.entries_count(); ++i) out.mutable_entries<BytesView>()[i] = {};
  } else {
    std::memset(out.mutable_data(), 0, static_cast<size_t>(out.data_bytes()));
  }
  return out;
}

struct PadMark {
  static constexpr MarkForm kForm{"pad", 1};
  int64_t left = 0;  // padding still to come
  static void fields(auto& mark, auto& f) { f.count("left", mark.left); }
};

class PadCursor final : public Cursor {
 public:
  PadCursor(const PlanNode& node, const OpenContext& context)
      : input_(context.open_input(node)),
        left_(padding_left(node, context)),
        at_(mix(context.lineage, 1)),
        epoch_(context.epoch),
        block_rows_(context.run->options().block_rows) {
    const std::vector<LeafSpec> leaves = node.spec.leaves();
    const std::string& key = node.arg("mask_key").as_string();
    for (int i = 0; i < node.spec.find(key); ++i)
      mask_ += static_cast<size_t>(node.spec.items[static_cast<size_t>(i)].leaf_count());
    const int old = node.inputs[0]->spec.find(key);
    if (old >= 0) replaced_ = node.inputs[0]->spec.items[static_cast<size_t>(old)].leaf_count();
    for (const LeafSpec& leaf : leaves) fill_.push_back(zeros(leaf));
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    if (!input_done_) {
      const Poll poll = input_->pull(out, pull);
      if (poll == Poll::ready) {
        const auto at = out->columns.begin() + static_cast<std::ptrdiff_t>(mask_);
        out->columns.insert(out->columns.erase(at, at + replaced_),
                            Column::constant(Tensor::scalar(true), out->rows));
        set_mark(out, PadMark{left_}, {input_->position()});
      }
      if (poll != Poll::end) return poll;
      input_done_ = true;
    }
    if (left_ == 0) return Poll::end;
    out->clear();
    out->rows = std::min({pull.max_rows, left_, block_rows_});
    for (const Tensor& t : fill_) out->columns.push_back(Column::constant(t, out->rows));
    out->origin = Origin(at_ - static_cast<uint64_t>(left_), 1, epoch_);
    left_ -= out->rows;
    set_mark(out, PadMark{left_}, {input_->position()});
    return Poll::ready;
  }

 private:
  static int64_t padding_left(const PlanNode& node, const OpenContext& context) {
    const PadMark all{node.arg("cardinality").as_int() - node.inputs[0]->cardinality};
    return context.resumed<PadMark>(node).value_or(all).left;
  }

  CursorPtr input_;
  int64_t left_;  // padding still to come
  const uint64_t at_, epoch_;
  const int64_t block_rows_;
  size_t mask_ = 0;   // column of the mask
  int replaced_ = 0;  // columns that it takes the place of
  bool input_done_ = false;
  std::vector<Tensor> fill_;
};

void infer(NodeDraft& draft) {
  const Spec& in = draft.input().spec;
  const int64_t n = draft.input().cardinality;
  if (draft.node.args["cardinality"].is_capture())
    NodeDraft::fail("cardinality", "must be constant");
  const int64_t wanted = draft.node.args["cardinality"].as_int();
  if (in.kind != Spec::Kind::dict)
    NodeDraft::fail("input", "an element must be a dict, it is " + in.text());
  if (n < 0) {
    NodeDraft::fail("input", n == kInfinite ? "the input has no end; take() some of it"
                                            : "the number of elements of the input is not known; "
                                              "say it with assert_cardinality");
  }
  if (wanted < n) {
    NodeDraft::fail("cardinality", "must be at least that of the input, " + std::to_string(n) +
                                       ": " + std::to_string(wanted));
  }
  const std::string key = draft.node.args["mask_key"].as_string();
  Spec spec = in;
  if (const int at = spec.find(key); at >= 0) {
    spec.items[static_cast<size_t>(at)] = Spec::tensor(DType::boolean, {});
  } else {
    spec.keys.push_back(key);
    spec.items.push_back(Spec::tensor(DType::boolean, {}));
  }
  for (const LeafSpec& leaf : spec.leaves()) {
    if (!leaf.is_tensor() || !leaf.shape.is_static()) {
      NodeDraft::fail("input", "an element must have a static shape to be padded, it is " +
                                   in.text() + "; batch with drop_remainder=true");
    }
  }
  draft.node.spec = std::move(spec);
  draft.node.cardinality = wanted;
}

}  // namespace

OperatorDef pad_to_cardinality_operator() {
  OperatorDef op;
  op.name = "pad_to_cardinality";
  op.doc = "The elements, then zeros up to their number; the entry `mask_key` tells them apart.";
  op.params = {required("input", Param::Kind::dataset),
               required("cardinality", Param::Kind::tensor),
               optional("mask_key", Param::Kind::text, Attr::text("valid"))};
  op.rows = Rows::multiply;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<PadCursor>(*node, context);
  };
  return op;
}

}  // namespace penstock
