// rows_of(rows): the rows that a window holds, as a source. Made by window and group_by_window.

#include <algorithm>
#include <map>
#include <mutex>

#include "datasets/datasets.h"
#include "datasets/kept_rows.h"

namespace penstock {
namespace {

// A window by itself: what a template's environment holds.
struct Window final : Object {
  Window(RunList all, const KeptRows& part) : list(std::move(all)), kept(part) {}
  RunList list;
  KeptRows kept;
};

class RowsOfCursor final : public Cursor {
 public:
  RowsOfCursor(std::shared_ptr<const Window> window, const OpenContext& context)
      : window_(std::move(window)), context_(context) {}

 protected:
  Poll next(Block* out, const Pull& pull) override {
    const std::span<const RowRun> runs = window_->kept.runs;
    if (run_ == runs.size()) return Poll::end;
    const RowRun& run = runs[run_];
    const int64_t n = std::min(pull.max_rows, run.count - at_);
    *out = run.rows(at_, n);
    if (const int c = window_->kept.column; c != KeptRows::kAllColumns)
      out->columns = {std::move(out->columns[static_cast<size_t>(c)])};
    out->origin = source_origin(context_, position_);
    position_ += n;
    at_ += n;
    if (at_ == run.count) {
      ++run_;
      at_ = 0;
    }
    return Poll::ready;
  }

 private:
  std::shared_ptr<const Window> window_;
  const OpenContext context_;
  size_t run_ = 0;
  int64_t at_ = 0;        // in the run
  int64_t position_ = 0;  // in all
};

// The templates of a stage, one for each component. Kept as long as the pipeline: counters go by
// the addresses of nodes.
struct Templates {
  std::mutex mutex;
  std::map<int, PlanPtr> plans;
};

}  // namespace

Block RowRun::rows(int64_t from, int64_t n) const {
  if (step == 1) return block->slice(begin + from, n);
  std::vector<int32_t> indices;
  for (int64_t i = from; i < from + n; ++i)
    indices.push_back(static_cast<int32_t>(begin + i * step));
  return block->gather(indices);
}

PlanPtr rows_template(const OpenContext& context, const PlanPtr& node, int column) {
  const auto templates = context.run->state().keep<Templates>(node.get());
  std::lock_guard lock(templates->mutex);
  PlanPtr& plan = templates->plans[column];
  if (!plan) {
    const Spec& element = node->inputs[0]->spec;
    const Spec rows = column == KeptRows::kAllColumns
                          ? element
                          : Spec::of(element.leaves()[static_cast<size_t>(column)]);
    Attrs args;
    args.set("rows", Attr::capture(0, LeafSpec::dataset(rows)));
    plan = make_node("rows_of", {}, std::move(args));
  }
  return plan;
}

KeptRows WindowRows::kept(int64_t i) const {
  const size_t begin = (*begins_)[static_cast<size_t>(i)];
  const size_t end = (*begins_)[static_cast<size_t>(i) + 1];
  return {std::span(*list_).subspan(begin, end - begin), column_};
}

ObjectPtr WindowRows::row(int64_t i) const {
  return std::make_shared<const DatasetValue>(
      plan_, std::vector<Tensor>{Tensor(std::make_shared<const Window>(list_, kept(i)))});
}

bool kept_rows(const Column& column, int64_t row, KeptRows* out) {
  const Tensor value = column.row(row);
  const auto* dataset = dynamic_cast<const DatasetValue*>(value.object().get());
  if (!dataset || !dataset->plan()->is("rows_of")) return false;
  *out = static_cast<const Window*>(dataset->environment()[0].object().get())->kept;
  return true;
}

int64_t kept_count(const Object* dataset) {
  const auto* value = dynamic_cast<const DatasetValue*>(dataset);
  if (!value || !value->plan()->is("rows_of")) return -1;
  int64_t rows = 0;
  for (const RowRun& run :
       static_cast<const Window*>(value->environment()[0].object().get())->kept.runs)
    rows += run.count;
  return rows;
}

OperatorDef rows_of_operator() {
  OperatorDef op;
  op.name = "rows_of";
  op.doc = "The rows of a window.";
  op.params = {required("rows", Param::Kind::any)};
  op.source = op.internal = true;
  op.infer = [](NodeDraft& draft) {
    draft.node.spec = *draft.node.args["rows"].capture_type().element;
    draft.node.cardinality = kUnknown;
  };
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    const auto index = static_cast<size_t>(node->arg("rows").capture_index());
    return std::make_unique<RowsOfCursor>(
        std::static_pointer_cast<const Window>(context.environment[index].object()), context);
  };
  return op;
}

}  // namespace penstock
