// ignore_errors(log_warning=false, max_count=none, max_rate=none): elements that fail are left out
// and counted, with stage, file and offset; beyond the limit their errors come out.
//
// What on_error=skip(...) on a stage puts behind it.

#include <cstdio>

#include "datasets/datasets.h"
#include "datasets/error_limit.h"
#include "datasets/resharding.h"
#include "runtime/open.h"

namespace penstock {
namespace {

class IgnoreErrorsCursor final : public Cursor {
 public:
  IgnoreErrorsCursor(CursorPtr input, const PlanPtr& node, const OpenContext& context)
      : input_(std::move(input)),
        limit_(node, context.run),
        warn_(node->arg("log_warning").as_bool()) {
    if (const auto from = context.resumed<ErrorLimitMark>(*node)) limit_.start(*from);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      const Poll poll = input_->pull(out, pull);
      if (poll != Poll::ready) return poll;
      if (out->errors.empty()) {
        limit_.pass(out->rows);
      } else {
        drop_errors(out);
      }
      if (out->rows == 0) continue;
      set_mark(out, limit_.mark(), {input_->position()});
      return Poll::ready;
    }
  }

 private:
  void drop_errors(Block* block) {
    std::vector<int32_t> kept;
    auto error = block->errors.begin();
    for (int32_t i = 0; i < block->rows; ++i) {
      if (error == block->errors.end() || error->row != i) {
        limit_.pass(1);
        kept.push_back(i);
        continue;
      }
      if (const ErrorPtr beyond = limit_.admit(error->error)) {
        error->error = beyond;
        kept.push_back(i);
      } else if (warn_) {
        std::fprintf(stderr, "penstock: ignored: %s: %s\n",
                     std::string(code_name(error->error->code())).c_str(), error->error->what());
      }
      ++error;
    }
    *block = block->gather(kept);
  }

  CursorPtr input_;
  ErrorLimit limit_;
  const bool warn_;
};

}  // namespace

OperatorDef ignore_errors_operator() {
  OperatorDef op;
  op.name = "ignore_errors";
  op.doc = "Leaves out elements that fail, up to max_count of them and a part of max_rate.";
  op.params = {required("input", Param::Kind::dataset),
               optional("log_warning", Param::Kind::boolean, Attr::boolean(false))};
  for (Param& p : ErrorLimit::params()) op.params.push_back(std::move(p));
  op.rows = Rows::subset;
  op.resharding = resharding_in_order<ErrorLimitMark>();
  op.infer = [](NodeDraft& draft) {
    ErrorLimit::check(draft);
    draft.node.spec = draft.input().spec;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    return std::make_unique<IgnoreErrorsCursor>(context.open_input(*node), node, context);
  };
  return op;
}

}  // namespace penstock
