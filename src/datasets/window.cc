// window(size, shift=size, stride=1, drop_remainder=false): datasets of `size` elements, the first
// of each `shift` behind that of the one before, its elements `stride` apart.
//
// For a structure of components a structure of datasets. Windows share the rows they hold. An error
// takes no slot: it leaves before the window that is being filled, which goes on with the next
// element.

#include <algorithm>
#include <deque>

#include "datasets/batching.h"
#include "datasets/datasets.h"
#include "datasets/kept_rows.h"

namespace penstock {
namespace {

struct Extent {
  int64_t size, shift, stride;
  bool drop_remainder;

  // Elements from a window's first to behind its last.
  int64_t span() const {
    return size - 1 > (INT64_MAX / 2) / stride ? INT64_MAX / 2 : (size - 1) * stride + 1;
  }
  // Windows that so many elements make.
  int64_t windows(int64_t elements) const {
    if (!drop_remainder) return elements / shift + (elements % shift != 0);
    return elements < span() ? 0 : (elements - span()) / shift + 1;
  }
};

struct WindowMark {
  static constexpr MarkForm kForm{"window", 1};
  int64_t skipped = 0;  // elements between the position of the input and the next window
  static void fields(auto& mark, auto& f) { f.count("skipped", mark.skipped); }
};

class WindowCursor final : public Cursor {
 public:
  // The first window begins with element `next`.
  WindowCursor(CursorPtr input, const Extent& extent, std::vector<PlanPtr> components, int64_t next)
      : input_(std::move(input)), extent_(extent), components_(std::move(components)), next_(next) {
    trail_.start(*input_);
  }

 protected:
  Poll next(Block* out, const Pull& pull) override {
    for (;;) {
      // Windows that were full before the first error come before it.
      const int64_t seen = errors_.empty() ? end_ : errors_.front().before;
      const int64_t full =
          seen - next_ < extent_.span() ? 0 : (seen - next_ - extent_.span()) / extent_.shift + 1;
      if (full > 0) return emit(out, std::min(full, pull.max_rows));
      if (!errors_.empty()) {
        *out = error_block(errors_.front().error, components_.size(), errors_.front().origin);
        errors_.erase(errors_.begin());
        return Poll::ready;
      }
      if (ended_) {
        if (extent_.drop_remainder || next_ >= end_) return Poll::end;
        return emit(out, std::min(pull.max_rows, (end_ - next_ - 1) / extent_.shift + 1));
      }
      Block in;
      const Poll poll = input_->pull(&in, {wanted(pull.max_rows), pull.waker});
      if (poll == Poll::pending) return poll;
      if (poll == Poll::end) {
        ended_ = true;
      } else {
        trail_.note(*input_, in.rows);
        absorb(std::make_shared<const Block>(std::move(in)));
      }
    }
  }

 private:
  // Elements that make the windows asked for, some thousand at most at once.
  int64_t wanted(int64_t windows) const {
    constexpr int64_t kAtOnce = 4096;
    const int64_t more = std::min(windows - 1, kAtOnce / extent_.shift);
    return std::max<int64_t>(1, next_ + more * extent_.shift + extent_.span() - end_);
  }

  // Good rows join the held ones; errors wait for their turn.
  void absorb(const std::shared_ptr<const Block>& in) {
    int64_t from = 0;
    for (int64_t e = 0; e <= static_cast<int64_t>(in->errors.size()); ++e) {
      const bool behind = e == static_cast<int64_t>(in->errors.size());
      const int64_t row = behind ? in->rows : in->errors[static_cast<size_t>(e)].row;
      if (row > from) {
        held_.push_back({end_, {in, from, row - from, 1}});
        end_ += row - from;
      }
      if (!behind) {
        errors_.push_back({end_, in->errors[static_cast<size_t>(e)].error, in->origin.slice(row)});
        behind_error_ = end_;
      }
      from = row + 1;
    }
    forget();
  }

  // Held rows before the next window are of no use.
  void forget() {
    while (!held_.empty() && held_.front().first + held_.front().run.count <= next_)
      held_.pop_front();
  }

