// Opening plans into cursors.
#pragma once

#include <span>

#include "runtime/checkpoint.h"
#include "runtime/run.h"

namespace penstock {

class BatchPlaces;

// What a plan is opened with. Passed down from users to inputs; cheap to copy.
struct OpenContext {
  Run* run;
  std::span<const Tensor> environment;  // captures of the template being opened; empty at the top
  uint64_t lineage = 0;  // mixed into the ids of sources: the row that a nested plan hangs from
  uint64_t epoch = 0;    // of enclosing repeats and the iterator
  std::shared_ptr<BatchPlaces> batch{};  // that follows directly; null for none
  int64_t wanted_ahead = 0;              // elements, by a prefetch that follows directly
  bool ordered = true;                   // false: parallel maps may give elements as they come
  int depth = 0;                         // stages below the sink: priority of tasks
  std::shared_ptr<PipelineState>
      nested{};         // what caches of the nested pipeline being opened keep; null at the top
  StreamPosition at{};  // where the node is to be taken up; default: its beginning

  // The cursor of the node, with its identity set. Throws Error when it cannot be opened.
  CursorPtr open(const PlanPtr& node) const;
  // Tells a cursor of the node, made outside open, who it is.
  void identify(const PlanNode& node, Cursor* cursor) const;
  // Of input i of the node, one deeper.
  CursorPtr open_input(const PlanNode& node, size_t i = 0) const;
  // One stage deeper, at its beginning.
  OpenContext deeper() const;
  // The context to open input i of the node in.
  OpenContext below(const PlanNode& node, size_t i = 0) const;
  // Returns the node's own mark; null: it starts at its beginning. Throws FAILED_PRECONDITION if
  // the mark is another operator's.
  const StageMark* resume(const PlanNode& node) const;
  // Returns the fields of the node's own mark, or nothing. Throws as resume and decoded_mark do.
  template <typename M>
  std::optional<M> resumed(const PlanNode& node) const {
    const StageMark* mark = resume(node);
    if (!mark) return std::nullopt;
    return decoded_mark<M>(*mark);
  }
  // Returns true if the mark is that of the input of `node`, a cache: the checkpoint is of a plan
  // without it (without_transparent).
  bool is_before_cache(const PlanNode& node) const;
  // Returns the row that the IndexMark of a source of `count` rows says, 0 without one. Throws
  // FAILED_PRECONDITION if it is beyond the end: the source has become shorter.
  int64_t resumed_index(const PlanNode& node, int64_t count) const;
  // The node's argument with captures filled in.
  Attr arg(const PlanNode& node, std::string_view name) const {
    return node.args[name].bound(environment);
  }
  int64_t int_arg(const PlanNode& node, std::string_view name) const {
    return arg(node, name).as_int();
  }
  // The function ready to run, its captures bound.
  std::shared_ptr<const CompiledFunction> program(const PlanNode& node,
                                                  std::string_view function) const;
};

// Lineage ids of record `record` of a source opened in `context`: affine in the record.
inline Origin source_origin(const OpenContext& context, int64_t first_record) {
  return Origin(context.lineage + static_cast<uint64_t>(first_record), 1, context.epoch);
}

// A cursor that is at its end.
CursorPtr open_nothing();

// Nested plans: the cursor of a dataset value that hangs from a row, taken up at `at`.
CursorPtr open_dataset(const OpenContext& context, const DatasetValue& value, uint64_t lineage,
                       uint64_t epoch, const StreamPosition& at = {});

}  // namespace penstock
