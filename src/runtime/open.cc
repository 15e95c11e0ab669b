#include "runtime/open.h"

namespace penstock {

CursorPtr OpenContext::open(const PlanPtr& node) const {
  try {
    OpenContext context = *this;
    if (!node->op->open) throw Error(Code::invalid_argument, "gives a value, expected a dataset");
    CursorPtr cursor = node->op->open(node, context);
    if (!cursor->identity().counters) {
      cursor->set_identity({run->counters(node.get()), node->op->name,
                            static_cast<size_t>(node->spec.leaf_count())});
    }
    return cursor;
  } catch (const Error& e) {
    throw e.at(node->op->name);
  }
}

OpenContext OpenContext::deeper() const {
  OpenContext out = *this;
  ++out.depth;
  out.batch_rows = 0;
  return out;
}

CursorPtr OpenContext::open_input(const PlanNode& node, size_t i) const {
  return deeper().open(node.inputs[i]);
}

std::shared_ptr<const CompiledFunction> OpenContext::program(const PlanNode& node,
                                                             std::string_view function) const {
  return std::make_shared<const CompiledFunction>(node.function(function), environment);
}

namespace {

class NothingCursor final : public Cursor {
 protected:
  Poll next(Block*, const Pull&) override { return Poll::end; }
};

}  // namespace

CursorPtr open_nothing() { return std::make_unique<NothingCursor>(); }

CursorPtr open_dataset(const OpenContext& context, const DatasetValue& value, uint64_t lineage,
                       uint64_t epoch) {
  OpenContext inner = context;
  inner.environment = value.environment();
  inner.lineage = lineage;
  inner.epoch = epoch;
  inner.batch_rows = 0;
  ++inner.depth;
  inner.nested = std::make_shared<PipelineState>();
  return inner.open(value.plan());
}

}  // namespace penstock
