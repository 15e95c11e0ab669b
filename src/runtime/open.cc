#include "runtime/open.h"

#include "plan/noop.h"
#include "runtime/stack.h"

namespace penstock {

CursorPtr OpenContext::open(const PlanPtr& node) const {
  try {
    check_depth(depth);
    OpenContext context = *this;
    if (!node->op->open) throw Error(Code::invalid_argument, "gives a value, expected a dataset");
    CursorPtr cursor = node->op->open(node, context);
    if (!cursor->identity().node) identify(*node, cursor.get());
    if (at.mark || at.rows > 0) cursor->resume_at(at);
    return cursor;
  } catch (const Error& e) {
    throw e.at(node->op->name);
  }
}

void OpenContext::identify(const PlanNode& node, Cursor* cursor) const {
  cursor->set_identity({run->options().count ? run->counters(&node) : nullptr, node.op->name,
                        static_cast<size_t>(node.spec.leaf_count()), &node, run->options().marks,
                        passes_marks(node)});
}

OpenContext OpenContext::deeper() const {
  OpenContext out = *this;
  ++out.depth;
  out.batch.reset();
  out.wanted_ahead = 0;
  out.at = {};
  return out;
}

OpenContext OpenContext::below(const PlanNode& node, size_t i) const {
  OpenContext out = deeper();
  if (passes_marks(node)) {
    out.at.mark = at.mark;
  } else if (const StageMark* mark = resume(node)) {
    out.at = mark->input(i);
  }
  return out;
}

CursorPtr OpenContext::open_input(const PlanNode& node, size_t i) const {
  return below(node, i).open(node.inputs[i]);
}

const StageMark* OpenContext::resume(const PlanNode& node) const {
  if (passes_marks(node)) return nullptr;
  const StageMark* mark = stage_mark(at.mark);
  if (mark && mark->stage() != node.op->name) {
    throw Error(Code::failed_precondition, "the checkpoint was taken behind `" + mark->stage() +
                                               "`, here the pipeline has `" + node.op->name + "`");
  }
  return mark;
}

bool OpenContext::is_before_cache(const PlanNode& node) const {
  const StageMark* mark = stage_mark(at.mark);
  return mark && node.op->caches && mark->stage() != node.op->name;
}

int64_t OpenContext::resumed_index(const PlanNode& node, int64_t count) const {
  const int64_t next = resumed<IndexMark>(node).value_or(IndexMark()).next;
  if (next < 0 || next > count) {
    throw Error(Code::failed_precondition, "the checkpoint stands at element " +
                                               std::to_string(next) + ", there are only " +
                                               std::to_string(count) + " now");
  }
  return next;
}

std::shared_ptr<const CompiledFunction> OpenContext::program(const PlanNode& node,
                                                             std::string_view function) const {
  return run->program(node.function(function), environment, run->reads(&node));
}

namespace {

class NothingCursor final : public Cursor {
 protected:
  Poll next(Block*, const Pull&) override { return Poll::end; }
};

}  // namespace

CursorPtr open_nothing() { return std::make_unique<NothingCursor>(); }

CursorPtr open_dataset(const OpenContext& context, const DatasetValue& value, uint64_t lineage,
                       uint64_t epoch, const StreamPosition& at) {
  OpenContext inner = context;
  inner.environment = value.environment();
  inner.lineage = lineage;
  inner.epoch = epoch;
  inner.batch.reset();
  inner.wanted_ahead = 0;
  ++inner.depth;
  inner.nested = std::make_shared<PipelineState>();
  inner.at = at;
  return inner.open(value.plan());
}

}  // namespace penstock