  Poll emit(Block* out, int64_t windows) {
    std::vector<RowRun> runs;
    std::vector<size_t> begins{0};
    RowIds lineages, epochs;
    for (int64_t i = 0; i < windows; ++i) {
      add_window(&runs);
      const RowRun& first = runs[begins.back()];
      lineages.push_back(first.block->origin.lineage(first.begin));
      epochs.push_back(first.block->origin.epoch(first.begin));
      begins.push_back(runs.size());
      next_ += extent_.shift;
      forget();
    }
    const auto list = std::make_shared<const std::vector<RowRun>>(std::move(runs));
    const auto shared = std::make_shared<const std::vector<size_t>>(std::move(begins));
    out->clear();
    out->rows = windows;
    out->origin = Origin::of(std::move(lineages), std::move(epochs));
    for (size_t c = 0; c < components_.size(); ++c) {
      out->columns.push_back(Column::object(
          std::make_shared<const WindowRows>(components_[c], list, shared, static_cast<int>(c))));
    }
    if (identity().marks) mark(out);
    return Poll::ready;
  }

  // Where the next window begins, unless an error lies behind that: it may have been given already.
  void mark(Block* out) {
    if (next_ < behind_error_) return;
    const int64_t first = std::min(next_, end_);
    const int64_t row = trail_.rows() - (end_ - first);
    set_mark(out, WindowMark{next_ - first}, {trail_.before(row)});
    trail_.forget(row);
  }

  // The rows of the window that begins at next_.
  void add_window(std::vector<RowRun>* runs) const {
    int64_t at = next_, left = extent_.size;
    for (const Held& h : held_) {
      const int64_t behind = h.first + h.run.count;
      if (at >= behind) continue;
      const int64_t n = std::min(left, (behind - 1 - at) / extent_.stride + 1);
      runs->push_back({h.run.block, h.run.begin + at - h.first, n, extent_.stride});
      int64_t step = 0;
      if (__builtin_mul_overflow(n, extent_.stride, &step) || __builtin_add_overflow(at, step, &at))
        at = INT64_MAX;
      left -= n;
      if (left == 0) break;
    }
  }

  struct Held {
    int64_t first;  // which element its first row is
    RowRun run;
  };
  struct Failure {
    int64_t before;  // elements before it
    ErrorPtr error;
    Origin origin;
  };
  CursorPtr input_;
  const Extent extent_;
  const std::vector<PlanPtr> components_;  // templates
  std::deque<Held> held_;
  std::vector<Failure> errors_;
  int64_t next_;              // the element that the next window begins with
  int64_t end_ = 0;           // elements so far
  int64_t behind_error_ = 0;  // elements before the last error
  InputTrail trail_;
  bool ended_ = false;
};

int64_t positive(const NodeDraft& draft, std::string_view param) {
  if (draft.node.args[param].is_none()) return 0;
  return draft.int_at_least(param, 1, "must be positive", -1);
}

void infer(NodeDraft& draft) {
  const int64_t size = positive(draft, "size"), stride = positive(draft, "stride");
  int64_t shift = positive(draft, "shift");
  if (shift == 0) shift = size;
  std::vector<LeafSpec> leaves = draft.input().spec.leaves();
  if (leaves.empty()) NodeDraft::fail("input", "at least one component is needed");
  for (LeafSpec& leaf : leaves) leaf = LeafSpec::dataset(Spec::of(leaf));
  draft.node.spec = draft.input().spec.with_leaves(leaves);
  const int64_t n = draft.input().cardinality;
  const bool known = size > 0 && shift > 0 && stride > 0;
  draft.node.cardinality =
      n < 0   ? n
      : known ? Extent{size, shift, stride, draft.node.args["drop_remainder"].as_bool()}.windows(n)
              : kUnknown;
}

}  // namespace

OperatorDef window_operator() {
  OperatorDef op;
  op.name = "window";
  op.doc = "Datasets of `size` elements, `stride` apart, one every `shift` (size) elements.";
  op.params = {required("input", Param::Kind::dataset), required("size", Param::Kind::tensor),
               optional("shift", Param::Kind::tensor, {}),
               optional("stride", Param::Kind::tensor, Attr::integer(1)),
               optional("drop_remainder", Param::Kind::boolean, Attr::boolean(false))};
  op.rows = Rows::regroup;
  op.infer = infer;
  op.open = [](const PlanPtr& node, OpenContext& context) -> CursorPtr {
    Extent extent{open_positive(context, *node, "size"), 0, open_positive(context, *node, "stride"),
                  node->arg("drop_remainder").as_bool()};
    extent.shift =
        node->arg("shift").is_none() ? extent.size : open_positive(context, *node, "shift");
    const auto from = context.resumed<WindowMark>(*node).value_or(WindowMark());
    std::vector<PlanPtr> components;
    for (int c = 0; c < node->spec.leaf_count(); ++c)
      components.push_back(rows_template(context, node, c));
    return std::make_unique<WindowCursor>(context.open_input(*node), extent, std::move(components),
                                          from.skipped);
  };
  return op;
}

}  // namespace penstock
