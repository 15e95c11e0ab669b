// repeat(count=none): the input again and again; none or -1 for ever.
//
// Each pass opens the input anew with an epoch of its own, by which shuffles and random ops below
// draw. A pass without any good element ends an endless repeat: it would spin.

#include <algorithm>
#include <deque>

#include "base/random.h"
#include "datasets/datasets.h"
#include "datasets/repeat.h"
#include "plan/noop.h"
#include "runtime/indexed.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(PlanPtr node, const OpenContext& context, int64_t count)
      : node_(std::move(node)),
        context_(context),
        environment_(context.environment.begin(), context.environment.end()),
        count_(count) {
    context_.environment = environment_;
    if (const auto from = context_.resumed<RepeatMark>(*node_)) {
      pass_ = from->pass;
      if (count_ >= 0 && pass_ >= count_)
        throw Error(Code::data_loss,
                    "the checkpoint is damaged: there is no pass " + std::to_string(pass_));
      given_ = from->emitted;
      const auto& inputs = context_.resume(*node_)->inputs();
      for (size_t i = 1; i < inputs.size(); ++i) begun_.push_back(inputs[i]);
    }
    open_pass();
    context_.at = {};  // later passes begin at the beginning
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      if (!input_) {
        if (pass_ == count_) return Poll::end;
        open_pass();
      }
      const Poll poll = input_->pull(out, pull);
      if (poll == Poll::ready) {
        given_ |= static_cast<int64_t>(out->errors.size()) < out->rows;
        mark(out);
      }
      if (poll != Poll::end) return poll;
      input_.reset();
      ++pass_;
      if (!given_ && count_ < 0) count_ = pass_;
      given_ = false;
    }
  }

 private:
  void mark(Block* out) const {
    if (begun_.empty()) return set_mark(out, RepeatMark{pass_, given_}, {input_->position()});
    std::vector<StreamPosition> inputs{input_->position()};
    inputs.insert(inputs.end(), begun_.begin(), begun_.end());
    set_mark(out, RepeatMark{pass_, given_}, inputs);
  }

  void open_pass() {
    OpenContext context = context_;
    if (pass_ > 0) context.epoch = mix(context_.epoch, static_cast<uint64_t>(pass_));
    try {
      OpenContext below = context.below(*node_);
      below.batch = context.batch;
      if (opened_ && !begun_.empty()) {
        below.at = begun_.front();
        begun_.pop_front();
        given_ = true;  // by other ranks, if not here
      }
      opened_ = true;
      input_ = below.open(node_->inputs[0]);
    } catch (const Error&) {
      count_ = pass_;  // what cannot be opened again ends it
      throw;
    }
  }

  PlanPtr node_;
  OpenContext context_;
  std::vector<Tensor> environment_;
  int64_t count_;  // -1: for ever
  CursorPtr input_;
  int64_t pass_ = 0;
  bool given_ = false;                // a good element in this pass
  bool opened_ = false;               // some pass
  std::deque<StreamPosition> begun_;  // where the passes behind this one begin
};

// Row i is one of pass i / n; passes are opened when they are asked for.
class IndexedPasses final : public Indexed {
 public:
  // -1 passes: for ever.
  IndexedPasses(PlanPtr node, const OpenContext& context, int64_t passes)
      : node_(std::move(node)), context_(context), first_(open_indexed_input(*node_, context_)) {
    const int64_t n = first_->rows();
    rows_ = n == 0 || passes == 0                  ? 0
            : passes < 0 || n > INT64_MAX / passes ? INT64_MAX
                                                   : n * passes;
  }

  int64_t rows() const override { return rows_; }
  Block at(std::span<const int64_t> indices) override {
    BlockBuilder out(static_cast<size_t>(node_->spec.leaf_count()));
    const int64_t n = first_->rows();
    for (size_t begin = 0, end = 0; begin < indices.size(); begin = end) {
      const int64_t pass = indices[begin] / n;
      std::vector<int64_t> places;
      for (; end < indices.size() && indices[end] / n == pass; ++end)
        places.push_back(indices[end] % n);
      out.append(pass_rows(pass)->at(places));
    }
    return out.finish();
  }

 private:
  Indexed* pass_rows(int64_t pass) {
    if (pass == 0) return first_.get();
    if (pass != pass_) {
      OpenContext context = context_;
      context.epoch = mix(context_.epoch, static_cast<uint64_t>(pass));
      later_ = open_indexed_input(*node_, context);
      pass_ = pass;
    }
    return later_.get();
  }

  PlanPtr node_;
  OpenContext context_;
  IndexedPtr first_, later_;
  int64_t rows_ = 0;
  int64_t pass_ = 0;  // that later_ is
};

// -1: for ever.
int64_t passes_of(const PlanNode& node, const OpenContext& context) {
  const Attr count = context.arg(node, "count");
  return count.is_none() ? -1 : std::max<int64_t>(-1, count.as_int());
}

}  // namespace

OperatorDef repeat_operator() {
  OperatorDef op;
  op.name = "repeat";
  op.doc = "The input `count` times over; none or -1: for ever.";
  op.params = {required("input", Param::Kind::dataset), optional("count", Param::Kind::tensor, {})};
  op.rows = Rows::multiply;
  op.hands_on = true;
  op.passes_param = "count";
  op.resharding = repeat_resharding();
  op.changes_nothing = [](const PlanNode& node) { return argument_is(node, "count", 1); };
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = draft.input().spec;
    const int64_t n = draft.input().cardinality;
    const Attr& count = draft.node.args["count"];
    const int64_t k = count.is_none() ? -1 : count.is_capture() ? kUnknown : count.as_int();
    if (count.is_capture()) {
      draft.node.cardinality = kUnknown;
    } else if (k == 0 || n == 0) {
      draft.node.cardinality = 0;
    } else if (k < 0) {
      draft.node.cardinality = kInfinite;
    } else {
      draft.node.cardinality = n < 0 ? n : n > INT64_MAX / k ? kUnknown : n * k;
    }
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const int64_t passes = passes_of(*node, context);
    if (passes == 0) return open_nothing();
    return std::make_unique<RepeatCursor>(node, context, passes);
  };
  op.open_indexed = [](const PlanPtr& node, const OpenContext& context) {
    return std::make_unique<IndexedPasses>(node, context, passes_of(*node, context));
  };
  return op;
}

}  // namespace penstock
